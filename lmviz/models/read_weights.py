"""Which parameters the operation of a tap reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TypeVar

from lmviz.models.tap import Operation, Weight

P = TypeVar("P")


def weights_of(operation: Operation) -> tuple[Weight, ...]:
    """The parameters, or rows of them, that an operation reads, in the order in which it states them."""
    return tuple(parts_of(operation, Weight))


def parts_of(operation: object, kind: type[P]) -> Iterator[P]:
    """What an operation is made of that is of a kind, in the order in which it states it."""
    if isinstance(operation, kind):
        yield operation
    elif is_dataclass(operation):
        for field in fields(operation):
            yield from parts_of(getattr(operation, field.name), kind)
    elif isinstance(operation, tuple | list):
        for item in operation:
            yield from parts_of(item, kind)

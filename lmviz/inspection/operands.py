"""Which taps an operation reads, found among its fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator

from lmviz.models.tap import Operation, Value


def first_operand(operation: Operation, addresses: Collection[str]) -> Value | None:
    """The first of an operation's operands that is one of the taps; None where there is none."""
    for operand in operands(operation):
        if operand.address in addresses:
            return operand
    return None


def operands(part: object) -> Iterator[Value]:
    """Whatever may be an operand among the fields of an operation, in their order.

    Labels are among them: only what is the address of a tap is an operand.
    """
    if isinstance(part, Value):
        yield part
    elif isinstance(part, str):
        yield Value(part)
    elif isinstance(part, tuple):
        for item in part:
            yield from operands(item)
    elif dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            yield from operands(getattr(part, field.name))

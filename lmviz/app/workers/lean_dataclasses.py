"""Dataclasses made in less time: what most of them are never asked is compiled when they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

LATE = frozenset({"__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"})
"""Methods that Python before 3.13 writes as text and compiles, one by one, for every dataclass."""

Make = Callable[..., Callable[..., Any]]


def compile_late() -> None:
    """From now on leave the methods of a dataclass uncompiled until they are called, except `__init__`.

    They took an eighth of the way to the first paint. From 3.13 on Python compiles them together, by
    another function: there is nothing to do.
    """
    make: Make | None = getattr(dataclasses, "_create_fn", None)
    if make is not None and make.__module__ == dataclasses.__name__:
        dataclasses._create_fn = late(make)  # type: ignore[attr-defined]


def late(make: Make) -> Make:
    """What makes the same methods as `make`, when they are first called."""

    def make_late(name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
        if name not in LATE:
            return make(name, *arguments, **options)
        made: Callable[..., Any] | None = None

        def method(*values: Any) -> Any:
            nonlocal made
            if made is None:
                made = make(name, *arguments, **options)
            return made(*values)

        method.__name__ = name
        return method

    return make_late

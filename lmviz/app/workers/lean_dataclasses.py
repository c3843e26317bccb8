"""Dataclasses made in less time: what most of them are never asked is compiled when they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import FunctionType
from typing import Any

LATE = frozenset({"__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"})
"""Methods that Python before 3.13 writes as text and compiles, one by one, for every dataclass."""

Make = Callable[..., Any]


def compile_late() -> None:
    """From now on leave the methods of a dataclass uncompiled until they are called.

    They took an eighth of the way to the first paint. From 3.13 on Python compiles them together, by
    another function: there is nothing to do.
    """
    make: Make | None = getattr(dataclasses, "_create_fn", None)
    if make is not None and make.__module__ == dataclasses.__name__:
        dataclasses._create_fn = late(make)  # type: ignore[attr-defined]


def late(make: Make) -> Make:
    """What makes the same methods as `make`, when they are first called."""

    def make_late(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "__init__":
            return LateInit(lambda: make(name, *arguments, **options))
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


class LateInit:
    """An `__init__` that is compiled when a class is first asked for it, and stands in its own place then.

    No function, which would stay between every call and the compiled one, and have other arguments.
    """

    def __init__(self, make: Callable[[], Callable[..., Any]]) -> None:
        self._make = make

    def __get__(self, made: object, kind: type) -> Callable[..., Any]:
        """What a class, or something made of it, finds by this name."""
        init = self._make()
        for home in kind.__mro__:
            if vars(home).get("__init__") is self:
                assert isinstance(init, FunctionType)
                init.__qualname__ = f"{home.__qualname__}.__init__"
                setattr(home, "__init__", init)  # noqa: B010, for mypy takes it for a method
        bound: Callable[..., Any] = init if made is None else init.__get__(made)
        return bound

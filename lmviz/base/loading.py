"""The edge at which files come in: whatever a reader raises about a file becomes one sentence.

Readers check what they are given and say what is wrong with it. What they did not think of is caught here, so
that nobody meets a traceback on account of a file. The log keeps it, and a test in which it happens fails.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from lmviz.base.errors import LmvizError, is_out_of_memory

LOADERS: dict[str, list[str]] = {}
"""The readers of each kind of file by their names, as far as their modules are imported."""

P = ParamSpec("P")
R = TypeVar("R")


class Unexpected(LmvizError):
    """What a reader did not think of: a defect of lmviz, said of the file that brought it to light."""

    def __init__(self, name: object, fault: Exception, doing: str) -> None:
        told = f"{type(fault).__name__}: {fault}"
        super().__init__(
            f"{name} cannot be {doing}, for a reason that lmviz did not expect ({told}): choose another one; "
            "lmviz.log has the details."
        )


def loads(kind: str, doing: str = "read") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function an edge for a kind of file: it gives a value or raises LmvizError.

    The file is named by its first argument, or is the folder of what that is. What its argument `progress`
    raises is the caller's, and passes.
    """

    def mark(read: Callable[P, R]) -> Callable[P, R]:
        LOADERS.setdefault(kind, []).append(f"{read.__module__}.{read.__qualname__}")

        @functools.wraps(read)
        def guarded(*arguments: P.args, **named: P.kwargs) -> R:
            raised: list[BaseException] = []
            if named.get("progress") is not None:
                named["progress"] = _remembering(named["progress"], raised)
            with _edge(_name_of(arguments), doing, raised):
                return read(*arguments, **named)

        return guarded

    return mark


@contextmanager
def _edge(name: object, doing: str, passing: list[BaseException]) -> Iterator[None]:
    try:
        yield
    except LmvizError:
        raise
    except Exception as fault:
        if fault in passing:
            raise
        if is_out_of_memory(fault):
            way_out = "close what else is open, or choose something smaller"
            raise LmvizError(f"{name} needs more memory than there is: {way_out}.") from fault
        if isinstance(fault, OSError) and fault.strerror:
            said = f"{fault.filename or name} cannot be {doing} ({fault.strerror}): choose another one."
            raise LmvizError(said) from fault
        _write_down(name)
        raise Unexpected(name, fault, doing) from fault


def _write_down(name: object) -> None:
    """Write what is being handled to the log, where there is one; Python would print it otherwise."""
    import logging
    import traceback

    logger = logging.getLogger("lmviz")
    if logger.hasHandlers():
        logger.error("unexpected of a file, %s\n%s", name, traceback.format_exc())


def _name_of(arguments: tuple[Any, ...]) -> object:
    """The name of what is read, among the arguments of a function or of a method."""
    for argument in arguments:
        for place in (argument, getattr(argument, "folder", None), getattr(argument, "place", None)):
            if isinstance(place, str | os.PathLike):
                return "The text" if "\n" in str(place) else place
        if isinstance(argument, list | tuple) and argument:
            return argument[0]
    return "The file"


def _remembering(report: Any, raised: list[BaseException]) -> Callable[..., Any]:
    """`report`, with what it raises noted."""

    def reporting(*arguments: Any) -> Any:
        try:
            return report(*arguments)
        except BaseException as fault:
            raised.append(fault)
            raise

    return reporting

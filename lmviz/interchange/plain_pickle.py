"""Reads pickles that hold plain values alone, without Python's own reader, which would run what they name.

Dictionaries, lists, tuples, sets, strings, bytes and numbers are built. Anything else that a pickle asks for,
such as a class or a function, is named and not looked for: nothing of a file is ever imported or called.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.interchange.pickle_machine import PickleMachine
from lmviz.text.ordinary_files import read_file

LARGEST_FILE = 100_000_000
"""Bytes of a pickle."""

_NAMED = frozenset({"GLOBAL", "STACK_GLOBAL", "INST"})


class NotPlain(LmvizError):
    """A pickle asks for something that is no plain value: `wanted` names it."""

    def __init__(self, path: Path, wanted: str) -> None:
        super().__init__(
            f"{path} is a pickle of {wanted}, and to read it would run code of that: lmviz reads none but "
            "those of dictionaries, lists, strings and numbers."
        )
        self.wanted = wanted


@loads("pickle")
def read_plain_pickle(path: Path) -> Any:
    """The value in a pickle; NotPlain where it is of a class, LmvizError where the file is no pickle."""
    try:
        content = read_file(path, LARGEST_FILE)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from None
    try:
        return _Plain(path).value(content)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, RecursionError) as error:
        raise LmvizError(f"{path} is damaged, or is not a pickle: get it again.") from error


class _Plain(PickleMachine):
    """Refuses whatever is about a class, and names it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def do_with_classes(self, name: str, argument: Any) -> None:
        raise NotPlain(self._path, self._wanted(name, argument))

    def _wanted(self, name: str, argument: Any) -> str:
        """What an instruction asks for, in words."""
        if name not in _NAMED:
            return f"something that is no plain value ({name})"
        words = argument.split() if isinstance(argument, str) else self._stack[-2:]
        named = ".".join(word for word in words if isinstance(word, str))
        return named[:80] if named else "a class"

"""Reads pickles that hold plain values alone, without Python's own reader, which would run what they name.

Dictionaries, lists, tuples, sets, strings, bytes and numbers are built. Anything else that a pickle asks for,
such as a class or a function, is named and not looked for: nothing of a file is ever imported or called.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.text.ordinary_files import read_file

LARGEST_FILE = 100_000_000
"""Bytes of a pickle."""

LARGEST_KEY = 1000
"""Values in a key of a dictionary, all of which are gone through for its hash."""

_MARK = object()

_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}

_VALUES = (
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING BINBYTES "
    "SHORT_BINBYTES BINBYTES8 BYTEARRAY8 UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8"
)
_WRITTEN = frozenset(_VALUES.split())
"""Instructions that stand for the value that is written behind them."""

_NAMED = frozenset({"GLOBAL", "STACK_GLOBAL", "INST"})

_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_SET": set,
}


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
        return _Machine(path).value(content)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, RecursionError) as error:
        raise LmvizError(f"{path} is damaged, or is not a pickle: get it again.") from error


class _Machine:
    """The stack and the memory that the instructions of a pickle work on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack: list[Any] = []
        self._memory: dict[Any, Any] = {}

    def value(self, content: bytes) -> Any:
        """The value that the instructions leave."""
        for instruction, argument, _ in pickletools.genops(content):
            if instruction.name == "STOP":
                break
            self._do(instruction.name, argument)
        [value] = self._stack
        if value is _MARK:
            raise ValueError
        return value

    def _do(self, name: str, argument: Any) -> None:
        stack = self._stack
        if name in _WRITTEN:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name == "MARK":
            stack.append(_MARK)
        elif name in ("PROTO", "FRAME"):
            pass
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memory[argument] = stack[-1]
        elif name == "MEMOIZE":
            self._memory[len(self._memory)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self._memory[argument])
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(name[-1])
            if len(stack) < count or _MARK in stack[-count:]:
                raise ValueError
            stack[-count:] = [tuple(stack[-count:])]
        elif name in ("TUPLE", "LIST", "DICT", "FROZENSET"):
            items = self._since_mark()
            if name == "FROZENSET":
                _check_keys(items)
            made = {"TUPLE": tuple, "LIST": list, "FROZENSET": frozenset}
            stack.append(made[name](items) if name in made else _pairs(items))
        elif name in ("APPEND", "SETITEM", "APPENDS", "SETITEMS", "ADDITEMS"):
            self._fill(name)
        elif name in ("POP", "POP_MARK"):
            self._since_mark() if name == "POP_MARK" else stack.pop()
        elif name == "DUP":
            stack.append(stack[-1])
        else:
            raise NotPlain(self._path, self._wanted(name, argument))

    def _fill(self, name: str) -> None:
        """Put what lies on the stack into the container below it."""
        stack = self._stack
        count = {"APPEND": 1, "SETITEM": 2}.get(name)
        if count is None:
            items = self._since_mark()
        else:
            items = stack[-count:]
            del stack[-count:]
        into = stack[-1]
        if name.startswith("APPEND") and type(into) is list:
            into.extend(items)
        elif name.startswith("SETITEM") and type(into) is dict:
            into.update(_pairs(items))
        elif name == "ADDITEMS" and type(into) is set:
            _check_keys(items)
            into.update(items)
        else:
            raise ValueError

    def _since_mark(self) -> list[Any]:
        """What lies above the last mark, which is taken away with it."""
        stack = self._stack
        place = len(stack) - 1
        while stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise ValueError
        items = stack[place + 1 :]
        del stack[place:]
        return items

    def _wanted(self, name: str, argument: Any) -> str:
        """What an instruction asks for, in words."""
        if name not in _NAMED:
            return f"something that is no plain value ({name})"
        words = argument.split() if isinstance(argument, str) else self._stack[-2:]
        named = ".".join(word for word in words if isinstance(word, str))
        return named[:80] if named else "a class"


def _pairs(items: list[Any]) -> dict[Any, Any]:
    _check_keys(items[::2])
    return dict(zip(items[::2], items[1::2], strict=True))


def _check_keys(keys: list[Any]) -> None:
    """ValueError where a key has so many values that its hash would take long."""
    for key in keys:
        left, count = [key], 1
        while left:
            each = left.pop()
            if isinstance(each, tuple | frozenset):
                count += len(each)
                if count > LARGEST_KEY:
                    raise ValueError
                left.extend(each)

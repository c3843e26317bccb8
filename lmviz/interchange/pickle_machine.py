"""Goes through the instructions of a pickle in a time and a memory that its length bounds.

The readers of Python and torch are not bound by it. The hash of tuples in tuples goes as deep as they do,
which ends the program, and takes 2^n steps where each holds the next one twice. A place in Python's memory
that ten bytes name takes 68 GB. Some classes make as many numbers as they are told to. So what a stranger
wrote is built by a `PickleMachine`, or one goes through it before torch does (`saved_file`).
"""

from __future__ import annotations

import pickletools
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import IO, Any

LARGEST_KEY = 1000
"""Values in a key of a dictionary, all of which are gone through for its hash."""

OWN_HASH = sys.hash_info.modulus
"""Whole numbers below it have hashes of their own; longer ones can be chosen so that they share one."""

MOST_ALIKE = 10_000
"""Long numbers in keys that have the same hash, each of which is compared with those before."""

LARGEST_TUPLE = 10_000_000
"""The same in any tuple, which may become a key later."""

DEEPEST = 100
"""Tuples in one another; those that hold none have a depth of 1."""

_MARK = object()

_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}

_VALUES = (
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING BINBYTES "
    "SHORT_BINBYTES BINBYTES8 BYTEARRAY8 UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8"
)
_WRITTEN = frozenset(_VALUES.split())
"""Instructions that stand for the value that is written behind them."""

_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_SET": set,
}


class PickleMachine:
    """The stack and the memory that the instructions of a pickle work on.

    Containers, strings, bytes and numbers are built here. What a class is, and what comes of it, a subclass
    says; here each is a ValueError.
    """

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memory: dict[Any, Any] = {}
        self._nested: dict[int, tuple[Any, int, int]] = {}
        self._alike = Counter[int]()

    def value(self, content: bytes | IO[bytes]) -> Any:
        """The value that the instructions leave; one of many errors where they are damaged."""
        self._stack, self._memory = [], {}
        for instruction, argument, _ in pickletools.genops(content):
            if instruction.name == "STOP":
                break
            self._do(instruction.name, argument)
        [value] = self._stack
        if value is _MARK:
            raise ValueError
        return value

    def named(self, module: str, name: str) -> Any:
        """What stands for a class or a function that is named."""
        raise ValueError

    def called(self, what: Any, given: Any) -> Any:
        """What comes of calling it, or of making a new object of it."""
        raise ValueError

    def set_state(self, made: Any, state: Any) -> None:
        """Give what was made the state that was kept of it."""
        raise ValueError

    def put_into(self, made: Any, keys: Iterable[Any], items: list[Any]) -> None:
        """Put items into what was made."""
        raise ValueError

    def stored(self, reference: Any) -> Any:
        """What lies outside the pickle, where the reference says."""
        raise ValueError

    def check_keys(self, keys: Iterable[Any]) -> None:
        """ValueError where the hash of a key would take long, or may be that of many others."""
        for key in keys:
            if self._extent(key)[1] > LARGEST_KEY:
                raise ValueError
            if type(key) is int and abs(key) >= OWN_HASH:
                self._alike[hash(key)] += 1
                if self._alike[hash(key)] > MOST_ALIKE:
                    raise ValueError

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
            stack.append(self.tuple_of(self._taken(int(name[-1]))))
        elif name in ("TUPLE", "LIST", "DICT", "FROZENSET"):
            stack.append(self._made(name, self._since_mark()))
        elif name in ("APPEND", "SETITEM", "APPENDS", "SETITEMS", "ADDITEMS"):
            self._fill(name)
        elif name in ("POP", "POP_MARK"):
            self._since_mark() if name == "POP_MARK" else stack.pop()
        elif name == "DUP":
            stack.append(stack[-1])
        else:
            self.do_with_classes(name, argument)

    def do_with_classes(self, name: str, argument: Any) -> None:
        """Do what an instruction says about classes, and what is made of them."""
        stack = self._stack
        if name == "GLOBAL":
            module, _, inner = argument.partition(" ")
            stack.append(self.named(module, inner))
        elif name == "STACK_GLOBAL":
            module, inner = self._taken(2)
            stack.append(self.named(_text(module), _text(inner)))
        elif name in ("REDUCE", "NEWOBJ"):
            what, given = self._taken(2)
            stack.append(self.called(what, given))
        elif name == "BUILD":
            made, state = self._taken(2)
            self.set_state(made, state)
            stack.append(made)
        elif name == "BINPERSID":
            [reference] = self._taken(1)
            stack.append(self.stored(reference))
        else:
            raise ValueError

    def _made(self, name: str, items: list[Any]) -> Any:
        if name == "TUPLE":
            return self.tuple_of(items)
        if name == "FROZENSET":
            self.check_keys(items)
            return frozenset(items)
        return items if name == "LIST" else self._pairs(items)

    def tuple_of(self, items: list[Any]) -> tuple[Any, ...]:
        """A tuple of some values; ValueError where it is deeper or larger than what a program writes."""
        made = tuple(items)
        extents = [self._extent(item) for item in made if isinstance(item, tuple)]
        if extents:
            depth = 1 + max(depth for depth, _ in extents)
            count = 1 + len(made) - len(extents) + sum(count for _, count in extents)
            if depth > DEEPEST or count > LARGEST_TUPLE:
                raise ValueError
            self._nested[id(made)] = made, depth, count  # the tuple itself, so that no other gets its id
        return made

    def _extent(self, value: Any) -> tuple[int, int]:
        """How deep a value is, and how many values it holds, as far as tuples are concerned."""
        if not isinstance(value, tuple):
            return 0, 1
        _, depth, count = self._nested.get(id(value), (value, 1, 1 + len(value)))
        return depth, count

    def _fill(self, name: str) -> None:
        """Put what lies on the stack into the container below it."""
        count = {"APPEND": 1, "SETITEM": 2}.get(name)
        items = self._since_mark() if count is None else self._taken(count)
        into = self._stack[-1]
        if name.startswith("APPEND") and type(into) is list:
            into.extend(items)
        elif name.startswith("SETITEM") and type(into) is dict:
            into.update(self._pairs(items))
        elif name == "ADDITEMS" and type(into) is set:
            self.check_keys(items)
            into.update(items)
        else:
            keys = {"SETITEM": items[::2], "ADDITEMS": items}.get(name.removesuffix("S"), ())
            self.check_keys(keys)
            self.put_into(into, keys, items)

    def _pairs(self, items: list[Any]) -> dict[Any, Any]:
        self.check_keys(items[::2])
        return dict(zip(items[::2], items[1::2], strict=True))

    def _taken(self, count: int) -> list[Any]:
        """The uppermost values, which are taken away; no mark is among them."""
        items = self._stack[-count:]
        if len(items) < count or any(item is _MARK for item in items):
            raise ValueError
        del self._stack[-count:]
        return items

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


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value

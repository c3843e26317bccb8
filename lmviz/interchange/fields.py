"""Typed access to a configuration of another program, whose faults are told in a few words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lmviz.base.errors import LmvizError

_LETTER = r"(?:[\w-]|\\[.dw]|\.|\[[\w-]+\])"
_QUICK = re.compile(
    rf"\^?(?:{_LETTER}[*+?]?|\((?:\?:)?{_LETTER}*(?:\|{_LETTER}*)*\)\??|\|){{0,200}}\$?", re.ASCII
)
"""Letters, each perhaps repeated, and groups in which nothing is: what peft's users write in patterns."""

_REPEATED = re.compile(r"[*+?]")
MOST_REPEATED = 4
"""What a name is compared with takes a time of its length to this power, and no more."""

LARGEST_NUMBER = 1e300


def _is_number(value: Any) -> bool:
    """Whether a value is a number that is neither infinite nor none at all (NaN)."""
    return type(value) in (int, float) and abs(value) <= LARGEST_NUMBER


class Fields:
    """The values of a `config.json`. A field that is missing, or null, has the default that is given.

    LmvizError, in a few words, where a field is of the wrong kind, or has no default and is missing.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number."""
        value = self._value(name, default)
        if type(value) is not int:
            raise LmvizError(f"its {name} is not a whole number")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A number."""
        value = self._value(name, default)
        if not _is_number(value):
            raise LmvizError(f"its {name} is not a number")
        return float(value)

    def positive(self, name: str, default: float) -> float:
        """A number above 0."""
        value = self.number(name, default)
        if value <= 0:
            raise LmvizError(f"its {name} is not above 0")
        return value

    def number_or_none(self, name: str, default: float) -> float:
        """A number; where null is written there is none, which is 0."""
        return self.number(name, 0.0 if self._is_null(name) else default)

    def whole_or_none(self, name: str, default: int) -> int:
        """A whole number; where null is written there is none, which is 0."""
        return self.whole(name, 0 if self._is_null(name) else default)

    def _is_null(self, name: str) -> bool:
        return name in self._values and self._values[name] is None

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._value(name, default)
        if type(value) is not bool:
            raise LmvizError(f"its {name} is neither true nor false")
        return value

    def word(self, name: str, default: str) -> str:
        """A word."""
        value = self._value(name, default)
        if not isinstance(value, str):
            raise LmvizError(f"its {name} is not a word")
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words; none where it is missing."""
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise LmvizError(f"its {name} is not a list of words")
        return tuple(value)

    def wholes(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers; none where it is missing."""
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(type(number) is int for number in value):
            raise LmvizError(f"its {name} is not a list of whole numbers")
        return tuple(value)

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of numbers; none where it is missing."""
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(map(_is_number, value)):
            raise LmvizError(f"its {name} is not a list of numbers")
        return tuple(map(float, value))

    def pairs(self, name: str) -> tuple[tuple[tuple[str, ...], int], ...]:
        """A list of pairs, each some words and how often these come; none where it is missing."""
        value = self._values.get(name)
        if value is None:
            return ()
        try:
            pairs = tuple((tuple(words), times) for words, times in value)
        except (TypeError, ValueError):
            pairs = (((), ""),)
        if not all(
            type(times) is int and all(isinstance(word, str) for word in words) for words, times in pairs
        ):
            raise LmvizError(f"its {name} is not a list of words and numbers")
        return pairs

    def inner(self, *names: str) -> Fields:
        """The fields of the first of these objects that is there; none where there is none."""
        for name in names:
            value = self._values.get(name)
            if isinstance(value, Mapping):
                return Fields(value)
            if value is not None:
                raise LmvizError(f"its {name} is not an object")
        return Fields({})

    def matching(self, module: str, default: float) -> float:
        """The number whose name is a module, its end, or a regular expression for either, as peft has it."""
        for name, value in self._values.items():
            if not _QUICK.fullmatch(name) or len(_REPEATED.findall(name)) > MOST_REPEATED:
                raise LmvizError(f"{name[:40]!r} is not a pattern of names that can be looked up quickly")
            pattern = re.escape(name) if re.fullmatch(r"[\w.]+", name) else name
            try:
                found = re.fullmatch(rf"(.*\.)?({pattern})", module)
            except re.error:
                raise LmvizError(f"{name[:40]!r} is not a pattern of names") from None
            if found:
                return Fields({name: value}).number(name)
        return default

    def is_object(self, name: str) -> bool:
        """Whether a field is an object."""
        return isinstance(self._values.get(name), Mapping)

    def names(self) -> tuple[str, ...]:
        """The names of all fields."""
        return tuple(name for name in self._values if isinstance(name, str))

    def has(self, name: str) -> bool:
        """Whether a field is there and not null."""
        return self._values.get(name) is not None

    def refuse(self, name: str, meaning: str) -> None:
        """Raise LmvizError where a flag is set that would change what the model computes."""
        if self._values.get(name) not in (None, False, 0):
            raise LmvizError(f"its {name} asks for {meaning}, which lmviz does not compute")

    def _value(self, name: str, default: Any) -> Any:
        value = self._values.get(name)
        value = default if value is None else value
        if value is None:
            raise LmvizError(f"its {name} is missing")
        return value

"""Settings as dataclasses, with a help text and limits for each field.

A configuration is a frozen dataclass whose fields are made by `setting`. The command line takes its help
from them, the window builds its form from them, and both show the same sentence for an invalid value.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from lmviz.base.errors import LmvizError, SettingError

LARGEST_WHOLE = 2**63 - 1
"""Beyond it, whole numbers fit into no array."""


@dataclass(frozen=True)
class Setting:
    """The description of a field of a configuration.

    `kind` is `int`, `float`, `bool` or `str`; `label` is its name in a form; `minimum` and `maximum`
    are inclusive; `choices` lists all the values there are, in the order in which to offer them; `zero` is
    the word a form shows for 0, where 0 stands for something else. What only models `of_others` have is in no
    form.
    """

    name: str
    kind: type
    default: Any
    label: str
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Any, ...] = ()
    zero: str = ""
    advanced: bool = False
    of_others: bool = False

    def check(self, value: Any) -> Any:
        """Return the value in this setting's type, or raise SettingError."""
        value = self._convert(value)
        if self.choices and value not in self.choices:
            offered = ", ".join(str(choice) for choice in self.choices)
            raise SettingError(f"{self.label} must be one of {offered}, and not {value!r}.", self.name)
        if self.kind is float and not math.isfinite(value):
            raise SettingError(f"{self.label} must be a finite number, and not {value}.", self.name)
        if self.minimum is not None and value < self.minimum:
            raise SettingError(f"{self.label} must be at least {self.minimum}, and not {value}.", self.name)
        if self.maximum is not None and value > self.maximum:
            raise SettingError(f"{self.label} must be at most {self.maximum}, and not {value}.", self.name)
        return value

    def _convert(self, value: Any) -> Any:
        wanted = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
        sentence = f"{self.label} must be {wanted[self.kind]}, and not {value!r}."
        refusal = SettingError(sentence, self.name)
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            known = {"true": True, "yes": True, "on": True, "1": True}
            known |= {"false": False, "no": False, "off": False, "0": False}
            if str(value).lower() not in known:
                raise refusal
            return known[str(value).lower()]
        if isinstance(value, bool):
            raise refusal
        try:
            number = _whole(value) if self.kind is int else self.kind(value)
            if self.kind is int and abs(number) > LARGEST_WHOLE:
                raise OverflowError
            return number
        except (TypeError, ValueError, OverflowError):
            raise refusal from None


def _whole(value: Any) -> int:
    """The whole number that a value or its text is, to the last digit; ValueError and the like for none."""
    try:
        return int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        number = float(value)
        if number != int(number):
            raise ValueError(value) from None
        return int(number)


def setting(
    default: Any,
    help: str,
    *,
    label: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[Any, ...] = (),
    zero: str = "",
    advanced: bool = False,
    of_others: bool = False,
) -> Any:
    """A dataclass field that carries its help, its limits and its default."""
    metadata = {
        "help": help,
        "label": label,
        "minimum": minimum,
        "maximum": maximum,
        "choices": choices,
        "zero": zero,
        "advanced": advanced,
        "of_others": of_others,
    }
    return dataclasses.field(default=default, metadata=metadata)


class Configuration:
    """Base of all configurations; subclasses are `@dataclass(frozen=True)` with `setting` fields."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        for item in self.settings():
            object.__setattr__(self, item.name, item.check(getattr(self, item.name)))
        self.check()

    def check(self) -> None:
        """Raise LmvizError where fields do not fit one another. Subclasses say how."""

    @classmethod
    @functools.cache  # it is asked for whenever a model is built or a description read
    def settings(cls) -> tuple[Setting, ...]:
        """The settings, in the order of the fields."""
        return tuple(
            Setting(
                name=field.name,
                kind=type(field.default),
                default=field.default,
                label=field.metadata["label"] or field.name.replace("_", " ").capitalize(),
                **{key: field.metadata[key] for key in field.metadata if key != "label"},
            )
            for field in dataclasses.fields(cls)
        )

    def used(self) -> frozenset[str]:
        """The names of the settings that make a difference; some others do not with the values of these."""
        return self.names()

    @classmethod
    @functools.cache
    def names(cls) -> frozenset[str]:
        """The names of the fields."""
        return frozenset(item.name for item in cls.settings())

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Build from plain values or their text, as read from JSON or the command line."""
        unknown = sorted(set(values) - cls.names())
        if unknown:
            known = ", ".join(sorted(cls.names()))
            raise LmvizError(f"There is no setting {unknown[0]!r}: the settings are {known}.")
        return cls(**values)

    def to_values(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def unusual_values(self, *names: str) -> dict[str, Any]:
        """The values that differ from their defaults, by name; of some names alone where any are given."""
        wanted = names or self.names()
        return {
            item.name: getattr(self, item.name)
            for item in self.settings()
            if item.name in wanted and getattr(self, item.name) != item.default
        }

"""An intervention: a change made to one tap, or to the tokens, while a model computes."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.names import coordinate, title_of
from lmviz.models.address import Address

TOKENS = "tokens"
"""The address of the prefix itself, before any tap; its axis is position and its values are ids."""

KINDS = ("replace", "scale", "add", "bypass", "swap")

Where = int | tuple[int, ...] | slice
Number = float | tuple[Any, ...]
Function = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Intervention:
    """A change of some cells of a tap.

    `address` is a tap's address or a pattern of addresses such as "layers/*/attention/bias" (see
    `lmviz.models.address.Address.matches`). `where` says which indices of which axes are meant, one, several
    or a slice; axes that are left out are meant whole, and negative indices count from the end. Where the
    text lacks a position that is meant, tracing raises LmvizError; with `required` false such a position
    is passed over, so that an intervention may outlive a change of the text. So is then a value that states
    a number for every position, where there are more of them or fewer.

    `kind`: "replace" by `value`, "scale" by it, "add" it; "bypass" passes the tap's first operand
    through unchanged, as if the operation were not there; "swap", of the address "tokens", exchanges
    the tokens at two positions. `value` is a number, or nested tuples (arrays are converted) that fit
    the axes that are not given as a single index; or a function that is given the cells that are meant, a
    numpy array with just those axes, and returns such a value. Inside a recurrence it is called once a
    position, with an array of one position, as later ones are not computed yet. `label` is what to call
    the intervention, where the generated description is not wanted.

    Interventions are values: equal ones have the same hash, and they can be pickled. `required` is no part
    of what makes them equal.
    """

    address: str
    kind: str
    value: Number | Function = 0.0
    where: Mapping[str, Where] = dataclasses.field(default_factory=dict)
    enabled: bool = True
    label: str = ""
    required: bool = dataclasses.field(default=True, compare=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.address, str) and isinstance(self.label, str)):
            raise LmvizError("The address and the label of an intervention are texts: give them as such.")
        if not isinstance(self.where, Mapping):
            raise LmvizError(f"{self.where!r} names no places: give them by axis, as in {{'position': 3}}.")
        where = {axis: _place(axis, place) for axis, place in self.where.items()}
        object.__setattr__(self, "where", MappingProxyType(where))
        object.__setattr__(self, "value", self.value if callable(self.value) else _number(self.value))
        if self.kind not in KINDS:
            raise LmvizError(f"An intervention cannot {self.kind!r}: choose one of {', '.join(KINDS)}.")
        if (self.kind == "swap") != (self.address == TOKENS and self.kind != "replace"):
            raise LmvizError("Tokens can be replaced or swapped, and only tokens can be swapped.")
        pair = self.where.get("position")
        if self.kind == "swap" and not (isinstance(pair, tuple) and len(pair) == 2):
            raise LmvizError("A swap needs two positions, such as where={'position': (2, 3)}.")

    def __hash__(self) -> int:
        where = frozenset((axis, _hashable(place)) for axis, place in self.where.items())
        return hash((self.address, self.kind, self.value, where, self.enabled, self.label))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.address, self.kind, self.value, dict(self.where), self.enabled, self.label)
        return type(self), (*fields, self.required)

    def concerns(self, address: str) -> bool:
        """Whether it changes the tap of this address."""
        return self.enabled and Address.parse(address).matches(self.address)

    @property
    def concerns_tokens(self) -> bool:
        """Whether it changes the prefix itself; a pattern of taps never does."""
        return self.enabled and self.address == TOKENS

    def describe(self) -> str:
        """One line for a list of interventions, such as "layer 2, attention weights, head 3 × 0"."""
        if self.label:
            return self.label
        places = [_describe_place(axis, place) for axis, place in self.where.items()]
        if self.kind == "swap":
            pair = self.where["position"]
            assert isinstance(pair, tuple)  # no swap is made of anything else
            places = [coordinate("position", at).removeprefix("position ") for at in pair]
            return f"swap positions {' and '.join(places)}"
        changes = {
            "replace": f"= {describe_value(self.value)}",
            "scale": f"× {describe_value(self.value)}",
            "add": f"+ {describe_value(self.value)}",
            "bypass": "switched off",
        }
        return f"{', '.join([title_of(self.address), *places])} {changes[self.kind]}"

    def to_values(self) -> dict[str, Any]:
        """Plain values, ready for JSON; LmvizError where the value is a function."""
        if callable(self.value):
            raise LmvizError(
                f"A file cannot hold a function, as in {self.describe()}: trace with it, and take the "
                "trace's interventions, which state the numbers that it gave."
            )
        where = {axis: _plain_place(place) for axis, place in self.where.items()}
        return {
            "address": self.address,
            "kind": self.kind,
            "value": self.value,
            "where": where,
            "enabled": self.enabled,
            "label": self.label,
            "required": self.required,
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The intervention whose `to_values` these are, also after JSON; LmvizError when it is none."""
        try:
            where = {axis: _read_place(place) for axis, place in values["where"].items()}
            return cls(**{**values, "where": where})
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise LmvizError(f"This is not an intervention ({error}): create it again.") from None


def _place(axis: str, place: Any) -> Where:
    if isinstance(place, slice):
        if not all(part is None or _is_index(part) for part in (place.start, place.stop, place.step)):
            raise LmvizError(
                f"{place!r} is not a place on the axis {axis}: a slice goes from index to index."
            )
        if place.step == 0:
            raise LmvizError(
                f"{place!r} is not a place on the axis {axis}: a slice goes on by 1 or more, or back."
            )
        return place
    if _is_index(place):
        return int(place)
    try:
        places = tuple(operator.index(index) for index in place)
    except TypeError:
        places = ()
    if not places:
        raise LmvizError(f"{place!r} is not a place on the axis {axis}: give an index, several, or a slice.")
    return places


def _is_index(place: Any) -> bool:
    return isinstance(place, (int, np.integer)) and not isinstance(place, bool)


def _hashable(place: Where) -> Any:
    return ("slice", place.start, place.stop, place.step) if isinstance(place, slice) else place


def _number(value: Any) -> Number:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # of a number with 400 digits
        raise LmvizError(
            "The value of an intervention must be a number, a full array of numbers, or a function."
        ) from None
    if np.isnan(array).any():
        raise LmvizError("The value of an intervention is not a number (NaN): see where it was computed.")
    return _nested(array.tolist())


def _nested(value: Any) -> Any:
    return tuple(_nested(item) for item in value) if isinstance(value, list) else value


def _plain_place(place: Where) -> Any:
    if isinstance(place, slice):
        return {"start": place.start, "stop": place.stop, "step": place.step}
    return list(place) if isinstance(place, tuple) else place


def _read_place(place: Any) -> Any:
    return slice(place["start"], place["stop"], place["step"]) if isinstance(place, Mapping) else place


def _describe_place(axis: str, place: Where) -> str:
    if isinstance(place, int):
        return coordinate(axis, place)
    if isinstance(place, tuple):
        numbers = [coordinate(axis, index).removeprefix(f"{axis} ") for index in place]
        return f"{axis}s {', '.join(numbers)}"
    first = coordinate(axis, place.start or 0)
    if place.stop is None:
        return f"{first} onward"
    return f"{first} to {coordinate(axis, place.stop - 1).removeprefix(f'{axis} ')}"


def describe_value(value: Number | Function) -> str:
    if callable(value):
        return "a function"
    if isinstance(value, float):
        return f"{value:.3g}"
    numbers = list(_flat(value))
    shown = ", ".join(f"{number:.2g}" for number in numbers[:4])
    return f"({shown}{', …' if len(numbers) > 4 else ''})"


def _flat(value: Number) -> Iterator[float]:
    for item in value if isinstance(value, tuple) else (value,):
        yield from _flat(item) if isinstance(item, tuple) else (item,)

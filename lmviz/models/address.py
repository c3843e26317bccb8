"""Addresses: what taps, parameters and their gradients are called, taken apart in one place."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

GRADIENT = "gradient/"
SIDES = ("encoder", "decoder")
DIRECTIONS = ("forward", "backward")
POOLED = "pooled"
"""The one vector that the class of a whole text is read from."""

HEADS, WRITTEN = "heads", "mixed"
"""What a pattern calls the heads of attention, and the name of the tap that they write."""


def gradient_of(address: str) -> str:
    """The address of the gradient of a tap, of a parameter or of a named value."""
    return GRADIENT + address


@dataclass(frozen=True)
class Address:
    """An address such as "decoder/layers/0/cross/weights", "orders/3/counts" or "embedding/token".

    Parameters, which have no slash, are taken apart at their dots: "output.weight". Before either may
    stand "gradient/". `str` writes it as it was read.
    """

    parts: tuple[str, ...]
    is_gradient: bool = False
    is_parameter: bool = False

    @staticmethod
    @lru_cache(maxsize=4096)  # asked for every tap at every step of the time slider
    def parse(address: str) -> Address:
        """Take an address apart; every text is one."""
        value = address.removeprefix(GRADIENT)
        is_parameter = "." in value and "/" not in value
        parts = tuple(value.split("." if is_parameter else "/"))
        return Address(parts, address.startswith(GRADIENT), is_parameter)

    def __str__(self) -> str:
        return gradient_of(self.value) if self.is_gradient else self.value

    @property
    def value(self) -> str:
        """The tap or the parameter itself, also where its gradient is meant."""
        return self._joined(len(self.parts))

    @property
    def side(self) -> str:
        """ "encoder" or "decoder" where a model has both; otherwise ""."""
        return self.parts[0] if self.parts[0] in SIDES else ""

    @property
    def layer(self) -> int | None:
        """The layer, counted from 0."""
        return self._number("layers")

    @property
    def head(self) -> int | None:
        """The head of attention, counted from 0, where one is meant by itself."""
        return self._number("heads")

    @property
    def order(self) -> int | None:
        """The order of an n-gram, counted from 1."""
        return self._number("orders")

    @property
    def direction(self) -> str:
        """Which way a layer reads, "forward" or "backward", where it says so; otherwise ""."""
        return next((part for part in self.parts[:-1] if part in DIRECTIONS), "")

    @property
    def block(self) -> str:
        """What the tap is a part of, such as "attention", "cross" or "embedding"; "" of a layer's own."""
        before = self.parts[-2] if len(self.parts) > 1 else ""
        return "" if before.isdecimal() or before in SIDES + DIRECTIONS else before

    @property
    def name(self) -> str:
        """The last part, such as "weights"."""
        return self.parts[-1]

    @property
    def place(self) -> str:
        """All but the name: "layers/0/attention"; of a parameter its module."""
        return self._joined(len(self.parts) - 1)

    @property
    def place_of_layer(self) -> str:
        """The place of the layer that it lies in, such as "encoder/layers/0"; "" outside the layers."""
        end = 0 if self.layer is None else self.parts.index("layers") + 2
        return self._joined(end) if end < len(self.parts) else ""

    def beside(self, name: str) -> str:
        """Another tap at the same place."""
        return f"{self.place}/{name}"

    def is_in(self, place: str) -> bool:
        """Whether it lies in a place, at whatever depth."""
        parts = Address.parse(place).parts
        return self.parts[: len(parts)] == parts != self.parts

    def matches(self, pattern: str) -> bool:
        """Whether a pattern means it, part by part between the slashes.

        In a part, `*` stands for any characters, `?` for one and `[01]` for one of some, so that
        "layers/*/hidden" is the state of each layer and not "layers/0/feedforward/hidden". A part `**`
        stands for any number of parts, and so does `*` where it is the first part: "*/hidden" means both,
        "*" all. A last part "heads" means what the heads write.
        """
        first, *rest = with_heads(pattern).split("/")
        return _match(tuple(str(self).split("/")), ("**" if first == "*" else first, *rest))

    def _joined(self, end: int) -> str:
        return ("." if self.is_parameter else "/").join(self.parts[:end])

    def _number(self, kind: str) -> int | None:
        number = self.parts[self.parts.index(kind) + 1] if kind in self.parts[:-1] else ""
        # Not every digit of Unicode is one to `int`, and no model has so many layers.
        return int(number) if number.isdecimal() and len(number) < 10 else None


def with_heads(pattern: str) -> str:
    """A pattern or an address in which heads are called by the tap that they write."""
    return f"{pattern.removesuffix(HEADS)}{WRITTEN}" if pattern.endswith(f"/{HEADS}") else pattern


@lru_cache(maxsize=4096)
def _match(parts: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return not parts
    first, rest = patterns[0], patterns[1:]
    if first == "**":
        return any(_match(parts[skipped:], rest) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], first) and _match(parts[1:], rest)

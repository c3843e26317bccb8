"""One recurrence of a recurrent network: a layer that reads its input in one direction."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lmviz.models.operations import Linear, Row
from lmviz.models.tap import Operation, Stage, Tap, Value, Weight

FORWARD, BACKWARD, BOTH = "forward", "backward", "both"


@dataclass(frozen=True)
class Strand:
    """A layer in one direction: where it stands, what it reads, and the names of its parameters.

    `place` begins the addresses of its taps, `below` is the tap that it reads, `suffix` ends the names of
    its parameters in PyTorch's `module`. In `reverse` it goes from the last position to the first. `axis` is
    the one that it runs along, and `scan` the recurrence that its taps belong to, its own where it is empty.
    Where it is `begun` it starts from a given state: its state before is the tap "previous".
    """

    place: str
    below: str
    suffix: str
    width: int
    reverse: bool
    module: str = "recurrence"
    axis: str = "position"
    scan: str = ""
    begun: bool = False

    def at(self, name: str) -> Value:
        """One of its taps, at the same position."""
        return Value(f"{self.place}/{name}")

    def previous(self, name: str = "hidden") -> Value:
        """One of its taps at the position that was computed just before."""
        if self.begun and name == "hidden":
            return self.at("previous")
        return Value(f"{self.place}/{name}", shift=1 if self.reverse else -1, width=self.width)

    def from_input(self, gate: int) -> Linear:
        """What a gate makes of the layer below."""
        return self._linear("input", Row(Value(self.below)), "ih", gate)

    def from_previous(self, gate: int, reset: Value | None = None) -> Linear:
        """What a gate makes of the state before."""
        return self._linear(
            "later state" if self.reverse else "previous state", Row(self.previous()), "hh", gate, reset
        )

    def _linear(self, label: str, read: Row, kind: str, gate: int, reset: Value | None = None) -> Linear:
        rows = (gate * self.width, (gate + 1) * self.width)
        weight, bias = (f"{self.module}.{part}_{kind}{self.suffix}" for part in ("weight", "bias"))
        return Linear(label, read, Weight(weight, rows), Weight(bias, rows), gate=reset)

    def tap(self, name: str, operation: Operation, scale: str = "signed") -> Tap:
        """A tap of the recurrence."""
        return Tap(
            f"{self.place}/{name}",
            (self.axis, "unit"),
            operation,
            scale,
            scan=self.scan or self.place,
            reverse=self.reverse,
        )

    def stage(self, title: str, equation: str, result: str, *operands: str | Value) -> Stage:
        """A stage of the recurrence at one position; operands are names of its taps, or values.

        The equation is written for the direction from left to right.
        """
        read = [self.at(operand) if isinstance(operand, str) else operand for operand in operands]
        return Stage(
            title,
            equation.replace("{t-1}", "{t+1}") if self.reverse else equation,
            (f"{self.place}/{result}",),
            tuple(operand.address for operand in read),
            self.place,
            by_position=True,
            shifts=tuple(operand.shift for operand in read),
        )


def strands(layer: int, direction: str, width: int, *, encoder: bool = False) -> tuple[Strand, ...]:
    """The recurrences of a layer: one, or one in each direction; of an encoder, along the source."""
    part, module, axis = ("encoder/", "encoder", "source") if encoder else ("", "recurrence", "position")
    place = f"{part}layers/{layer}"
    below = top(layer - 1, direction, encoder=encoder) if layer else f"{part}embedding"

    def strand(place: str, suffix: str, reverse: bool) -> Strand:
        return Strand(place, below, f"_l{layer}{suffix}", width, reverse, module, axis)

    if direction != BOTH:
        return (strand(place, "", direction == BACKWARD),)
    return strand(f"{place}/{FORWARD}", "", False), strand(f"{place}/{BACKWARD}", "_reverse", True)


def top(layer: int, direction: str, *, encoder: bool = False) -> str:
    """The tap of a layer that the next one reads."""
    return f"{'encoder/' if encoder else ''}layers/{layer}/{'joined' if direction == BOTH else 'hidden'}"


def turned(values: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
    """Rows (batch, position, feature) from their last position to their first; padding stays behind.

    Without `lengths` (batch,) there is no padding. What is turned twice is as before.
    """
    if lengths is None:
        return values.flip(1)
    places = torch.arange(values.shape[1], device=values.device)
    lasts = lengths[:, None] - 1
    order = torch.where(places <= lasts, lasts - places, places)  # (batch, position)
    return values.gather(1, order[..., None].expand_as(values))

"""A direction used: added, removed or swapped, at one layer or all, from a position on, at a strength."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.direction_map import DirectionMap

HOWS = ("add", "remove", "swap")
LAYER = re.compile(r"^layers/\d+/")


@dataclass(frozen=True, eq=False)
class DirectionUse:
    """What is done along a direction, before it is said how strongly.

    `how` is one of "add", "remove" and "swap"; the last needs an `other` direction at the same tap. It is
    done at the direction's own layer, or `everywhere`, at all layers, and from the position `start` on.
    LmvizError where these do not go together.
    """

    direction: StateDirection
    how: str = "add"
    other: StateDirection | None = None
    everywhere: bool = False
    start: int = 0

    def __post_init__(self) -> None:
        whole_number("start", self.start, least=0)
        if self.how not in HOWS:
            raise LmvizError(f"A direction is not used by {self.how!r}: choose one of {', '.join(HOWS)}.")
        is_given = isinstance(self.other, StateDirection)
        if not is_given and (self.how == "swap" or self.other is not None):
            raise LmvizError("A swap needs another direction at the same tap: give one as `other`.")

    @property
    def address(self) -> str:
        """The tap, or the pattern of taps, that is changed."""
        return LAYER.sub("layers/*/", self.direction.address) if self.everywhere else self.direction.address

    def change(self, strength: float, opened: str = "", opened_other: str = "") -> Intervention:
        """The intervention at a strength; 0 changes nothing, and 1 does the whole of it.

        `opened` and `opened_other` are Python code for the two directions, for recipes.
        """
        direction, other = self.direction, self.other
        if self.how == "add":
            made, said = direction.add(strength), f"{strength:+.3g} × {direction.called}"
        elif self.how == "remove":
            made = direction.remove(strength)
            said = f"{direction.called} removed{_times(strength)}"
        else:
            assert other is not None  # checked above
            made = direction.swap(other, strength)
            said = f"{direction.called} ⇄ {other.called}{_times(strength)}"
        if opened and isinstance(made.value, DirectionMap):
            call = f"({opened}).remove(" if other is None else f"({opened}).swap({opened_other}, "
            made = dataclasses.replace(
                made, value=dataclasses.replace(made.value, code=f"{call}{strength!r}).value")
            )
        where = {"position": slice(self.start, None)} if self.start else {}
        return dataclasses.replace(
            made, address=self.address, where=where, label=said, required=not self.start
        )

    def random_like(self, seed: int = 0) -> DirectionUse:
        """The same done along directions that mean nothing, of the same length: the control."""
        other = None if self.other is None else self.other.random_like(seed + 1000)
        return dataclasses.replace(self, direction=self.direction.random_like(seed), other=other)

    def at_all_positions(self) -> DirectionUse:
        """The same from the first position on, as for other texts."""
        return dataclasses.replace(self, start=0)


def _times(strength: float) -> str:
    return "" if strength == 1 else f" × {strength:.3g}"

"""What the picture of a small network draws: its values, with their cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from PySide6.QtGui import QFontMetricsF

from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import cut
from lmviz.autodiff.layout import ValuePlace

DIGITS, ALL_DIGITS = 4, 6  # decimals of a figure where there is little room, and where there is more


class ValueCell(NamedTuple):
    """A cell of a value or of its gradient, by the name of the value."""

    name: str
    place: tuple[int, ...]
    is_gradient: bool


@dataclass(frozen=True, eq=False)
class DrawnValue:
    """One value: a module's output where `word` names the module, else numbers that are given.

    `values` and `gradient` are None as long as they are not known; `held` marks the cells that were set by
    hand. `place` is its row, step and side. `popped` says whether the sweep has sent its gradient back;
    `equations` is what it hands back, in LaTeX.
    """

    name: str
    label: str
    word: str
    shape: tuple[int, ...]
    values: np.ndarray | None
    gradient: np.ndarray | None
    held: np.ndarray | None
    place: ValuePlace
    inputs: tuple[str, ...] = ()
    equations: tuple[str, ...] = ()
    popped: bool = False

    @property
    def structure(self) -> tuple[object, ...]:
        """All that its place and those of its arrows follow from."""
        return self.name, self.label, self.word, self.shape, self.place, self.inputs, self.equations

    @property
    def gradient_label(self) -> str:
        """How its gradient is called."""
        return f"g {self.label}"

    @property
    def rows(self) -> int:
        """Rows of cells; vectors and numbers have one."""
        return self.shape[0] if len(self.shape) == 2 else 1

    @property
    def columns(self) -> int:
        """Cells in a row."""
        return self.shape[-1] if self.shape else 1

    @cached_property
    def indices(self) -> list[tuple[int, ...]]:
        """The places of all cells, row by row."""
        return list(np.ndindex(*self.shape))

    def is_drawn_like(self, other: DrawnValue) -> bool:
        """Whether another value of the same name, shape and place looks the same."""
        pairs = ((self.values, other.values), (self.gradient, other.gradient), (self.held, other.held))
        return self.popped == other.popped and all(_is_same(one, two) for one, two in pairs)

    def array(self, is_gradient: bool) -> np.ndarray | None:
        """The values or the gradient."""
        return self.gradient if is_gradient else self.values

    def is_held(self, cell: ValueCell) -> bool:
        """Whether the number of a cell was set by hand."""
        return self.held is not None and not cell.is_gradient and bool(self.held[cell.place])

    def figure(self, index: tuple[int, ...], is_gradient: bool, digits: int = DIGITS) -> str:
        """A cell as it is written; empty as long as it is not known."""
        array = self.array(is_gradient)
        if array is None:
            return ""
        written = self._figures.get((index, is_gradient, digits))
        if written is None:
            written = number(float(array[index]), digits)
            if not is_gradient and not self.word and "." in written and "e" not in written:
                written = written.rstrip("0").rstrip(".")  # as it was given
            self._figures[index, is_gradient, digits] = written
        return written

    def figure_in(
        self, index: tuple[int, ...], is_gradient: bool, digits: int, room: float, measure: QFontMetricsF
    ) -> str:
        """The same with as many decimals as there is room for."""
        found = [self.figure(index, is_gradient, each) for each in (digits, min(2, digits), 0)]
        fitting = (each for each in found if measure.horizontalAdvance(each) <= room)
        return next(fitting, cut(found[-1], room, measure))

    @cached_property
    def _figures(self) -> dict[tuple[tuple[int, ...], bool, int], str]:
        """What was written in the cells."""
        return {}


def _is_same(one: np.ndarray | None, two: np.ndarray | None) -> bool:
    if one is None or two is None or one is two:
        return one is two
    return bool(((one == two) | ((one != one) & (two != two))).all())  # NaN looks like NaN

"""The base of pictures that are drawn larger, type included, where they have more room than usual."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from PySide6.QtCore import QSize
from PySide6.QtGui import QFontMetricsF

from lmviz.app.look.roles import TEXT_SIZE, Theme
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.canvas import Canvas, metrics

MOST_GROWTH = 1.6
SHARE = 0.6  # of what the room grows by; the rest goes to what is drawn between the words
STEPS = 20  # of growth between one size and twice that: fonts are measured and kept for each


class EnlargedCanvas(Canvas):
    """Draws everything larger by its `growth`, which whoever places it sets: `set_growth(growth)`."""

    _growth = 1.0

    @property
    def growth(self) -> float:
        """By how much everything is drawn larger than usual; 1 at least."""
        return self._growth

    def set_growth(self, growth: float) -> None:
        """Draw everything so many times as large as usual."""
        if growth != self._growth:
            self._growth = growth
            self.adopt_theme()

    @property
    def theme(self) -> Theme:
        """The theme in force, its scale grown."""
        return grown(current_theme(), self.growth)

    def metrics(self, size: float = TEXT_SIZE, *, token: bool = False, bold: bool = False) -> QFontMetricsF:
        """Measures of type in the size in which it is drawn."""
        return metrics(size, token=token, bold=bold, theme=self.theme)


class GrowingCanvas(EnlargedCanvas):
    """Grows by itself where it is larger than `usual_size`; `length` and fonts follow.

    Hints of sizes go by `usual_length`: a picture that has grown must be able to shrink again.
    """

    usual_size: tuple[float, float] = (560, 560)
    """The width and height in pixels at scale 1 for which lengths are written; 0 where it does not count."""

    _measured_for: tuple[QSize, float, int] | None = None

    @property
    def growth(self) -> float:
        """By how much everything is drawn larger than usual; 1 at least."""
        circumstances = (self.size(), current_theme().scale, self.amount())
        if circumstances != self._measured_for:  # a paint asks hundreds of times
            self._measured_for, self._growth = circumstances, self.fitting_growth()
        return self._growth

    def fitting_growth(self) -> float:
        """The growth in the size in force, for what is shown."""
        return self.growth_at(self.size())

    def amount(self) -> int:
        """How much there is to show, where the growth depends on it."""
        return 0

    def growth_at(self, size: QSize) -> float:
        """The growth in another size."""
        return growth_of(size, self.usual_size)

    def usual_length(self, pixels: float) -> float:
        """A length at the theme's scale, not grown."""
        return pixels * current_theme().scale


def growth_of(size: QSize, usual_size: tuple[float, float]) -> float:
    """By how much to draw larger what is usually so large, in pixels at scale 1; 0 does not count."""
    scale = current_theme().scale
    sides = zip((size.width(), size.height()), usual_size, strict=True)
    room = min(side / (usual * scale) for side, usual in sides if usual)
    return growth_in(1 + SHARE * (room - 1))


def growth_in(room: float, most: float = MOST_GROWTH) -> float:
    """The growth that fits into so many times the usual room, in steps."""
    return int(min(max(room, 1.0), most) * STEPS) / STEPS


@lru_cache(maxsize=32)
def grown(theme: Theme, growth: float) -> Theme:
    """The theme with larger type and lengths."""
    return theme if growth == 1 else replace(theme, scale=theme.scale * growth)

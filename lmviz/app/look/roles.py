"""The table of colours for the light and the dark theme as Qt draws with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from PySide6.QtGui import QColor, QFont

from lmviz.app.look.color_maps import color_map, contrast, mix
from lmviz.app.look.typefaces import TEXT_FAMILIES, TOKEN_FAMILIES, font_of
from lmviz.looks import palette
from lmviz.looks.ink import Ink
from lmviz.looks.palette import SEEN, TINTS, Palette

TEXT_SIZE = 13
PROJECTOR_SCALE = 1.35
INK, PAPER = QColor(palette.INK), QColor(palette.PAPER)


@dataclass(frozen=True, eq=False)
class Theme:
    """The named roles. Everything drawn takes its colour from here, and its lengths times `scale`."""

    name: str
    background: QColor
    surface: QColor
    line: QColor
    text: QColor
    muted_text: QColor
    accent: QColor
    accent_wash: QColor
    query: QColor
    key: QColor
    value: QColor
    training: QColor
    validation: QColor
    signed_negative: QColor
    signed_zero: QColor
    signed_positive: QColor
    share_none: QColor
    share_all: QColor
    warning: QColor
    note_wash: QColor
    series_orange: QColor
    series_green: QColor
    series_blue: QColor
    series_grey: QColor
    series_red: QColor
    scale: float = 1.0

    @cached_property
    def signed_map(self) -> np.ndarray:
        """(256, 4) uint8: negative to positive, with zero in the middle."""
        return color_map(self.signed_negative, self.signed_zero, self.signed_positive)

    @cached_property
    def share_map(self) -> np.ndarray:
        """(256, 4) uint8: shares between none and all."""
        return color_map(self.share_none, self.share_all)

    @cached_property
    def count_map(self) -> np.ndarray:
        """(256, 4) uint8: counts from zero, in the colour of ink."""
        return color_map(self.share_none, mix(self.surface, self.text, 0.8))

    @cached_property
    def chip(self) -> QColor:
        """The background of a token."""
        return mix(self.surface, self.line, 0.6)

    @property
    def right(self) -> QColor:
        """What is done, and an answer that is right."""
        return self.value

    @cached_property
    def right_wash(self) -> QColor:
        """The background of what is said about such an answer."""
        return mix(self.surface, self.right, 0.14)

    @cached_property
    def hover(self) -> QColor:
        """The background of what the pointer is over."""
        return mix(self.surface, self.line, 0.4)

    @cached_property
    def strong_line(self) -> QColor:
        """A line that has to be seen, such as the edge of what can be pressed."""
        return mix(self.line, self.muted_text, 0.25)

    @cached_property
    def accent_hover(self) -> QColor:
        """The accent under the pointer."""
        return mix(self.accent, self.text, 0.15)

    @cached_property
    def faint_text(self) -> QColor:
        """Dimmed text: not related to what is pointed at."""
        return mix(self.surface, self.muted_text, 0.5)

    @cached_property
    def tints(self) -> tuple[QColor, ...]:
        """Quiet backgrounds that tell neighbouring tokens apart."""
        roles = (self.accent, self.key, self.value, self.query)
        return tuple(mix(self.surface, role, 0.13) for role in roles)

    @cached_property
    def _series(self) -> tuple[QColor, ...]:
        roles = (
            *(self.accent, self.series_orange, self.series_green),
            *(self.series_blue, self.series_grey, self.series_red),
        )
        plain = tuple(map(self._legible, roles))
        return tuple(mix(color, self.text, share) for share in TINTS for color in plain)

    @cached_property
    def rose(self) -> QColor:
        """What has risen, as words and thin lines: the positive end of signed values, so that it is seen."""
        return self._legible(self.signed_positive)

    @cached_property
    def fell(self) -> QColor:
        """What has fallen."""
        return self._legible(self.signed_negative)

    def _legible(self, color: QColor) -> QColor:
        """The colour, or so much nearer to that of text that a thin line of it is seen."""
        steps = (mix(color, self.text, share / 10) for share in range(10))
        return next(step for step in steps if contrast(step, self.surface) >= SEEN)

    def series_color(self, index: int) -> QColor:
        """The colour of one of several models or curves, which count from 0.

        Six are followed by a tint of each, nearer to the colour of text, and by another; then they repeat.
        """
        return self._series[index % len(self._series)]

    def tint_of(self, index: int) -> int:
        """Whether a colour of the series is plain, 0, or which tint of a plain one it is."""
        return index % len(self._series) // (len(self._series) // len(TINTS))

    def ink(self, ink: Ink) -> QColor:
        """The colour of an ink: a role by its name, one of the series by its number, or "#RRGGBB"."""
        if isinstance(ink, int):
            return self.series_color(ink)
        return QColor(ink) if ink.startswith("#") else getattr(self, ink)

    def map_of(self, scale: str) -> np.ndarray:
        """The lookup table for a tap's scale (see `lmviz.models.tap.SCALES`)."""
        return {"share": self.share_map, "count": self.count_map}.get(scale, self.signed_map)

    def signed(self, value: float) -> QColor:
        """The colour of a number by its sign."""
        return self.signed_positive if value > 0 else self.signed_negative

    def on(self, color: QColor) -> QColor:
        """The text colour to be read on a colour: the better of black ink and white."""
        return PAPER if contrast(PAPER, color) >= contrast(INK, color) else INK

    def font(self, size: float = TEXT_SIZE, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """A proportional font with tabular figures; `size` in logical pixels before scaling."""
        return font_of(TEXT_FAMILIES, size * self.scale, weight)

    def token_font(self, size: float = TEXT_SIZE, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """A monospaced font, for tokens and numbers in columns."""
        return font_of(TOKEN_FAMILIES, size * self.scale, weight)


def _theme(name: str, palette: Palette) -> Theme:
    colors: dict[str, Any] = {role: QColor(color) for role, color in palette.roles.items()}
    return Theme(name, **colors)


LIGHT, DARK = _theme("light", palette.LIGHT), _theme("dark", palette.DARK)

"""Strips on which every head has its place by a score, and the chosen one is seen among all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.kit.pointing import ARROWS, CONFIRMING, Pointed, Words
from lmviz.app.widgets.kit.rows import across

ROW, GAP = 19, 10  # pixels at scale 1
NAMES, FIGURES = 128, 78  # the widths of the names at the left, and of the score and its rank at the right
FAINT = 0.35  # how opaque the strokes of all heads are, so that many in one place are darker
UNKNOWN = "cannot be told from this text"

Place = tuple[int, int]
"""A strip, and the part on it that is nearest."""


@dataclass(frozen=True, eq=False)
class ScoreStrip:
    """A score by its name: what every part has of it, (part,) from 0 to 1, NaN where it is not known."""

    name: str
    scores: np.ndarray
    role: str = "accent"

    def rank(self, part: int) -> int | None:
        """How many parts have as much or more, itself included; None where it has no score, or is none."""
        known = 0 <= part < len(self.scores) and not np.isnan(self.scores[part])
        return 1 + int((self.scores > self.scores[part]).sum()) if known else None


class ScoreStrips(Pointed[Place | None]):
    """`ScoreStrips()`: `set_strips(strips)`; `set_current(part)` marks a part on all of them, −1 for none.

    `set_readout(function)` gives the hover card's words for (strip, part). On a strip, the pointer is at the
    nearest part; arrow keys lead to others, and Enter clicks.
    """

    spoken_as = "Chart"

    nowhere = None
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strips: tuple[ScoreStrip, ...] = ()
        self._current = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("scores among all")

    @property
    def strips(self) -> tuple[ScoreStrip, ...]:
        """What is drawn."""
        return self._strips

    @property
    def current(self) -> int:
        """The part that is marked; −1 for none."""
        return self._current

    def set_strips(self, strips: Sequence[ScoreStrip]) -> None:
        """Draw other scores."""
        self._strips = tuple(strips)
        self.hover(None)
        self._describe()
        self.updateGeometry()
        self.update()

    def set_current(self, part: int) -> None:
        """Mark a part; −1 for none."""
        self._current = part
        self._describe()
        self.update()

    def _describe(self) -> None:
        part = self._current
        ranks = [(strip, rank) for strip in self._strips if (rank := strip.rank(part)) is not None]
        said = [f"{strip.name} {strip.scores[part]:.2f}, rank {rank}" for strip, rank in ranks]
        self.setAccessibleDescription("; ".join(said))

    def place_of(self, strip: int, part: int) -> QPointF:
        """Where a part stands on a strip."""
        area = self._area(strip)
        score = float(np.clip(self._strips[strip].scores[part], 0.0, 1.0))
        return QPointF(area.left() + score * area.width(), area.center().y())

    def sizeHint(self) -> QSize:
        return self._sized(480, ROW * len(self._strips))

    def minimumSizeHint(self) -> QSize:
        return self._sized(NAMES + FIGURES + 80, None)

    def index_at(self, place: QPointF) -> Place | None:
        strip = int(place.y() // self.length(ROW))
        if not 0 <= strip < len(self._strips):
            return None
        area, scores = self._area(strip), self._strips[strip].scores
        if not area.left() - 3 <= place.x() <= area.right() + 3 or np.isnan(scores).all():
            return None
        wanted = (place.x() - area.left()) / area.width()
        return strip, int(np.nanargmin(np.abs(scores - wanted)))

    def part_rectangle(self, index: Place | None) -> QRectF | None:
        if index is None:
            return None
        middle, half = self.place_of(*index), self.length(ROW) / 2
        return QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half)

    def readout(self, index: Place | None) -> Words | None:
        return None if self._readout is None or index is None else self._readout(*index)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in CONFIRMING and self._hovered is not None:
            self.clicked_on(self._hovered)
        elif event.key() in ARROWS:
            self.hover(self._beside(*ARROWS[event.key()]))
        else:
            super().keyPressEvent(event)

    def _beside(self, down: int, right: int) -> Place | None:
        """The part with the next score on the strip that is pointed at, or the same part on another strip."""
        known = [at for at, strip in enumerate(self._strips) if not np.isnan(strip.scores).all()]
        if not known:
            return None
        strip, part = self._hovered or (known[0], self._current)
        strip = known[min(max(known.index(strip) + down, 0), len(known) - 1)]
        order = [at for at in np.argsort(self._strips[strip].scores, kind="stable").tolist()
                 if not np.isnan(self._strips[strip].scores[at])]  # fmt: skip
        at = order.index(part) + right if part in order else 0
        return strip, order[min(max(at, 0), len(order) - 1)]

    def _area(self, strip: int) -> QRectF:
        left, right = self.length(NAMES + GAP), self.width() - self.length(FIGURES + GAP)
        return QRectF(left, strip * self.length(ROW), max(1.0, right - left), self.length(ROW))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        for index, strip in enumerate(self._strips):
            self._draw_strip(painter, index, strip)
        self.draw_focus(painter)

    def _draw_strip(self, painter: Painter, index: int, strip: ScoreStrip) -> None:
        theme, area = self.theme, self._area(index)
        painter.fit(across(area, 0, self.length(NAMES)), strip.name, theme.text, 12, where=AT_RIGHT)
        if np.isnan(strip.scores).all():
            painter.fit(area, UNKNOWN, theme.muted_text, 12)
            return
        middle, faint = area.center().y(), QColor(theme.muted_text)
        painter.line(QPointF(area.left(), middle), QPointF(area.right(), middle), theme.line, 1)
        faint.setAlphaF(FAINT)
        high = 0.28 * self.length(ROW)
        known = np.clip(strip.scores[np.isfinite(strip.scores)], 0.0, 1.0)
        lefts = (area.left() + known * area.width()).tolist()
        painter.setPen(QPen(faint, self.length(1.2)))
        painter.drawLines([QLineF(left, middle - high, left, middle + high) for left in lefts])
        hovered = self._hovered
        if hovered is not None and hovered[0] == index:
            self._draw_stroke(painter, self.place_of(*hovered), theme.text, 2.0, 0.4)
        rank = strip.rank(self._current)
        if rank is None:
            return
        color = getattr(theme, strip.role)
        self._draw_stroke(painter, self.place_of(index, self._current), color, 3.2, 0.4)
        figures = across(area, area.right() + self.length(GAP), self.width())
        painter.write(figures, f"{strip.scores[self._current]:.2f}", theme.text, 12, bold=True)
        painter.write(figures, f"{rank}.", theme.muted_text, 12, where=AT_RIGHT)

    def _draw_stroke(
        self, painter: Painter, middle: QPointF, color: QColor, width: float, half: float
    ) -> None:
        high = half * self.length(ROW)
        painter.line(middle - QPointF(0, high), middle + QPointF(0, high), color, width)

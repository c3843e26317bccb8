"""Vectors as strips of cells, one below the other, each with its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QImage, QKeyEvent, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import fitted
from lmviz.app.widgets.base.figures import cell_figure, count, number, whole_percentage
from lmviz.app.widgets.base.growing_canvas import EnlargedCanvas
from lmviz.app.widgets.kit.painter import CENTRED, DASHES, Painter, photograph
from lmviz.app.widgets.kit.pointing import ARROWS, CONFIRMING, Pointed, Words, step
from lmviz.app.widgets.kit.rows import no_smaller
from lmviz.app.widgets.matrix.cells import Cells, cell_image, color_table, ink_table, veil
from lmviz.app.widgets.matrix.crossfade import Crossfade

ROW, BETWEEN = 27, 8  # pixels of a line, and of them between two strips
LABEL_SHARE, SHARES_SHARE = 0.3, 0.2  # of the width: for names, and for shares where there are some
LABEL_SIZES = (12, 11, 10, 9)
FADED, FAINTEST = 0.35, 0.12
MARGIN = 4  # left and right of a name, within the ring of the keyboard's focus


@dataclass(frozen=True, eq=False)
class Strip:
    """One vector: `values` (cell,), on a scale of `lmviz.models.tap.SCALES`; `role` is "result",
    "operand" or "other", from bold to faded. `share`, from 0 to 1, is the weight with which it counts: its
    cells fade by it, and a bar before them shows it. `texts` (cell,) are written instead of the numbers, for
    cells whose numbers are only ids and are left without a colour."""

    label: str
    values: np.ndarray
    scale: str
    limit: float | None = None
    role: str = "operand"
    texts: tuple[str, ...] = ()
    share: float | None = None

    @property
    def opacity(self) -> float:
        """How strongly its cells are drawn."""
        if self.share is None:
            return FADED if self.role == "other" else 1.0
        return FAINTEST + (1 - FAINTEST) * min(max(self.share, 0.0), 1.0)


class StripList(Pointed[tuple[int, int]], EnlargedCanvas):
    """`StripList(row=ROW)`: `set_strips(strips)`, in lines of so many pixels; `set_marks([(strip, cell)])`
    outlines cells, the first strongest, and with `dashed` as ones that nobody has chosen;
    `set_lights(strengths)` fades what does not belong to an explained cell; `set_readout(function)` gives
    the hover card's words for (strip, cell).

    Signals: `cell_hovered(int, int)` (−1, −1 on leaving), `cell_clicked(int, int)`.
    Arrow keys walk through the cells as the pointer does, Enter is a click.
    """

    cell_hovered = Signal(int, int)
    cell_clicked = Signal(int, int)

    least = (180, None)
    nowhere = (-1, -1)

    def __init__(self, row: float = ROW) -> None:
        super().__init__()
        self._row = row
        self._strips: tuple[Strip, ...] = ()
        self._cells: list[Cells] = []
        self._images: list[QImage] = []
        self._marks: tuple[tuple[int, int], ...] = ()
        self._dashed = False
        self._lights: tuple[np.ndarray, ...] = ()
        self._crossfade: Crossfade[QPixmap] = Crossfade(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("operands and result")

    @property
    def strips(self) -> tuple[Strip, ...]:
        """What is drawn."""
        return self._strips

    def set_strips(self, strips: Sequence[Strip], *, crossfade: bool = False) -> None:
        """Draw vectors from top to bottom; with `crossfade` the old ones fade out in a quarter second."""
        before = self.sizeHint()
        self._crossfade.end()
        if crossfade and self._strips:
            self._crossfade.begin(photograph(self, self.theme, self._draw))
        self._strips = tuple(strips)
        self._cells = [_cells(strip) for strip in self._strips]
        self._marks, self._lights = (), ()
        if not self._has(self._hovered):
            self._hovered = self.nowhere
        self.renew_card()
        self.setAccessibleDescription("; ".join(map(_in_words, self._strips)))
        self._paint_images()
        if self.sizeHint() != before:  # as many strips have the same room
            self.updateGeometry()
        self.update()

    def set_marks(self, marks: Sequence[tuple[int, int]], *, dashed: bool = False) -> None:
        """Outline cells (strip, cell), with dashes where nobody has chosen them."""
        if (tuple(marks), dashed) != (self._marks, self._dashed):
            self._marks, self._dashed = tuple(marks), dashed
            self.update()

    @property
    def lights(self) -> tuple[np.ndarray, ...]:
        """How strongly the cells of each strip are lit, (1, cell) from 0 to 3; empty while nothing fades."""
        return self._lights

    def set_lights(self, strengths: Sequence[np.ndarray | None]) -> None:
        """Fade each cell but those lit, one row (1, cell) of strengths from 0 to 3 a strip, None for 0.

        Where no strip is lit nothing fades.
        """
        lit = any(row is not None for row in strengths)
        self._lights = tuple(
            np.zeros((1, len(strip.values)), dtype=np.int8) if row is None else row
            for row, strip in zip(strengths if lit else (), self._strips, strict=lit)
        )
        self.update()

    def readout(self, index: tuple[int, int]) -> Words | None:
        return None if self._readout is None else self._readout(*index)

    def part_rectangle(self, index: tuple[int, int]) -> QRectF:
        return self.cell_rectangle(*index)

    def pointed_at(self, index: tuple[int, int]) -> None:
        self.cell_hovered.emit(*index)

    def clicked_on(self, index: tuple[int, int]) -> None:
        self.cell_clicked.emit(*index)

    def cell_rectangle(self, strip: int, cell: int) -> QRectF:
        """Where a cell is drawn."""
        area = self._area(strip)
        width = area.width() / max(1, len(self._strips[strip].values))
        return QRectF(area.left() + cell * width, area.top(), width, area.height())

    @property
    def is_crossfading(self) -> bool:
        """Whether the strips before are still giving way."""
        return self._crossfade.before is not None

    def adopt_theme(self) -> None:
        self._crossfade.end()
        self._paint_images()
        super().adopt_theme()

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(300)), round(self.length(self._row) * len(self._strips)))

    def _paint_images(self) -> None:
        self._images = [
            cell_image(cells.levels, color_table(self.theme, strip.scale))
            for cells, strip in zip(self._cells, self._strips, strict=True)
        ]

    def _area(self, strip: int) -> QRectF:
        has_shares = any(other.share is not None for other in self._strips)
        left = self.width() * (LABEL_SHARE + (SHARES_SHARE if has_shares else 0.0))
        top = strip * self.length(self._row) + self.length(BETWEEN) / 2
        return QRectF(left, top, max(1.0, self.width() - left), self.length(self._row - BETWEEN))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self._draw(painter)
        if self._crossfade.before is not None:
            painter.setOpacity(1.0 - self._crossfade.share)
            painter.drawPixmap(0, 0, self._crossfade.before)
            painter.setOpacity(1.0)
        self._draw_marks(painter)
        self.draw_focus(painter)

    def _draw(self, painter: Painter) -> None:
        for index, strip in enumerate(self._strips):
            painter.setOpacity(FADED if strip.role == "other" else 1.0)
            self._draw_label(painter, index, strip)
            self._draw_share(painter, index, strip)
            painter.setOpacity(strip.opacity)
            area = self._area(index)
            painter.drawImage(area, self._images[index], QRectF(self._images[index].rect()))
            self._draw_figures(painter, index, strip)
            if self._lights:
                painter.drawImage(area, veil(self._lights[index], self.theme))
            painter.box(area, edge=QPen(self.theme.line, 1))
        painter.setOpacity(1.0)

    def _draw_label(self, painter: Painter, index: int, strip: Strip) -> None:
        bold = strip.role == "result"
        margin = self.length(MARGIN)
        width = self.width() * LABEL_SHARE - 2 * margin
        label, size = fitted(strip.label, width, LABEL_SIZES, bold=bold, theme=self.theme)
        place = QRectF(margin, index * self.length(self._row), width, self.length(self._row))
        ink = self.theme.text if strip.role != "other" else self.theme.muted_text
        painter.write(place, label, ink, size, bold=bold)

    def _draw_share(self, painter: Painter, index: int, strip: Strip) -> None:
        """The weight of a strip as a bar, with its number after it, or in it where there is no room."""
        if strip.share is None:
            return
        left, width, area = self.width() * LABEL_SHARE, self.width() * SHARES_SHARE, self._area(index)
        bar = QRectF(left, area.top() + area.height() / 5, width * strip.share * 0.9, area.height() * 3 / 5)
        painter.fillRect(bar, self.theme.accent)
        text = whole_percentage(strip.share)
        needed = self.metrics(10.5).horizontalAdvance(text) + self.length(6)
        has_room = width - bar.width() >= needed
        ink = self.theme.muted_text if has_room else self.theme.surface
        start = bar.right() + self.length(3) if has_room else bar.right() - needed
        painter.write(QRectF(start, area.top(), needed, area.height()), text, ink, 10.5, where=CENTRED)

    def _draw_figures(self, painter: Painter, index: int, strip: Strip) -> None:
        """Numbers inside the cells, where there is room for them."""
        if self.cell_rectangle(index, 0).width() < self.length(36) if len(strip.values) else True:
            return
        painter.setFont(self.theme.font(11))
        inks, levels = ink_table(self.theme, strip.scale), self._cells[index].levels[0]
        texts = strip.texts or [cell_figure(float(value)) for value in strip.values]
        for cell, text in enumerate(texts):
            painter.write(self.cell_rectangle(index, cell), text, inks[levels[cell]], where=CENTRED)

    def _draw_marks(self, painter: Painter) -> None:
        for place, (strip, cell) in enumerate(self._marks):
            pen = QPen(self.theme.text, self.length(2 if place == 0 and not self._dashed else 1.2))
            if self._dashed:
                pen.setDashPattern(DASHES)
            self._frame(painter, (strip, cell), pen)
        if self._hovered[0] >= 0:
            self._frame(painter, self._hovered, QPen(self.theme.accent, self.length(2)))

    def _frame(self, painter: Painter, cell: tuple[int, int], pen: QPen) -> None:
        """At least a few pixels, so that a cell among hundreds can be seen."""
        area = no_smaller(self.cell_rectangle(*cell), self.length(5))
        painter.box(area.adjusted(0, -1, 0, 1), edge=pen)

    def _has(self, cell: tuple[int, int]) -> bool:
        return 0 <= cell[0] < len(self._strips) and 0 <= cell[1] < len(self._strips[cell[0]].values)

    def index_at(self, place: QPointF) -> tuple[int, int]:
        strip = int(place.y() // self.length(self._row))
        if not 0 <= strip < len(self._strips):
            return -1, -1
        area, count = self._area(strip), len(self._strips[strip].values)
        cell = int((place.x() - area.left()) / area.width() * count)
        return (strip, cell) if place.x() >= area.left() and 0 <= cell < count else (-1, -1)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.hover(self.nowhere)
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ARROWS and any(len(strip.values) for strip in self._strips):
            self.hover(self._neighbour(event.key()))
        elif event.key() in CONFIRMING and self._hovered[0] >= 0:
            self.cell_clicked.emit(*self._hovered)
        else:
            super().keyPressEvent(event)

    def _neighbour(self, key: int) -> tuple[int, int]:
        """The cell to which a key leads: from the one pointed at or marked, at first that one itself."""
        if self._hovered[0] < 0:
            return self._marks[0] if self._marks else (0, 0)
        strip, cell = step(self._hovered, key, len(self._strips), len(self._strips[self._hovered[0]].values))
        cell = min(cell, len(self._strips[strip].values) - 1)
        return (strip, cell) if cell >= 0 else self._hovered


def _in_words(strip: Strip) -> str:
    """What a screen reader says of a vector: its length and its strongest number."""
    strengths = np.where(np.isfinite(strip.values), np.abs(strip.values), -1.0)
    if strip.texts or not strengths.size or strengths.max() < 0:
        return f"{strip.label}: {', '.join(strip.texts)}"
    at = int(strengths.argmax())
    strongest = f"number {count(at + 1)} is the strongest, {number(float(strip.values[at]))}"
    return f"{strip.label}: of {count(len(strengths))} {strongest}"


def _cells(strip: Strip) -> Cells:
    values = np.zeros(len(strip.values)) if strip.texts else strip.values
    return Cells.of(values[None, :], strip.scale, strip.limit)

"""An operation in its numbers: operands as strips cell below cell, their products, the cell they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, QVariantAnimation, Signal, SignalInstance
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import fitted
from lmviz.app.widgets.base.figures import cell_figure, number, signed_figure
from lmviz.app.widgets.base.growing_canvas import EnlargedCanvas
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.motion import may_move
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, DASHES, Painter
from lmviz.app.widgets.kit.pointing import Pointed, Words
from lmviz.app.widgets.kit.rows import no_smaller
from lmviz.app.widgets.matrix.cells import Cells, cell_image, color_table, ink_table

if TYPE_CHECKING:
    from lmviz.inspection.operation_picture import Band, BandGroup, OperationPicture
    from lmviz.inspection.operation_walk import Moment

ROW, STRIP = 19, 14  # pixels at scale 1 of a band, and of what is coloured of it
LINE, CELL, SIGN = 24, 46, 14  # of a line of single numbers: its height, a number's width, a sign's
GAP = 6  # between two blocks
SIZE = 11.5
LABEL_SIZES = (SIZE, 10.5, 9.5)
LABEL_SHARE, TOTAL = 0.38, 60
MOST_LABEL = 190
DURATION = 900  # milliseconds in which an operation is walked through
AHEAD = 0.82  # how much of the surface lies over numbers that have not entered yet
NOTE = "each strip is scaled to its own largest number"


class TermSpot(NamedTuple):
    """One number: the block, the band, the term."""

    block: int
    band: int
    term: int


class OperationView(Pointed[TermSpot | None], EnlargedCanvas):
    """`OperationView()`: `set_picture(picture, dashed=False)`; None for nothing.

    `walk()` runs through it once, as it is computed: term by term, with the sum so far, until the result
    arrives in the cell. Where the system shows no animations, it is drawn whole.
    `dashed` outlines the cell as one that nobody has chosen. `set_naming(naming)`: `naming(source, index)`
    says in words what an operand is, for the hover card.
    Signals: `operand_clicked(str, object)` and `operand_hovered(str, object)` with the source and the index
    of a number that has a source; `left()`.
    """

    operand_clicked = Signal(str, object)
    operand_hovered = Signal(str, object)
    left = Signal()

    nowhere = None
    least = (200, None)

    def __init__(self) -> None:
        super().__init__()
        self._picture: OperationPicture | None = None
        self._dashed = False
        self._naming: Callable[[str, tuple[int, ...]], str] | None = None
        self._now: Moment | None = None  # what is painted of a walk
        self._walk = QVariantAnimation(self)
        self._walk.setStartValue(0.0)
        self._walk.setEndValue(1.0)
        self._walk.setDuration(DURATION)
        self._walk.valueChanged.connect(lambda _: self.update())
        self._walk.finished.connect(self.update)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("the operation in numbers")

    @property
    def picture(self) -> OperationPicture | None:
        """What is drawn."""
        return self._picture

    @property
    def is_dashed(self) -> bool:
        """Whether the cell stands in for one that nobody has chosen yet."""
        return self._dashed

    def set_picture(self, picture: OperationPicture | None, *, dashed: bool = False) -> None:
        """Draw an operation."""
        if _described(picture) != _described(self._picture):
            self._walk.stop()
        before, self._picture, self._dashed, self._hovered = self.sizeHint(), picture, dashed, None
        HoverCard.renew(self, None)
        self.setAccessibleDescription(_described(picture))
        if self.sizeHint() != before:
            self.updateGeometry()
        self.update()

    def walk(self) -> None:
        """Run through the operation once."""
        if self._picture is not None and may_move(self):
            self._walk.start()

    @property
    def is_walking(self) -> bool:
        """Whether it is being run through."""
        return self._walk.state() == QVariantAnimation.State.Running

    @property
    def moment(self) -> Moment | None:
        """How far the operation that is drawn has come; None where it is drawn whole."""
        from lmviz.inspection.operation_walk import moment_of

        if self._picture is None or not self.is_walking:
            return None
        return moment_of(self._picture, float(self._walk.currentValue()))

    def set_naming(self, naming: Callable[[str, tuple[int, ...]], str]) -> None:
        """How an operand is called on the hover card."""
        self._naming = naming

    def cell_rectangle(self, block: int, band: int, term: int) -> QRectF:
        """Where a number is drawn."""
        assert self._picture is not None, "an operation is drawn"
        shown, top = self._picture.blocks[block], self._tops()[block]
        if shown.terms == 1:
            sign = self.length(SIGN)
            width = min(self.length(CELL), self._room / len(shown.bands) - sign)
            left = self._start + band * (width + sign) + sign
            return QRectF(left, top + self.length(3), width, self.length(LINE - 6))
        values = len(shown.bands[band].values)
        width = self._room / values if values > 1 else self.length(CELL)
        top += self.length(band * ROW + 2)
        return QRectF(self._start + term * width, top, width, self.length(STRIP))

    def _band_area(self, block: int, band: int) -> QRectF:
        """Where all numbers of a band are drawn."""
        assert self._picture is not None, "an operation is drawn"
        last = len(self._picture.blocks[block].bands[band].values) - 1
        return self.cell_rectangle(block, band, 0).united(self.cell_rectangle(block, band, last))

    def sizeHint(self) -> QSize:
        height = 0.0
        if self._picture is not None:
            height = self._tops()[-1] + self.length(LINE + 4)
            height += self.length(18) if self._has_strips else 0
        return QSize(round(self.length(300)), round(height))

    @property
    def _has_strips(self) -> bool:
        return self._picture is not None and any(block.terms > 1 for block in self._picture.blocks)

    @property
    def _start(self) -> float:
        """Where strips begin."""
        return min(self.width() * LABEL_SHARE, self.length(MOST_LABEL))

    @property
    def _room(self) -> float:
        """How wide a strip is."""
        return max(1.0, self.width() - self._start - self.length(TOTAL))

    def _height_of(self, block: BandGroup) -> float:
        return self.length(LINE) if block.terms == 1 else self.length(ROW) * len(block.bands)

    def _tops(self) -> list[float]:
        """Where each block begins, and where the line of the result does."""
        tops = [0.0]
        for block in self._picture.blocks if self._picture is not None else ():
            tops.append(tops[-1] + self._height_of(block) + self.length(GAP if block.terms > 1 else 0))
        return tops

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if self._picture is None:
            return
        self._now = self.moment
        for place, block in enumerate(self._picture.blocks):
            if block.terms == 1:
                self._draw_line(painter, place, block)
            else:
                self._draw_rows(painter, place, block)
        self._draw_result(painter)

    def _draw_rows(self, painter: Painter, place: int, block: BandGroup) -> None:
        top = self._tops()[place]
        for number_of_band, band in enumerate(block.bands):
            row = QRectF(0, top + number_of_band * self.length(ROW), self._start, self.length(ROW))
            self._draw_label(painter, row, f"{band.sign} {band.name}".strip())
            self._draw_strip(painter, place, number_of_band, band)
        self._draw_breaks(painter, place, block)
        self._draw_walk(painter, place, block)
        last = top + (len(block.bands) - 1) * self.length(ROW)
        total = self._total_now(place, block)
        if total is not None:
            self._draw_total(painter, last, self.length(ROW), f"{block.measure} {number(total, 2)}")

    def _total_now(self, place: int, block: BandGroup) -> float | None:
        """What a block comes to so far; None before it is known."""
        if self._now is None or place < self._now.block:
            return block.total
        return self._now.partial if place == self._now.block else None

    def _draw_walk(self, painter: Painter, place: int, block: BandGroup) -> None:
        """Cover the terms that have not entered yet, and frame those that enter now."""
        now = self._now
        if now is None or place < now.block:
            return
        terms = now.terms if place == now.block else 0
        for number_of_band, band in enumerate(block.bands):
            if len(band.values) == block.terms:
                ahead = self._band_area(place, number_of_band)
                ahead.setLeft(self.cell_rectangle(place, number_of_band, terms).left())
                veil = QColor(self.theme.surface)
                veil.setAlphaF(AHEAD)
                painter.box(ahead.adjusted(0, -1, 1, 1), veil)
                if place == now.block:
                    cell = self.cell_rectangle(place, number_of_band, terms)
                    self._outline(painter, cell, self.theme.accent)

    def _draw_strip(self, painter: Painter, place: int, number_of_band: int, band: Band) -> None:
        area = self._band_area(place, number_of_band)
        cells = Cells.of(np.asarray(band.values)[None, :], band.scale)
        across = max(1, int(len(band.values) / (area.width() * self.devicePixelRatioF())))
        image = cell_image(cells.pooled(1, across), color_table(self.theme, band.scale))
        painter.drawImage(area, image, QRectF(image.rect()))
        painter.box(area, edge=QPen(self.theme.line, 1))
        if band.own >= 0:
            self._outline(painter, self.cell_rectangle(place, number_of_band, band.own), self.theme.text)
        if self._hovered is not None and self._hovered[:2] == (place, number_of_band):
            self._outline(painter, self.cell_rectangle(*self._hovered), self.theme.accent)

    def _draw_breaks(self, painter: Painter, place: int, block: BandGroup) -> None:
        for term in block.breaks:
            for number_of_band, band in enumerate(block.bands):
                if len(band.values) == block.terms:
                    cell = self.cell_rectangle(place, number_of_band, term)
                    painter.line(cell.topLeft(), cell.bottomLeft(), self.theme.surface, 2)

    def _draw_line(self, painter: Painter, place: int, block: BandGroup) -> None:
        top = self._tops()[place]
        self._draw_label(painter, QRectF(0, top, self._start, self.length(LINE)), block.label)
        for number_of_band, band in enumerate(block.bands):
            cell = self.cell_rectangle(place, number_of_band, 0)
            sign = cell.adjusted(-self.length(SIGN), 0, -cell.width(), 0)
            painter.write(sign, band.sign, self.theme.muted_text, SIZE, where=CENTRED)
            if self._now is None or place <= self._now.block:
                self._draw_number(painter, cell, float(band.values[0]), band.scale)
            if self._hovered is not None and self._hovered[:2] == (place, number_of_band):
                self._outline(painter, cell, self.theme.accent)
        if len(block.bands) > 1 and (self._now is None or place < self._now.block):
            self._draw_total(painter, top, self.length(LINE), signed_figure(block.total))

    def _draw_number(self, painter: Painter, cell: QRectF, value: float, scale: str) -> None:
        """A single number on the colour that it has on the scale −1 to 1, or 0 to 1."""
        cells = Cells.of(np.array([[value]]), scale, 1.0 if abs(value) <= 1 else None)
        level = int(cells.levels[0, 0])
        ground = QColor.fromRgb(color_table(self.theme, scale)[level])
        painter.box(cell, ground, QPen(self.theme.line, 1), radius=3)
        written = "−∞" if value == -np.inf else cell_figure(value)
        painter.write(cell, written, ink_table(self.theme, scale)[level], SIZE, where=CENTRED)

    def _draw_result(self, painter: Painter) -> None:
        assert self._picture is not None, "only an operation has a result"
        top = self._tops()[-1]
        painter.line(QPointF(0, top + 1), QPointF(self.width(), top + 1), QPen(self.theme.strong_line, 1))
        place = QRectF(0, top + self.length(3), self.width(), self.length(LINE))
        cell = QRectF(0, place.top() + self.length(2), self.length(CELL + 8), place.height() - self.length(4))
        cell.moveRight(place.right() - 1)
        if self._now is None or self._now.arrived >= 1.0:
            self._draw_number(painter, cell, self._picture.value, self._picture.scale)
        elif self._now.arrived > 0 and self._picture.blocks:
            self._draw_arrival(painter, cell, self._now.arrived)
        pen = QPen(self.theme.text, self.length(1.5))
        if self._dashed:
            pen.setDashPattern(DASHES)
        painter.box(cell, edge=pen)
        room = QRectF(0, place.top(), cell.left() - self.length(8), place.height())
        arrow, measure = " →", self.metrics(12, bold=True)
        before = room.adjusted(0, 0, -measure.horizontalAdvance(arrow), 0)
        said = self.shown_in(before, self._picture.becomes, measure) + arrow
        painter.write(room, said, self.theme.text, 12, bold=True, where=AT_RIGHT)
        if self._has_strips:
            below = QRectF(0, place.bottom() + self.length(1), self.width(), self.length(16))
            painter.write(below, NOTE, self.theme.muted_text, 10.5)

    def _draw_arrival(self, painter: Painter, cell: QRectF, share: float) -> None:
        """What the last block came to, on its way to the cell."""
        assert self._picture is not None, "only an operation has a result"
        last = self._picture.blocks[-1]
        top = self._tops()[len(self._picture.blocks) - 1] + self._height_of(last) - self.length(ROW)
        moving = cell.translated(0, (1.0 - share) * (top - cell.top()))
        painter.write(moving, number(last.total, 2), self.theme.accent, SIZE, token=True, where=AT_RIGHT)

    def _draw_label(self, painter: Painter, row: QRectF, label: str) -> None:
        shown, size = fitted(label, row.width() - self.length(8), LABEL_SIZES, theme=self.theme)
        painter.write(row, shown, self.theme.text, size)

    def _draw_total(self, painter: Painter, top: float, height: float, text: str) -> None:
        place = QRectF(0, top, self.width(), height)
        painter.write(place, text, self.theme.text, SIZE, token=True, where=AT_RIGHT)

    def _outline(self, painter: Painter, cell: QRectF, color: QColor) -> None:
        """At least a few pixels, so that a cell among hundreds can be seen."""
        painter.box(no_smaller(cell, self.length(4)).adjusted(0, -1, 0, 1), edge=color, width=1.5)

    def index_at(self, place: QPointF) -> TermSpot | None:
        for block, shown in enumerate(self._picture.blocks if self._picture is not None else ()):
            for band, numbers in enumerate(shown.bands):
                whole, count = self._band_area(block, band), len(numbers.values)
                if whole.contains(place):
                    term = int((place.x() - whole.left()) / whole.width() * count)
                    return TermSpot(block, band, min(term, count - 1))
        return None

    def _band_of(self, spot: TermSpot) -> Band:
        assert self._picture is not None, "a spot lies in an operation"
        return self._picture.blocks[spot.block].bands[spot.band]

    def part_rectangle(self, index: TermSpot | None) -> QRectF | None:
        return None if index is None else self.cell_rectangle(*index)

    def pointed_at(self, index: TermSpot | None) -> None:
        if index is None:
            self.left.emit()
        else:
            self._tell(self.operand_hovered, index)

    def clicked_on(self, index: TermSpot | None) -> None:
        if index is not None:
            self._tell(self.operand_clicked, index)

    def _tell(self, signal: SignalInstance, spot: TermSpot) -> None:
        band = self._band_of(spot)
        if band.source != "constant":
            signal.emit(band.source, band.index(spot.term))

    def readout(self, index: TermSpot | None) -> Words:
        assert self._picture is not None, "a spot lies in an operation"
        assert index is not None, "a card speaks of a spot"
        band, block = self._band_of(index), self._picture.blocks[index.block]
        named = band.source != "constant" and self._naming is not None
        lines = [self._naming(band.source, band.index(index.term)) if named and self._naming else band.name]
        beside = [other for other in block.bands if len(other.values) == len(band.values) > 1]
        if len(beside) > 1 and beside[-1].sign == "=":
            factors = [number(float(other.values[index.term])) for other in beside[:-1]]
            lines.append(f"{' × '.join(factors)} = {number(float(beside[-1].values[index.term]))}")
        return number(float(band.values[index.term])), lines


def _described(picture: OperationPicture | None) -> str:
    if picture is None:
        return ""
    return f"{', '.join(block.label for block in picture.blocks)}: {number(picture.value)}"

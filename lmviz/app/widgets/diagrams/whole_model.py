"""A whole model at one word: the stream as its spine, what each layer adds to it, and where it leads."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.diagrams.model_parts import (
    EXTENTS,
    ModelBlock,
    ModelLine,
    ModelPart,
    PictureRow,
    StreamMark,
    listed,
)
from lmviz.app.widgets.diagrams.model_spine import LEFT, draw_arrow, draw_chevron, draw_spine
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, SMALLEST_TYPE, Painter
from lmviz.app.widgets.kit.picture import Picture
from lmviz.app.widgets.kit.rows import Extent, across, in_the_middle, shared_heights, side_by_side
from lmviz.base.figures import brief_percentage, percentage

ROOMY = 430
"""From this width on there is room for long names and bars."""
NAMES, SHORT_NAMES = 90, 66
MOST_NAMES, SMALL_NAME = 0.3, 9.5
"""The share of the width that longer names get at most, and the size of type in which they fit."""
WORDS, FEW_WORDS = 124, 84
SMALLEST = 6
"""Rows lower than this are left out."""
FOLD = "click to fold"
STRIP = 28
OF_TWO = (0.66, 0.34)
"""The shares of the width that two lines of a folded block have."""


class WholeModelView(Picture):
    """`WholeModelView()`: `set_model(parts, verdict, ending)` draws it without scrolling where it can.

    `verdict` is (word, share), what the model says in the end; `ending` a few words on the last step.
    `set_current(key)` frames a row, and unfolds its block. A click on a block's title folds and unfolds it;
    at most one is open. Keys of spots are those of the miniatures, and for what stands beside them those of
    the rows; "verdict" is what stands last.
    """

    usual = (560, 640)

    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[ModelPart, ...] = ()
        self._verdict = ("", 0.0)
        self._ending = ""
        self._current = ""
        self._open = ""
        self._rows: list[PictureRow] = []
        self._widest_name = 0.0  # in pixels, of the rows that are drawn
        self.setAccessibleName("the whole model")

    def set_model(self, parts: Sequence[ModelPart], verdict: tuple[str, float], ending: str) -> None:
        """Draw a model at another word, or another model."""
        is_new = [part.key for part in parts] != [part.key for part in self._parts]
        self._parts, self._verdict, self._ending = tuple(parts), verdict, ending
        if is_new:
            self._open = self._block_of(self._current) or next((b.key for b in self._blocks), "")
            self.updateGeometry()
        self.setAccessibleDescription(f"says {verdict[0]} {percentage(verdict[1])}" if parts else "")
        self.redraw()

    def set_current(self, key: str) -> None:
        """Frame the row with a key; "" for none."""
        if key == self._current:
            return
        self._current = key
        around = self._block_of(key)
        if around and around != self._open:
            self.set_open(around)
        self.update()

    @property
    def current(self) -> str:
        """The key of the framed row."""
        return self._current

    def set_open(self, key: str) -> None:
        """Unfold a block, and fold the others; "" folds all."""
        self._open = key
        self.updateGeometry()
        self.redraw()

    def row_rectangle(self, key: str) -> QRectF:
        """Where a row is drawn, with its name; empty where its block is folded."""
        self._make()
        found = (row.area for row in self._rows if row.part is not None and row.part.key == key)
        return next(found, QRectF())

    @property
    def _blocks(self) -> list[ModelBlock]:
        return [part for part in self._parts if isinstance(part, ModelBlock)]

    def _block_of(self, key: str) -> str:
        return next((block.key for block in self._blocks if key in block.keys), "")

    def minimumSizeHint(self) -> QSize:
        least = sum(self.usual_length(EXTENTS[row.kind].least) for row in self._listed())
        return QSize(round(self.usual_length(260)), round(max(least, self.usual_length(60))))

    def _listed(self) -> list[PictureRow]:
        return listed(self._parts, self._open)

    def _extent(self, row: PictureRow) -> Extent:
        extent = EXTENTS[row.kind]
        if row.kind in ("squares", "folded"):  # squares side by side are no higher than they can be wide
            start, end = self._columns()
            width = (end - start) * (OF_TWO[0] if row.kind == "folded" else 1.0)
            side = width / max(len(line.miniatures) for line in row.shown if line.is_square)
            most = max(extent.least, min(extent.most, side / self.theme.scale))
            extent = Extent(extent.least, min(extent.usual, most), most)
        return extent.scaled(self.theme.scale)

    def _columns(self) -> tuple[float, float]:
        """Where the miniatures begin, and where they end."""
        is_roomy = self.width() >= self.length(ROOMY)
        usual = self.length(NAMES if is_roomy else SHORT_NAMES)
        start = self.length(LEFT) + max(usual, min(self._widest_name, MOST_NAMES * self.width()))
        end = self.width() - self.length((WORDS if is_roomy else FEW_WORDS) + 12)
        return start, max(end, start + self.length(60))

    def _names_width(self) -> float:
        """How wide the names of rows are in small type, and the titles of folded blocks."""
        small, title = self.metrics(SMALL_NAME), self.metrics(SMALL_NAME, bold=True)
        rows, beside, within = self._listed(), self.length(8), self.length(20)
        names = [small.horizontalAdvance(line.name) + beside for row in rows for line in row.shown]
        blocks = [row.block for row in rows if row.lines and row.block is not None]
        return max([0.0, *names, *(title.horizontalAdvance(block.title) + within for block in blocks)])

    def draw(self, painter: Painter) -> None:
        rows, self._widest_name = self._listed(), self._names_width()
        heights = shared_heights([self._extent(row) for row in rows], self.height())
        self._rows, top = [], 0.0
        for row, height in zip(rows, heights, strict=True):
            area = QRectF(self.length(LEFT), top, self._columns()[1] - self.length(LEFT), height)
            self._rows.append(PictureRow(row.kind, row.part, row.lines, row.block, area))
            top += height
        self._draw_blocks(painter)
        draw_spine(painter, self._rows)
        for row in self._rows:
            if row.area.height() >= self.length(SMALLEST):
                self._draw_row(painter, row)

    def _draw_blocks(self, painter: Painter) -> None:
        for block in self._blocks:
            areas = [row.area for row in self._rows if row.block is block]
            box = areas[0].united(areas[-1]).adjusted(-self.length(8), 0, self.length(6), 0)
            if not block.is_residual:
                box.setLeft(self.length(2))
            wash, theme = (0.28, 0.35) if block.key == self._open else (0.0, 0.0), self.theme
            edge = QPen(mix(theme.line, theme.accent, wash[1]), 1.2)
            painter.box(box, mix(theme.surface, theme.accent_wash, wash[0]), edge, radius=7)
            self.place(block.key, box)
            self._draw_notes(painter, block, box)

    def _draw_notes(self, painter: Painter, block: ModelBlock, box: QRectF) -> None:
        """What the block does in a few words, at its right, as many lines as there is room for."""
        area = across(box, box.right() + self.length(8), self.width())
        rows = (row for row in self._rows if row.block is block and isinstance(row.part, StreamMark))
        area.setBottom(min([area.bottom(), *(row.area.top() for row in rows)]))  # beside a mark: what it says
        line = self.length(14)
        count = min(len(block.notes), int((area.height() - self.length(2)) / line))
        has_room = count == len(block.notes) and area.height() > (count + 2) * line
        with_title = has_room and block.key == self._open
        top = area.center().y() - (count + with_title) * line / 2
        if with_title and count:
            head = QRectF(area.left(), top, area.width(), line)
            painter.fit(head, block.notes_title, self.theme.muted_text, 10.5)
            top += line
        measure = self.metrics(10.5)
        widest = max((measure.horizontalAdvance(figure) for *_, figure in block.notes), default=0.0)
        figures = widest + self.length(5)
        left_out = len(block.notes) - count
        noted = block.notes[: count - 1 if left_out and count else count]
        for label, word, figure in noted:
            row = QRectF(area.left(), top, area.width(), line)
            painter.fit(row, label, self.theme.faint_text, 10.5)
            words = row.adjusted(self.length(14) if label else 0, 0, -figures, 0)
            painter.fit(words, word, self.theme.muted_text, 10.5, token=bool(label))
            painter.fit(row, figure, self.theme.muted_text, 10.5, where=AT_RIGHT)
            top += line
        if len(noted) < count:
            row = QRectF(area.left(), top, area.width(), line)
            painter.fit(row, f"and {left_out + 1} more", self.theme.faint_text, 10.5)

    def _draw_row(self, painter: Painter, row: PictureRow) -> None:
        if row.kind == "head":
            if not any(isinstance(other.part, StreamMark) and other.part.word for other in self._rows):
                return
            words = across(row.area, row.area.right() + self.length(8), self.width())
            painter.fit(words, "if it stopped here", self.theme.muted_text, 10.5)
            if words.width() >= self.length(WORDS):
                painter.fit(words, "%", self.theme.muted_text, 10.5, where=AT_RIGHT)
        elif row.kind == "end":
            self._draw_end(painter, row.area)
        elif row.kind == "title" and row.part is None and not row.lines and row.block is not None:
            self._draw_title(painter, row.block, row.area)
        elif row.lines:
            self._draw_folded(painter, row)
        elif isinstance(row.part, StreamMark):
            self._draw_mark(painter, row.part, row.area)
        elif isinstance(row.part, ModelLine):
            self._draw_line(painter, row.part, row.area)

    def _draw_title(self, painter: Painter, block: ModelBlock, area: QRectF) -> None:
        place = QPointF(area.left() + self.length(2), area.center().y())
        draw_chevron(painter, place, is_open=True)
        name = area.adjusted(self.length(12), 0, 0, 0)
        title = block.title + block.where
        if self.metrics(SMALLEST_TYPE, bold=True).horizontalAdvance(title) > name.width():
            title = block.title
        painter.fit(name, title, size=12, bold=True)
        spare = name.width() - self.metrics(12, bold=True).horizontalAdvance(title) - self.length(8)
        if self.metrics(10.5).horizontalAdvance(FOLD) <= spare:
            painter.fit(name, FOLD, self.theme.muted_text, 10.5, where=AT_RIGHT)
        self.place(f"fold {block.key}", area)

    def _draw_folded(self, painter: Painter, row: PictureRow) -> None:
        area, block = row.area, row.block
        start, end = self._columns()
        title = across(area, area.left(), start - self.length(5))
        name = title.adjusted(self.length(12), 0, 0, 0)
        if block is not None and row.lines is block.summary[0]:
            title.setHeight(min(area.height(), self.length(18)))
            name.setHeight(title.height())
            chevron = QPointF(area.left() + self.length(2), title.center().y())
            draw_chevron(painter, chevron, is_open=False)
            painter.fit(name, block.title, size=12, bold=True)
            self.place(f"fold {block.key}", title)
        else:
            painter.fit(name, row.lines[0].name, self.theme.muted_text, 10.5)
        shares = OF_TWO if len(row.lines) == 2 else (1.0,) * len(row.lines)
        places = side_by_side(across(area, start, end), shares, self.length(8))
        for line, place in zip(row.lines, places, strict=True):
            self._draw_miniatures(painter, line, place)

    def _draw_line(self, painter: Painter, line: ModelLine, area: QRectF) -> None:
        start, end = self._columns()
        colors = {"query": self.theme.query, "key": self.theme.key, "value": self.theme.value}
        name = across(area, area.left(), start - self.length(6))
        size = min(11.5, 0.9 * area.height() / self.theme.scale)
        self.place(line.key, area)
        if area.height() >= self.length(8):
            painter.fit(name, line.name, colors.get(line.role, self.theme.muted_text), size, where=AT_RIGHT)
        self._draw_miniatures(painter, line, across(area, start, end))

    def _draw_miniatures(self, painter: Painter, line: ModelLine, area: QRectF) -> None:
        """Side by side: squares as large as they can be, strips as wide as there is room."""
        margin = min(self.length(3), area.height() * 0.16)
        inner = area.adjusted(0, margin, 0, -margin)
        places = side_by_side(inner, [1.0] * len(line.miniatures), self.length(4))
        for miniature, place in zip(line.miniatures, places, strict=True):
            side = min(place.width(), place.height())
            square = QRectF(place.left(), place.top(), side, side)
            strip = in_the_middle(place, self.length(STRIP))
            self.draw_miniature(painter, miniature, square if line.is_square else strip)

    def _draw_mark(self, painter: Painter, mark: StreamMark, area: QRectF) -> None:
        _, end = self._columns()
        margin = min(self.length(4), area.height() * 0.18)
        self.place(mark.key, across(area, area.left(), self.width()))
        strip = across(area, area.left(), end).adjusted(0, margin, 0, -margin)
        self.draw_miniature(painter, mark.miniature, in_the_middle(strip, self.length(STRIP)))
        if not mark.word:
            return
        theme, size = self.theme, min(12.0, 0.9 * area.height() / self.theme.scale)
        words = across(area, end + self.length(14), self.width())
        figure = across(words, words.right() - self.length(28), words.right())
        is_verdict, has_bar = mark.word == self._verdict[0], words.width() >= self.length(100)
        bar = figure.left() - (self.length(34) if has_bar else 0.0)
        color = theme.accent if is_verdict else theme.text
        word = across(words, words.left(), bar)
        painter.fit(word, mark.word, color, size, bold=is_verdict, token=True)
        painter.fit(figure, brief_percentage(mark.share), theme.muted_text, size - 0.5, where=AT_RIGHT)
        if has_bar:
            place = in_the_middle(across(area, bar + self.length(4), figure.left()), self.length(8))
            ink = mix(theme.surface, theme.accent, 1.0 if is_verdict else 0.5)
            painter.share(place, mark.share, ink, radius=2)

    def _draw_end(self, painter: Painter, area: QRectF) -> None:
        theme, middle = self.theme, area.center().y()
        word, share = self._verdict
        text = f"{word} {percentage(share)}"
        width = self.metrics(12.5, token=True, bold=True).horizontalAdvance(text) + self.length(22)
        chip = across(area, self.width() - width, self.width() - 1)
        chip = in_the_middle(chip, self.length(24))
        self.place("verdict", chip)
        painter.box(chip, theme.accent, radius=6)
        painter.fit(chip, text, theme.on(QColor(theme.accent)), 12.5, bold=True, token=True, where=CENTRED)
        words = across(area, area.left(), chip.left() - self.length(40))
        painter.fit(words, self._ending, theme.muted_text, 11.5)
        tip = QPointF(chip.left() - self.length(3), middle)
        draw_arrow(painter, tip - QPointF(self.length(26), 0), tip)

    def draw_over(self, painter: Painter) -> None:
        area = self.row_rectangle(self._current)
        if area.height() < self.length(SMALLEST):
            return
        frame = area.adjusted(-self.length(4), 0, self.length(3), 0)
        painter.box(frame, edge=self.theme.accent, width=1.8, radius=4)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spot = self.index_at(event.position())
        key = spot.key.removeprefix("fold ") if spot is not None else ""
        is_block = any(block.key == key for block in self._blocks)
        if event.button() != Qt.MouseButton.LeftButton or spot is None or not is_block:
            super().mousePressEvent(event)
        elif spot.key != key or key != self._open:  # a title, or anywhere on a folded block
            self.set_open("" if key == self._open else key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._block_of(self._current):
            around = self._block_of(self._current)
            self.set_open("" if self._open == around else around)
        else:
            super().keyPressEvent(event)

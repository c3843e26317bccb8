"""A whole model at one word: the stream as its spine, what each layer adds to it, and where it leads."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.diagrams.model_marks import draw_chevron, draw_share
from lmviz.app.widgets.diagrams.model_parts import ModelBlock, ModelLine, ModelPart, StreamMark
from lmviz.app.widgets.diagrams.model_rows import EXTENTS, PictureRow, listed
from lmviz.app.widgets.diagrams.model_spine import LEFT, draw_arrow, draw_spine
from lmviz.app.widgets.diagrams.picture import SMALLEST_TYPE, Picture
from lmviz.app.widgets.diagrams.rows import Extent, shared_heights

ROOMY = 430
"""From this width on there is room for long names and bars."""
NAMES, SHORT_NAMES = 90, 66
MOST_NAMES, SMALL_NAME = 0.3, 9.5
"""The share of the width that longer names get at most, and the size of type in which they fit."""
WORDS, FEW_WORDS = 124, 84
SMALLEST = 6
"""Rows lower than this are left out."""
FOLD = "click to fold"
RIGHT = Qt.AlignmentFlag.AlignRight
STRIP = 28


class WholeModelView(Picture):
    """`WholeModelView()`: `set_model(parts, verdict, ending)` draws it without scrolling where it can.

    `verdict` is (word, share), what the model says in the end; `ending` a few words on the last step.
    `set_current(key)` frames a row, and unfolds its block. A click on a block's title folds and unfolds it;
    at most one is open. Keys of spots are those of the miniatures, and for what stands beside them those of
    the rows; "verdict" is what stands last.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        self.setAccessibleDescription(f"says {verdict[0]} {100 * verdict[1]:.1f} %" if parts else "")
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

    @property
    def open_block(self) -> str:
        """The key of the block that is unfolded; "" when none is."""
        return self._open

    def set_open(self, key: str) -> None:
        """Unfold a block, and fold the others; "" folds all."""
        self._open = key
        self.updateGeometry()
        self.redraw()

    def row_rectangle(self, key: str) -> QRectF:
        """Where a row is drawn, with its name; empty where its block is folded."""
        self._make()
        return next(
            (row.area for row in self._rows if row.part is not None and row.part.key == key), QRectF()
        )

    @property
    def _blocks(self) -> list[ModelBlock]:
        return [part for part in self._parts if isinstance(part, ModelBlock)]

    def _block_of(self, key: str) -> str:
        return next((block.key for block in self._blocks if key in block.keys), "")

    def sizeHint(self) -> QSize:
        return QSize(round(self.usual_length(560)), round(self.usual_length(640)))

    def minimumSizeHint(self) -> QSize:
        least = sum(self.usual_length(EXTENTS[row.kind].least) for row in self._listed())
        return QSize(round(self.usual_length(260)), round(max(least, self.usual_length(60))))

    def _listed(self) -> list[PictureRow]:
        return listed(self._parts, self._open)

    def _extent(self, row: PictureRow) -> Extent:
        extent = EXTENTS[row.kind]
        if row.kind in ("squares", "folded"):
            lines = row.lines or ((row.part,) if isinstance(row.part, ModelLine) else ())
            width = min(self._side(line, row.kind == "folded") for line in lines if line.is_square)
            most = max(extent.least, min(extent.most, width / self.theme.scale + 4))
            extent = Extent(extent.least, min(extent.usual, most), most)
        return Extent(*(self.length(height) for height in (extent.least, extent.usual, extent.most)))

    def _side(self, line: ModelLine, is_folded: bool) -> float:
        """The largest side that squares side by side can have."""
        start, end = self._columns()
        width = (end - start) * (0.66 if is_folded else 1.0)
        return width / len(line.miniatures) - self.length(4)

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
        widest = 0.0
        for row in self._listed():
            lines = row.lines or ((row.part,) if isinstance(row.part, ModelLine) else ())
            widest = max([widest, *(small.horizontalAdvance(line.name) + self.length(8) for line in lines)])
            if row.lines and row.block is not None:
                widest = max(widest, title.horizontalAdvance(row.block.title) + self.length(20))
        return widest

    def draw(self, painter: QPainter) -> None:
        rows, self._widest_name = self._listed(), self._names_width()
        heights = shared_heights([self._extent(row) for row in rows], self.height())
        self._rows, top = [], 0.0
        for row, height in zip(rows, heights, strict=True):
            area = QRectF(self.length(LEFT), top, self._columns()[1] - self.length(LEFT), height)
            self._rows.append(PictureRow(row.kind, row.part, row.lines, row.block, area))
            top += height
        self._draw_blocks(painter)
        draw_spine(painter, self.theme, self._rows)
        for row in self._rows:
            if row.area.height() >= self.length(SMALLEST):
                self._draw_row(painter, row)

    def _draw_blocks(self, painter: QPainter) -> None:
        for block in self._blocks:
            areas = [row.area for row in self._rows if row.block is block]
            box = areas[0].united(areas[-1]).adjusted(-self.length(8), 0, self.length(6), 0)
            if not block.is_residual:
                box.setLeft(self.length(2))
            is_open = block.key == self._open
            painter.setBrush(
                mix(self.theme.surface, self.theme.accent_wash, 0.28) if is_open else self.theme.surface
            )
            painter.setPen(
                QPen(mix(self.theme.line, self.theme.accent, 0.35) if is_open else self.theme.line, 1.2)
            )
            painter.drawRoundedRect(box, self.length(7), self.length(7))
            self.place(block.key, box)
            self._draw_notes(painter, block, box)

    def _draw_notes(self, painter: QPainter, block: ModelBlock, box: QRectF) -> None:
        """What the block does in a few words, at its right, as many lines as there is room for."""
        left = box.right() + self.length(8)
        area = QRectF(left, box.top(), self.width() - left, box.height())
        marks = [
            row.area.top() for row in self._rows if row.block is block and isinstance(row.part, StreamMark)
        ]
        area.setBottom(min([area.bottom(), *marks]))  # beside a mark stands what it says
        line = self.length(14)
        count = min(len(block.notes), int((area.height() - self.length(2)) / line))
        with_title = (
            block.key == self._open and count == len(block.notes) and area.height() > (count + 2) * line
        )
        top = area.center().y() - (count + with_title) * line / 2
        if with_title and count:
            self.write(
                painter,
                QRectF(left, top, area.width(), line),
                block.notes_title,
                size=10.5,
                color=self.theme.muted_text,
            )
            top += line
        measure = self.metrics(10.5)
        widest = max((measure.horizontalAdvance(figure) for *_, figure in block.notes), default=0.0)
        figures = widest + self.length(5)
        for label, word, figure in block.notes[:count]:
            row = QRectF(left, top, area.width(), line)
            self.write(painter, row, label, size=10.5, color=self.theme.faint_text)
            words = row.adjusted(self.length(14) if label else 0, 0, -figures, 0)
            self.write(painter, words, word, size=10.5, color=self.theme.muted_text, token=bool(label))
            self.write(painter, row, figure, size=10.5, color=self.theme.muted_text, align=RIGHT)
            top += line

    def _draw_row(self, painter: QPainter, row: PictureRow) -> None:
        if row.kind == "head":
            if not any(isinstance(other.part, StreamMark) and other.part.word for other in self._rows):
                return
            words = QRectF(row.area.right() + self.length(8), row.area.top(), self.width(), row.area.height())
            words.setRight(self.width())
            self.write(painter, words, "if it stopped here", size=10.5, color=self.theme.muted_text)
            if words.width() >= self.length(WORDS):
                self.write(painter, words, "%", size=10.5, color=self.theme.muted_text, align=RIGHT)
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

    def _draw_title(self, painter: QPainter, block: ModelBlock, area: QRectF) -> None:
        place = QPointF(area.left() + self.length(2), area.center().y())
        draw_chevron(painter, self.theme, place, is_open=True)
        name = area.adjusted(self.length(12), 0, 0, 0)
        title = block.title + block.where
        if self.metrics(SMALLEST_TYPE, bold=True).horizontalAdvance(title) > name.width():
            title = block.title
        self.write(painter, name, title, size=12, bold=True)
        taken = self.metrics(12, bold=True).horizontalAdvance(title) + self.metrics(10.5).horizontalAdvance(
            FOLD
        )
        if taken + self.length(8) <= name.width():
            self.write(painter, name, FOLD, size=10.5, color=self.theme.muted_text, align=RIGHT)
        self.place(f"fold {block.key}", area)

    def _draw_folded(self, painter: QPainter, row: PictureRow) -> None:
        area, block = row.area, row.block
        start, end = self._columns()
        if block is not None and row.lines is block.summary[0]:
            title = QRectF(
                area.left(),
                area.top(),
                start - area.left() - self.length(5),
                min(area.height(), self.length(18)),
            )
            chevron = QPointF(area.left() + self.length(2), title.center().y())
            draw_chevron(painter, self.theme, chevron, is_open=False)
            self.write(painter, title.adjusted(self.length(12), 0, 0, 0), block.title, size=12, bold=True)
            self.place(f"fold {block.key}", title)
        else:
            name = QRectF(area.left(), area.top(), start - area.left() - self.length(5), area.height())
            name.setLeft(name.left() + self.length(12))
            self.write(painter, name, row.lines[0].name, size=10.5, color=self.theme.muted_text)
        gap = self.length(8)
        has_two = len(row.lines) == 2
        shares = [0.66, 0.34] if has_two else [1 / max(1, len(row.lines))] * len(row.lines)
        left, width = start, end - start - gap * (len(row.lines) - 1)
        for line, share in zip(row.lines, shares, strict=True):
            place = QRectF(left, area.top(), width * share, area.height())
            self._draw_miniatures(painter, line, place)
            left = place.right() + gap

    def _draw_line(self, painter: QPainter, line: ModelLine, area: QRectF) -> None:
        start, end = self._columns()
        colors = {"query": self.theme.query, "key": self.theme.key, "value": self.theme.value}
        name = QRectF(area.left(), area.top(), start - area.left() - self.length(6), area.height())
        size = min(11.5, 0.9 * area.height() / self.theme.scale)
        self.place(line.key, area)
        if area.height() >= self.length(8):
            self.write(
                painter,
                name,
                line.name,
                size=size,
                color=colors.get(line.role, self.theme.muted_text),
                align=RIGHT,
            )
        self._draw_miniatures(painter, line, QRectF(start, area.top(), end - start, area.height()))

    def _draw_miniatures(self, painter: QPainter, line: ModelLine, area: QRectF) -> None:
        """Side by side: squares as large as they can be, strips as wide as there is room."""
        gap, count = self.length(4), len(line.miniatures)
        width = (area.width() - gap * (count - 1)) / count
        margin = min(self.length(3), area.height() * 0.16)
        for number, miniature in enumerate(line.miniatures):
            place = QRectF(area.left() + number * (width + gap), area.top(), width, area.height())
            place = place.adjusted(0, margin, 0, -margin)
            if line.is_square:
                side = min(place.width(), place.height())
                place = QRectF(place.left(), place.top(), side, side)
            elif place.height() > self.length(STRIP):
                middle = place.center().y() - self.length(STRIP) / 2
                place = QRectF(place.left(), middle, width, self.length(STRIP))
            self.draw_miniature(painter, miniature, place)

    def _draw_mark(self, painter: QPainter, mark: StreamMark, area: QRectF) -> None:
        _, end = self._columns()
        margin = min(self.length(4), area.height() * 0.18)
        self.place(mark.key, QRectF(area.left(), area.top(), self.width() - area.left(), area.height()))
        strip = QRectF(area.left(), area.top() + margin, end - area.left(), area.height() - 2 * margin)
        if strip.height() > self.length(STRIP):
            middle = strip.center().y() - self.length(STRIP) / 2
            strip = QRectF(strip.left(), middle, strip.width(), self.length(STRIP))
        self.draw_miniature(painter, mark.miniature, strip)
        words = QRectF(end + self.length(14), area.top(), self.width() - end - self.length(14), area.height())
        figure = QRectF(words.right() - self.length(28), words.top(), self.length(28), words.height())
        size = min(12.0, 0.9 * area.height() / self.theme.scale)
        if not mark.word:
            return
        is_verdict = mark.word == self._verdict[0]
        color = self.theme.accent if is_verdict else self.theme.text
        has_bar = words.width() >= self.length(100)
        bar = self.length(34) if has_bar else 0.0
        word = QRectF(words.left(), words.top(), figure.left() - words.left() - bar, words.height())
        self.write(painter, word, mark.word, size=size, color=color, bold=is_verdict, token=True)
        self.write(
            painter,
            figure,
            f"{100 * mark.share:.0f}",
            size=size - 0.5,
            color=self.theme.muted_text,
            align=RIGHT,
        )
        if has_bar:
            place = QPointF(figure.left() - bar + self.length(4), area.center().y())
            draw_share(painter, self.theme, place, mark.share, stands_out=is_verdict)

    def _draw_end(self, painter: QPainter, area: QRectF) -> None:
        theme, middle = self.theme, area.center().y()
        word, share = self._verdict
        text = f"{word} {100 * share:.1f} %"
        width = self.metrics(12.5, token=True, bold=True).horizontalAdvance(text) + self.length(22)
        height = min(self.length(24), area.height())
        chip = QRectF(self.width() - width, middle - height / 2, width - 1, height)
        self.place("verdict", chip)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(chip, self.length(6), self.length(6))
        self.write(
            painter,
            chip,
            text,
            size=12.5,
            color=theme.on(QColor(theme.accent)),
            bold=True,
            token=True,
            align=Qt.AlignmentFlag.AlignHCenter,
        )
        words = QRectF(area.left(), area.top(), chip.left() - area.left() - self.length(40), area.height())
        self.write(painter, words, self._ending, size=11.5, color=theme.muted_text)
        tip = QPointF(chip.left() - self.length(3), middle)
        draw_arrow(painter, theme, tip - QPointF(self.length(26), 0), tip)

    def draw_over(self, painter: QPainter) -> None:
        area = self.row_rectangle(self._current)
        if area.height() < self.length(SMALLEST):
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.accent, self.length(1.8)))
        painter.drawRoundedRect(
            area.adjusted(-self.length(4), 0, self.length(3), 0), self.length(4), self.length(4)
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
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

"""A model over a fixed window: the words that it joins, and a wall before those that it cannot see."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.figures import percentage, signed_figure
from lmviz.app.widgets.diagrams.word_wall import CHIP, draw_wall, wall_sentences
from lmviz.app.widgets.diagrams.word_window_values import WindowPicture
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.kit.picture import Picture
from lmviz.app.widgets.kit.rows import Extent, no_smaller, shared_heights
from lmviz.inspection.names import coordinate

BESIDE = 520
"""From this width on the wall is upright, else it lies above the window."""
UNSEEN = 0.27
LINES = 120
"""So many of the strongest products are drawn as lines."""
ROW = 20
EXTENTS = {
    "name": Extent(13, 15, 17),
    "chip": Extent(19, 25, 28),
    "embedding": Extent(12, 20, 26),
    "joined": Extent(12, 22, 28),
    "lines": Extent(44, 120, 230),
    "hidden": Extent(40, 84, 150),
    "unit": Extent(14, 17, 20),
}
LEAST_WORDS, MOST_WORDS = 3, 10


class WordWindowView(Picture):
    """`WordWindowView()`: `set_window(picture)` draws it; `set_unit(unit)` shows how a unit comes about;
    `set_current(part)` frames "embedding", "hidden" or "words".

    Keys of spots are those of the words and the miniatures; "wall" is what is said of the words before.
    """

    usual = (640, 600)

    def __init__(self) -> None:
        super().__init__()
        self._picture = WindowPicture()
        self._unit = 0
        self._current = ""
        self._parts: dict[str, QRectF] = {}
        self.setAccessibleName("the window that is read")

    @property
    def picture(self) -> WindowPicture:
        """What is drawn."""
        return self._picture

    @property
    def unit(self) -> int:
        """The unit whose products are drawn strongly."""
        return self._unit

    def set_window(self, picture: WindowPicture, unit: int) -> None:
        """Draw another window."""
        self._picture, self._unit = picture, unit
        best = picture.likely[0] if picture.likely else None
        self.setAccessibleDescription(f"says {best.word} {percentage(best.probability)}" if best else "")
        self.redraw()

    def set_unit(self, unit: int) -> None:
        """Show how another unit comes about."""
        if unit != self._unit:
            self._unit = unit
            self.redraw()

    def set_current(self, part: str) -> None:
        """Frame a part; "" for none."""
        if part != self._current:
            self._current = part
            self.update()

    @property
    def current(self) -> str:
        """The part that is framed."""
        return self._current

    def minimumSizeHint(self) -> QSize:
        rows = sum(extent.least for extent in EXTENTS.values())
        return self._sized(270, rows + (LEAST_WORDS + 1) * ROW + 110)

    def draw(self, painter: Painter) -> None:
        if not self._picture.words:
            return
        whole = QRectF(self.rect()).adjusted(0, 0, -1, 0)
        if whole.width() >= self.length(BESIDE):
            wall = QRectF(0, 0, UNSEEN * whole.width(), whole.height())
            window = QRectF(wall.right() + self.length(16), 0, 0, whole.height())
            window.setRight(whole.right())
            line = (wall.topRight(), wall.bottomRight())
        else:
            said = len(wall_sentences(self, self._picture, whole.width() - self.length(18))) * self.length(16)
            wall = QRectF(0, 0, whole.width(), said + self.length(CHIP + 24))
            window = QRectF(0, wall.bottom() + self.length(6), whole.width(), 0)
            window.setBottom(whole.bottom())
            line = (wall.bottomLeft(), wall.bottomRight())
        draw_wall(self, painter, wall, self._picture)
        painter.line(*line, QPen(self.theme.muted_text, self.length(1.6), Qt.PenStyle.DashLine))
        self._draw_window(painter, window)

    def _draw_window(self, painter: Painter, area: QRectF) -> None:
        picture, labels = self._picture, self.length(96 if area.width() > self.length(360) else 0)
        names = list(EXTENTS)
        extents = [EXTENTS[n].scaled(self.theme.scale) for n in names]
        least = sum(extent.least for extent in extents)
        usual = sum(extent.usual for extent in extents)
        row = self.length(ROW)
        fitting = int((area.height() - min(usual, max(least, 0.62 * area.height()))) / row) - 1
        count = max(LEAST_WORDS, min(MOST_WORDS, len(picture.likely), fitting))
        heights = shared_heights(extents, area.height() - (count + 1) * row)
        top, places = area.top(), {}
        for name, height in zip(names, heights, strict=True):
            places[name] = QRectF(area.left() + labels, top, area.width() - labels, height)
            top += height
        places["words"] = QRectF(area.left(), top + 0.5 * row, area.width(), (count + 0.5) * row)
        self._parts = {
            "embedding": places["embedding"].adjusted(-labels, -2, 0, 2),
            "hidden": places["hidden"].adjusted(-labels, -2, 0, 2),
            "words": places["words"].adjusted(0, -2, 0, 2),
        }
        self._draw_columns(painter, places, labels)
        self._draw_lines(painter, places)
        self._draw_hidden(painter, places, labels)
        self._draw_words(painter, places["words"], labels, count)

    def _column(self, area: QRectF, index: int) -> QRectF:
        """The part of a row that belongs to one word of the window."""
        width = area.width() / len(self._picture.words)
        return QRectF(area.left() + index * width, area.top(), width, area.height())

    def _label(self, painter: Painter, area: QRectF, labels: float, text: str, note: str = "") -> None:
        if not labels:
            return
        place = QRectF(area.left() - labels, area.top(), labels - self.length(8), area.height())
        if note:
            middle = place.center().y()
            upper = QRectF(place.left(), middle - self.length(15), place.width(), self.length(15))
            painter.fit(upper, text, size=11, where=AT_RIGHT)
            place = QRectF(place.left(), middle, place.width(), self.length(15))
            text = note
        painter.fit(place, text, self.theme.muted_text, 10.5, where=AT_RIGHT)

    def _draw_columns(self, painter: Painter, places: dict[str, QRectF], labels: float) -> None:
        """The words of the window, their embeddings, and these side by side in one row."""
        theme, words = self.theme, self._picture.words
        for index, word in enumerate(words):
            is_last = index == len(words) - 1
            name = self._column(places["name"], index)
            painter.fit(name, word.place, theme.muted_text, 10.5, where=CENTRED)
            chip = self._column(places["chip"], index)
            wanted = self.metrics(12.5, token=True).horizontalAdvance(word.word) + self.length(22)
            wide, high = min(chip.width() - self.length(6), wanted), min(chip.height() - 4, self.length(24))
            chip = QRectF(chip.center().x() - wide / 2, chip.top() + 1, wide, high)
            edge = QPen(theme.accent, self.length(1.8)) if is_last else QPen(theme.chip, 1)
            painter.box(chip, theme.accent_wash if is_last else theme.chip, edge, radius=5)
            inside = chip.adjusted(3, 0, -3, 0)
            painter.fit(inside, word.word, size=12, bold=is_last, token=True, where=CENTRED)
            self.place(word.key, chip)
            strip = self._column(places["embedding"], index)
            strip.adjust(self.length(3), self.length(3), -self.length(3), -self.length(2))
            self.draw_miniature(painter, word.embedding, strip)
            row = self._column(places["joined"], index)
            funnel = QPainterPath(strip.bottomLeft())
            funnel.lineTo(strip.bottomRight())
            funnel.lineTo(row.right(), row.center().y())
            funnel.lineTo(row.left(), row.center().y())
            painter.fillPath(funnel, mix(theme.surface, theme.accent_wash, 0.5))
        first = words[0].embedding.values.shape[1]
        self._label(painter, places["embedding"], labels, f"{first} each")
        if self._picture.joined is not None:
            row = places["joined"]
            lower = QRectF(row.left(), row.center().y(), row.width(), row.height() / 2)
            self.draw_miniature(painter, self._picture.joined, lower)
            self._label(painter, row, labels, f"one row of {first * len(words)}")

    def _unit_x(self, area: QRectF, unit: int) -> float:
        hidden = self._picture.hidden
        count = hidden.values.shape[1] if hidden is not None else 1
        return area.left() + (unit + 0.5) * area.width() / count

    def _draw_lines(self, painter: Painter, places: dict[str, QRectF]) -> None:
        """From each word to the units what it adds to them; to the chosen unit with the sums."""
        theme, words, area = self.theme, self._picture.words, places["lines"]
        products = np.stack([word.products for word in words])  # (word, unit)
        largest = float(np.abs(products).max(initial=0.0)) or 1.0
        order = np.argsort(-np.abs(products), axis=None)[:LINES][::-1]
        for place in order:
            word, unit = divmod(int(place), products.shape[1])
            self._draw_line(painter, area, word, unit, float(products[word, unit]) / largest, 0.28)
        own = products[:, self._unit]
        strongest = float(np.abs(own).max(initial=0.0)) or 1.0
        for word in range(len(words)):
            share = float(own[word]) / strongest
            self._draw_line(painter, area, word, self._unit, share, 1.0, 1 + 5 * abs(share))
        for word in range(len(words)):
            column, text = self._column(area, word), signed_figure(float(own[word]))
            wide = self.metrics(11, token=True).horizontalAdvance(text) + self.length(12)
            top = area.top() + 0.16 * area.height()
            pill = QRectF(column.center().x() - wide / 2, top, wide, self.length(18))
            painter.box(pill, theme.surface, _signed(theme, float(own[word])), 1.2, radius=9)
            painter.fit(pill, text, theme.text, 11, token=True, where=CENTRED)
            self.place(f"product {word}", pill)

    def _draw_line(
        self,
        painter: Painter,
        area: QRectF,
        word: int,
        unit: int,
        share: float,
        strength: float,
        width: float = 1.0,
    ) -> None:
        start = QPointF(self._column(area, word).center().x(), area.top())
        end = QPointF(self._unit_x(area, unit), area.bottom())
        color = QColor(_signed(self.theme, share))
        color.setAlphaF(strength if strength == 1.0 else strength * min(1.0, 0.15 + abs(share)))
        path, high = QPainterPath(start), area.height()
        path.cubicTo(start + QPointF(0, 0.6 * high), end - QPointF(0, 0.5 * high), end)
        painter.stroke(path, color, width)

    def _draw_hidden(self, painter: Painter, places: dict[str, QRectF], labels: float) -> None:
        """The units as bars up and down from zero; where they are too many, as a strip."""
        hidden, theme, area = self._picture.hidden, self.theme, places["hidden"]
        if hidden is None:
            return
        values, count = hidden.values[0], hidden.values.shape[1]
        self._label(painter, area, labels, f"{count} units", self._picture.layer)
        step = area.width() / count
        limit = float(np.abs(values).max(initial=0.0)) or 1.0
        if step < 2:
            self.draw_miniature(painter, hidden, area.adjusted(0, 4, 0, -4))
        else:
            lowest = float(values.min(initial=0.0))
            zero = area.bottom() - 3 if lowest >= 0 else area.center().y()
            full = (area.height() - 6) * (1.0 if lowest >= 0 else 0.5)
            painter.line(QPointF(area.left(), zero), QPointF(area.right(), zero), QPen(theme.line, 1))
            for unit, value in enumerate(values):
                size = full * float(value) / limit
                left, top = area.left() + (unit + 0.1) * step, min(zero, zero - size)
                bar = QRectF(left, top, 0.8 * step, abs(size))
                painter.box(bar, _signed(theme, float(value) / limit))
            self.answer(hidden, area)
        chosen = QRectF(area.left() + self._unit * step, area.top(), step, area.height())
        painter.box(no_smaller(chosen, self.length(5)), edge=theme.accent, width=1.8)
        below, text = places["unit"], coordinate("unit", self._unit)
        wide = self.metrics(11, bold=True).horizontalAdvance(text) + 4
        left = min(max(chosen.center().x() - wide / 2, below.left()), below.right() - wide)
        painter.fit(QRectF(left, below.top(), wide, below.height()), text, theme.accent, 11, bold=True)

    def _draw_words(self, painter: Painter, area: QRectF, labels: float, count: int) -> None:
        """The likeliest words, and beside each what every unit adds to its logit."""
        theme, row = self.theme, self.length(ROW)
        votes = 0.3 * area.width()
        start = area.left() + max(labels, self.length(74))
        figures = self.length(46)
        full = max(area.right() - votes - figures - start - self.length(16), 1.0)
        largest = max((word.probability for word in self._picture.likely), default=1.0) or 1.0
        head = QRectF(area.right() - votes, area.top() - 0.75 * row, votes, 0.75 * row)
        painter.fit(head, "what each unit adds", theme.muted_text, 10.5)
        for place, word in enumerate(self._picture.likely[:count]):
            line = QRectF(area.left(), area.top() + place * row, area.width(), row)
            name = QRectF(line.left(), line.top(), start - line.left() - self.length(8), row)
            painter.fit(name, word.word, size=12, bold=place == 0, token=True, where=AT_RIGHT)
            top, wide = line.center().y() - self.length(5.5), full * word.probability / largest
            bar = QRectF(start, top, wide, self.length(11))
            painter.box(bar, mix(theme.surface, theme.accent, 0.86), radius=2)
            figure = QRectF(bar.right() + self.length(6), line.top(), figures, row)
            painter.fit(figure, percentage(word.probability), size=11.5, bold=place == 0)
            self.place(word.key, line)
            strip = QRectF(area.right() - votes, line.top() + self.length(4), votes, row - self.length(7))
            self.draw_miniature(painter, word.votes, strip)
        units = self._picture.hidden.values.shape[1] if self._picture.hidden is not None else 1
        step = votes / units
        mark = QRectF(area.right() - votes + self._unit * step, area.top(), step, count * row)
        painter.box(no_smaller(mark, self.length(4)), edge=theme.accent, width=1.2)

    def draw_over(self, painter: Painter) -> None:
        area = self._parts.get(self._current)
        if area is None or not self._picture.words:
            return
        painter.box(area.adjusted(1, 0, -1, 0), edge=self.theme.accent, width=1.4, radius=5)


def _signed(theme: Theme, value: float) -> QColor:
    return mix(
        theme.signed_zero if abs(value) < 0.04 else mix(theme.signed_zero, theme.muted_text, 0.25),
        theme.signed(value),
        min(1.0, 0.35 + abs(value)),
    )

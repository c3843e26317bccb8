"""Two lines of words, and bands between them whose width and shade are weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainterPath, QPaintEvent, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.kit.lines import InLines
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointed, Words, along
from lmviz.app.widgets.text.wrapped_words import WrappedWords, widths_of, wrap_words
from lmviz.inspection.attention import strongest_edges

SIZES = (15.0, 13.5, 12.0)  # smaller ones are tried before a text is wrapped
LINE, LINE_EACH = 28, 20  # the height of a text in one line, and of each line where there are several
NAMES = 62  # pixels for what the two texts are called
MARGIN = 8
GAP, USUAL_GAP = 16, 32
BETWEEN = 36  # pixels that the bands need
HEIGHT = 160
SMALLEST = 0.01  # a weight that is still drawn
WIDEST = 11
BANDS = 400
FAINT = 0.22
VEIL = 0.75  # how much the paper behind a word hides of bands below it
LISTED = 5
TARGET, SOURCE = 0, 1


@dataclass(frozen=True, eq=False)
class _Layout:
    """The size of type, and where the words of the target and of the source stand."""

    size: float
    words: tuple[WrappedWords, WrappedWords]


class AlignmentArcs(Pointed[tuple[int, int] | None], InLines[_Layout]):
    """`AlignmentArcs()`: `set_alignment(target, source, weights)`, weights (target, source).

    The source stands above. Pointing at a word leaves only its bands strong; `set_current(index)` and
    `suggest(index)` mark a word of the target from outside, `set_chosen_source(index)` one of the source.
    A text that is too long for one line is wrapped: place it in an area that scrolls up and down.
    Signals: `target_hovered(int)` and `source_hovered(int)` (−1 on leaving), `target_clicked(int)`,
    `source_clicked(int)`. Left and Right move the current word of the target.
    """

    target_hovered = Signal(int)
    source_hovered = Signal(int)
    target_clicked = Signal(int)
    source_clicked = Signal(int)
    nowhere = None
    takes_height = True

    def __init__(self) -> None:
        super().__init__()
        self._words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._weights = np.zeros((0, 0))
        self._before: tuple[int, int] | None = None  # the word that the pointer was on
        self._current = self._from_outside = self._chosen_source = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("where each token comes from")

    def set_alignment(self, target: Sequence[str], source: Sequence[str], weights: np.ndarray) -> None:
        """Show two lines of words and the weights (target, source) between them."""
        if (len(target), len(source)) != tuple(map(len, self._words)):
            self._hovered = self._before = None
            self._from_outside = self._chosen_source = -1
            self._current = min(self._current, len(target) - 1)
        self._words, self._weights = (tuple(target), tuple(source)), np.asarray(weights, dtype=np.float64)
        self.lay_out_anew()
        self.renew_card()
        self._describe()

    def set_current(self, index: int) -> None:
        """Pin a word of the target; −1 for none."""
        if index != self._current:
            self._current = index
            self._describe()
            self.update()

    def suggest(self, index: int) -> None:
        """Show a word of the target as hovered elsewhere, without a signal; −1 for none."""
        if index != self._from_outside:
            self._from_outside = index
            self.update()

    def set_chosen_source(self, index: int) -> None:
        """Mark a word of the source; −1 for none."""
        if index != self._chosen_source:
            self._chosen_source = index
            self.update()

    @property
    def marked(self) -> tuple[int, int] | None:
        """The line (0 the target, 1 the source) and place of the word whose bands are strong."""
        if self._hovered is not None:
            return self._hovered
        index = self._from_outside if self._from_outside >= 0 else self._current
        return (TARGET, index) if 0 <= index < len(self._words[TARGET]) else None

    def token_place(self, line: int, index: int) -> QPointF:
        """The middle of a word of the target (0) or of the source (1)."""
        return self._word_area(line, index).center()

    def sizeHint(self) -> QSize:
        width = max(self._least_length(line, SIZES[0], USUAL_GAP) for line in (TARGET, SOURCE))
        return QSize(round(width), round(self.length(HEIGHT)))

    def minimumSizeHint(self) -> QSize:
        widest = max(float(self._widths(line, SIZES[-1]).max(initial=0)) for line in (TARGET, SOURCE))
        return QSize(round(widest + self.length(NAMES + 2 * MARGIN)), round(self.length(2 * LINE + BETWEEN)))

    def lay_out(self, width: int) -> _Layout:
        """How both texts are set at a width: as large as fits into one line each, or wrapped."""
        lines = (TARGET, SOURCE)
        lengths = ((size, max(self._least_length(line, size, GAP) for line in lines)) for size in SIZES)
        size = next((size for size, length in lengths if length <= width), SIZES[-1])
        widths = [self._widths(line, size) for line in lines]
        room = width - self.length(NAMES)
        margin, gap = self.length(MARGIN), self.length(GAP)
        words = [wrap_words(each, room, margin, gap, room / max(1, len(each))) for each in widths]
        return _Layout(size, (words[TARGET], words[SOURCE]))

    def height_of(self, layout: _Layout) -> float:
        return sum(self._height(layout.words, line) for line in (TARGET, SOURCE)) + self.length(BETWEEN)

    def _widths(self, line: int, size: float) -> np.ndarray:
        return widths_of(self._words[line], size)

    def _least_length(self, line: int, size: float, gap: float) -> float:
        """How long a text is in one line, beside its name."""
        words = self._words[line]
        gaps = self.length(gap) * max(0, len(words) - 1)
        return self.length(NAMES + 2 * MARGIN) + float(self._widths(line, size).sum()) + gaps

    def _height(self, words: tuple[WrappedWords, WrappedWords], line: int) -> float:
        """How high the lines of a text are together."""
        count = words[line].count
        return self.length(LINE if count == 1 else LINE_EACH * count)

    def _text_area(self, line: int) -> QRectF:
        """Where all lines of a text stand: those of the source above, those of the target below."""
        height = self._height(self.laid_out().words, line)
        top = self.length(2) if line == SOURCE else self.height() - height - self.length(2)
        return QRectF(0, top, self.width(), height)

    def _word_area(self, line: int, index: int) -> QRectF:
        """Where a word stands, with the room around it."""
        words, area = self.laid_out().words[line], self._text_area(line)
        row = area.height() / words.count
        half = words.widths[index] / 2 + self.length(4)
        middle = self.length(NAMES) + words.centres[index]
        return QRectF(middle - half, area.top() + words.lines[index] * row, 2 * half, row)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if self._weights.size:
            self._draw_bands(painter)
            for line in (TARGET, SOURCE):
                self._draw_words(painter, line, QRectF(event.rect()))
        self.draw_focus(painter)

    def _draw_bands(self, painter: Painter) -> None:
        marked = self.marked
        edges = strongest_edges(self._weights, BANDS, SMALLEST).tolist()
        edges.sort(key=lambda edge: marked is not None and edge[marked[0]] == marked[1])  # the marked on top
        middle = (self._text_area(SOURCE).bottom() + self._text_area(TARGET).top()) / 2
        for target, source in edges:
            weight = float(self._weights[target, source])
            is_strong = marked is None or (target, source)[marked[0]] == marked[1]
            color = QColor(self.theme.accent)
            color.setAlphaF((0.25 + 0.75 * weight) * (1.0 if is_strong else FAINT))
            pen = QPen(color, self.length(max(0.8, WIDEST * weight)))
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            above, below = self._word_area(SOURCE, source), self._word_area(TARGET, target)
            start = QPointF(above.center().x(), above.bottom() + self.length(2))
            end = QPointF(below.center().x(), below.top() - self.length(2))
            path = QPainterPath(start)
            path.cubicTo(start.x(), middle, end.x(), middle, end.x(), end.y())
            painter.stroke(path, pen)

    def _draw_words(self, painter: Painter, line: int, region: QRectF) -> None:
        theme, marked = self.theme, self.marked
        layout = self.laid_out()
        color = theme.query if line == TARGET else theme.key
        name = "target" if line == TARGET else "source"
        painter.write(self._text_area(line), f" {name}", theme.muted_text, 12)
        linked = self._linked(line)
        paper = QColor(theme.surface)
        paper.setAlphaF(VEIL)
        for index, word in enumerate(self._words[line]):
            is_marked = marked == (line, index)
            place = self._word_area(line, index)
            if not place.adjusted(-1, 0, 1, 0).intersects(region):
                continue
            if layout.words[line].count > 1:  # bands of other lines pass below
                painter.fillRect(place.adjusted(0, self.length(2), 0, -self.length(2)), paper)
            share = 1.0 if linked is None or is_marked else min(1.0, 2 * float(linked[index]))
            ink = mix(theme.surface, color, 0.35 + 0.65 * share)
            painter.write(place, word, ink, layout.size, bold=is_marked, token=True, where=CENTRED)
            if index == (self._current if line == TARGET else self._chosen_source):
                edge = theme.accent if line == TARGET else color
                painter.box(place.adjusted(-1, 2, 1, -2), edge=edge, width=1.5, radius=5)

    def _linked(self, line: int) -> np.ndarray | None:
        """How strongly each word of a line is joined to the marked one; None where all are alike."""
        marked = self.marked
        if marked is None:
            return None
        if marked[0] == line:
            return np.zeros(len(self._words[line]))
        weights: np.ndarray = self._weights[marked[1]] if marked[0] == TARGET else self._weights[:, marked[1]]
        return weights

    def _describe(self) -> None:
        if not 0 <= self._current < len(self._words[TARGET]):
            self.setAccessibleDescription(f"{len(self._words[TARGET])} tokens of the target")
            return
        title, lines = self.readout((TARGET, self._current))
        self.setAccessibleDescription(f"{title} {', '.join(lines)}")

    def readout(self, index: tuple[int, int] | None) -> Words:
        assert index is not None, "a card speaks of a word"
        line, place = index
        weights = self._weights[place] if line == TARGET else self._weights[:, place]
        others = self._words[SOURCE if line == TARGET else TARGET]
        best = [at for at in np.argsort(-weights)[:LISTED].tolist() if weights[at] > SMALLEST]
        lines = [f"{percentage(float(weights[at]))}  {others[at]}" for at in best]
        verb = "looks at" if line == TARGET else "is looked at by"
        return f"{self._words[line][place]} {verb}", lines

    def index_at(self, place: QPointF) -> tuple[int, int] | None:
        reach = self.length(GAP / 2 - 4)
        for line in (TARGET, SOURCE):
            if self._text_area(line).contains(place):
                words = self.laid_out().words[line]
                row = int(
                    (place.y() - self._text_area(line).top()) * words.count / self._text_area(line).height()
                )
                away = np.abs(words.centres + self.length(NAMES) - place.x()) - words.widths / 2
                found = np.flatnonzero((words.lines == row) & (away <= self.length(4) + reach))
                return (line, int(found[0])) if len(found) else None
        return None

    def pointed_at(self, index: tuple[int, int] | None) -> None:
        before, self._before = self._before, index
        for line, signal in ((TARGET, self.target_hovered), (SOURCE, self.source_hovered)):
            now, then = (at[1] if at is not None and at[0] == line else -1 for at in (index, before))
            if now != then:
                signal.emit(now)

    def clicked_on(self, index: tuple[int, int] | None) -> None:
        if index is not None and index[0] == TARGET:
            self.set_current(index[1])
            self.target_clicked.emit(index[1])
        elif index is not None:
            self.source_clicked.emit(index[1])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = along(ACROSS, event.key(), self._current, len(self._words[TARGET]))
        if wanted is not None:
            self.set_current(wanted)
            self.target_clicked.emit(self._current)
        else:
            super().keyPressEvent(event)

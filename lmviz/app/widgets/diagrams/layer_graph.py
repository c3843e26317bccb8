"""The edges into one hidden layer over a text: inputs below, states above, the last state in strong lines."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut

SIZE, HEAD, WORDS = 12, 22, 20
SIZES, GAP = (12, 11, 10), 10  # of the head's type, and between its parts
NODE, TIP = 8.0, 5.0
WORDS_FIT = 34  # pixels between two positions, from which on words are written below them


class LayerGraphView(Canvas):
    """`LayerGraphView(role)`: `set_graph(title, said, aside, below, before, words)`.

    `below` (edge, 2) are edges from an input to a state, `before` (edge, 2) from a state to a later one.
    `role` is the theme's colour of the edges: "value" or "accent". The edges into the last state are strong.
    """

    usual = (340, 150)

    def __init__(self, role: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role = role
        self._title, self._said, self._aside = "", "", ""
        self._words: tuple[str, ...] = ()
        self._below = self._before = np.empty((0, 2), dtype=np.int64)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_graph(
        self,
        title: str,
        said: str,
        aside: str,
        below: np.ndarray,
        before: np.ndarray,
        words: tuple[str, ...],
    ) -> None:
        """Draw another graph over as many positions as there are words."""
        self._title, self._said, self._aside = title, said, aside
        self._below, self._before, self._words = below, before, words
        self.setAccessibleName(title)
        self.setAccessibleDescription(f"{said}, {aside}")
        self.updateGeometry()
        self.update()

    def minimumSizeHint(self) -> QSize:
        """That of the smallest head, without a formula."""
        return QSize(math.ceil(self._head_width(SIZES[-1], self._brief)) + 2, round(self.length(96)))

    @property
    def _brief(self) -> str:
        """What is said, without the formula behind it."""
        return self._said.partition(" = ")[0]

    def _head_width(self, size: float, said: str) -> float:
        measure = metrics(size)
        wide = metrics(size, bold=True).horizontalAdvance(self._title) + 2 * self.length(GAP)
        return wide + measure.horizontalAdvance(said) + measure.horizontalAdvance(self._aside)

    def _place(self, position: int, *, state: bool) -> QPointF:
        step = self.width() / max(1, len(self._words))
        top, bottom = self.length(HEAD + NODE + 4), self.height() - self.length(WORDS + NODE)
        return QPointF((position + 0.5) * step, top if state else bottom)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = self.theme
        color = theme.value if self._role == "value" else theme.accent
        self._write_head(painter, color)
        last = len(self._words) - 1
        quiet = mix(theme.surface, color, 0.3)
        edges = [
            *((self._place(a, state=False), self._place(b, state=True), b) for a, b in self._below.tolist()),
            *((self._place(a, state=True), self._place(b, state=True), b) for a, b in self._before.tolist()),
        ]
        is_sparse = bool(len(self._before))
        for start, end, into in sorted(edges, key=lambda edge: edge[2]):
            is_strong = is_sparse or into == last
            ink, width = (color, 1.8) if is_strong else (quiet, 1)
            self._draw_edge(painter, start, end, QPen(ink, self.length(width)), arrow=is_sparse)
        for position in range(len(self._words)):
            self._draw_node(painter, self._place(position, state=True), is_last=position == last, state=True)
            self._draw_node(painter, self._place(position, state=False), is_last=False, state=False)
        self._write_words(painter)

    def _radius(self) -> float:
        return min(self.length(NODE), 0.36 * self.width() / max(1, len(self._words)))

    def _draw_edge(self, painter: Painter, start: QPointF, end: QPointF, pen: QPen, *, arrow: bool) -> None:
        run = end - start
        long = max(1e-9, (run.x() ** 2 + run.y() ** 2) ** 0.5)
        along = run / long
        start, end = start + along * self._radius(), end - along * self._radius()
        painter.line(start, end, pen)
        if arrow:
            painter.head(start, end, pen.color(), TIP, TIP / 2)

    def _draw_node(self, painter: Painter, place: QPointF, *, is_last: bool, state: bool) -> None:
        theme, radius = self.theme, self._radius() / self.theme.scale
        fill = theme.accent_wash if is_last else theme.surface if state else theme.chip
        edge, width = (theme.accent, 2) if is_last else (theme.strong_line, 1)
        painter.dot(place, radius, fill, edge, width)

    def _write_head(self, painter: Painter, color: QColor) -> None:
        theme, head = self.theme, QRectF(0, 0, self.width(), self.length(HEAD))
        size, said = self._fitting_head()
        painter.write(head, self._title, color, size, bold=True)
        left = metrics(size, bold=True).horizontalAdvance(self._title) + self.length(GAP)
        painter.write(head.adjusted(left, 0, 0, 0), said, theme.text, size)
        painter.write(head, self._aside, theme.muted_text, where=AT_RIGHT)

    def _fitting_head(self) -> tuple[float, str]:
        """The size of type in which the head fits, and what is said there: where need be, without formula."""
        for said in (self._said, self._brief):
            for size in SIZES:
                if self._head_width(size, said) <= self.width():
                    return size, said
        return SIZES[-1], said

    def _write_words(self, painter: Painter) -> None:
        step = self.width() / max(1, len(self._words))
        fits = step >= self.length(WORDS_FIT)
        painter.setFont(self.theme.token_font(SIZE) if fits else self.theme.font(SIZE - 1))
        painter.setPen(self.theme.muted_text)
        measure = metrics(SIZE, token=True)
        for position, word in enumerate(self._words):
            shown = str(position + 1)
            if fits:
                shown = cut(word, step - 2, measure)
            elif position % 2 and step < self.length(18):
                continue
            below = self.height() - self.length(WORDS - 3)
            painter.write(QRectF(position * step, below, step, self.length(WORDS - 4)), shown, where=CENTRED)

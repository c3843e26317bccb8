"""Small drawings of the families for their cards."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen, QTransform

from lmviz.app.widgets.kit.painter import Painter

WIDTH, HEIGHT = 60, 26
RADIUS = 5.5
CENTRES = (10.0, 30.0, 50.0)


def _counts(painter: Painter, ink: QColor, faint: QColor) -> None:
    """A table of counts."""
    for row in range(2):
        for column in range(4):
            cell = QRectF(15.5 * column, 1 + 13 * row, 13, 11)
            painter.box(cell, ink if (row, column) == (1, 2) else faint, radius=1.5)


def _window(painter: Painter, ink: QColor, faint: QColor) -> None:
    """A few words side by side, and one layer above them."""
    for centre in CENTRES:
        painter.line(QPointF(centre, 19), QPointF(30, 6), faint, 1.5)
    for centre in CENTRES:
        painter.dot(QPointF(centre, 20), RADIUS, faint)
    painter.dot(QPointF(30, 6), RADIUS, ink)


def _chain(painter: Painter, ink: QColor, faint: QColor) -> None:
    """A state handed from word to word."""
    for left, right in pairwise(CENTRES):
        painter.line(QPointF(left, 13), QPointF(right, 13), ink, 1.5)
    for centre in CENTRES:
        painter.dot(QPointF(centre, 13), RADIUS, faint)


def _cells(painter: Painter, ink: QColor, faint: QColor) -> None:
    """Two things handed on: the cell above, the hidden state below."""
    for height in (7, 19):
        painter.line(QPointF(CENTRES[0], height), QPointF(CENTRES[-1], height), ink, 1.5)
    for centre in CENTRES:
        painter.box(QRectF(centre - 6, 2, 12, 22), faint, radius=1.5)


def _gated(painter: Painter, ink: QColor, faint: QColor) -> None:
    """A state handed on, and a way around each unit."""
    _chain(painter, ink, faint)
    painter.setPen(QPen(ink, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for left, right in pairwise(CENTRES):
        painter.drawArc(QRectF(left, 3, right - left, 20), 20 * 16, 140 * 16)


def _stairs(painter: Painter, ink: QColor, faint: QColor) -> None:
    """Every word looks at all before it, none after."""
    for row in range(3):
        for column in range(3):
            cell = QRectF(20.5 * column, 9 * row, 18, 7)
            painter.box(cell, ink if column <= row else faint, radius=1.5)


SHAPES: dict[str, Callable[[Painter, QColor, QColor], None]] = {
    "ngram": _counts,
    "window": _window,
    "rnn": _chain,
    "lstm": _cells,
    "gru": _gated,
    "transformer": _stairs,
}
"""How to draw each family, by its name, in a space of WIDTH × HEIGHT, in two colours."""


def draw_shape(painter: Painter, family: str, corner: QPointF, ink: QColor, faint: QColor) -> None:
    """Draw a family's picture with its upper left corner at a place; a chain for one without a picture."""
    scale = painter.theme.scale
    with painter.scaled(QTransform.fromTranslate(corner.x(), corner.y()).scale(scale, scale)):
        SHAPES.get(family, _chain)(painter, ink, faint)

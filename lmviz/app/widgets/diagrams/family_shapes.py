"""Small drawings of the families for their cards."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

WIDTH, HEIGHT = 60, 26
RADIUS = 5.5
CENTRES = (10.0, 30.0, 50.0)


def _counts(painter: QPainter, ink: QColor, faint: QColor) -> None:
    """A table of counts."""
    for row in range(2):
        for column in range(4):
            _block(
                painter,
                QRectF(15.5 * column, 1 + 13 * row, 13, 11),
                ink if (row, column) == (1, 2) else faint,
            )


def _window(painter: QPainter, ink: QColor, faint: QColor) -> None:
    """A few words side by side, and one layer above them."""
    for centre in CENTRES:
        _line(painter, faint, QPointF(centre, 19), QPointF(30, 6))
    for centre in CENTRES:
        _disc(painter, QPointF(centre, 20), faint)
    _disc(painter, QPointF(30, 6), ink)


def _chain(painter: QPainter, ink: QColor, faint: QColor) -> None:
    """A state handed from word to word."""
    for left, right in pairwise(CENTRES):
        _line(painter, ink, QPointF(left, 13), QPointF(right, 13))
    for centre in CENTRES:
        _disc(painter, QPointF(centre, 13), faint)


def _cells(painter: QPainter, ink: QColor, faint: QColor) -> None:
    """Two things handed on: the cell above, the hidden state below."""
    for height in (7, 19):
        _line(painter, ink, QPointF(CENTRES[0], height), QPointF(CENTRES[-1], height))
    for centre in CENTRES:
        _block(painter, QRectF(centre - 6, 2, 12, 22), faint)


def _gated(painter: QPainter, ink: QColor, faint: QColor) -> None:
    """A state handed on, and a way around each unit."""
    _chain(painter, ink, faint)
    painter.setPen(QPen(ink, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for left, right in pairwise(CENTRES):
        painter.drawArc(QRectF(left, 3, right - left, 20), 20 * 16, 140 * 16)


def _stairs(painter: QPainter, ink: QColor, faint: QColor) -> None:
    """Every word looks at all before it, none after."""
    for row in range(3):
        for column in range(3):
            _block(painter, QRectF(20.5 * column, 9 * row, 18, 7), ink if column <= row else faint)


def _line(painter: QPainter, color: QColor, start: QPointF, end: QPointF) -> None:
    painter.setPen(QPen(color, 1.5))
    painter.drawLine(QLineF(start, end))


def _disc(painter: QPainter, centre: QPointF, color: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(centre, RADIUS, RADIUS)


def _block(painter: QPainter, place: QRectF, color: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRoundedRect(place, 1.5, 1.5)


SHAPES: dict[str, Callable[[QPainter, QColor, QColor], None]] = {
    "ngram": _counts,
    "window": _window,
    "rnn": _chain,
    "lstm": _cells,
    "gru": _gated,
    "transformer": _stairs,
}
"""How to draw each family, by its name, in a space of WIDTH × HEIGHT, in two colours."""


def draw_shape(
    painter: QPainter, family: str, corner: QPointF, scale: float, ink: QColor, faint: QColor
) -> None:
    """Draw a family's picture with its upper left corner at a place; a chain for one without a picture."""
    painter.save()
    painter.translate(corner)
    painter.scale(scale, scale)
    SHAPES.get(family, _chain)(painter, ink, faint)
    painter.restore()

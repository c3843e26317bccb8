"""The lines of an unrolled network: straight ones, those around a cell, and the heads of arrows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import Canvas

LAYER_GAP = 22
LIT, USUAL = 2.6, 1.4  # widths
PALE = 0.45
RIBBON = 0.35  # how strong the colour of a gradient's ribbon is


def draw_line(
    canvas: Canvas, painter: QPainter, color: QColor, lit: bool, start: QPointF, end: QPointF
) -> None:
    """A straight line, which is strong where it leads to what is lit."""
    painter.setPen(_pen(canvas, color, lit))
    painter.drawLine(QLineF(start, end))


def draw_around(
    canvas: Canvas, painter: QPainter, color: QColor, lit: bool, start: QPointF, end: QPointF, side: float
) -> None:
    """A line that goes around a cell, past one of its sides."""
    painter.setPen(_pen(canvas, color, lit))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    beyond = side + math.copysign(canvas.length(9), side - start.x())
    bend = canvas.length(LAYER_GAP) * 0.9
    path = QPainterPath(start)
    path.cubicTo(
        QPointF(beyond, start.y() - 0.2 * bend),
        QPointF(beyond, start.y()),
        QPointF(beyond, start.y() - bend),
    )
    path.lineTo(QPointF(beyond, end.y() + bend))
    path.cubicTo(QPointF(beyond, end.y()), QPointF(beyond, end.y() + 0.2 * bend), end)
    painter.drawPath(path)


def draw_head(canvas: Canvas, painter: QPainter, tip: QPointF, way: int) -> None:
    """The head of an arrow to the right, 1, or to the left, −1, in the colour of the line before."""
    size = canvas.length(5)
    painter.setBrush(painter.pen().color())
    painter.setPen(Qt.PenStyle.NoPen)
    back = tip.x() - 1.6 * way * size
    painter.drawPolygon([tip, QPointF(back, tip.y() - 0.8 * size), QPointF(back, tip.y() + 0.8 * size)])


def draw_ribbon(
    canvas: Canvas, painter: QPainter, start: QPointF, end: QPointF, sizes: Sequence[float], room: float
) -> None:
    """A gradient that goes back from `end` to `start`: as wide as its `sizes` there, up to `room`."""
    halves = [max(canvas.length(0.4), size * room / 2) for size in sizes]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(mix(canvas.theme.surface, canvas.theme.key, RIBBON))
    points = [QPointF(at.x(), at.y() - half) for at, half in zip((start, end), halves, strict=True)]
    points += [QPointF(at.x(), at.y() + half) for at, half in zip((end, start), halves[::-1], strict=True)]
    painter.drawPolygon(points)
    if sizes[0] > 0:
        painter.setPen(QPen(canvas.theme.key, canvas.length(USUAL)))
        draw_head(canvas, painter, start, -1 if end.x() > start.x() else 1)


def _pen(canvas: Canvas, color: QColor, lit: bool) -> QPen:
    color = QColor(color)
    color.setAlphaF(1.0 if lit else PALE)
    return QPen(color, canvas.length(LIT if lit else USUAL))

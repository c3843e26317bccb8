"""The arrows between the boxes of a small network: blue goes forward and orange comes back."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from lmviz.app.widgets.diagrams.network_boxes import Box

ASIDE = 7  # pixels between an arrow and the one back
HEAD = 4.5
STUB = 30
BEND = 0.45


def draw_arrow(
    painter: QPainter, source: Box, target: Box, share: float, color: QColor, width: float
) -> None:
    """Forward, from a value to the module that takes it; `share` is where at its edge the arrow ends."""
    start, end, upright = _ends(source, target, share)
    _draw(painter, start, end, upright, color, width)


def draw_arrow_back(
    painter: QPainter, source: Box, target: Box, share: float, color: QColor, width: float
) -> None:
    """Back, from the module to the value, beside the arrow forward."""
    start, end, upright = _ends(source, target, share)
    aside = _aside(upright)
    _draw(painter, end + aside, start + aside, upright, color, width)


def draw_stub(painter: QPainter, target: Box, share: float, color: QColor, back: QColor | None) -> None:
    """For something given that stands far away: a short arrow, and one back in the colour `back`."""
    start, end = _stub(target, share)
    _draw(painter, start, end, target.is_downward, color, 1.1)
    if back is not None:
        aside = _aside(target.is_downward)
        _draw(painter, end + aside, start + aside, target.is_downward, back, 1.6)


def arrow_area(source: Box, target: Box, share: float) -> QRectF:
    """All that an arrow, its head and the one back can cover."""
    start, end, _ = _ends(source, target, share)
    room = ASIDE + 2 * HEAD
    return QRectF(start, end).normalized().adjusted(-room, -room, room, room)


def stub_area(target: Box, share: float) -> QRectF:
    """All that a short arrow and the one back can cover."""
    room = ASIDE + 2 * HEAD
    return QRectF(*_stub(target, share)).adjusted(-room, -room, room, room)


def _stub(target: Box, share: float) -> tuple[QPointF, QPointF]:
    """Where a short arrow begins and ends."""
    frame = target.frame
    if target.is_downward:
        end = QPointF(frame.left() + frame.width() * share, frame.top())
        return end - QPointF(0, STUB), end
    end = QPointF(frame.left(), frame.top() + frame.height() * share)
    return end - QPointF(STUB, 0), end


def _aside(upright: bool) -> QPointF:
    """From an arrow to the one back."""
    return QPointF(ASIDE, 0) if upright else QPointF(0, ASIDE)


def _ends(source: Box, target: Box, share: float) -> tuple[QPointF, QPointF, bool]:
    """Where an arrow begins and ends, and whether it runs up or down."""
    before, after = source.frame, target.frame
    if target.is_downward:
        return _ends_downward(source, target, share)
    if source.value.side == "left" or (source.value.side == "module" and before.right() < after.left()):
        y = before.center().y()
        end_y = y if _is_inside(y, after.top(), after.bottom()) else after.top() + after.height() * share
        return QPointF(before.right(), y), QPointF(after.left(), end_y), False
    x = before.center().x()
    end_x = x if _is_inside(x, after.left(), after.right()) else after.left() + after.width() * share
    return QPointF(x, before.top()), QPointF(end_x, after.bottom()), True


def _ends_downward(source: Box, target: Box, share: float) -> tuple[QPointF, QPointF, bool]:
    """The same where steps go downwards: from step to step it runs down, and else to the right."""
    before, after = source.frame, target.frame
    if source.value.side == "left" or (source.value.side == "module" and before.bottom() < after.top()):
        x = before.center().x()
        end_x = x if _is_inside(x, after.left(), after.right()) else after.left() + after.width() * share
        return QPointF(x, before.bottom()), QPointF(end_x, after.top()), True
    y = before.center().y()
    end_y = y if _is_inside(y, after.top(), after.bottom()) else after.top() + after.height() * share
    return QPointF(before.right(), y), QPointF(after.left(), end_y), False


def _is_inside(place: float, low: float, high: float) -> bool:
    """Whether an arrow can run straight to an edge, with room for the one back."""
    return low + 2 * ASIDE <= place <= high - 2 * ASIDE


def _draw(
    painter: QPainter, start: QPointF, end: QPointF, upright: bool, color: QColor, width: float
) -> None:
    along = QPointF(0, (end.y() - start.y()) * BEND) if upright else QPointF((end.x() - start.x()) * BEND, 0)
    path = QPainterPath(start)
    path.cubicTo(start + along, end - along, end)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(color, width))
    painter.drawPath(path)
    draw_head(painter, end - along if not along.isNull() else start, end, color, width)


def draw_head(painter: QPainter, before: QPointF, end: QPointF, color: QColor, width: float) -> None:
    """The head of an arrow that comes to its end from a point before it."""
    direction = QLineF(before, end)
    if direction.length() == 0:
        return
    unit = (direction.p2() - direction.p1()) * (1 / direction.length())
    normal, size = QPointF(-unit.y(), unit.x()), HEAD + width / 2
    painter.setBrush(color)
    painter.setPen(Qt.PenStyle.NoPen)
    back = end - unit * size * 1.4
    painter.drawPolygon(QPolygonF([end, back + normal * size * 0.7, back - normal * size * 0.7]))

"""The arrows between the boxes of a small network: blue goes forward and orange comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QPainterPath

from lmviz.app.widgets.kit.painter import Painter

HEAD = 4.5
NEAR = 0.01  # pixels, within which points are one
BEND, ROUND = 0.45, 5.0


@dataclass(frozen=True, eq=False)
class Line:
    """The points of an arrow and of the one back: joined straight along an axis, else by bends, which begin
    and end upright or level. `label` is where the name of its source stands, if it stands before the arrow.
    """

    points: Sequence[QPointF]
    back_points: Sequence[QPointF]
    is_upright: bool
    label: QRectF

    @cached_property
    def path(self) -> QPainterPath:
        """What is drawn forward."""
        return path_through(self.points, is_upright=self.is_upright)

    @cached_property
    def back(self) -> QPainterPath:
        """What is drawn back."""
        return path_through(self.back_points, is_upright=self.is_upright)

    @property
    def area(self) -> QRectF:
        """All that both can cover, heads and name included."""
        room = 2 * HEAD
        both = self.path.boundingRect().united(self.back.boundingRect())
        return both.adjusted(-room, -room, room, room).united(self.label)

    def draw(self, painter: Painter, color: QColor, width: float, *, back: bool = False) -> None:
        """The arrow forward, or the one back."""
        before, end = self.head(back=back)
        draw_arrow(painter, self.back if back else self.path, before, end, color, width)

    def head(self, *, back: bool = False) -> tuple[QPointF, QPointF]:
        """A point before the end, from which the head comes, and the end.

        The last points may lie on one another, where no slot is passed before the box.
        """
        points = self.back_points if back else self.points
        end = points[-1]
        before = next((point for point in reversed(points) if QLineF(point, end).length() > NEAR), points[0])
        if not _is_straight(before, end):
            before = end - _bend(before, end, is_upright=self.is_upright)
        return before, end


def path_through(points: Sequence[QPointF], *, is_upright: bool) -> QPainterPath:
    """From point to point: straight along an axis, or else by bends whose ends are upright or level."""
    path = QPainterPath(points[0])
    for at in range(1, len(points)):
        before, end = points[at - 1], points[at]
        after = points[at + 1] if at + 1 < len(points) else end
        if not _is_straight(before, end):
            bend = _bend(before, end, is_upright=is_upright)
            path.cubicTo(before + bend, end - bend, end)
        elif after == end or not _is_straight(end, after):
            path.lineTo(end)
        else:
            one, other = QLineF(end, before), QLineF(end, after)
            radius = min(ROUND, one.length() / 2, other.length() / 2)
            path.lineTo(one.pointAt(radius / one.length()))
            path.quadTo(end, other.pointAt(radius / other.length()))
    return path


def _bend(start: QPointF, end: QPointF, *, is_upright: bool) -> QPointF:
    """From the end of a bend to where it turns."""
    way = (end - start) * BEND
    return QPointF(0, way.y()) if is_upright else QPointF(way.x(), 0)


def _is_straight(start: QPointF, end: QPointF) -> bool:
    return start.x() == end.x() or start.y() == end.y()


def draw_arrow(
    painter: Painter, path: QPainterPath, before: QPointF, end: QPointF, color: QColor, width: float
) -> None:
    """A line along a path, and its head, which comes to the end from a point before it."""
    painter.stroke(path, color, width)
    size = HEAD + width / 2
    painter.head(before, end, color, 1.4 * size, 0.7 * size)

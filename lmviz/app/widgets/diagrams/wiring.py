"""A diagram of the computation: its stages in order, grouped by place, with a line from each stage to those
that read it. A residual connection is an arc over the stages it skips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.pointable import Pointable

BOX_HEIGHT, GAP, GROUP_GAP = 40, 16, 30
TITLE_SIZE, PLACE_SIZE = 11.5, 11.0
ARC, HEAD = 17, 58
WIDEST = 96
KEYS: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


@dataclass(frozen=True)
class WiringNode:
    """A stage: its title, the place it belongs to, and the indices of the stages it reads."""

    title: str
    place: str
    sources: tuple[int, ...] = ()


class WiringView(Pointable):
    """`WiringView()`: `set_nodes(nodes)`, sources before those that read them; `set_current(index)` lights a
    stage with what it reads. Signals: `node_clicked(int)`, `node_hovered(int)` (−1 on leaving).
    It is as wide as it needs: place it in a scroll area. Left and Right move on to the next box.
    """

    node_clicked = Signal(int)
    node_hovered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._nodes: tuple[WiringNode, ...] = ()
        self._boxes: list[QRectF] = []
        self._reach = 1
        self._current = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("diagram of the model")

    def set_nodes(self, nodes: Sequence[WiringNode]) -> None:
        """Draw a computation."""
        if tuple(nodes) != self._nodes:
            self._nodes = tuple(nodes)
            self._current = -1
            self.set_hovered(-1)
            self._lay_out()
            self.updateGeometry()
        self.update()

    def set_current(self, index: int) -> None:
        """Light a stage; −1 for none."""
        self._current = index
        self.setAccessibleDescription(self._nodes[index].title if 0 <= index < len(self._nodes) else "")
        self.update()

    def node_rectangle(self, index: int) -> QRectF:
        """Where a stage is drawn."""
        return self._boxes[index].translated(0, self._top)

    def adopt_theme(self) -> None:
        self._lay_out()
        super().adopt_theme()

    def sizeHint(self) -> QSize:
        width = self._boxes[-1].right() + self.length(GAP) if self._boxes else self.length(200)
        return QSize(round(width), round(self.length(HEAD + BOX_HEIGHT + 24) + self._arc_room))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @property
    def _arc_room(self) -> float:
        return self.length(ARC) * self._reach

    @property
    def _top(self) -> float:
        """Where the boxes begin: below the names of places and the arcs, in the middle of what is left."""
        spare = max(0.0, self.height() - self.sizeHint().height())
        return self.length(26) + self._arc_room + spare / 2

    def _lay_out(self) -> None:
        measure = metrics(TITLE_SIZE)
        self._boxes, left, place = [], self.length(GAP), None
        for node in self._nodes:
            if place is not None and node.place != place:
                left += self.length(GROUP_GAP - GAP)
            place = node.place
            longest = max(measure.horizontalAdvance(line) for line in _two_lines(node.title))
            width = min(longest + self.length(18), self.length(WIDEST + 60))
            self._boxes.append(QRectF(left, 0, width, self.length(BOX_HEIGHT)))
            left += width + self.length(GAP)
        spans = [n - source for n, node in enumerate(self._nodes) for source in node.sources]
        self._reach = min(4, max([1, *(span // 3 for span in spans)]))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        self._draw_places(painter)
        for index, node in enumerate(self._nodes):
            for source in node.sources:
                self._draw_line(painter, source, index)
        for index in range(len(self._nodes)):
            self._draw_box(painter, index)
        self.draw_focus(painter, QRectF(self.visibleRegion().boundingRect()))

    def _draw_places(self, painter: QPainter) -> None:
        """A quiet ground for each place, with its name."""
        painter.setFont(self.theme.font(PLACE_SIZE))
        first = 0
        for index in range(1, len(self._nodes) + 1):
            if index < len(self._nodes) and self._nodes[index].place == self._nodes[first].place:
                continue
            area = self.node_rectangle(first).united(self.node_rectangle(index - 1))
            edge = self.length(7)
            ground = area.adjusted(-edge, -self._arc_room - edge, edge, edge)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.background)
            painter.drawRoundedRect(ground, self.length(8), self.length(8))
            painter.setPen(self.theme.muted_text)
            name = QRectF(ground.left(), ground.top() - self.length(19), self.length(260), self.length(18))
            painter.drawText(name, Qt.AlignmentFlag.AlignVCenter, self._nodes[first].place)
            first = index

    def _is_lit(self, source: int, target: int) -> bool:
        shown = self.hovered if self.hovered >= 0 else self._current
        return target == shown

    def _draw_line(self, painter: QPainter, source: int, target: int) -> None:
        """Neighbours are joined by a stroke; what lies further back by an arc above the boxes between."""
        start, end = self.node_rectangle(source), self.node_rectangle(target)
        lit = self._is_lit(source, target)
        color = QColor(self.theme.accent if lit else self.theme.strong_line)
        painter.setPen(QPen(color, self.length(2.2 if lit else 1.2)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if target == source + 1:
            painter.drawLine(
                QPointF(start.right(), start.center().y()), QPointF(end.left(), end.center().y())
            )
            return
        height = self.length(ARC) * min(self._reach, max(1, (target - source) // 3))
        path = QPainterPath(QPointF(start.center().x(), start.top()))
        top = start.top() - height
        path.cubicTo(
            QPointF(start.center().x(), top),
            QPointF(start.center().x(), top),
            QPointF(start.right() + height, top),
        )
        path.lineTo(QPointF(end.left() - height, top))
        path.cubicTo(
            QPointF(end.center().x(), top),
            QPointF(end.center().x(), top),
            QPointF(end.center().x(), end.top()),
        )
        painter.drawPath(path)

    def _draw_box(self, painter: QPainter, index: int) -> None:
        box, theme = self.node_rectangle(index), self.theme
        current = index == self._current
        reads = self._current >= 0 and index in self._nodes[self._current].sources
        painter.setBrush(theme.accent_wash if current else theme.surface)
        edge = (
            theme.accent if current or reads else theme.strong_line if index == self.hovered else theme.line
        )
        painter.setPen(QPen(edge, self.length(2 if current else 1.2)))
        painter.drawRoundedRect(box, self.length(6), self.length(6))
        painter.setFont(theme.font(TITLE_SIZE))
        painter.setPen(theme.text)
        lines = "\n".join(_two_lines(self._nodes[index].title))
        painter.drawText(box.adjusted(4, 2, -4, -2), Qt.AlignmentFlag.AlignCenter, lines)

    def index_at(self, place: QPointF) -> int:
        boxes = range(len(self._boxes))
        return next((index for index in boxes if self.node_rectangle(index).contains(place)), -1)

    def pointed_at(self, index: int) -> None:
        self.setCursor(Qt.CursorShape.PointingHandCursor if index >= 0 else Qt.CursorShape.ArrowCursor)
        self.node_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.node_clicked.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self._current + KEYS.get(event.key(), 0)
        if event.key() in KEYS and 0 <= index < len(self._nodes):
            self.node_clicked.emit(index)
        else:
            super().keyPressEvent(event)


def _two_lines(title: str) -> list[str]:
    """A title broken at the space nearest its middle, when it is long."""
    if len(title) <= 12 or " " not in title:
        return [title]
    spaces = [n for n, letter in enumerate(title) if letter == " "]
    cut = min(spaces, key=lambda n: abs(n - len(title) / 2))
    return [title[:cut], title[cut + 1 :]]

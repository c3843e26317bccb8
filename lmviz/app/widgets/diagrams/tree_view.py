"""A tree of words drawn from left to right: branches of sampling, or the beams of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.pointable import Pointable

LABEL_SIZE, NOTE_SIZE = 12.0, 11.0
ROW = 34
CHIP = 24
GAP = 44
FAINT = 0.42


@dataclass(frozen=True)
class TreeNode:
    """A word in the tree. `parent` is the index of the node before it, −1 at the root.

    `note` is shown next to it, such as its probability. A pruned node is drawn faint.
    """

    label: str
    note: str = ""
    parent: int = -1
    pruned: bool = False


class TreeView(Pointable):
    """`TreeView()`: words as chips, joined by curves; the path to the current one is lit.

    `set_nodes(nodes, current=-1)` draws a sequence of `TreeNode`, parents first.
    Signals: `node_clicked(int)`, `node_hovered(int)` (−1 on leaving). The widget takes the size its tree
    needs: place it in a scroll area. Arrow keys go to the parent, the first child and the neighbours.
    """

    node_clicked = Signal(int)
    node_hovered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._nodes: tuple[TreeNode, ...] = ()
        self._current = -1
        self._path: frozenset[int] = frozenset()
        self._chips: list[QRectF] = []
        self._children: list[list[int]] = []
        self._size = QSize(0, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("tree of words")

    def set_nodes(self, nodes: Sequence[TreeNode], current: int = -1) -> None:
        """Draw a tree; `current` is the marked node."""
        self._nodes = tuple(nodes)
        self._current = current
        self.set_hovered(-1)
        self._path = frozenset(self._way_to(current))
        self._lay_out()
        self.setAccessibleDescription(" ".join(self._nodes[i].label for i in reversed(self._way_to(current))))
        self.updateGeometry()
        self.update()

    def node_rectangle(self, index: int) -> QRectF:
        """Where a node is drawn."""
        return self._chips[index]

    def adopt_theme(self) -> None:
        self._lay_out()
        super().adopt_theme()

    def sizeHint(self) -> QSize:
        return self._size

    def minimumSizeHint(self) -> QSize:
        return self._size

    def _way_to(self, index: int) -> list[int]:
        way = []
        while index >= 0:
            way.append(index)
            index = self._nodes[index].parent
        return way

    def _lay_out(self) -> None:
        """One row for each leaf; a parent in the middle of its children; one column for each depth."""
        count = len(self._nodes)
        self._children = [[] for _ in range(count)]
        depths, rows = [0] * count, [0.0] * count
        for index, node in enumerate(self._nodes):
            if node.parent >= 0:
                self._children[node.parent].append(index)
                depths[index] = depths[node.parent] + 1
        leaves = 0
        waiting = [index for index, node in enumerate(self._nodes) if node.parent < 0][::-1]
        while waiting:
            index = waiting.pop()
            if self._children[index]:
                waiting.extend(reversed(self._children[index]))
            else:
                rows[index] = leaves
                leaves += 1
        for index in range(count - 1, -1, -1):  # children come after their parents
            if children := self._children[index]:
                rows[index] = (rows[children[0]] + rows[children[-1]]) / 2
        self._place(depths, rows, leaves)

    def _place(self, depths: list[int], rows: list[float], leaves: int) -> None:
        label, note = metrics(LABEL_SIZE, token=True), metrics(NOTE_SIZE)
        widths = [label.horizontalAdvance(node.label) + self.length(20) for node in self._nodes]
        columns = [0.0] * (max(depths, default=-1) + 1)
        for node, depth, width in zip(self._nodes, depths, widths, strict=True):
            beside = note.horizontalAdvance(node.note) + self.length(6) if node.note else 0.0
            columns[depth] = max(columns[depth], width + beside)
        starts, start = [], self.length(6)
        for column in columns:
            starts.append(start)
            start += column + self.length(GAP)
        row, chip = self.length(ROW), self.length(CHIP)
        self._chips = [
            QRectF(starts[depth], place * row + (row - chip) / 2, width, chip)
            for depth, place, width in zip(depths, rows, widths, strict=True)
        ]
        self._size = QSize(round(start), round(leaves * row))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        for index, node in enumerate(self._nodes):
            if node.parent >= 0:
                self._draw_curve(painter, node.parent, index)
        for index in range(len(self._nodes)):
            if self._chips[index].intersects(QRectF(event.rect()).adjusted(-200, 0, 0, 0)):
                self._draw_node(painter, index)
        self.draw_focus(painter)

    def _strength(self, index: int) -> float:
        return FAINT if self._nodes[index].pruned and index != self.hovered else 1.0

    def _draw_curve(self, painter: QPainter, parent: int, child: int) -> None:
        start = QPointF(self._end_of(parent), self._chips[parent].center().y())
        end = QPointF(self._chips[child].left(), self._chips[child].center().y())
        bend = (end.x() - start.x()) * 0.5
        path = QPainterPath(start)
        path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end)
        lit = child in self._path
        color = QColor(self.theme.accent if lit else self.theme.strong_line)
        color.setAlphaF(self._strength(child))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, self.length(2.2 if lit else 1.1)))
        painter.drawPath(path)

    def _end_of(self, index: int) -> float:
        note = self._nodes[index].note
        beside = metrics(NOTE_SIZE).horizontalAdvance(note) + self.length(9) if note else 0.0
        return self._chips[index].right() + beside

    def _draw_node(self, painter: QPainter, index: int) -> None:
        node, chip, theme = self._nodes[index], self._chips[index], self.theme
        painter.setOpacity(self._strength(index))
        painter.setBrush(theme.accent_wash if index == self._current else theme.chip)
        edge = (
            theme.accent
            if index in self._path
            else theme.strong_line
            if index == self.hovered
            else theme.line
        )
        painter.setPen(QPen(edge, self.length(1.4 if index in self._path else 1.0)))
        painter.drawRoundedRect(chip, self.length(6), self.length(6))
        painter.setPen(theme.text)
        painter.setFont(theme.token_font(LABEL_SIZE))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, node.label)
        painter.setPen(theme.muted_text)
        painter.setFont(theme.font(NOTE_SIZE))
        beside = QRectF(chip.right() + self.length(6), chip.top(), self.length(240), chip.height())
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter, node.note)
        painter.setOpacity(1.0)

    def index_at(self, place: QPointF) -> int:
        return next((index for index, chip in enumerate(self._chips) if chip.contains(place)), -1)

    def pointed_at(self, index: int) -> None:
        self.setCursor(Qt.CursorShape.PointingHandCursor if index >= 0 else Qt.CursorShape.ArrowCursor)
        self.node_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.node_clicked.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        target = self._neighbour(event.key())
        if target >= 0:
            self.node_clicked.emit(target)
        else:
            super().keyPressEvent(event)

    def _neighbour(self, key: int) -> int:
        if not 0 <= self._current < len(self._nodes):
            return -1
        parent = self._nodes[self._current].parent
        if key == Qt.Key.Key_Left:
            return parent
        if key == Qt.Key.Key_Right:
            return next(iter(self._children[self._current]), -1)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and parent >= 0:
            siblings = self._children[parent]
            place = siblings.index(self._current) + (1 if key == Qt.Key.Key_Down else -1)
            return siblings[place] if 0 <= place < len(siblings) else -1
        return -1

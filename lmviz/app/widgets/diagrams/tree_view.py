"""A tree of words drawn from left to right: branches of sampling, or the beams of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.diagrams.tree_layout import (
    HEADING,
    TreeLayout,
    TreeNode,
    TreeShape,
    lay_out,
    least_size,
    usual_size,
)
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import Pointable

__all__ = ["TreeNode", "TreeView"]

LABEL_SIZE, NOTE_SIZE, MINOR_SIZE = 12.0, 10.5, 11.0
PADDING, BESIDE, TURN = 12.0, 4.0, 26.0


class TreeView(Pointable):
    """`TreeView()`: words as chips, joined by curves; the path to the current one is lit, straight on top.

    `set_nodes(nodes, current=-1)` draws a sequence of `TreeNode`, parents first. The tree is fitted to the
    widget's size, down to its least one: place it in a scroll area.
    Arrow keys click the parent, the first child and the neighbours.
    """

    takes_clicks = True

    def __init__(self) -> None:
        super().__init__()
        self._nodes: tuple[TreeNode, ...] = ()
        self._noun = "word"
        self._shape = TreeShape((), frozenset())
        self._layout = TreeLayout()
        self._least = self._usual = QSize(0, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("tree of continuations")

    @property
    def left_out(self) -> int:
        """How many words are counted and not drawn."""
        return self._layout.left_out

    def set_nodes(self, nodes: Sequence[TreeNode], current: int = -1, noun: str = "word") -> None:
        """Draw a tree; `current` is the marked node, and the noun what the nodes are called."""
        self._nodes, self._noun = tuple(nodes), noun
        self._current = current
        self.set_hovered(-1)
        way = self._way_to(current)
        self._shape = TreeShape(self._nodes, frozenset(way))
        self._measure_all()
        self.setAccessibleDescription(" ".join(self._nodes[i].label for i in reversed(way)))

    def node_rectangle(self, index: int) -> QRectF:
        """Where a node is drawn; empty for one that is only counted."""
        return self._layout.chips.get(index, QRectF())

    def adopt_theme(self) -> None:
        self._measure_all()
        super().adopt_theme()

    def sizeHint(self) -> QSize:
        return self._usual

    def minimumSizeHint(self) -> QSize:
        return self._least

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _measure_all(self) -> None:
        scale = self.theme.scale
        self._usual = _whole(usual_size(self._shape, _width, scale))
        self._least = _whole(least_size(self._shape, _width, scale))
        self.updateGeometry()
        self._lay_out()

    def _lay_out(self) -> None:
        self._layout = lay_out(self._shape, _width, QSizeF(self.size()), self.theme.scale)
        self.update()

    def _way_to(self, index: int) -> list[int]:
        way = []
        while index >= 0:
            way.append(index)
            index = self._nodes[index].parent
        return way

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        around = QRectF(event.rect()).adjusted(-200, -40, 200, 40)
        if self._layout.has_heading:
            self._draw_heading(painter)
        lit = self._shape.path
        for index in sorted(self._layout.chips, key=lambda at: at in lit):
            if self._nodes[index].parent >= 0:
                self._draw_curve(painter, self._nodes[index].parent, index)
        for index, chip in self._layout.chips.items():
            if chip.intersects(around):
                self._draw_node(painter, index)
        if self._layout.left_out:
            painter.setPen(self.theme.muted_text)
            one, left_out = self._layout.left_out == 1, self._layout.left_out
            said = f"{left_out:,} {'offer is' if one else 'offers are'} not drawn"
            corner = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            painter.write(QRectF(self.rect()).adjusted(0, 0, -2, 0), said, size=NOTE_SIZE, where=corner)
        self.draw_focus(painter)

    def _draw_heading(self, painter: Painter) -> None:
        """The number of each word after the prefix."""
        painter.setFont(self.theme.font(NOTE_SIZE))
        painter.setPen(self.theme.faint_text)
        for depth, start in enumerate(self._layout.columns):
            said = str(depth) if depth else self._noun
            painter.drawText(QPointF(start, self.length(HEADING - 6)), said)

    def _is_minor(self, index: int) -> bool:
        return self._nodes[index].pruned and index not in self._shape.path

    def _draw_curve(self, painter: Painter, parent: int, child: int) -> None:
        chips, lit = self._layout.chips, child in self._shape.path
        column = self._layout.columns[self._shape.depths[child]]
        start = QPointF(chips[parent].right(), chips[parent].center().y())
        end = QPointF(chips[child].left(), chips[child].center().y())
        # It leaves the line just before the next column, beyond the note.
        turn = max(start.x(), column - self.length(TURN))
        path = QPainterPath(start)
        path.lineTo(turn, start.y())
        bend = (end.x() - turn) * 0.5
        path.cubicTo(QPointF(turn + bend, start.y()), QPointF(end.x() - bend, end.y()), end)
        color = QColor(self.theme.accent if lit else self.theme.strong_line)
        color.setAlphaF(0.55 if self._is_minor(child) else 1.0)
        painter.stroke(path, color, 2.2 if lit else 1.1)

    def _draw_node(self, painter: Painter, index: int) -> None:
        node, chip, theme = self._nodes[index], self._layout.chips[index], self.theme
        lit, minor, size = index in self._shape.path, self._is_minor(index), self._layout.size
        if not minor:
            edge = theme.accent if lit else theme.text if index == self.hovered else theme.strong_line
            width = 2 if index == self._current else 1.2
            painter.box(chip, theme.accent_wash if lit else theme.surface, edge, width, radius=5)
        ink = theme.text if not minor or index == self.hovered else theme.muted_text
        label_size = (MINOR_SIZE if minor else LABEL_SIZE) * size
        painter.write(chip, node.label, ink, label_size, bold=lit, token=True, where=CENTRED)
        noted = self._shape.is_noted(index, terse=self._layout.terse) or index == self.hovered
        painter.setPen(theme.accent if lit else theme.faint_text if minor else theme.muted_text)
        weight = QFont.Weight.DemiBold if lit else QFont.Weight.Normal
        painter.setFont(theme.font(NOTE_SIZE * size, weight))
        beside = chip.right() + self.length(BESIDE)
        if not noted:
            pass
        elif minor:
            painter.write(QRectF(beside, chip.top(), self.length(200), chip.height()), node.note)
        else:
            painter.drawText(QPointF(beside, chip.center().y() - self.length(3)), node.note)
        if node.ending and not any(child in self._layout.chips for child in self._shape.children[index]):
            self._draw_ending(painter, node, beside, chip)

    def _draw_ending(self, painter: Painter, node: TreeNode, beside: float, chip: QRectF) -> None:
        """What became of a text that no word follows."""
        note = metrics(NOTE_SIZE * self._layout.size).horizontalAdvance(node.note)
        start, middle = beside + note + self.length(4), chip.center().y()
        dots = self.length(18)
        dotted = QPen(self.theme.strong_line, self.length(1), Qt.PenStyle.DotLine)
        painter.line(QPointF(chip.right() + 1, middle), QPointF(start + dots, middle), dotted)
        painter.setPen(self.theme.muted_text)
        painter.setFont(self.theme.font(NOTE_SIZE))
        painter.drawText(QPointF(start + dots + self.length(5), middle + self.length(4)), node.ending)

    def index_at(self, place: QPointF) -> int:
        return next((index for index, chip in self._layout.chips.items() if chip.contains(place)), -1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        target = self._neighbour(event.key())
        if target >= 0:
            self.clicked_on(target)
        else:
            super().keyPressEvent(event)

    def _neighbour(self, key: int) -> int:
        if not 0 <= self._current < len(self._nodes):
            return -1
        parent = self._nodes[self._current].parent
        if key == Qt.Key.Key_Left:
            return parent
        if key == Qt.Key.Key_Right:
            return next(iter(self._drawn_after(self._current)), -1)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and parent >= 0:
            siblings = self._drawn_after(parent)
            place = siblings.index(self._current) + (1 if key == Qt.Key.Key_Down else -1)
            return siblings[place] if 0 <= place < len(siblings) else -1
        return -1

    def _drawn_after(self, index: int) -> list[int]:
        """The children that are drawn, from above."""
        chips = self._layout.chips
        drawn = [child for child in self._shape.children[index] if child in chips]
        return sorted(drawn, key=lambda child: chips[child].top())


def _width(node: TreeNode, size: float, noted: bool) -> float:
    """The width of a word at scale 1, with its note or without."""
    scale = current_theme().scale
    label = metrics((MINOR_SIZE if node.pruned else LABEL_SIZE) * size, token=True, bold=True)
    width = label.horizontalAdvance(node.label) / scale + (2.0 if node.pruned else PADDING)
    if noted and node.note:
        note = metrics(NOTE_SIZE * size, bold=True).horizontalAdvance(node.note) / scale
        width += BESIDE + note
    return width


def _whole(size: QSizeF) -> QSize:
    """A size in whole pixels that holds this one."""
    return QSize(math.ceil(size.width()), math.ceil(size.height()))

"""A circuit: parts by layer and position, from the words below to the answer above, and the paths between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QKeyEvent, QPainterPath, QPaintEvent

from lmviz.app.widgets.base.canvas import once
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, ARROWS, DOWN, Pointable

LEFT, TOP, BOTTOM, RADIUS = 34, 40, 28, 10  # pixels at scale 1
WIDEST, FAINTEST = 7.0, 0.18


@dataclass(frozen=True)
class CircuitNode:
    """A part: its row from below, the column of its position, its place there, and the share it brings.

    `row` −1 is that of the words, whose `share` does not count. A head is a circle, all else a box with a
    `caption`, and hatched what is not explained. `size` is its part of the largest width.
    """

    label: str
    row: int
    column: int
    slot: int
    share: float
    is_head: bool = True
    caption: str = "ff"
    is_error: bool = False
    size: float = 1.0


@dataclass(frozen=True)
class CircuitPath:
    """A path from one node to another by their numbers, or to the answer where `end` is None."""

    start: int
    end: int | None
    share: float


class CircuitPicture(Pointable, GrowingCanvas):
    """`CircuitPicture()`: `set_circuit(nodes, paths, rows, columns, answer)` draws one.

    `rows` name the layers from below and `columns` the words. `set_current(index)` marks a node, whose paths
    are then drawn in front; a click on a node does so with `readout` for the hover card, and so does Enter on
    the one to which arrow keys have led: along its row, and to the nearest of the next row.
    """

    usual, least, usual_size = (640, 420), (300, 220), (760, 480)
    arrows, points_by_key = ACROSS | DOWN, True

    def __init__(self) -> None:
        super().__init__()
        self._nodes: tuple[CircuitNode, ...] = ()
        self._paths: tuple[CircuitPath, ...] = ()
        self._rows: tuple[str, ...] = ()
        self._columns: tuple[str, ...] = ()
        self._answer = ""
        self.setAccessibleName("circuit")

    @property
    def nodes(self) -> tuple[CircuitNode, ...]:
        """The parts that are drawn."""
        return self._nodes

    @property
    def paths(self) -> tuple[CircuitPath, ...]:
        """The paths that are drawn."""
        return self._paths

    @property
    def columns(self) -> tuple[str, ...]:
        """The words under the columns."""
        return self._columns

    def set_circuit(
        self,
        nodes: Sequence[CircuitNode],
        paths: Sequence[CircuitPath],
        rows: Sequence[str],
        columns: Sequence[str],
        answer: str,
    ) -> None:
        """Show a circuit."""
        self._nodes, self._paths = tuple(nodes), tuple(paths)
        self._rows, self._columns, self._answer = tuple(rows), tuple(columns), answer
        self.show_count(len(self._nodes))

    def part_rectangle(self, index: int) -> QRectF:
        radius = self._radius * self._nodes[index].size
        middle = self.place(index)
        return QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius)

    def clicked_on(self, index: int) -> None:
        self.set_current(-1 if index == self._current else index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ARROWS and self._nodes:
            at = self._hovered if self._hovered >= 0 else self._current
            self.hover(self._beside(at, *ARROWS[event.key()]) if at >= 0 else 0)
        else:
            super().keyPressEvent(event)

    def _beside(self, at: int, down: int, right: int) -> int:
        """The node so many to the right of one in its row, or the nearest of the next row up or down."""
        row, left = self._nodes[at].row, {index: self.place(index).x() for index in range(self._count)}
        if right:
            mates = sorted((index for index in left if self._nodes[index].row == row), key=left.__getitem__)
            return mates[min(max(mates.index(at) + right, 0), len(mates) - 1)]
        beyond = [node.row for node in self._nodes if (row - node.row) * down > 0]
        if not beyond:
            return at
        there = max(beyond) if down > 0 else min(beyond)
        found = [index for index in left if self._nodes[index].row == there]
        return min(found, key=lambda index: abs(left[index] - left[at]))

    def description(self) -> str:
        """What is marked, or how much there is."""
        if 0 <= self._current < len(self._nodes):
            return self._nodes[self._current].label
        return f"{len(self._nodes)} parts and {len(self._paths)} paths"

    def place(self, index: int) -> QPointF:
        """The middle of a node."""
        node, (left, wide) = self._nodes[index], self._columns_at()
        if node.row < 0:
            return QPointF(left[node.column] + wide[node.column] / 2, self._height_of(-1))
        slots = wide[node.column] / self._slots_of_columns()[node.column]
        return QPointF(left[node.column] + (node.slot + 0.5) * slots, self._height_of(node.row))

    @once
    def _slots_of_columns(self) -> list[int]:
        """How many parts stand side by side in each column."""
        slots = [1] * len(self._columns)
        for node in self._nodes:
            slots[node.column] = max(slots[node.column], 1 + node.slot)
        return slots

    @once
    def _columns_at(self) -> tuple[list[float], list[float]]:
        """Where each column begins, and how wide it is."""
        slots = self._slots_of_columns()
        slot = (self.width() - self.length(LEFT + 12)) / max(1, sum(slots))
        begins = [self.length(LEFT) + slot * sum(slots[:column]) for column in range(len(slots))]
        return begins, [slot * count for count in slots]

    @property
    def _radius(self) -> float:
        return min(self.length(RADIUS), 0.42 * self._row_height)

    @property
    def _row_height(self) -> float:
        return (self.height() - self.length(TOP + BOTTOM)) / max(1, len(self._rows))

    def _height_of(self, row: int) -> float:
        if row < 0:
            return self.height() - self.length(BOTTOM / 2)
        return self.height() - self.length(BOTTOM) - (row + 0.5) * self._row_height

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._nodes:
            return
        theme = self.theme
        for row, name in enumerate(self._rows):
            height = self._height_of(row)
            area = QRectF(0, height - 10, self.length(LEFT - 10), 20)
            painter.write(area, name, theme.muted_text, 11.5, where=AT_RIGHT)
            painter.line(QPointF(self.length(LEFT), height), QPointF(self.width(), height), theme.line)
        named = {node.column for node in self._nodes if node.row < 0}
        for column, (left, wide) in enumerate(zip(*self._columns_at(), strict=True)):
            if column not in named:
                area = QRectF(left, self._height_of(-1) - 10, wide, 20)
                painter.fit(area, self._columns[column], theme.muted_text, 12, token=True, where=CENTRED)
        largest = max((abs(path.share) for path in self._paths), default=1.0)
        chosen = self._current if self._current >= 0 else self.hovered
        for path in sorted(self._paths, key=lambda path: chosen in (path.start, path.end)):
            self._draw_path(painter, path, abs(path.share) / largest, chosen)
        answer = QRectF(self.width() / 2 - self.length(110), 2, self.length(220), self.length(24))
        painter.box(answer, theme.accent, radius=5)
        painter.fit(answer, self._answer, theme.on(theme.accent), 12, bold=True, where=CENTRED)
        for index, node in enumerate(self._nodes):
            self._draw_node(painter, index, node)
        self.draw_focus(painter)

    def _draw_path(self, painter: Painter, path: CircuitPath, share: float, chosen: int) -> None:
        start = self.place(path.start)
        if self._nodes[path.start].row < 0:
            start.setY(self.part_rectangle(path.start).top())  # above the word, which it would strike out
        end = QPointF(self.width() / 2, self.length(26)) if path.end is None else self.place(path.end)
        color = QColor(self._color(path.share))
        is_near = chosen < 0 or chosen in (path.start, path.end)
        color.setAlphaF(max(FAINTEST, min(1.0, 0.25 + 0.75 * share)) if is_near else 0.06)
        curve = QPainterPath(start)
        middle = (start.y() + end.y()) / 2
        curve.cubicTo(QPointF(start.x(), middle), QPointF(end.x(), middle), end)
        painter.stroke(curve, color, max(0.7, WIDEST * share))

    def _draw_node(self, painter: Painter, index: int, node: CircuitNode) -> None:
        theme, area = self.theme, self.part_rectangle(index)
        marked = index == self._current or index == self.hovered
        if node.row < 0:
            words = area.adjusted(-self.length(40), 0, self.length(40), 0)
            ink = theme.accent if marked else theme.text
            painter.fit(words, node.label, ink, 12, token=True, where=CENTRED)
            return
        fill = theme.accent if index == self._current else theme.surface
        edge = theme.accent if marked else self._color(node.share)
        if node.is_error:
            painter.box(area, fill, edge, 1.8, radius=2)
            painter.hatch(area, theme.on(fill) if index == self._current else edge)
            return
        if node.is_head:
            painter.dot(area.center(), area.width() / 2 / theme.scale, fill, edge, 1.8)
        else:
            painter.box(area.adjusted(-5, self.length(3), 5, -self.length(3)), fill, edge, 1.8, radius=3)
        ink = theme.on(fill) if index == self._current else theme.text
        painter.fit(area, node.label if node.is_head else node.caption, ink, 11, where=CENTRED)

    def _color(self, share: float) -> QColor:
        return self.theme.signed(share)

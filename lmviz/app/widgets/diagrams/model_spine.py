"""The stream of a model as its spine, past what adds to it and through what replaces it, and marks there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.diagrams.model_parts import ModelBlock, PictureRow, StreamMark
from lmviz.app.widgets.kit.painter import Painter

SPINE, LEFT = 12, 34
"""Where the stream runs, and where what it meets begins; pixels at scale 1."""
PLUS, RING, DOT = 6, 4.5, 4.5
CHEVRON = 3  # half a side


def draw_spine(painter: Painter, rows: Sequence[PictureRow]) -> None:
    """Draw it behind placed rows, the last of which is the end."""
    marks = [row.area.center().y() for row in rows if isinstance(row.part, StreamMark)]
    if not marks:
        return
    theme, end = painter.theme, rows[-1].area.center().y()
    spine, replaced = SPINE * theme.scale, dict[str, list[QRectF]]()
    for row in rows:
        if row.block is not None and not row.block.is_residual:
            replaced.setdefault(row.block.key, []).append(row.area)
    first = rows[1].area.center().y() if replaced else marks[0]
    edges = (edge for areas in replaced.values() for edge in (areas[0].top(), areas[-1].bottom()))
    ends = sorted([first, end, *edges])
    painter.setPen(QPen(mix(theme.surface, theme.accent, 0.32), 4 * theme.scale))
    for start, stop in zip(ends[::2], ends[1::2], strict=True):
        painter.drawLine(QLineF(spine, start, spine, stop))
    for row in rows:
        _draw_joint(painter, row)
    painter.dot(QPointF(spine, end), DOT, theme.accent, QPen(theme.accent, 0))


def draw_arrow(painter: Painter, start: QPointF, end: QPointF) -> None:
    """A thin arrow to the right."""
    painter.line(start, end, mix(painter.theme.surface, painter.theme.accent, 0.6), 1.3)
    for side in (-1, 1):
        painter.drawLine(end + QPointF(-4, 3 * side) * painter.theme.scale, end)


def draw_chevron(painter: Painter, place: QPointF, *, is_open: bool) -> None:
    """It points down where a block is unfolded, and to the right where it is not."""
    points = ((-1, -0.6), (0, 0.6), (1, -0.6)) if is_open else ((-0.6, -1), (0.6, 0), (-0.6, 1))
    side = CHEVRON * painter.theme.scale
    painter.setPen(QPen(painter.theme.text, 1.4 * painter.theme.scale))
    painter.drawPolyline([place + QPointF(x * side, y * side) for x, y in points])


def _draw_joint(painter: Painter, row: PictureRow) -> None:
    """Where a block reads the stream, an arrow; where it adds to it, a plus; at a place of it, a ring."""
    theme, scale = painter.theme, painter.theme.scale
    place = QPointF(SPINE * scale, row.area.center().y())
    edge = QPointF((LEFT - 8) * scale, place.y())
    is_beside = row.block is not None and row.block.is_residual
    if is_beside and row.shown and row.shown[-1].name == ModelBlock.ADDS:  # what it shows last
        painter.line(place, edge, mix(theme.surface, theme.accent, 0.6), 1.3)
        painter.dot(place, PLUS, theme.surface, theme.accent, 1.3)
        for arm in (QPointF(0.6 * PLUS * scale, 0), QPointF(0, 0.6 * PLUS * scale)):
            painter.drawLine(place - arm, place + arm)
    elif is_beside and row.kind == "title":
        draw_arrow(painter, place + QPointF(6 * scale, 0), edge)
    elif isinstance(row.part, StreamMark):
        painter.dot(place, RING, theme.surface, theme.accent, 1.8)

"""The stream of a model as a spine: past what adds to it, through what replaces it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF
from PySide6.QtGui import QPainter, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.look.roles import Theme
from lmviz.app.widgets.diagrams.model_parts import ModelBlock, ModelLine, StreamMark
from lmviz.app.widgets.diagrams.model_rows import PictureRow

SPINE, LEFT = 12, 34
"""Where the stream runs, and where what it meets begins; pixels at scale 1."""
PLUS, RING, DOT = 6, 4.5, 4.5


def draw_spine(painter: QPainter, theme: Theme, rows: Sequence[PictureRow]) -> None:
    """Draw it behind placed rows, the last of which is the end."""
    marks = [row.area.center().y() for row in rows if isinstance(row.part, StreamMark)]
    if not marks:
        return
    spine, end = SPINE * theme.scale, rows[-1].area.center().y()
    painter.setPen(QPen(mix(theme.surface, theme.accent, 0.32), 4 * theme.scale))
    replaced = [row for row in rows if row.block is not None and not row.block.is_residual]
    blocks = {
        row.block.key: [at.area for at in replaced if at.block is row.block] for row in replaced if row.block
    }
    first = rows[1].area.center().y() if blocks else marks[0]
    ends = [first, end]
    for areas in blocks.values():
        ends += [areas[0].top(), areas[-1].bottom()]
    ends.sort()
    for start, stop in zip(ends[::2], ends[1::2], strict=True):
        painter.drawLine(QLineF(spine, start, spine, stop))
    for row in rows:
        _draw_joint(painter, theme, row)
    painter.setPen(QPen(theme.accent, 0))
    painter.setBrush(theme.accent)
    painter.drawEllipse(QPointF(spine, end), DOT * theme.scale, DOT * theme.scale)


def draw_arrow(painter: QPainter, theme: Theme, start: QPointF, end: QPointF) -> None:
    """A thin arrow to the right."""
    painter.setPen(QPen(mix(theme.surface, theme.accent, 0.6), 1.3 * theme.scale))
    painter.drawLine(start, end)
    for side in (-1, 1):
        painter.drawLine(end + QPointF(-4, 3 * side) * theme.scale, end)


def _draw_joint(painter: QPainter, theme: Theme, row: PictureRow) -> None:
    """Where a block reads the stream, an arrow; where it adds to it, a plus; at a place of it, a ring."""
    scale, place = theme.scale, QPointF(SPINE * theme.scale, row.area.center().y())
    edge = QPointF((LEFT - 8) * scale, place.y())
    is_beside = row.block is not None and row.block.is_residual
    if is_beside and _adds(row):
        radius = PLUS * scale
        painter.setPen(QPen(mix(theme.surface, theme.accent, 0.6), 1.3 * scale))
        painter.drawLine(place, edge)
        painter.setBrush(theme.surface)
        painter.setPen(QPen(theme.accent, 1.3 * scale))
        painter.drawEllipse(place, radius, radius)
        painter.drawLine(place - QPointF(0.6 * radius, 0), place + QPointF(0.6 * radius, 0))
        painter.drawLine(place - QPointF(0, 0.6 * radius), place + QPointF(0, 0.6 * radius))
    elif is_beside and row.kind == "title":
        draw_arrow(painter, theme, place + QPointF(6 * scale, 0), edge)
    elif isinstance(row.part, StreamMark):
        painter.setBrush(theme.surface)
        painter.setPen(QPen(theme.accent, 1.8 * scale))
        painter.drawEllipse(place, RING * scale, RING * scale)


def _adds(row: PictureRow) -> bool:
    """Whether what the row shows last is added to the stream."""
    lines = row.lines or ((row.part,) if isinstance(row.part, ModelLine) else ())
    return bool(lines) and lines[-1].name == ModelBlock.ADDS

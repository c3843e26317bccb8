"""Where the names of reference lines stand: on no other name, and within the plot."""

from __future__ import annotations

from collections.abc import Sequence

from pyqtgraph import ViewBox
from PySide6.QtCore import QPointF, QRectF, QSizeF

from lmviz.app.widgets.plots.plot_axes import ReferenceLine

NAME_ENDS = 0.995  # of the width, for the name of a reference line
LIFTS = (0, -1, 0.5, 1, 1.5, 2)  # where a name may stand: on its line, below it, or one or two names higher
EDGE = 4  # pixels above and below a name that may lie under another
NAME_GAP = 6  # pixels between two names


def spread_names(lines: Sequence[ReferenceLine], box: ViewBox) -> None:
    """Give the name of each line a place where it covers no other and is not cut off.

    A name covers the line above it, and the curves cover both.
    """
    bottom, top = box.viewRange()[1]
    room = QRectF(0, 0, max(1.0, box.width()), max(1.0, box.height()))
    taken: list[QRectF] = []
    for rank, line in enumerate(sorted(lines, key=lambda line: line.value()), start=1):
        line.setZValue(-rank)
        height = (top - line.value()) / (top - bottom) * room.height()  # from the upper edge, in pixels
        lift, area = _free_place(height, QSizeF(*line.label_size), room, taken)
        line.place_label(area.right() / room.width(), lift)
        taken.append(area)


def _free_place(height: float, size: QSizeF, room: QRectF, taken: list[QRectF]) -> tuple[float, QRectF]:
    """How many names above its line, and where, a name has room: at the right if it can be.

    `height` is that of the line below the upper edge of the room.
    """
    ends = [NAME_ENDS * room.width(), *(area.left() - NAME_GAP for area in taken)]
    places = []
    for lift in LIFTS:
        for end in ends:
            corner = QPointF(end - size.width(), height - (1 + lift) * size.height())
            places.append((lift, QRectF(corner, size)))
    within = room.adjusted(-1, -1, 1, 1)
    free = ((lift, area) for lift, area in places if within.contains(area) and not _covers(area, taken))
    return next(free, places[0])


def _covers(area: QRectF, others: list[QRectF]) -> bool:
    inner = area.adjusted(1, EDGE, -1, -EDGE)
    return any(inner.intersects(other) for other in others)

"""What each part of the picture of a small network can cover, so that only what changes is painted anew."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRectF, QSizeF

from lmviz.app.widgets.diagrams.network_boxes import Box, Boxes
from lmviz.app.widgets.diagrams.network_equations import equations_size

OUTLINE = 3


def outlined(area: QRectF) -> QRectF:
    """A box or a cell with its outline."""
    return area.adjusted(-OUTLINE, -OUTLINE, OUTLINE, OUTLINE)


def equations_area(drawn: Boxes, box: Box) -> QRectF:
    """What a module hands back, to the right of its row; empty where nothing stands there."""
    size = equations_size(box.value.equations) if drawn.equations else QSizeF(0, 0)
    return QRectF(drawn.equations, box.frame.center().y() - size.height() / 2, size.width(), size.height())


def areas_of(drawn: Boxes, name: str) -> Iterator[QRectF]:
    """All that looks different when a value does: its box, the arrows from and to it, its equations."""
    own = drawn.boxes[name]
    yield outlined(own.frame)
    for use, line in drawn.lines.items():
        if name in (use[0], drawn.source(use).name):
            yield line.area
    yield equations_area(drawn, own)

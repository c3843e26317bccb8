"""What each part of the picture of a small network can cover, so that only what changes is painted anew."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRectF, QSizeF

from lmviz.app.widgets.diagrams.network_boxes import Box, Boxes
from lmviz.app.widgets.diagrams.network_equations import equations_size
from lmviz.app.widgets.diagrams.network_lines import arrow_area, stub_area

OUTLINE = 3
BESIDE = 60  # for a long name of a gradient, which may reach beyond its box


def box_area(box: Box) -> QRectF:
    """A box with its outline and its words."""
    return box.frame.adjusted(-OUTLINE, -OUTLINE, BESIDE, OUTLINE)


def line_area(drawn: Boxes, name: str, box: Box, share: float) -> QRectF:
    """The arrow from a value into a module, with the one back, or the short one with its field."""
    field = drawn.fields.get((box.value.name, name))
    if field is None:
        return arrow_area(drawn.boxes[name], box, share)
    return field.united(stub_area(box, share))


def outlined(cell: QRectF) -> QRectF:
    """A cell with its outline."""
    return cell.adjusted(-OUTLINE, -OUTLINE, OUTLINE, OUTLINE)


def equations_area(drawn: Boxes, box: Box) -> QRectF:
    """What a module hands back, to the right of its row; empty where nothing stands there."""
    size = equations_size(box.value.equations) if drawn.equations else QSizeF(0, 0)
    return QRectF(drawn.equations, box.frame.center().y() - size.height() / 2, size.width(), size.height())


def areas_of(drawn: Boxes, name: str) -> Iterator[QRectF]:
    """All that looks different when a value does: its box, the arrows from and to it, its equations."""
    own = drawn.boxes[name]
    yield box_area(own)
    for source, share in own.shares:
        yield line_area(drawn, source, own, share)
    for box in drawn.boxes.values():
        for source, share in box.shares:
            if source == name:
                yield line_area(drawn, name, box, share)
    yield equations_area(drawn, own)

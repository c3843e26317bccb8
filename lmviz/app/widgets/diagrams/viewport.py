"""What a picture in a scroll area has to know of it: how wide it is, and what of the picture is in sight."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QPointF
from PySide6.QtWidgets import QScrollArea, QWidget


def _area_of(picture: QWidget) -> QScrollArea | None:
    """The scroll area around a picture."""
    viewport = picture.parentWidget()
    area = None if viewport is None else viewport.parentWidget()
    return area if isinstance(area, QScrollArea) else None


def room_in(picture: QWidget) -> int:
    """The width there is for a picture, in pixels, whether or not it is scrolled up and down just now.

    A picture that went by its own width would jump: narrower with a scroll bar, hence lower, hence without.
    """
    area = _area_of(picture)
    if area is None:
        return picture.width()
    return area.maximumViewportSize().width() - area.verticalScrollBar().sizeHint().width()


def keep_in_place(picture: QWidget, point: QPointF, moved: Callable[[], QPointF]) -> None:
    """Scroll so that what lay at a point of the picture lies there again; `moved` says where it is now."""
    area = _area_of(picture)
    if area is None:
        return
    shown = QPointF(picture.mapToParent(point.toPoint()))
    QCoreApplication.sendPostedEvents(area.viewport(), QEvent.Type.LayoutRequest.value)
    scroll_by(picture, moved() + QPointF(picture.pos()) - shown)


def scroll_by(picture: QWidget, way: QPointF) -> None:
    """Scroll by so many pixels."""
    area = _area_of(picture)
    if area is not None:
        across, down = area.horizontalScrollBar(), area.verticalScrollBar()
        across.setValue(across.value() + round(way.x()))
        down.setValue(down.value() + round(way.y()))

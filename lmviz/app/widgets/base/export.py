"""Export of pictures and arrays: any widget as PNG or SVG, any array as CSV or NPZ."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsItem, QGraphicsView, QScrollArea, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.look.typefaces import TOKEN_FAMILIES
from lmviz.app.widgets.base.svg_strokes import in_pixels
from lmviz.app.widgets.kit.svg_clips import with_clips
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.looks.names import COUNTED, Names

PICTURE_RATIO = 2
PICTURES = "Pictures (*.png *.svg)"
ARRAYS = "Arrays (*.csv *.npz)"
_FAMILY = re.compile(r'font-family="([^",]+)"')


def picture_of(widget: QWidget, path: str | Path) -> bytes:
    """What a widget shows as PNG (at twice its size) or SVG, by the ending of a file's name.

    LmvizError for another ending, and where the picture is too large.
    """
    path = Path(path)
    writers = {".png": _png_of, ".svg": svg_of}
    if path.suffix.lower() not in writers:
        raise LmvizError(f"{path.name} is neither PNG nor SVG: end the name with .png or .svg.")
    return writers[path.suffix.lower()](widget)


def save_picture(widget: QWidget, path: str | Path) -> None:
    """Write this picture into the file; LmvizError also where that cannot be written."""
    write_atomically(Path(path), picture_of(widget, path))


def fits_csv(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether arrays are one table: one of at most two axes, or several columns of the same length."""
    if len(arrays) == 1:
        return all(array.ndim <= 2 for array in arrays.values())
    shapes = {array.shape for array in arrays.values()}
    return len(shapes) == 1 and len(next(iter(shapes))) == 1


def save_arrays(arrays: Mapping[str, np.ndarray], path: str | Path, names: Names = COUNTED) -> None:
    """Write arrays as NPZ (all, under their names), or as CSV where they are one table.

    The first line of the CSV names its columns, and the first column its rows where there are names for
    them; whole numbers are written as such. LmvizError when the arrays do not fit the ending, or when the
    file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() == ".npz":
        content = _npz_of(arrays)
    elif path.suffix.lower() == ".csv":
        content = _csv_of(arrays, names)
    else:
        raise LmvizError(f"{path.name} is neither CSV nor NPZ: end the name with .csv or .npz.")
    write_atomically(path, content)


def _png_of(widget: QWidget) -> bytes:
    image = QImage(widget.size() * PICTURE_RATIO, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PICTURE_RATIO)
    image.fill(current_theme().surface)
    widget.render(image)
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(content, "PNG"):  # type: ignore[call-overload]  # the stub has a format in bytes
        raise LmvizError("This picture is too large to be written: make the panel smaller.")
    return bytes(content.data().data())


def _paint(widget: QWidget, painter: QPainter, without: Collection[QWidget], flags: Any) -> None:
    """Paint what a widget shows, without some within it; `QWidget.render` keeps no clip where it is recorded.

    What a scroll area hides is then drawn over what stands around it.
    """
    painter.save()
    painter.setClipRect(widget.rect(), Qt.ClipOperation.IntersectClip)
    QWidget.render(widget, painter, QPoint(), QRegion(), flags)  # a graphics view has another `render`
    for child in widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        shown = not (child.isHidden() or child.isWindow() or child in without)
        if shown and child.geometry().intersects(widget.rect()):
            painter.save()
            painter.translate(child.pos())
            _paint(child, painter, without, QWidget.RenderFlag(0))
            painter.restore()
    painter.restore()


def svg_of(widget: QWidget, without: Collection[QWidget] = ()) -> bytes:
    """What a widget shows as SVG, without some within it.

    What can be scrolled, and what stands within the axes of a plot, has a part of its own with a clip.
    """
    scrolled = [area.viewport() for area in widget.findChildren(QScrollArea) if _is_cut(area)]
    outermost = [
        each
        for each in scrolled
        if not any(other is not each and other.isAncestorOf(each) for other in scrolled)
    ]
    views = [view for view in _views(widget) if not _is_within(view, [*outermost, *without])]
    with _unseen(widget.items() if isinstance(widget, QGraphicsView) else []):
        parts = [_svg(widget, [*outermost, *without, *views])]
    for plot in _plots(views):
        corner = plot.view.mapTo(widget, QPoint()) if plot.view is not widget else QPoint()
        passes = [(plot.drawn, QRectF(plot.view.rect())), (plot.beside, plot.area)]
        for unseen, area in passes if plot.drawn else passes[:1]:
            with _unseen(unseen):
                inner = _svg(plot.view, (), is_plot=True) + "</svg>"
            parts.append(_clipped(inner, len(parts), corner, area))
    for viewport in outermost:
        area = QRectF(0, 0, viewport.width(), viewport.height())
        inner = svg_of(viewport, without).decode()
        parts.append(_clipped(inner, len(parts), viewport.mapTo(widget, QPoint()), area))
    return "".join([*parts, "</svg>\n"]).encode()


def _clipped(svg: str, number: int, corner: QPoint, area: QRectF) -> str:
    """What another SVG shows in an area, with its corner at a place, as a part with names of its own."""
    inner = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inner = re.sub(r'(id="|url\(#)', rf"\g<1>part{number}-", inner)
    places = (area.x(), area.y(), area.width(), area.height())
    x, y, width, height = (f"{place:g}" for place in places)
    return (
        f'<clipPath id="part{number}"><rect x="{x}" y="{y}" width="{width}" height="{height}"/></clipPath>'
        f'<g transform="translate({corner.x()} {corner.y()})"><g clip-path="url(#part{number})">'
        f"{inner}</g></g>"
    )


class _Plot(NamedTuple):
    """A plot's view, what is drawn within its axes, all else in it, and where the axes are in the view."""

    view: QGraphicsView
    drawn: list[QGraphicsItem]
    beside: list[QGraphicsItem]
    area: QRectF


def _plots(views: Iterable[QGraphicsView]) -> Iterator[_Plot]:
    for view in views:
        if not view.isVisible():
            continue
        boxes = [item for item in view.items() if hasattr(item, "childGroup")]  # ViewBoxes of pyqtgraph's
        for box in boxes:
            place = view.mapFromScene(box.mapRectToScene(box.boundingRect())).boundingRect()
            area = QRectF(place.translated(view.viewport().pos()))
            yield _Plot(view, [box.childGroup], _beside(box.childGroup), area)
        if not boxes:
            yield _Plot(view, [], [], QRectF())


def _is_within(widget: QWidget, others: Collection[QWidget]) -> bool:
    return any(other is widget or other.isAncestorOf(widget) for other in others)


def _beside(item: QGraphicsItem) -> list[QGraphicsItem]:
    """All of a scene but an item, what it stands in, and what stands in it."""
    beside: list[QGraphicsItem] = []
    while (parent := item.parentItem()) is not None:
        beside += [each for each in parent.childItems() if each is not item]
        item = parent
    return beside + [each for each in item.scene().items() if each.parentItem() is None and each is not item]


@contextmanager
def _unseen(items: Sequence[QGraphicsItem]) -> Iterator[None]:
    """Have some not be drawn, nor what stands in them."""
    before = [item.opacity() for item in items]
    for item in items:
        item.setOpacity(0)
    try:
        yield
    finally:
        for item, opacity in zip(items, before, strict=True):
            item.setOpacity(opacity)


def _views(widget: QWidget) -> list[QGraphicsView]:
    return [*widget.findChildren(QGraphicsView), *([widget] if isinstance(widget, QGraphicsView) else [])]


def _is_cut(area: QScrollArea) -> bool:
    content, room = area.widget(), area.viewport()
    is_larger = content is not None and (content.width() > room.width() or content.height() > room.height())
    return is_larger and not area.isHidden()


def _svg(widget: QWidget, without: Collection[QWidget], *, is_plot: bool = False) -> str:
    """A widget without some within it, on a ground unless it is a plot, and without the end of the file."""
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(content)
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    generator.setTitle(widget.accessibleName() or "lmviz")
    with _marks_drawn_one_by_one(widget), QPainter(generator) as painter:
        if not is_plot:
            painter.fillRect(widget.rect(), current_theme().surface)
        flag = QWidget.RenderFlag(0) if is_plot else QWidget.RenderFlag.DrawWindowBackground
        _paint(widget, painter, without, flag)
    text = bytes(content.data().data()).decode()
    return in_pixels(with_clips(_FAMILY.sub(_with_kind, text[: text.rindex("</svg>")])))


@contextmanager
def _marks_drawn_one_by_one(widget: QWidget) -> Iterator[None]:
    """Have plots not copy their marks from one picture of all kinds: Qt would write that for each mark."""
    items = [item for view in _views(widget) for item in view.items()]
    marks: list[Any] = [item for item in items if hasattr(item, "fragmentAtlas")]
    for each in marks:
        each.setExportMode(True, {})
    try:
        yield
    finally:
        for each in marks:
            each.setExportMode(False)


def _with_kind(family: re.Match[str]) -> str:
    """A family of type, and for a machine that has not got it the kind."""
    kind = "monospace" if family[1] in TOKEN_FAMILIES else "sans-serif"
    return f'font-family="{family[1]}, {kind}"'


def _npz_of(arrays: Mapping[str, np.ndarray]) -> bytes:
    content = io.BytesIO()
    # Any, because the stub would have these be its argument `allow_pickle` as well.
    named: dict[str, Any] = {name.replace("/", "."): array for name, array in arrays.items()}
    np.savez_compressed(content, **named)
    return content.getvalue()


def _csv_of(arrays: Mapping[str, np.ndarray], names: Names) -> bytes:
    if not fits_csv(arrays):
        raise LmvizError("A CSV file holds one table, and these arrays need several: save them as NPZ.")
    parts = [array[:, None] if array.ndim == 1 else array for array in map(np.atleast_1d, arrays.values())]
    length, width = len(parts[0]), sum(part.shape[1] for part in parts)
    table = [[number for part in parts for number in part[place].tolist()] for place in range(length)]
    columns = list(names.columns)
    if len(columns) != width:
        columns = list(arrays) if width == len(arrays) else [str(place) for place in range(1, width + 1)]
    rows = list(names.rows) if len(names.rows) == length else []
    content = io.StringIO(newline="")
    writer = csv.writer(content)
    writer.writerow(["", *columns] if rows else columns)
    for place, row in enumerate(table):
        writer.writerow([rows[place], *row] if rows else row)
    return content.getvalue().encode("utf-8")

"""Export of pictures and arrays: any widget as PNG or SVG, any array as CSV or NPZ."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QPoint, Qt
from PySide6.QtGui import QImage, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView, QScrollArea, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.look.typefaces import TOKEN_FAMILIES
from lmviz.app.widgets.base.svg_strokes import in_pixels
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


def paint_clipped(widget: QWidget, painter: QPainter, without: Collection[QWidget] = ()) -> None:
    """Paint what a widget shows, without some within it; `QWidget.render` keeps no clip where it is recorded.

    What a scroll area hides is then drawn over what stands around it.
    """
    _paint(widget, painter, without, QWidget.RenderFlag.DrawWindowBackground)


def _paint(widget: QWidget, painter: QPainter, without: Collection[QWidget], flags: Any) -> None:
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

    Qt writes no clip: what can be scrolled stands in a part that has one.
    """
    scrolled = [area.viewport() for area in widget.findChildren(QScrollArea) if _is_cut(area)]
    outermost = [
        each
        for each in scrolled
        if not any(other is not each and other.isAncestorOf(each) for other in scrolled)
    ]
    parts = [_svg(widget, [*outermost, *without])]
    for number, viewport in enumerate(outermost):
        corner, width, height = viewport.mapTo(widget, QPoint()), viewport.width(), viewport.height()
        inner = svg_of(viewport, without).decode()
        inner = inner[inner.index(">", inner.index("<svg")) + 1 : inner.rindex("</svg>")]
        inner = re.sub(r'(id="|url\(#)', rf"\g<1>part{number}-", inner)
        parts.append(
            f'<clipPath id="part{number}"><rect width="{width}" height="{height}"/></clipPath>'
            f'<g transform="translate({corner.x()} {corner.y()})"><g clip-path="url(#part{number})">'
            f"{inner}</g></g>"
        )
    return "".join([*parts, "</svg>\n"]).encode()


def _is_cut(area: QScrollArea) -> bool:
    content, room = area.widget(), area.viewport()
    is_larger = content is not None and (content.width() > room.width() or content.height() > room.height())
    return is_larger and not area.isHidden()


def _svg(widget: QWidget, without: Collection[QWidget]) -> str:
    """A widget without some within it, and without the end of the file."""
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(content)
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    generator.setTitle(widget.accessibleName() or "lmviz")
    with _marks_drawn_one_by_one(widget), QPainter(generator) as painter:
        painter.fillRect(widget.rect(), current_theme().surface)
        paint_clipped(widget, painter, without)
    text = bytes(content.data().data()).decode()
    return in_pixels(_FAMILY.sub(_with_kind, text[: text.rindex("</svg>")]))


@contextmanager
def _marks_drawn_one_by_one(widget: QWidget) -> Iterator[None]:
    """Have plots not copy their marks from one picture of all kinds: Qt would write that for each mark."""
    views = widget.findChildren(QGraphicsView)
    if isinstance(widget, QGraphicsView):
        views.append(widget)
    marks: list[Any] = [item for view in views for item in view.items() if hasattr(item, "fragmentAtlas")]
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

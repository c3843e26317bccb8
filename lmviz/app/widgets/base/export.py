"""Export of pictures and arrays: any widget as PNG or SVG, any array as CSV or NPZ."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QFile, QIODevice, QPoint, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.base.errors import LmvizError

PICTURE_RATIO = 2
PICTURES = "Pictures (*.png *.svg)"
ARRAYS = "Arrays (*.csv *.npz)"


def save_picture(widget: QWidget, path: str | Path) -> None:
    """Write what a widget shows as PNG (at twice its size) or SVG, by the file's ending.

    LmvizError for another ending, or when the file cannot be written.
    """
    path = Path(path)
    writers = {".png": _save_png, ".svg": _save_svg}
    if path.suffix.lower() not in writers:
        raise LmvizError(f"{path.name} is neither PNG nor SVG: end the name with .png or .svg.")
    writers[path.suffix.lower()](widget, path)


@dataclass(frozen=True)
class Names:
    """What stands at each row and each column of what is exported; nothing where they are only counted."""

    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


COUNTED = Names()
"""Rows and columns without names."""


def fits_csv(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether arrays are one table: one of at most two axes, or several columns of the same length."""
    if len(arrays) == 1:
        return all(array.ndim <= 2 for array in arrays.values())
    shapes = {array.shape for array in arrays.values()}
    return len(shapes) == 1 and len(next(iter(shapes))) == 1


def save_arrays(arrays: Mapping[str, np.ndarray], path: str | Path, names: Names = COUNTED) -> None:
    """Write arrays as NPZ (all, under their names), or as CSV where they are one table.

    The first line of the CSV names its columns, and the first column its rows where there are names for
    them. LmvizError when the arrays do not fit the ending, or when the file cannot be written.
    """
    path = Path(path)
    try:
        if path.suffix.lower() == ".npz":
            # Any, because the stub would have these be its argument `allow_pickle` as well.
            named: dict[str, Any] = {name.replace("/", "."): array for name, array in arrays.items()}
            np.savez_compressed(path, **named)
        elif path.suffix.lower() == ".csv":
            _save_csv(arrays, path, names)
        else:
            raise LmvizError(f"{path.name} is neither CSV nor NPZ: end the name with .csv or .npz.")
    except OSError as fault:
        raise _cannot_write(path, fault) from fault


def _save_png(widget: QWidget, path: Path) -> None:
    image = QImage(widget.size() * PICTURE_RATIO, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PICTURE_RATIO)
    image.fill(current_theme().surface)
    widget.render(image)
    if not image.save(str(path)):
        raise LmvizError(f"{path} cannot be written: choose a folder that you may write to.")


def draw_svg(widget: QWidget, device: QIODevice) -> bool:
    """Write what a widget shows as SVG into an open device; whether it could be written."""
    generator = QSvgGenerator()
    generator.setOutputDevice(device)
    generator.setSize(QSize(widget.width(), widget.height()))
    generator.setViewBox(QRect(QPoint(0, 0), widget.size()))
    generator.setTitle(widget.accessibleName() or "lmviz")
    painter = QPainter()
    if not painter.begin(generator):
        return False
    try:
        painter.fillRect(widget.rect(), current_theme().surface)
        widget.render(painter, QPoint())
    finally:
        painter.end()
    return True


def _save_svg(widget: QWidget, path: Path) -> None:
    file = QFile(str(path))
    if not file.open(QIODevice.OpenModeFlag.WriteOnly) or not draw_svg(widget, file):
        raise LmvizError(f"{path} cannot be written: choose a folder that you may write to.")
    file.close()


def _save_csv(arrays: Mapping[str, np.ndarray], path: Path, names: Names) -> None:
    if not fits_csv(arrays):
        raise LmvizError("A CSV file holds one table, and these arrays are more: save them as NPZ.")
    table = np.column_stack([array.reshape(len(array), -1) for array in map(np.atleast_1d, arrays.values())])
    columns = list(names.columns)
    if len(columns) != table.shape[1]:
        width = table.shape[1]
        columns = list(arrays) if width == len(arrays) else [str(place) for place in range(1, width + 1)]
    rows = list(names.rows) if len(names.rows) == len(table) else []
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", *columns] if rows else columns)
        for place, row in enumerate(table.tolist()):
            writer.writerow([rows[place], *row] if rows else row)


def _cannot_write(path: Path, fault: OSError) -> LmvizError:
    return LmvizError(f"{path} cannot be written ({fault.strerror}): choose another place.")

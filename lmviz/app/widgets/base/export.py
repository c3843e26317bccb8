"""Export of pictures and arrays: any widget as PNG or SVG, any array as CSV or NPZ."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.errors import LmvizError

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


def save_arrays(arrays: Mapping[str, np.ndarray], path: str | Path, labels: Sequence[str] = ()) -> None:
    """Write arrays as NPZ (all, under their names), or one of at most two axes as CSV.

    `labels` name the rows of the CSV. LmvizError when the arrays do not fit the ending, or when the
    file cannot be written.
    """
    path = Path(path)
    try:
        if path.suffix.lower() == ".npz":
            # Any, because the stub would have these be its argument `allow_pickle` as well.
            named: dict[str, Any] = {name.replace("/", "."): array for name, array in arrays.items()}
            np.savez_compressed(path, **named)
        elif path.suffix.lower() == ".csv":
            _save_csv(arrays, path, labels)
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


def _save_svg(widget: QWidget, path: Path) -> None:
    from PySide6.QtSvg import QSvgGenerator

    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(widget.width(), widget.height()))
    generator.setViewBox(QRect(QPoint(0, 0), widget.size()))
    generator.setTitle(widget.accessibleName() or "lmviz")
    painter = QPainter()
    if not painter.begin(generator):
        raise LmvizError(f"{path} cannot be written: choose a folder that you may write to.")
    try:
        painter.fillRect(widget.rect(), current_theme().surface)
        widget.render(painter, QPoint())
    finally:
        painter.end()


def _save_csv(arrays: Mapping[str, np.ndarray], path: Path, labels: Sequence[str]) -> None:
    if len(arrays) != 1:
        raise LmvizError(f"A CSV file holds one array, not {len(arrays)}: save them as NPZ.")
    (array,) = arrays.values()
    if array.ndim > 2:
        raise LmvizError(f"A CSV file has rows and columns, not {array.ndim} axes: save the array as NPZ.")
    table = array.reshape(len(array), -1) if array.ndim else array.reshape(1, 1)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for index, row in enumerate(table.tolist()):
            writer.writerow([labels[index], *row] if labels else row)


def _cannot_write(path: Path, fault: OSError) -> LmvizError:
    return LmvizError(f"{path} cannot be written ({fault.strerror}): choose another place.")

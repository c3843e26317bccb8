"""The icons from `resources/icons`, each drawn in one colour and tinted by the theme."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from lmviz.text.resources import resource_path

SIZES = (16, 32, 64)
APPLICATION_SIZES = (48, 256)
"""Those in which the program's own icon is kept as a picture: for menus, taskbars and Windows."""


def icon_path(name: str) -> Path:
    """The file of an icon such as "transport/play"."""
    return resource_path("icons", f"{name}.svg")


def application_icon() -> QIcon:
    """The program's own icon."""
    made = QIcon()
    for size in APPLICATION_SIZES:
        made.addFile(str(resource_path("icons", f"lmviz-{size}.png")), QSize(size, size))
    return made


def icon(name: str, color: QColor, disabled: QColor | None = None) -> QIcon:
    """An icon in a colour, crisp at any of the usual sizes; ask again when the theme has changed."""
    return _made(name, color.rgba(), None if disabled is None else disabled.rgba())


@lru_cache(maxsize=256)  # bars of buttons ask for theirs many times a second while training
def _made(name: str, color: int, disabled: int | None) -> QIcon:
    made = QIcon()
    modes = [(QIcon.Mode.Normal, QColor.fromRgba(color))]
    if disabled is not None:
        modes.append((QIcon.Mode.Disabled, QColor.fromRgba(disabled)))
    for mode, tint in modes:
        for size in SIZES:
            made.addPixmap(pixmap(name, tint, size), mode)
    return made


def pixmap(name: str, color: QColor, size: int, ratio: float = 1.0) -> QPixmap:
    """The icon drawn `size` logical pixels square, for a screen with `ratio` device pixels each."""
    drawn = QPixmap(QSize(size, size) * ratio)
    drawn.setDevicePixelRatio(ratio)
    drawn.fill(Qt.GlobalColor.transparent)
    with QPainter(drawn) as painter:
        _drawing(name, color.name()).render(painter, QRectF(0, 0, size, size))
    return drawn


@lru_cache(maxsize=256)
def _drawing(name: str, color: str) -> QSvgRenderer:
    """The icon's lines in a colour, parsed."""
    lines = icon_path(name).read_text(encoding="utf-8").replace("currentColor", color)
    return QSvgRenderer(QByteArray(lines.encode()))

"""The equations beside the boxes of a small network, set once and drawn again as strokes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSizeF
from PySide6.QtGui import QPainter, QPicture
from PySide6.QtSvg import QSvgRenderer

from lmviz.app.widgets.text import typesetting

SIZE = 15
ANY_COLOR = "#000000"


@dataclass(frozen=True, eq=False)
class Equation:
    """An equation as strokes, and its size in pixels at scale 1."""

    picture: QPicture
    size: QSizeF


@lru_cache(maxsize=256)
def equation(latex: str, color: str) -> Equation | None:
    """An equation in a colour; None for what is not LaTeX. The type has to be loaded."""
    svg = typesetting.equation_picture(latex, SIZE, color)
    if not svg:
        return None
    renderer, picture = QSvgRenderer(QByteArray(svg)), QPicture()
    size = QSizeF(renderer.defaultSize())
    with QPainter(picture) as painter:
        renderer.render(painter, QRectF(0, 0, size.width(), size.height()))
    return Equation(picture, size)


@lru_cache(maxsize=256)
def _size(lines: tuple[str, ...]) -> QSizeF:
    found = [each.size for each in (equation(line, ANY_COLOR) for line in lines) if each is not None]
    width = max((size.width() for size in found), default=0.0)
    return QSizeF(width, sum(size.height() for size in found))


def equations_size(lines: tuple[str, ...]) -> QSizeF:
    """The size of equations below one another at scale 1; nothing as long as none can be set."""
    return _size(lines) if lines and typesetting.ready() else QSizeF(0, 0)

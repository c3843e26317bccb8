"""A legend for a colour map: a thin gradient between its ends."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import number, whole_percentage
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.matrix.cells import ONE_SIDED

SIZE = 11
HEIGHT = 15
STRIPE = 84
WHOLE = 136  # pixels at scale 1 of the stripe with the numbers at its ends
DASH = 22


@lru_cache(maxsize=16)
def _stripe(name: str, scale: str, table: bytes) -> QImage:
    image = QImage(table, 256, 1, 1024, QImage.Format.Format_RGBA8888)
    return image.convertToFormat(QImage.Format.Format_RGB32)


OF_ROW = "the largest of its row"


def scale_ends(scale: str, limit: float, floor: float = 0.0, *, by_row: bool = False) -> tuple[str, str]:
    """What is written at the ends of a scale; a logarithmic one begins at its floor, and says what it is."""
    if by_row:
        return "0" if scale in ONE_SIDED else "−", OF_ROW
    if floor:
        return f"≤ {whole_percentage(floor)}", f"{whole_percentage(limit)}, log"
    digits = 0 if float(limit).is_integer() else 2
    return "0" if scale in ONE_SIDED else number(-limit, digits), number(limit, digits)


def draw_color_scale(
    painter: Painter,
    place: QRectF,
    scale: str,
    limit: float,
    floor: float = 0.0,
    *,
    by_row: bool = False,
    unit: str = "",
) -> None:
    """Draw "−1 ▬▬▬ 1" at the right end of a place; `limit` is the value of the strongest colour.

    A `unit`, such as "%", stands behind the last number.
    """
    theme = painter.theme
    measure = metrics(SIZE, theme=theme)
    low, high = scale_ends(scale, limit, floor, by_row=by_row)
    high = f"{high} {unit}" if unit else high
    gap, width, height = 6 * theme.scale, STRIPE * theme.scale, 6 * theme.scale
    high_width, low_width = measure.horizontalAdvance(high), measure.horizontalAdvance(low)
    stripe = QRectF(0, place.center().y() - height / 2, width, height)
    stripe.moveRight(place.right() - high_width - gap)
    painter.write(place, high, theme.muted_text, SIZE, where=AT_RIGHT)
    before = QRectF(stripe.left() - gap - low_width - 2, place.top(), low_width + 2, place.height())
    painter.write(before, low, where=AT_RIGHT)
    painter.drawImage(stripe, _stripe(theme.name, scale, theme.map_of(scale).tobytes()))
    painter.box(stripe, edge=theme.line)


def draw_line_key(painter: Painter, place: QRectF, ink: QColor, meaning: str) -> None:
    """Say at the left of a place what a line in the picture means, in what a colour scale leaves of it."""
    scale = painter.theme.scale
    middle, dash = place.center().y(), DASH * scale
    painter.line(QPointF(place.left(), middle), QPointF(place.left() + dash, middle), ink, 2)
    words = place.adjusted(dash + 8 * scale, 0, -WHOLE * scale, 0)
    painter.fit(words, meaning, painter.theme.muted_text, SIZE)

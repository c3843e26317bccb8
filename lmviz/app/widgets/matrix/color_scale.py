"""A legend for a colour map: a thin gradient between its ends."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import number, whole_percentage
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.matrix.cells import ONE_SIDED

SIZE = 11
SIZES = (SIZE, 10, 9)
HEIGHT, GAP = 15, 6
STRIPE, LEAST_STRIPE = 84, 20
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

    A `unit`, such as "%", stands behind the last number. In a narrow place the stripe is shorter, then the
    type smaller; what is at the right ends in dots before anything stands over something else.
    """
    theme = painter.theme
    low, high = scale_ends(scale, limit, floor, by_row=by_row)
    high = f"{high} {unit}" if unit else high
    gap, height, least = GAP * theme.scale, 6 * theme.scale, LEAST_STRIPE * theme.scale
    room = place.width() - 2 * gap
    size = next((size for size in SIZES if room - sum(_widths(theme, size, low, high)) >= least), SIZES[-1])
    low_width, high_width = _widths(theme, size, low, high)
    width = room - low_width - high_width
    width = max(least, min(width, STRIPE * theme.scale))
    high_width = min(high_width, max(0.0, room - low_width - width))
    after = place.adjusted(place.width() - high_width, 0, 0, 0)
    stripe = QRectF(after.left() - gap - width, place.center().y() - height / 2, width, height)
    before = QRectF(stripe.left() - gap - low_width, place.top(), low_width, place.height())
    painter.fit(after, high, theme.muted_text, size, where=AT_RIGHT)
    painter.write(before, low, theme.muted_text, size, where=AT_RIGHT)
    painter.drawImage(stripe, _stripe(theme.name, scale, theme.map_of(scale).tobytes()))
    painter.box(stripe, edge=theme.line)


def _widths(theme: Theme, size: float, low: str, high: str) -> tuple[float, float]:
    """How wide the two ends are."""
    measure = metrics(size, theme=theme)
    return measure.horizontalAdvance(low) + 2, measure.horizontalAdvance(high) + 2


def draw_line_key(painter: Painter, place: QRectF, ink: QColor, meaning: str) -> None:
    """Say at the left of a place what a line in the picture means, in what a colour scale leaves of it."""
    scale = painter.theme.scale
    middle, dash = place.center().y(), DASH * scale
    painter.line(QPointF(place.left(), middle), QPointF(place.left() + dash, middle), ink, 2)
    words = place.adjusted(dash + 8 * scale, 0, -WHOLE * scale, 0)
    painter.fit(words, meaning, painter.theme.muted_text, SIZE)

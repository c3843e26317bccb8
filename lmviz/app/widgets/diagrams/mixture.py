"""What words are made of: a mixture in the colours of the orders, for the next word and over the text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor

from lmviz.app.look.color_maps import mix
from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.diagrams.ladder_parts import MixtureColumn, MixtureWord
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, measure_of
from lmviz.app.widgets.kit.picture import Picture

PALEST = 0.24
MOST_FOR_WORDS = 0.42  # of the width of the bars' area
NARROWEST = 26
"""The pixels at scale 1 from which on a column has its word below it."""


@lru_cache(maxsize=64)
def rung_color(theme: Theme, order: int, highest: int) -> QColor:
    """The longest context is the strongest colour; order 0, all words alike, is grey."""
    if order == 0:
        return theme.strong_line
    share = 1.0 if highest == 1 else PALEST + (1 - PALEST) * (order - 1) / (highest - 1)
    return mix(theme.surface, theme.share_all, share)


def draw_words(
    picture: Picture, painter: Painter, area: QRectF, words: Sequence[MixtureWord], orders: Sequence[int]
) -> None:
    """The likeliest words, each bar made of what every order gives it; the first row is their key."""
    theme, scale = picture.theme, picture.theme.scale
    row = 20 * scale
    _draw_key(picture, painter, QRectF(area.left(), area.top(), area.width(), row), orders)
    measure, usual = picture.metrics(12, token=True, bold=True), min(92 * scale, 0.26 * area.width())
    widest = max((measure.horizontalAdvance(word.word) for word in words), default=0.0) + 9 * scale
    start = area.left() + max(usual, min(widest, MOST_FOR_WORDS * area.width()))
    figures = 52 * scale
    full = max(area.right() - start - figures - 8 * scale, 1.0)
    largest = max((word.probability for word in words), default=1.0) or 1.0
    top = area.top() + 1.3 * row
    for word in words[: max(0, int((area.bottom() - top) / row + 0.05))]:
        line = QRectF(area.left(), top, area.width(), row)
        if word.is_marked:
            painter.box(line, theme.accent_wash, radius=4)
        name = QRectF(area.left(), top, start - area.left() - 8 * scale, row)
        painter.fit(name, word.word, size=12, bold=word.is_marked, token=True, where=AT_RIGHT)
        left = start
        for order, part in zip((*orders, 0), word.parts, strict=True):
            width = full * part / largest
            bar = QRectF(left, line.center().y() - 5.5 * scale, width, 11 * scale)
            painter.box(bar, rung_color(theme, order, orders[0]))
            left += width
        figure = QRectF(left + 6 * scale, top, area.right() - left - 6 * scale, row)
        painter.fit(figure, percentage(word.probability), size=11.5, bold=word.is_marked)
        picture.place(word.key, line)
        top += row


def draw_columns(
    picture: Picture, painter: Painter, area: QRectF, columns: Sequence[MixtureColumn], current: int
) -> None:
    """Which order speaks at each position; where they do not all fit, those around the current one."""
    theme, scale = picture.theme, picture.theme.scale
    title = QRectF(area.left(), area.top(), area.width(), 16 * scale)
    said = "which rung speaks, over the text; above, the longest context seen"
    painter.fit(title, said, theme.muted_text, 10.5)
    room = max(1, int(area.width() / (NARROWEST * scale)))
    first = min(max(0, current - room // 2), max(0, len(columns) - room))
    shown = columns[first : first + room]
    step = min(area.width() / max(1, len(shown)), 64 * scale)
    bars = QRectF(area.left(), title.bottom() + 13 * scale, area.width(), 0)
    bars.setBottom(area.bottom() - 15 * scale)
    highest = len(columns[0].parts) - 1 if columns else 1
    for place, column in enumerate(shown):
        bar = QRectF(area.left() + place * step, bars.top(), step - 3 * scale, bars.height())
        is_current = first + place == current
        ink = theme.accent if is_current else theme.muted_text
        above = QRectF(bar.left(), bar.top() - 13 * scale, bar.width(), 12 * scale)
        painter.fit(above, str(column.longest), ink, 10, bold=is_current, where=CENTRED)
        top = bar.top()
        for place_of_order, part in enumerate(column.parts):
            piece = QRectF(bar.left(), top, bar.width(), bar.height() * part)
            painter.box(piece, rung_color(theme, highest - place_of_order, highest))
            top += bar.height() * part
        if is_current:
            painter.box(bar.adjusted(-1, -1, 1, 1), edge=theme.accent, width=1.8)
        below = QRectF(bar.left() - 1, bars.bottom() + 1, bar.width() + 2, 14 * scale)
        painter.fit(below, column.word, ink, 9.5, token=True, where=CENTRED)
        picture.place(column.key, bar.united(above).united(below))


def _draw_key(picture: Picture, painter: Painter, area: QRectF, orders: Sequence[int]) -> None:
    """Which colour is which order."""
    theme, scale = picture.theme, picture.theme.scale
    said, left = "what comes next, made of", area.left()
    width = measure_of(theme, 10.5, False, False).horizontalAdvance(said) + 8 * scale
    if width + 32 * scale * len(orders) <= area.width():  # the colours say more than these words
        painter.fit(area, said, theme.muted_text, 10.5)
        left += width
    for order in orders:
        box = QRectF(left, area.center().y() - 5 * scale, 10 * scale, 10 * scale)
        painter.box(box, rung_color(theme, order, orders[0]), radius=2)
        name = QRectF(box.right() + 4 * scale, area.top(), 14 * scale, area.height())
        painter.fit(name, str(order), theme.muted_text, 10.5)
        left = name.right() + 4 * scale

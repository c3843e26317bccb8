"""The wall before a window of words: the words that the model cannot see, and the measured proof."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.diagrams.word_window_values import WindowPicture
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.picture import Picture

CHIP = 22
"""How high a word is, in pixels at scale 1."""


def draw_wall(view: Picture, painter: Painter, area: QRectF, window: WindowPicture) -> None:
    """The words before the window, crossed out, and what was measured of them."""
    theme = view.theme
    painter.box(area, mix(theme.surface, theme.background, 0.7))
    view.place("wall", area)
    inside = area.adjusted(view.length(8), view.length(6), -view.length(10), -view.length(4))
    lines = wall_sentences(view, window, inside.width())
    said = len(lines) * view.length(16) + view.length(6)
    chips = QRectF(inside.left(), inside.top(), inside.width(), max(0.0, inside.height() - said))
    bottom = _draw_chips(view, painter, chips, window)
    top = bottom + view.length(6)
    for text, is_strong in lines:
        row = QRectF(inside.left(), top, inside.width(), view.length(16))
        ink = theme.text if is_strong else theme.muted_text
        painter.fit(row, text, ink, 12 if is_strong else 11, bold=is_strong)
        top += view.length(16)


def wall_sentences(view: Picture, window: WindowPicture, width: float) -> list[tuple[str, bool]]:
    """The sentences about the words before the window, line by line, and whether they are strong."""
    size = len(window.words)
    if not window.unseen:
        text = f"There is nothing before the window yet. It reads only {size} tokens."
        return [(line, False) for line in _wrapped(view, text, width)]
    count = len(window.unseen)
    which = "This one was" if count == 1 else f"Each of these {count} was"
    text = f"No line leads from here. {which} replaced by another: no logit changed by more than"
    lines = [(line, True) for line in _wrapped(view, "It cannot see further back.", width, bold=True)]
    return [*lines, *((line, False) for line in _wrapped(view, text, width)), (number(window.change), True)]


def _draw_chips(view: Picture, painter: Painter, area: QRectF, window: WindowPicture) -> float:
    """The unseen words in lines, the newest last; where they do not fit, the oldest are only counted."""
    theme, unseen = view.theme, window.unseen
    measure, gap, high = view.metrics(11, token=True), view.length(4), view.length(CHIP)
    room = max(1, int((area.height() + gap) / (high + gap)))
    for first in range(len(unseen)):
        hidden = first + window.earlier
        texts = [f"{hidden} more …"] * (hidden > 0) + [word.word for word in unseen[first:]]
        widths = [min(measure.horizontalAdvance(text) + view.length(12), area.width()) for text in texts]
        lines = _lines(widths, area.width(), gap)
        if len(lines) <= room:
            break
    else:
        return area.top()
    keys = [""] * (hidden > 0) + [word.key for word in unseen[first:]]
    top, items = area.top(), iter(zip(keys, texts, strict=True))
    for line in lines:
        left = area.left()
        for width in line:
            key, text = next(items)
            chip = QRectF(left, top, width, high)
            inside = chip.adjusted(3, 0, -3, 0)
            painter.fit(inside, text, theme.muted_text, 11, token=bool(key), where=CENTRED)
            if key:
                painter.box(chip, edge=QPen(theme.strong_line, 1, Qt.PenStyle.DashLine), radius=4)
                cross = chip.adjusted(4, 4, -4, -4)
                painter.line(cross.topLeft(), cross.bottomRight(), theme.muted_text, 1)
                painter.line(cross.bottomLeft(), cross.topRight(), theme.muted_text, 1)
                view.place(key, chip)
            left += width + gap
        top += high + gap
    return top


def _lines(widths: Sequence[float], room: float, gap: float) -> list[list[float]]:
    """Widths in lines that are not wider than there is room."""
    lines: list[list[float]] = []
    used = 0.0
    for width in widths:
        if lines and used + gap + width <= room:
            lines[-1].append(width)
            used += gap + width
        else:
            lines.append([width])
            used = width
    return lines


def _wrapped(view: Picture, text: str, width: float, *, bold: bool = False) -> list[str]:
    """A text in lines that fit a width."""
    measure, lines = view.metrics(12 if bold else 11, bold=bold), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if measure.horizontalAdvance(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines

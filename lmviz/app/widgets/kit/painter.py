"""A painter with one call for a shape or a line of words, where Qt takes three."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPaintDevice,
    QPaintEngine,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QTransform,
)
from PySide6.QtWidgets import QWidget

from lmviz.app.look.roles import Theme
from lmviz.app.look.theme import current_theme
from lmviz.base.plain_text import seen

AT_LEFT = Qt.AlignmentFlag.AlignVCenter
AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRED = Qt.AlignmentFlag.AlignCenter
"""Where words stand in an area: always in the middle of its height."""
DASHES = (2.0, 1.6)
"""The dash and the gap, in widths of the line, of a mark that nobody has made yet."""
SMALLEST_TYPE, SMALLER_BY = 8.5, 0.5
AT_ONCE = 16
"""Points of a curve that are joined in one call: a thousand that go up and down take Qt ten times as long."""
ALONE = QPointF(0.01, 0)  # as long as a lone value's stroke has to be for a round pen to draw it


class Painter(QPainter):
    """Draws in a theme, by default that in force: sizes, widths and radii are in pixels at scale 1.

    Texts turn nothing round that stands beside them, and hide nothing. What a call has drawn with stays in
    force for Qt's own calls that follow.
    """

    def __init__(self, device: QPaintDevice | None = None, theme: Theme | None = None) -> None:
        super().__init__() if device is None else super().__init__(device)
        self.theme = theme or current_theme()

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def write(
        self,
        area: QRectF,
        text: str,
        ink: QColor | None = None,
        size: float | None = None,
        *,
        bold: bool = False,
        token: bool = False,
        where: Qt.AlignmentFlag = AT_LEFT,
    ) -> None:
        """Write a text in an area, in the ink and the type in force where none are given."""
        if size is not None:
            weight = QFont.Weight.DemiBold if bold else QFont.Weight.Normal
            self.setFont(self.theme.token_font(size, weight) if token else self.theme.font(size, weight))
        if ink is not None:
            self.setPen(ink)
        self.drawText(area, where, text)

    def fit(
        self,
        area: QRectF,
        text: str,
        ink: QColor | None = None,
        size: float = 11.5,
        *,
        bold: bool = False,
        token: bool = False,
        where: Qt.AlignmentFlag = AT_LEFT,
    ) -> None:
        """Write a text smaller where it does not fit; where that is not enough, it ends in dots."""
        if not text:  # which fits even where there is no room at all
            return
        measure, room = measure_of(self.theme, size, token, bold), area.width() + 1
        while measure.horizontalAdvance(text) > room:
            if size <= SMALLEST_TYPE:
                text = cut(text, room, measure)
                break
            size = max(SMALLEST_TYPE, size - SMALLER_BY)
            measure = measure_of(self.theme, size, token, bold)
        flags = where | Qt.TextFlag.TextDontClip  # in rows lower than a line
        self.write(area, text, ink or self.theme.text, size, bold=bold, token=token, where=flags)

    def share(self, area: QRectF, share: float, ink: QColor, *, radius: float) -> None:
        """Draw a bar that is filled as far as a share goes."""
        self.box(area, self.theme.line, radius=radius)
        self.box(area.adjusted(0, 0, (share - 1) * area.width(), 0), ink, radius=radius)

    def ghost(self, area: QRectF) -> None:
        """Draw a bar as it was, hatched so that it is told from what is; nothing where it has no width."""
        if area.width() > 0:
            self.box(area, self.theme.hover, self.theme.strong_line, 1, radius=2.5)
            self.setBrush(QBrush(self.theme.strong_line, Qt.BrushStyle.BDiagPattern))
            self.drawRoundedRect(area, 2.5 * self.theme.scale, 2.5 * self.theme.scale)

    def line(self, start: QPointF, end: QPointF, ink: QColor | QPen, width: float | None = None) -> None:
        """Draw a straight line; without a width, as thin as can be."""
        self.setPen(self._pen(ink, width))
        self.drawLine(start, end)

    def head(self, before: QPointF, end: QPointF, ink: QColor, length: float, half: float) -> None:
        """Draw the head of an arrow to its end from a point before: how long it is, and half its width."""
        way = QLineF(end, before)
        if way.length() == 0:
            return
        along = (before - end) * (self.theme.scale / way.length())
        back, aside = end + along * length, QPointF(-along.y(), along.x()) * half
        self._take(ink, None, None)
        self.drawPolygon([end, back + aside, back - aside])

    @contextmanager
    def clipped(self, area: QRectF) -> Iterator[None]:
        """Have nothing be drawn outside of an area, also as SVG; what is set meanwhile ends with it."""
        end = ""
        if self.paintEngine().type() == QPaintEngine.Type.SVG:
            from lmviz.app.widgets.kit import svg_clips  # not before the first paint

            self._note(svg_clips.begin(area))
            end = svg_clips.END
        self.save()
        self.setClipRect(area)
        try:
            yield
        finally:
            self.restore()
            if end:
                self._note(end)

    def _note(self, words: str) -> None:
        self.save()
        self.setPen(Qt.GlobalColor.black)  # Qt writes no words without a pen
        self.drawText(QPointF(), words)
        self.restore()

    def draw_part(self, area: QRectF, image: QImage, part: QRect) -> None:
        """Draw a part of an image; as SVG, Qt's own call writes all of it."""
        if self.paintEngine().type() == QPaintEngine.Type.SVG:
            self.drawImage(area, image.copy(part))
        else:
            self.drawImage(area, image, QRectF(part))

    def stroke(self, path: QPainterPath, ink: QColor | QPen, width: float | None = None) -> None:
        """Draw a line along a path."""
        self.strokePath(path, QPen(self._pen(ink, width)))

    def box(
        self,
        area: QRectF,
        fill: QColor | None = None,
        edge: QColor | QPen | None = None,
        width: float | None = None,
        *,
        radius: float = 0,
    ) -> None:
        """Draw a rectangle with round corners, filled and with an edge where these are given."""
        self._take(fill, edge, width)
        if radius:
            self.drawRoundedRect(area, radius * self.theme.scale, radius * self.theme.scale)
        else:
            self.drawRect(area)

    def hatch(self, area: QRectF, ink: QColor) -> None:
        """Draw a rectangle of slanted lines: what is there, and not explained."""
        self.box(area, None, ink, 1, radius=2)
        with self.clipped(area):
            self.setPen(QPen(ink, self.theme.scale))
            step, high = 5 * self.theme.scale, area.height()
            for number in range(int((area.width() + high) / step) + 1):
                left = area.left() + number * step
                self.drawLine(QPointF(left, area.top()), QPointF(left - high, area.bottom()))

    def dot(
        self,
        middle: QPointF,
        radius: float,
        fill: QColor | None = None,
        edge: QColor | QPen | None = None,
        width: float | None = None,
    ) -> None:
        """Draw a circle around a point."""
        self._take(fill, edge, width)
        self.drawEllipse(middle, radius * self.theme.scale, radius * self.theme.scale)

    def curve(
        self,
        values: np.ndarray,
        point: Callable[[int], QPointF],
        ink: QColor,
        width: float,
        style: Qt.PenStyle = Qt.PenStyle.SolidLine,
    ) -> None:
        """Draw a line through the finite values, (index,), at the points given; a lone value is a dot."""
        stretches: list[list[QPointF]] = [[]]
        for index, finite in enumerate(np.isfinite(values).tolist()):
            if finite:
                stretches[-1].append(point(index))
            elif stretches[-1]:
                stretches.append([])
        ends, joins = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        self.setPen(QPen(ink, width * self.theme.scale, style, ends, joins))
        is_whole = style != Qt.PenStyle.SolidLine or ink.alpha() < 255  # or joints would be seen
        for points in stretches:
            drawn = [*points, points[0] + ALONE] if len(points) == 1 else points
            self.join(drawn, len(drawn) if is_whole else AT_ONCE)

    def join(self, points: Sequence[QPointF], at_once: int = AT_ONCE) -> None:
        """Draw a line through many points with the pen in force, so many of them in one call."""
        for first in range(0, len(points) - 1, max(1, at_once)):
            self.drawPolyline(points[first : first + at_once + 1])

    @contextmanager
    def scaled(self, transform: QTransform) -> Iterator[None]:
        """Draw through a transform that scales: lengths and type are then those at scale 1."""
        theme = self.theme
        self.save()
        self.setTransform(transform, True)
        self.theme = _at_scale_1(theme)
        try:
            yield
        finally:
            self.theme = theme
            self.restore()

    def drawText(self, *given: Any) -> Any:
        """Draw a text, which may come from anywhere, at a place given in any of Qt's ways."""
        fit: tuple[Any, ...] = tuple(seen(each) if isinstance(each, str) else each for each in given)
        return super().drawText(*fit)

    def _take(self, fill: QColor | None, edge: QColor | QPen | None, width: float | None) -> None:
        self.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
        self.setPen(Qt.PenStyle.NoPen if edge is None else self._pen(edge, width))

    def _pen(self, ink: QColor | QPen, width: float | None) -> QColor | QPen:
        return ink if width is None or isinstance(ink, QPen) else QPen(ink, width * self.theme.scale)


def photograph(widget: QWidget, theme: Theme, draw: Callable[[Painter], None]) -> QPixmap:
    """What `draw` draws on a theme's surface, as large as a widget and as fine as its screen."""
    ratio = widget.devicePixelRatioF()
    pixmap = QPixmap(widget.size() * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(theme.surface)
    with Painter(pixmap, theme) as painter:
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        draw(painter)
    return pixmap


@lru_cache(maxsize=16)
def _at_scale_1(theme: Theme) -> Theme:
    return replace(theme, scale=1.0)


@lru_cache(maxsize=256)
def measure_of(theme: Theme, size: float, token: bool, bold: bool) -> QFontMetricsF:
    """Measures of the theme's type; kept, since a picture has hundreds of words."""
    weight = QFont.Weight.DemiBold if bold else QFont.Weight.Normal
    return QFontMetricsF(theme.token_font(size, weight) if token else theme.font(size, weight))


def cut(text: str, room: float, measure: QFontMetricsF, *, leads_up: bool = False) -> str:
    """As much of a text as has room: its beginning, also that of a number, and dots.

    Words that lead up to what stands right of them keep their end instead.
    """
    side = Qt.TextElideMode.ElideLeft if leads_up else Qt.TextElideMode.ElideRight
    return measure.elidedText(text, side, max(0.0, room))

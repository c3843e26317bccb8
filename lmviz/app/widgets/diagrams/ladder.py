"""Back-off as a ladder: contexts that grow shorter, counts, and 100 % that falls from rung to rung."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.diagrams.ladder_parts import LadderPicture, LadderRung
from lmviz.app.widgets.diagrams.mixture import draw_columns, draw_words, rung_color
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, SMALLEST_TYPE, Painter, cut
from lmviz.app.widgets.kit.picture import Picture
from lmviz.app.widgets.kit.rows import across

HEAD, GROUND = 18, 22
LEAST_RUNG, USUAL_RUNG, MOST_RUNG, FORMULA = 40, 78, 110, 22
TOTAL, SHORT_TOTAL, ROOMY = 132, 50, 330
"""How wide what was counted in all is, and from which width of a rung on the kinds are said with it."""
BAR, LEAST_BARS = 50, 26
WORD, LEAST_WORDS, MOST_WORDS = 20, 3, 12
COLUMNS, HIGH_ENOUGH = 92, 470
"""The height of the picture over the text, and from which height on there is room for it."""
MUCH = 0.2
LEAST_CHIP = 0.75  # of the width of its word; narrower ones give way to one line of text
"""From this share on a rung's figure is bold."""
WIDE = 1.35
"""From this ratio of width to height on the words stand at the right, else below."""
BESIDE = 560
"""From this width of the rungs on contexts and counts stand side by side, else one below the other."""


class LadderView(Picture):
    """`LadderView()`: `set_ladder(picture)` draws it; `set_current(order, formula)` marks a rung.

    The colour of a rung is the same in its pipe, in the mixture and in the words. Keys of spots: those of
    bars, words and columns, and "rung K", "total K", "share K" and "fall K" for order K.
    """

    usual_size = (640, 760)

    usual = (640, 600)

    def __init__(self) -> None:
        super().__init__()
        self._picture = LadderPicture()
        self._current = 0
        self._formula = ""
        self._position = -1
        self.setAccessibleName("back-off ladder")

    def set_ladder(self, picture: LadderPicture, position: int) -> None:
        """Draw the ladder of another word; `position` is its column."""
        is_new = len(picture.rungs) != len(self._picture.rungs)
        self._picture, self._position = picture, position
        if is_new:
            self.updateGeometry()
        best = picture.words[0] if picture.words else None
        said = f"says {best.word} {percentage(best.probability)}" if best is not None else ""
        self.setAccessibleDescription(said)
        self.redraw()

    def set_current(self, order: int, formula: str) -> None:
        """Mark the rung of an order; the formula is written into it where there is room. 0 for none."""
        if (order, formula) != (self._current, self._formula):
            self._current, self._formula = order, formula
            self.redraw()

    @property
    def current(self) -> tuple[int, str]:
        """The order of the marked rung, and what is written into it."""
        return self._current, self._formula

    @property
    def picture(self) -> LadderPicture:
        """What is drawn."""
        return self._picture

    def minimumSizeHint(self) -> QSize:
        rungs = max(1, len(self._picture.rungs))
        height = HEAD + GROUND + rungs * LEAST_RUNG + (LEAST_WORDS + 1.4) * WORD
        return QSize(round(self.usual_length(280)), round(self.usual_length(height)))

    def draw(self, painter: Painter) -> None:
        if not self._picture.rungs:
            return
        whole = QRectF(0, 0, self.width() - 1, self.height())
        if self.height() >= self.length(HIGH_ENOUGH) and len(self._picture.columns) > 1:
            text = QRectF(0, whole.bottom() - self.length(COLUMNS), whole.width(), self.length(COLUMNS))
            draw_columns(self, painter, text, self._picture.columns, self._position)
            whole.setBottom(text.top() - self.length(12))
        rungs = len(self._picture.rungs)
        if whole.width() > WIDE * whole.height():
            words = QRectF(whole.right() - 0.32 * whole.width(), 0, 0.32 * whole.width(), whole.height())
            ladder = QRectF(0, 0, words.left() - self.length(20), whole.height())
        else:
            around = self.length(HEAD + GROUND)
            least = rungs * self.length(LEAST_RUNG) + around
            usual = rungs * self.length(USUAL_RUNG) + around + self.length(FORMULA)
            rows = (whole.height() - max(least, usual)) / self.length(WORD) - 1.4
            height = (max(LEAST_WORDS, min(int(rows), MOST_WORDS)) + 1.4) * self.length(WORD)
            words = QRectF(0, whole.bottom() - height, whole.width(), height)
            ladder = QRectF(0, 0, whole.width(), words.top() - self.length(8))
        self._draw_ladder(painter, ladder)
        orders = tuple(rung.order for rung in self._picture.rungs)
        draw_words(self, painter, words, self._picture.words, orders)

    def _draw_ladder(self, painter: Painter, area: QRectF) -> None:
        pipe = min(max(0.27 * area.width(), self.length(104)), self.length(190))
        boxes = QRectF(area.left(), area.top(), area.width() - pipe - self.length(8), area.height())
        rungs, head = self._picture.rungs, self.length(HEAD)
        extra = self.length(FORMULA) if self._formula else 0.0
        room = area.height() - head - self.length(GROUND)
        height = min(room / len(rungs), self.length(MOST_RUNG))
        with_formula = extra and (room - extra) / len(rungs) >= self.length(LEAST_RUNG + 8)
        if with_formula:
            height = min((room - extra) / len(rungs), self.length(MOST_RUNG))
        top, places = area.top() + head, []
        for rung in rungs:
            is_current = rung.order == self._current
            high = height + (extra if is_current and with_formula else 0)
            places.append(QRectF(boxes.left() + 1, top, boxes.width() - 1, high - self.length(5)))
            top += high
        muted = self.theme.muted_text
        titles = QRectF(boxes.left(), area.top(), boxes.width(), head)
        counted = self._picture.counted
        is_short = self.metrics(SMALLEST_TYPE).horizontalAdvance(counted) > titles.width()
        painter.fit(titles, "What followed" if is_short else counted, muted, 10.5)
        for rung, place in zip(rungs, places, strict=True):
            self._draw_rung(painter, rung, place, with_formula=bool(with_formula))
        ground = QRectF(boxes.left(), top, boxes.width(), self.length(GROUND))
        painter.fit(ground.adjusted(self.length(10), 0, 0, 0), f"0   {self._picture.ground[0]}", muted, 11)
        self._draw_pipe(painter, across(area, boxes.right() + self.length(8), area.right()), places, ground)

    def _draw_rung(self, painter: Painter, rung: LadderRung, place: QRectF, *, with_formula: bool) -> None:
        theme, is_current = self.theme, rung.order == self._current
        edge = QPen(theme.accent if is_current else theme.line, self.length(1.8 if is_current else 1))
        if rung.why_not:
            edge.setStyle(Qt.PenStyle.DashLine)
        ground = mix(theme.surface, theme.accent_wash, 0.6) if is_current else theme.surface
        painter.box(place, ground, edge, radius=7)
        self.place(f"rung {rung.order}", place)
        inside = place.adjusted(self.length(10), self.length(3), -self.length(10), -self.length(3))
        if is_current and with_formula:
            line = QRectF(inside)
            line.setTop(inside.bottom() - self.length(FORMULA - 4))
            painter.fit(line, self._formula, size=11.5, token=True)
            inside.setBottom(line.top())
        ink = theme.faint_text if rung.why_not else theme.text
        figures = self.length(TOTAL if inside.width() >= self.length(ROOMY) else SHORT_TOTAL)
        contexts, bars = QRectF(inside), QRectF(inside)
        contexts.setLeft(inside.left() + self.length(22))
        if place.width() >= self.length(BESIDE):
            figures = self.length(72)
            contexts.setRight(inside.left() + 0.38 * inside.width())
            bars.setLeft(contexts.right() + self.length(14))
            bars.setRight(inside.right() - figures)
        else:
            contexts.setRight(inside.right() - figures - self.length(6))
            contexts.setHeight(min(self.length(22), 0.45 * inside.height()))
            bars.setTop(contexts.bottom() + 1)
        name = QRectF(inside.left(), contexts.top(), self.length(20), contexts.height())
        painter.fit(name, str(rung.order), ink, 15, bold=True)
        self._draw_context(painter, rung, contexts)
        if rung.why_not:
            painter.fit(bars, rung.why_not, theme.muted_text, 11)
            return
        totals = QRectF(inside.right() - figures, contexts.top(), figures, contexts.height())
        self._draw_total(painter, rung, totals)
        self._draw_bars(painter, rung, bars)

    def _draw_total(self, painter: Painter, rung: LadderRung, area: QRectF) -> None:
        kinds = f"{count(rung.kinds)} kind" + ("s" if rung.kinds != 1 else "")
        total = f"{_counted(rung.total)} in all"
        if area.height() >= self.length(34):
            middle, half = area.center().y(), area.height() / 2
            upper, lower = QRectF(area), QRectF(area)
            upper.setCoords(area.left(), middle - min(half, self.length(18)), area.right(), middle)
            lower.setCoords(area.left(), middle, area.right(), middle + min(half, self.length(16)))
            painter.fit(upper, total, size=12, bold=True, where=AT_RIGHT)
            painter.fit(lower, kinds, self.theme.muted_text, 10.5, where=AT_RIGHT)
        elif area.width() >= self.length(TOTAL):
            painter.fit(area, f"{total}, {kinds}", size=10.5, where=AT_RIGHT)
        else:
            painter.fit(area, _counted(rung.total), size=10.5, where=AT_RIGHT)
        self.place(f"total {rung.order}", area)

    def _draw_context(self, painter: Painter, rung: LadderRung, area: QRectF) -> None:
        """The words at the end of the text, each rung one fewer; struck out where they were never seen."""
        theme = self.theme
        if not rung.slots:
            painter.fit(area, "without a context", theme.muted_text, 11, where=AT_RIGHT)
            return
        gap, widths = self.length(4), self._slots(area.width())
        measure = self.metrics(11, token=True)
        if rung.context and widths[-1] < LEAST_CHIP * measure.horizontalAdvance(rung.context[-1]):
            words = cut(" ".join(rung.context), area.width(), measure, leads_up=True)
            painter.fit(area, words, theme.muted_text, 11, token=True, where=AT_RIGHT)
            return
        high = min(area.height() - 2, self.length(24))
        missing = rung.slots - len(rung.context)
        left = area.right() - sum(widths[-rung.slots :]) - gap * (rung.slots - 1)
        for width, word in zip(widths[-rung.slots :], ("",) * missing + rung.context, strict=True):
            chip = QRectF(left, area.center().y() - high / 2, width, high)
            pen = QPen(theme.line, 1, Qt.PenStyle.DashLine if rung.why_not else Qt.PenStyle.SolidLine)
            painter.box(chip, theme.surface if rung.why_not else theme.chip, pen, radius=4)
            ink = theme.muted_text if rung.why_not else theme.text
            painter.fit(chip.adjusted(3, 0, -3, 0), word, ink, 11, token=True, where=CENTRED)
            if rung.why_not and word:
                half = QPointF(min(measure.horizontalAdvance(word), chip.width() - 6) / 2, 0)
                middle = chip.center() + QPointF(0, 1)
                painter.line(middle - half, middle + half, theme.muted_text, 1)
            left += width + gap

    def _slots(self, room: float) -> list[float]:
        """How wide the places of a context are, the same on every rung; oldest first."""
        longest = max(self._picture.rungs, key=lambda rung: rung.slots)
        measure, gap = self.metrics(11, token=True), self.length(4)
        words = ("",) * (longest.slots - len(longest.context)) + longest.context
        natural = [measure.horizontalAdvance(word) + self.length(14) for word in words]
        spare = room - gap * (len(natural) - 1)
        scale = min(1.0, spare / sum(natural))
        return [width * scale for width in natural]

    def _draw_bars(self, painter: Painter, rung: LadderRung, area: QRectF) -> None:
        """What was counted; the dashed cap is what smoothing takes from the count."""
        if area.height() < self.length(LEAST_BARS):
            words, measure = "", self.metrics(10, token=True)
            for bar in rung.bars:  # as many as can be read whole
                longer = f"{words}   {bar.word} {_counted(bar.count)}".strip()
                if words and measure.horizontalAdvance(longer) > area.width():
                    break
                words = longer
            painter.fit(area, words, self.theme.muted_text, 10, token=True)
            return
        theme, figure, word = self.theme, self.length(12), self.length(14)
        room = max(1, int(area.width() / self.length(BAR)))
        step = area.width() / max(room, 1)
        full = area.height() - figure - word
        highest = max((bar.count for bar in rung.bars), default=1.0) or 1.0
        for place, bar in enumerate(rung.bars[:room]):
            column = QRectF(area.left() + place * step, area.top(), step - self.length(3), area.height())
            self.place(bar.key, column)
            base = area.bottom() - word
            size = full * bar.count / highest
            solid = QRectF(column.center().x() - 0.36 * step, base - size, 0.72 * step, size)
            cap = QRectF(solid.left(), solid.top(), solid.width(), full * bar.discount / highest)
            is_taken = cap.height() >= solid.height()
            painter.box(solid, theme.chip if is_taken else mix(theme.chip, theme.muted_text, 0.18))
            if bar.discount:
                painter.box(cap, edge=QPen(theme.validation, self.length(1), Qt.PenStyle.DashLine))
            above = QRectF(column.left(), solid.top() - figure, column.width(), figure)
            painter.fit(above, _counted(bar.count), theme.muted_text, 9.5, where=CENTRED)
            below = QRectF(column.left(), base, column.width(), word)
            painter.fit(below, bar.word, size=10, token=True, where=CENTRED)

    def _draw_pipe(self, painter: Painter, area: QRectF, places: list[QRectF], ground: QRectF) -> None:
        """100 % comes in above; each rung diverts its share, as wide as it is."""
        theme, rungs = self.theme, self._picture.rungs
        figures = self.length(54)
        width = area.width() - figures - self.length(14)
        left, end = area.left(), area.right() - figures
        head = QRectF(left, area.top(), width, self.length(HEAD))
        painter.fit(head, "100 %", size=11, bold=True, where=CENTRED)
        shares = QRectF(end - self.length(10), area.top(), figures + self.length(10), self.length(HEAD))
        painter.fit(shares, "its share", theme.muted_text, 10.5, where=AT_RIGHT)
        wash, bottom = mix(theme.surface, theme.accent, 0.13), ground.center().y()
        for rung, place, below in zip(rungs, places, [*places[1:], ground], strict=True):
            high = below.top() - place.top()
            band = QRectF(left, place.top(), width * rung.falling, high)
            painter.box(band, wash)
            self.place(f"fall {rung.order}", band.adjusted(0, 0, self.length(3), 0))
            color = rung_color(theme, rung.order, rungs[0].order)
            thick = max(place.height() * 0.9 * rung.share, 1.5 if rung.share > 0 else 0)
            branch = across(place, band.right(), band.right() + width * rung.share)
            self._draw_branch(painter, branch, thick, end, color)
            label = across(place, end + self.length(2), area.right())
            ink = theme.text if rung.share >= 0.005 else theme.muted_text
            kept, is_much = percentage(rung.share) if rung.share else "0 %", rung.share >= MUCH
            painter.fit(label, kept, ink, 11.5, bold=is_much, where=AT_RIGHT)
            self.place(f"share {rung.order}", label)
            if 0 < rung.falling < rung.arriving:
                fallen = QRectF(left + 2, below.top() - self.length(15), width, self.length(13))
                painter.fit(fallen, percentage(rung.falling), theme.muted_text, 9.5)
        rest = max(1.5, width * self._picture.ground[1])
        painter.box(QRectF(left, ground.top(), rest, bottom - ground.top()), wash)
        label = across(ground, end - self.length(10), area.right())
        painter.fit(label, percentage(self._picture.ground[1]), theme.muted_text, 11.5, where=AT_RIGHT)

    def _draw_branch(self, painter: Painter, area: QRectF, thick: float, end: float, color: QColor) -> None:
        """What a rung keeps: from the right side of the falling band to a block beside its figure."""
        if area.width() <= 0:
            return
        left, right, middle, block = area.left(), area.right(), area.center().y(), self.length(6)
        path = QPainterPath(area.topLeft())
        path.lineTo(area.topRight())
        path.cubicTo(right, middle, right, middle - thick / 2, end - block, middle - thick / 2)
        path.lineTo(end - block, middle + thick / 2)
        path.cubicTo(left, middle + thick / 2, left, middle, left, area.top())
        painter.fillPath(path, mix(self.theme.surface, color, 0.45))
        painter.box(QRectF(end - block, middle - thick / 2, block, thick), color)


def _counted(value: float) -> str:
    """A count without decimals, unless a change has given it some."""
    return count(value) if float(value).is_integer() else number(value, 2)

"""A text as its tokens: one chip for each, wrapped over lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.kit.lines import InLines
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable
from lmviz.app.widgets.matrix.cells import Cells
from lmviz.app.widgets.text.chips import ROW, ChipLayout, draw_unknown, lay_out, shades_of


class TokenStrip(Pointable, InLines[ChipLayout]):
    """`TokenStrip()`: tokens as chips; give them as they should be read, whitespace made visible.

    `set_tokens(tokens, unknown=(), special=(), boundaries=(), quiet=(), tinted=False)` shows them;
    `set_shades(values, scale="share")` colours them by numbers;
    `set_current(index)`, `set_hovered(index)`, `set_selection(first, last)` mark them from outside.
    Signals: `token_double_clicked(int)`, `tokens_brushed(int, int)` (a stretch that was dragged over, both
    ends included).
    Left and Right move the mark as a click would; Home and End go to the ends.
    """

    token_double_clicked = Signal(int)
    tokens_brushed = Signal(int, int)
    least = (80, ROW)

    def __init__(self) -> None:
        super().__init__()
        self._tokens: tuple[str, ...] = ()
        self._unknown: frozenset[int] = frozenset()
        self._special: frozenset[int] = frozenset()
        self._quiet: frozenset[int] = frozenset()
        self._boundaries: frozenset[int] = frozenset()
        self._tinted = False
        self._shades: Cells | None = None
        self._colors: tuple[tuple[QColor, QColor], ...] = ()
        self._pressed = -1
        self._selection: tuple[int, int] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("tokens")

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens as they are shown."""
        return self._tokens

    def set_tokens(
        self,
        tokens: Sequence[str],
        *,
        unknown: Collection[int] = (),
        special: Collection[int] = (),
        boundaries: Collection[int] = (),
        quiet: Collection[int] = (),
        tinted: bool = False,
    ) -> None:
        """Show tokens; `unknown` holds the indices of unknown words, `boundaries` those of START and END, and
        `special` those of the special tokens of another program, which are black and round. `quiet` ones,
        which a template wrote, are hollow, and those beside them that somebody said are blue.

        `tinted` gives neighbours different quiet backgrounds. Shades and marks are taken away.
        """
        self._tokens = tuple(tokens)
        self._unknown, self._boundaries = frozenset(unknown), frozenset(boundaries)
        self._special, self._quiet, self._tinted = frozenset(special), frozenset(quiet), tinted
        self._shades, self._colors = None, ()
        self._selection = None
        self._hovered = self._pressed = -1
        self.show_count(len(tokens))
        self.lay_out_anew()

    def set_shades(self, values: Sequence[float] | np.ndarray, *, scale: str = "share") -> None:
        """Colour each chip by a number, (token,); empty for none. Not-a-number leaves a chip plain.

        The strongest colour is that of 1 for shares, and of the largest otherwise.
        """
        self._shades = Cells.of(np.asarray(values, dtype=np.float64)[None, :], scale)
        self._colors = shades_of(self._shades, self.theme)
        self.update()

    def set_hovered(self, index: int) -> None:
        """Show a token as hovered elsewhere, without a signal; −1 for none."""
        previous, self._hovered = self._hovered, index
        for changed in {previous, index} - {-1}:
            if changed < len(self._tokens):
                self.update(self.token_rectangle(changed).adjusted(-3, -3, 3, 3).toAlignedRect())

    def set_selection(self, first: int, last: int) -> None:
        """Mark a stretch, both ends included; (−1, −1) for none."""
        self._selection = None if first < 0 else (min(first, last), max(first, last))
        self.update()

    def token_rectangle(self, index: int) -> QRectF:
        """Where a token is drawn."""
        return self.laid_out().rectangles[index]

    def lay_out(self, width: int) -> ChipLayout:
        """Where the chips stand in lines of a width."""
        return lay_out(self._tokens, width, self.theme)

    def height_of(self, layout: ChipLayout) -> float:
        return layout.height

    def adopt_theme(self) -> None:
        if self._shades is not None:
            self._colors = shades_of(self._shades, self.theme)
        super().adopt_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def description(self) -> str:
        at, count = self._current, len(self._tokens)
        if at < 0:
            return f"{count} tokens"
        whose = ", written by the template" if at in self._quiet else ""
        return f"{self._tokens[at]}, {at + 1} of {count}{whose}"

    def _paints(self, shown: range) -> list[tuple[QColor, QColor]]:
        """The colours of chips and of the text on them."""
        theme = self.theme
        if self._colors:
            paints = list(self._colors[shown.start : shown.stop])
        elif self._tinted:
            tints = theme.tints
            paints = [(tints[index % len(tints)], theme.text) for index in shown]
        elif self._quiet:
            said = mix(theme.surface, theme.query, 0.13), theme.query
            quiet = theme.surface, theme.muted_text
            paints = [quiet if index in self._quiet else said for index in shown]
        else:
            paints = [(theme.chip, theme.text)] * len(shown)
        for marked, ink in ((self._boundaries, theme.muted_text), (self._unknown, theme.warning)):
            for index in marked.intersection(shown):
                paints[index - shown.start] = (paints[index - shown.start][0], ink)
        for index in self._special.intersection(shown):
            paints[index - shown.start] = (theme.text, theme.surface)
        return paints

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        layout = self.laid_out()
        shown = layout.between(event.rect().top(), event.rect().bottom())
        paints = self._paints(shown)
        self._draw_chips(painter, layout, shown, paints)
        self._draw_tokens(painter, layout, shown, paints)
        self._draw_marks(painter, layout)
        self.draw_focus(painter)

    def _draw_chips(
        self, painter: Painter, layout: ChipLayout, shown: range, paints: list[tuple[QColor, QColor]]
    ) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        last = None
        for index, (color, _) in zip(shown, paints, strict=True):
            if color is not last:
                painter.setBrush(color)
                last = color
            rectangle, radius = layout.rectangles[index], self._radius(index)
            painter.drawRoundedRect(rectangle, radius, radius)
        for index in (self._quiet - self._special).intersection(shown):
            painter.box(layout.rectangles[index], edge=self.theme.line, width=1, radius=4)
        if self._selection is not None:
            wash = QColor(self.theme.accent)
            wash.setAlphaF(0.22)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(wash)
            for index in range(max(self._selection[0], shown.start), min(self._selection[1] + 1, shown.stop)):
                painter.drawRoundedRect(layout.rectangles[index], self._radius(index), self._radius(index))

    def _radius(self, index: int) -> float:
        """How round a chip is."""
        return self.laid_out().rectangles[index].height() / 2 if index in self._special else self.length(4)

    def _draw_tokens(
        self, painter: Painter, layout: ChipLayout, shown: range, paints: list[tuple[QColor, QColor]]
    ) -> None:
        last = None
        painter.setFont(layout.font)
        corners, texts = layout.corners[shown.start : shown.stop], layout.texts[shown.start : shown.stop]
        for corner, text, (_, ink) in zip(corners, texts, paints, strict=True):
            if ink is not last:
                painter.setPen(ink)
                last = ink
            painter.drawStaticText(corner, text)
        for index in self._unknown.intersection(shown):
            draw_unknown(painter, layout.rectangles[index])

    def _draw_marks(self, painter: Painter, layout: ChipLayout) -> None:
        marks = ((self._hovered, self.theme.strong_line, 1.2), (self._current, self.theme.accent, 2.0))
        for index, color, width in marks:
            if 0 <= index < len(self._tokens):
                radius = max(5.0, self._radius(index) / self.theme.scale if index in self._special else 0.0)
                painter.box(layout.rectangles[index], edge=color, width=width, radius=radius)

    def index_at(self, place: QPointF) -> int:
        return self.laid_out().index_at(place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self._pressed >= 0 and self.hovered >= 0 and self.hovered != self._pressed:
            self.set_selection(self._pressed, self.hovered)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = self.index_at(event.position())
            self.set_selection(-1, -1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._selection is not None and self._pressed >= 0:
            self.tokens_brushed.emit(*self._selection)
        elif self._pressed >= 0 and self.index_at(event.position()) == self._pressed:
            self.clicked_on(self._pressed)
        self._pressed = -1

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if index >= 0:
            self.token_double_clicked.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._tokens) - 1
        targets: dict[int, int] = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        if event.key() in ACROSS:
            step = -ACROSS[event.key()] if self.laid_out().right_to_left else ACROSS[event.key()]
            targets[event.key()] = min(max(self._current + step, 0), last)
        if last >= 0 and event.key() in targets:
            self.set_current(targets[event.key()])
            self.clicked_on(self._current)
        else:
            super().keyPressEvent(event)

"""How the attention of a long text is shown: its colours, how much of it, and one row in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from lmviz.app.widgets.base.building import named, picker
from lmviz.app.widgets.plots.bars import BarsView

LONG = 100
"""Tokens from which on single weights are small and single cells are tiny."""

USUAL, BY_ROW, BY_MATRIX, LOGARITHMIC = "0 to 1", "by row", "by matrix", "logarithmic"
COLORS = {
    BY_ROW: "The largest of each row has the strongest colour.",
    BY_MATRIX: "The largest of the matrix has the strongest colour.",
    LOGARITHMIC: "Colours go by the logarithm, from a thousandth on.",
    USUAL: "1 has the strongest colour.",
}
FLOOR = 1e-3
ALL = "all tokens"
LAST = (32, 64, 128, 256)
SHOWN = 12  # of the row that is written in words


class LongText(QObject):
    """The controls of long texts, hidden with short ones, and the bars of a row.

    `changed` follows another choice.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.colors = picker(
            "attention_color_picker", "what the strongest colour means", list(COLORS), least=6
        )
        for at, sentence in enumerate(COLORS.values()):
            self.colors.setItemData(at, sentence, Qt.ItemDataRole.ToolTipRole)
        self.stretch = picker("attention_stretch_picker", "how much of the text", [ALL], least=6)
        self.bars = named(BarsView(), "attention_row_bars", "what the chosen word looks at")
        self._count = 0
        self._offered: tuple[int, ...] = ()  # how many of the last tokens can be chosen
        self._keys: tuple[int, ...] = ()
        self.controls = self.colors, self.stretch
        for control in self.controls:
            control.hide()
            control.activated.connect(lambda _: self.changed.emit())

    @property
    def is_long(self) -> bool:
        """Whether there are so many tokens that it matters."""
        return self._count >= LONG

    @property
    def last(self) -> int:
        """How many tokens at the end of the text are shown; 0 for all."""
        return self.stretch.currentData() or 0

    def take(self, count: int, scale: str) -> None:
        """So many tokens are drawn on a scale; shares alone can be coloured in several ways."""
        offered = tuple(last for last in LAST if last < count)
        if offered != self._offered:  # a token more mostly offers the same
            before, self._offered = self.last, offered
            self.stretch.clear()
            self.stretch.addItem(ALL, 0)
            for last in offered:
                self.stretch.addItem(f"last {last}", last)
            self.stretch.setCurrentIndex(max(0, self.stretch.findData(before)))
        self._count = count
        self.colors.setVisible(self.is_long and scale == "share")
        self.stretch.setVisible(self.is_long)

    def style(self, cells: np.ndarray, scale: str) -> dict[str, Any]:
        """How `HeatmapView.set_matrix` is to colour these cells."""
        if not self.is_long or scale != "share":
            return {}
        chosen = self.colors.currentText()
        if chosen == BY_MATRIX:
            finite = cells[np.isfinite(cells)]
            return {"limit": float(finite.max(initial=0.0)) or 1.0}
        styles: dict[str, dict[str, Any]] = {BY_ROW: {"by_row": True}, LOGARITHMIC: {"floor": FLOOR}}
        return styles.get(chosen, {})

    def show_row(self, weights: np.ndarray, names: tuple[str, ...]) -> None:
        """Write a row in words, the largest weights (key,) first; nothing of a short text."""
        finite = np.flatnonzero(np.isfinite(weights)) if self.is_long else np.zeros(0, dtype=int)
        strongest = finite[np.argsort(-weights[finite], kind="stable")][:SHOWN]
        self._keys = tuple(strongest.tolist())
        self.bars.set_bars([names[key] for key in self._keys], weights[strongest])

    def key_of(self, bar: int) -> int:
        """The position that a bar is of."""
        return self._keys[bar]

"""Chooses between the sources of pairs and their targets, for what counts words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.widgets.base.steady import ComboBox

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus, Side


class SidePicker(ComboBox):
    """`SidePicker(name)`: `side` is the chosen one; it is out of sight where a text has only one."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName("side of the pairs")
        self.setToolTip("Count in the sources of the pairs, or in their targets.")
        self.hide()

    @property
    def side(self) -> Side:
        """The side that is counted."""
        return "target" if self.currentData() == "target" else "source"

    def offer(self, corpus: Corpus) -> None:
        """Offer the sides of a text; the chosen one stays where there is one."""
        set_choices(self, {side: f"{side}s" for side in corpus.sides})
        self.setVisible(len(corpus.sides) > 1)

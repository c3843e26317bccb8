"""Every head of a deep model on one screen, sorted by how much it looks where heads with a name look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.steady import ComboBox
from lmviz.app.widgets.matrix.head_wall import HeadWall
from lmviz.inspection.attention import attention_layers, thumbnails
from lmviz.inspection.head_badges import FIRST, INDUCTION, PREVIOUS, head_badges

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.session import Session
    from lmviz.inspection.head_badges import HeadBadge

FEW = 144
"""Heads that the panel at the left shows at once: those of GPT-2."""

KINDS = {"previous word": PREVIOUS, "first word": FIRST, "what followed it": INDUCTION}
"""The kinds of heads in words, as one sorts by them."""

SIGNS = {PREVIOUS: ("←", "query"), INDUCTION: ("i", "key")}
"""What is drawn of a badge; heads that rest on the first word are pale but for one column, and say it so."""

BY_LAYER = "by layer"
NO_TEXT = "Type a text above to see every head."
NOTHING = np.zeros((0, 0, 1, 1), dtype=np.float32)


class EveryHeadPanel(Panel):
    """A click shows a head large; the list sorts them."""

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("every_head_view")
        self._wall = HeadWall()
        self._wall.set_readout(self._read_out)
        self._badges: tuple[tuple[HeadBadge, ...], ...] = ()
        self._sort = ComboBox()
        self._sort.setObjectName("sort_heads_picker")
        self._sort.setAccessibleName("the order of heads")
        self._sort.addItems([BY_LAYER, *KINDS])
        self._card = Card("Every head", self._sort, scrolling(self._wall))
        self.column.addWidget(self._card)
        self._wall.head_clicked.connect(self._choose)
        self._sort.currentTextChanged.connect(self._order)
        session.attention.head_changed.connect(self._mark)
        self.follow(session.reading.changed, session.library.model_changed)

    @property
    def wall(self) -> HeadWall:
        """The heads."""
        return self._wall

    def scores(self, kind: str) -> np.ndarray:
        """How much each head (layer, head) looks where heads of a kind do; NaN where the text cannot tell."""
        return np.array(
            [
                [np.nan if (score := head.scores[kind]) is None else score for head in layer]
                for layer in self._badges
            ]
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {name.replace(" ", "_"): self.scores(kind) for name, kind in KINDS.items() if self._badges}

    def recipe(self) -> str:
        from lmviz.inspection.recipes.recipe import badges_recipe

        reading = self.session.reading.current
        return badges_recipe(reading.moment) if reading is not None and self._badges else ""

    def out_of_place(self, model: OpenedModel) -> str:
        configuration = model.description.configuration
        count = int(configuration.get("layers") or 0) * int(configuration.get("heads") or 0)
        if count > FEW and not model.reads_source:
            return ""
        return f"{model.name} has few enough heads for the panel at the left, or none: see All heads there."

    def refresh(self) -> None:
        reading = self.session.reading.current
        self.silence("every head")
        if reading is None or not attention_layers(reading.trace):
            self._badges = ()
            self._wall.set_heads(NOTHING, {})
            self._card.set_placeholder(NO_TEXT)
            return
        trace = reading.trace
        self.ask_about(
            reading, "every head", lambda model: (thumbnails(trace), head_badges(trace)), self._show_heads
        )

    def _show_heads(self, found: tuple[np.ndarray, tuple[tuple[HeadBadge, ...], ...]]) -> None:
        small, self._badges = found
        signs = {
            (head.layer, head.head): next(SIGNS[kind] for kind in head.badges if kind in SIGNS)
            for layer in self._badges
            for head in layer
            if SIGNS.keys() & set(head.badges)
        }
        layers, heads = small.shape[:2]
        self._card.set_placeholder("")
        self._card.set_title(f"All {layers * heads} heads")
        self._wall.set_heads(small, signs)
        self._order()
        self._mark()

    def _order(self) -> None:
        kind = KINDS.get(self._sort.currentText())
        self._wall.sort_by(self.scores(kind) if kind is not None and self._badges else None)

    def _mark(self) -> None:
        self._wall.set_current(*self.session.attention.head)

    def _choose(self, layer: int, head: int) -> None:
        self.session.attention.choose_heads(())
        self.session.attention.choose_head(layer, head)

    def _read_out(self, layer: int, head: int) -> tuple[str, list[str]]:
        """A head's name, its scores, and how many have a higher one."""
        lines = []
        for name, kind in KINDS.items():
            scores = self.scores(kind)
            own = scores[layer, head]
            if not np.isnan(own):
                rank = 1 + int((scores > own).sum())
                lines.append(f"{name}: {percentage(float(own))}, rank {rank} of {scores.size}")
        return f"layer {layer + 1}, head {head + 1}", lines

"""The next-word distribution at the chosen position, before and after surgery."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.plots.bars import ROW, BarsView
from lmviz.decoding.distribution import Distribution, next_distribution
from lmviz.decoding.glance import Glance, glance
from lmviz.errors import LmvizError
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from lmviz.app.session.reading import Reading
    from lmviz.app.session.session import Session

FEWEST, MOST = 3, 40


class NextWordPanel(Panel):
    """The likeliest next tokens; a click on one appends it to the prefix.

    With interventions in force the marks say where each bar was without them.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("next_word_view")
        self._bars = BarsView()
        self._bars.setAccessibleName("next-word distribution")
        self._card = Card("Next word", "", self._bars)
        self._shown: Glance | None = None
        self._whole: Distribution | None = None  # computed when first needed
        self._reading: Reading | None = None
        self._text = ""
        self._drawn_for: tuple[object, ...] = ()
        self.column.addWidget(self._card)
        self._bars.bar_clicked.connect(self._append)
        self.follow(session.reading.changed, session.focus.position_changed)
        session.focus.hovered_position_changed.connect(self.refresh_late)

    @property
    def distribution(self) -> Distribution | None:
        """What is drawn, whole."""
        if self._whole is None and self._shown is not None and self._reading is not None:
            self._whole = next_distribution(self._shown.logits, tokens=self._reading.model.tokenizer.tokens())
        return self._whole

    def exported_arrays(self) -> dict[str, np.ndarray]:
        distribution = self.distribution
        return {} if distribution is None else {"probabilities": distribution.probabilities}

    def recipe(self) -> str:
        from lmviz.inspection.recipes.decoding import distribution_recipe

        if self._reading is None:
            return ""
        return distribution_recipe(replace(self._reading.moment, text=self._text), {})

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None:
            self._show_nothing("Type a prefix" if self.session.library.model else "Open or train a model")
            return
        position = self.session.reading.position
        wanted = (reading, position, self._bars.height(), self._bars.length(ROW))
        if wanted == self._drawn_for:
            return  # a keystroke moves the position before there is anything new to draw
        before = None
        try:
            shown = glance(reading.trace["logits"].at(position=position), self._room)
            if reading.baseline is not None:
                before = glance(reading.baseline["logits"].at(position=position), 1)
        except LmvizError as sentence:
            self._show_nothing(str(sentence))
            return
        _, end = reading.trace.offsets[position]
        self._reading, self._text = reading, reading.trace.text[:end]
        self._show(reading.model.tokenizer.tokens(), shown, before)
        self._drawn_for = wanted
        self._card.set_title(_title(reading.trace.tokens, position))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh_soon()

    @property
    def _room(self) -> int:
        """How many bars there is room for."""
        return max(FEWEST, min(int(self._bars.height() / self._bars.length(ROW)), MOST))

    def _show(self, tokens: Sequence[str], shown: Glance, before: Glance | None) -> None:
        ids = shown.ids.tolist()
        self._shown, self._whole = shown, None
        self._bars.set_bars(
            [visible(tokens[id]) for id in ids],
            shown.probabilities.tolist(),
            before=[before.probability_of(id) for id in ids] if before else None,
        )
        aside = f"entropy {shown.entropy:.1f} bits"
        self._card.set_aside(f"before → after · {aside}" if before else aside)

    def _show_nothing(self, sentence: str) -> None:
        self._shown = self._whole = self._reading = None
        self._drawn_for = ()
        self._bars.set_bars([], [])
        self._card.set_title("Next word")
        self._card.set_aside(sentence)

    def _append(self, index: int) -> None:
        """Write the clicked token at the end of what the distribution was predicted from."""
        if self._reading is None or self._shown is None:
            return
        tokenizer, chosen = self._reading.model.tokenizer, int(self._shown.ids[index])
        self.session.reading.set_prefix(tokenizer.continue_text(self._text, chosen))
        self.session.focus.follow_end()


def _title(tokens: tuple[str, ...], position: int) -> str:
    return "Next word" if position == len(tokens) - 1 else f"After “{visible(tokens[position])}”"

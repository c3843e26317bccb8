"""The next-word distribution at the chosen position, before and after surgery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtGui import QResizeEvent

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, reach_by_tab, stack
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.base.errors import LmvizError
from lmviz.decoding.distribution import Distribution, next_distribution
from lmviz.decoding.glance import Glance, glance
from lmviz.inspection.recipes.recipe import array_recipe
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import answer_at, is_answer_known
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:  # what is only needed where something is changed
    from lmviz.app.widgets.plots.before_after_bars import BeforeAfterBars
    from lmviz.decoding.shift import Shift

KEY = Key("next word")

FEWEST, MOST = 3, 40
NO_MODEL = "Open or train a model to see what could come next."
NO_TEXT = "Type a text above to see what could come next."
NO_LABELLED = "Type a text above to see what labels it could have."


class NextWordPanel(Panel):
    """The likeliest next tokens; a click on one appends it to the prefix.

    With interventions in force the words that these moved most: the one that lost most first, each with a
    ghost of the bar that it had without them.
    """

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._bars = named(BarsView(), description="distribution of what comes next")
        self._pages = stack(self._bars)
        self._card = self.add_card("Next word", "", self._pages)
        self._ids: list[int] = []
        self._logits: np.ndarray | None = None
        self._whole: Distribution | None = None  # computed when first needed
        self._reading: Reading | None = None
        self._text = ""
        self._found: tuple[object, Glance | Shift | str] | None = None  # what was asked last, and its answer
        self._drawn_for: tuple[object, ...] = ()
        self._bars.part_clicked.connect(self._append)
        session.reading.changed.connect(self._ask_ahead)
        self.follow(session.reading.changed, session.focus.position_changed)
        session.focus.hovered_position_changed.connect(self.refresh_late)

    @cached_property
    def _shifts(self) -> BeforeAfterBars:
        from lmviz.app.widgets.plots.before_after_bars import BeforeAfterBars

        shifts = named(BeforeAfterBars(), "before_after")
        self._pages.addWidget(shifts)
        reach_by_tab(self._bars, shifts)
        shifts.part_clicked.connect(self._append)
        return shifts

    def make_all(self) -> None:
        """Make the bars of a change, which else are made for the first one: for a list of all controls."""
        self._shifts  # noqa: B018

    @property
    def distribution(self) -> Distribution | None:
        """What is drawn, whole."""
        if self._whole is None and self._logits is not None and self._reading is not None:
            self._whole = next_distribution(self._logits, tokens=self._reading.answers)
        return self._whole

    def page_results(self) -> Sequence[Any]:
        from lmviz.pages.reading import PartOfTrace

        reading = self.session.reading.current
        if reading is None or self._logits is None:
            return ()
        return (PartOfTrace(reading.trace, "what follows"),)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        distribution = self.distribution
        return {} if distribution is None else {"probabilities": distribution.probabilities}

    def exported_names(self) -> Names:
        return Names(self.distribution.tokens if self.distribution is not None else ())

    def recipe(self) -> str:
        from lmviz.inspection.recipes.decoding import distribution_recipe

        if self._reading is None:
            return ""
        if not self._reading.trace.predicts.continues:
            return array_recipe(self._reading.moment, "probabilities")
        return distribution_recipe(replace(self._reading.moment, text=self._text), {})

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None:
            self._show_nothing(self._invitation())
            return
        position = self.session.reading.position
        wanted = (reading, position, self._pages.size().toTuple(), self._room)
        if wanted == self._drawn_for:
            return  # a keystroke moves the position before there is anything new to draw
        seen = self._seen(reading, position)
        if seen is None:
            return
        if isinstance(seen, str):
            self._show_nothing(seen)
            return
        if isinstance(seen, Glance):
            stepped = self.session.reading.has_stepped and reading is not self._reading
            self._show(reading.answers, seen, stepped=stepped)
        else:
            self._show_shift(reading.answers, seen)
        _, end = reading.trace.offsets[position]
        self._reading, self._text = reading, reading.trace.text[:end]
        self._logits, self._whole = answer_at(reading.trace, position, "logits"), None
        self._drawn_for = wanted
        # A reading that was stored is one of words; its tokenizer is not loaded before the first paint.
        noun = self.session.reading.noun
        self._card.set_title(_title(reading, position, noun))
        if self._card.placeholder:
            self._card.set_placeholder("")
            self.refresh_soon()  # once the bars have their place

    def _ask_ahead(self) -> None:
        """Have the row computed at once, while the other panels draw."""
        reading = self.session.reading.current
        if reading is not None and self.is_in_sight:
            self._seen(reading, self.session.reading.position)

    def _seen(self, reading: Reading, position: int) -> Glance | Shift | str | None:
        """What is drawn of a position, or why it cannot be; None while the reading thread looks for it.

        A row of a large vocabulary takes milliseconds, in which the pointer would stand still: to compute it,
        and to find the likeliest in it.
        """
        traces = [trace for trace in (reading.trace, reading.baseline) if trace is not None]
        room = self._room if len(traces) == 1 else self._room_for_shifts

        def look(traces: Sequence[Trace]) -> Glance | Shift | str:
            return _seen_in([answer_at(trace, position, "logits") for trace in traces], room)

        question = Question(KEY, traces, look, about=(position, room))
        if self._found is not None and self._found[0] == question:
            return self._found[1]
        if all(is_answer_known(trace, position, "logits") for trace in traces):
            self._found = question, look(traces)
            return self._found[1]

        def take(seen: Glance | Shift | str) -> None:
            self._found = question, seen
            self.refresh_soon()

        self.ask_once(question, take)
        return None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh_soon()

    @property
    def _room(self) -> int:
        """How many bars there is room for."""
        return max(FEWEST, min(self._bars.rows_in(self._pages.size()), MOST))

    @property
    def _room_for_shifts(self) -> int:
        """How many pairs of bars there is room for."""
        return max(FEWEST, min(self._shifts.rows_in(self._pages.size()), MOST))

    def _show(self, tokens: Sequence[str], shown: Glance, *, stepped: bool) -> None:
        self._ids = shown.ids.tolist()
        labels = [visible(tokens[id]) for id in self._ids]
        self._bars.set_bars(labels, shown.probabilities.tolist(), crossfade=stepped)
        self._pages.setCurrentWidget(self._bars)
        self._card.set_aside(f"entropy {shown.entropy:.1f} bits")

    def _show_shift(self, tokens: Sequence[str], shift: Shift) -> None:
        self._ids = shift.ids.tolist()
        labels = [visible(tokens[id]) for id in self._ids]
        self._shifts.set_words(labels, shift.before, shift.after, lost=shift.lost)
        self._pages.setCurrentWidget(self._shifts)
        entropies = f"{shift.entropy_before:.1f} → {shift.entropy_after:.1f} bits"
        self._card.set_aside(f"before → after · entropy {entropies}")

    def _invitation(self) -> str:
        """What to do to see something here."""
        model = self.session.library.model
        if model is None:
            return NO_MODEL
        return NO_TEXT if model.predicts.continues else NO_LABELLED

    def _show_nothing(self, sentence: str) -> None:
        self._whole = self._reading = self._logits = self._found = None
        self._ids = []
        self._drawn_for = ()
        self._bars.set_bars([], [])
        self._pages.setCurrentWidget(self._bars)
        self._card.set_title("Next word")
        self._card.set_aside("")
        self._card.set_placeholder(sentence)

    def _append(self, index: int) -> None:
        """Write the clicked token at the end of what the distribution was predicted from."""
        if self._reading is None or not self._reading.trace.predicts.continues:
            return
        tokenizer, chosen = self._reading.model.tokenizer, self._ids[index]
        self.session.reading.set_prefix(tokenizer.continue_text(self._text, chosen))
        self.session.focus.follow_end()


def _seen_in(rows: Sequence[np.ndarray], room: int) -> Glance | Shift | str:
    """The likeliest of a row of logits, (token,), or those that moved most since the second; as many as there
    is room for. The sentence that says why, where the logits cannot be normalised."""
    try:
        if len(rows) == 1:
            return glance(rows[0], room)
        from lmviz.decoding.shift import largest_shifts

        after, before = rows
        return largest_shifts(before, after, room)
    except LmvizError as sentence:
        return str(sentence)


def _title(reading: Reading, position: int, noun: str) -> str:
    tokens, predicts = reading.trace.tokens, reading.trace.predicts
    if not predicts.continues:
        return "Label of the text" if predicts.per == "text" else f"Label of “{visible(tokens[position])}”"
    return f"Next {noun}" if position == len(tokens) - 1 else f"After “{visible(tokens[position])}”"

"""The results of greedy decoding, sampling and beam search on the same prefix, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme, give_font, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import in_words
from lmviz.app.widgets.base.building import STRETCH, column, named, sheet
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.decoding.continuations import Continuations
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.outcome import Outcome, outcome
from lmviz.decoding.sampling import choose
from lmviz.inspection.recipes.decoding import outcomes_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject

if TYPE_CHECKING:
    from lmviz.models.model import Model

GREEDY = Key("greedy")

FIGURES = "ln p · normalised · perplexity"
HINTS = {
    "greedy": "always the likeliest token",
    "sampling": "roll the die",
    "beam search": "run the search",
}
"""The ways of decoding, and what stands beside each before it has made a text."""
OUTCOME = Key("outcome of ")  # begins the keys under which the figures of a way are asked for
PAUSE = 150  # milliseconds without a change before the greedy text is written


class SideBySidePanel(Panel):
    """Three texts with their log-probability under the model, its length normalisation, and perplexity."""

    needs_next_word = "Open a language model to see it write with several settings side by side."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._rows = {way: _Row(way) for way in HINTS}
        self._latest: dict[str, Outcome] = {}
        self.outcomes: dict[str, Outcome] = {}  # all of one text and one model
        """What is shown, by the way of decoding."""
        self._shown_at: tuple[RecipeSubject, float, str] | None = None  # that moment, and the length penalty
        self._greedy: tuple[int, ...] = ()
        self._greedy_of: object = None
        self._is_greedy_done = False
        self._read = Continuations()
        page = sheet(column(*self._rows.values(), STRETCH))
        self._card = self.add_card("Side by side", FIGURES, scrolling(page))
        self._wait = QTimer(self, singleShot=True, interval=PAUSE)
        self._wait.timeout.connect(self._write_greedily)
        self._show_rows()
        session.library.model_closed.connect(self._forget_what_is_read)
        self.follow(
            session.writing.branches_changed,
            session.beam.changed,
            session.reading.encoding_changed,
            session.surgery.changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """For each way its ids (token,), and (ln p, normalised, perplexity)."""
        arrays = {}
        for way, found in self.outcomes.items():
            arrays[f"{way}/ids"] = np.array(found.chosen, dtype=np.int64)
            arrays[f"{way}/figures"] = np.array([found.log_probability, found.score, found.perplexity])
        return arrays

    def recipe(self) -> str:
        if not self.outcomes or self._shown_at is None:
            return ""
        chosen = {way: item.chosen for way, item in self.outcomes.items()}
        moment, penalty, formula = self._shown_at
        return outcomes_recipe(moment, chosen, penalty, formula)

    def refresh(self) -> None:
        session, moment = self.session, self._moment
        if moment != self._greedy_of:
            self._greedy_of, self._greedy, self._is_greedy_done = moment, (), False
            self.silence(GREEDY)
            if not session.writing.can_write:
                self._forget("greedy")
        if session.writing.can_write and not self._is_greedy_done:
            self._wait.start()
        chosen = session.writing.branches.chosen()
        self._score("sampling", chosen)
        beam = session.beam.tree
        ids = tuple(node.id for node in beam.path(beam.best)) if beam is not None else ()
        self._score("beam search", ids)
        if self._is_greedy_done:
            self._score("greedy", self._greedy)
        if not (self._is_scoring and self.outcomes):  # all three are of one text and one model
            self._show_rows()

    @property
    def is_behind(self) -> bool:
        return self._is_scoring or super().is_behind

    @property
    def _is_scoring(self) -> bool:
        """Whether one of the three is still being found."""
        is_written = self._is_greedy_done or not self.session.writing.can_write
        return not is_written or any(self.session.work.is_busy(OUTCOME.of(way)) for way in self._rows)

    def _show_rows(self) -> None:
        session = self.session
        self.outcomes = dict(self._latest) if session.library.model is not None else {}
        options = session.beam.options
        self._shown_at = None
        if self.outcomes:
            moment = session.reading.moment_of(session.reading.prefix)
            self._shown_at = moment, options.length_penalty, options.length_formula
        for way, row in self._rows.items():
            row.show_outcome(self.outcomes.get(way), HINTS[way])
        changes = in_words(session.surgery.in_force) if self.outcomes else ""
        self._card.set_aside(f"{changes} · {FIGURES}" if changes else FIGURES)

    @property
    def _moment(self) -> object:
        """What greedy decoding starts from."""
        session = self.session
        return session.comparison.shown, session.reading.prefix, session.beam.options.length

    def _write_greedily(self) -> None:
        """One token at a time, so that other requests to the reading thread need not wait."""
        session, moment, written = self.session, self._greedy_of, self._greedy
        if self._is_greedy_done:
            return  # the pause began before the last token came
        if not self.is_in_sight:
            self.refresh_soon()  # it goes on when it is shown again
            return
        shown = session.comparison.shown
        if shown is None or not session.writing.can_write or moment != self._moment:
            return  # the text so far has another model's tokens, and is restarted soon
        read, prefix, stops = self._read, session.reading.prefix, session.writing.sampling.stop_at_end

        def work(model: Model) -> tuple[int, bool]:
            step = choose(read.after(model, prefix, written), SamplingOptions())
            return step.id, step.is_end and stops

        def take(found: tuple[int, bool]) -> None:
            if moment != self._greedy_of:
                return
            id, is_end = found
            self._greedy = (*written, id)
            self._is_greedy_done = is_end or len(self._greedy) >= session.beam.options.length
            if self._is_greedy_done:
                self.refresh_soon()
            else:
                self._write_greedily()

        self.ask(Question(GREEDY, shown, work), take)

    def _score(self, way: str, chosen: tuple[int, ...]) -> None:
        session, shown = self.session, self.session.comparison.shown
        if not chosen or shown is None or not session.writing.can_write:
            self._forget(way)
            return
        prefix, options = session.reading.prefix, session.beam.options
        penalty, formula = options.length_penalty, options.length_formula

        def work(model: Model) -> Outcome:
            return outcome(model, prefix, chosen, penalty, formula)

        def take(found: Outcome) -> None:
            self._latest[way] = found
            self.refresh_soon()

        self.ask_once(Question(OUTCOME.of(way), shown, work, about=(prefix, chosen, penalty, formula)), take)

    def handle_failure(self, key: str) -> None:
        if key.startswith(OUTCOME):
            self._latest.pop(key.removeprefix(OUTCOME), None)  # it is asked again with the next change
            self._show_rows()

    def _forget_what_is_read(self) -> None:
        """A model was closed, which that may keep."""
        self._read = Continuations()

    def _forget(self, way: str) -> None:
        self._latest.pop(way, None)
        self.silence(OUTCOME.of(way))


class _Row(QWidget):
    """One way's name and figures, and its text below."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self._way = way
        self._head = Label(role="muted", wraps=True)
        self._text = named(Label(wraps=True), description=f"text by {way}")
        column(self._head, self._text, on=self, gap=2, margins=(0, 0, 0, 6))
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    def show_outcome(self, outcome: Outcome | None, hint: str) -> None:
        """Show a text with its figures, or what to do to get one."""
        if outcome is None:
            self._head.setText(f"{self._way} · {hint}")
            self._text.hide()
            return
        scores = f"{number(outcome.log_probability, 2)} · {number(outcome.score, 2)}"
        length = "1 token" if len(outcome.chosen) == 1 else f"{len(outcome.chosen)} tokens"
        perplexity = outcome.perplexity
        assert perplexity is not None, "only texts with at least one token are scored"
        self._head.setText(f"{self._way} · {length} · {scores} · {number(perplexity, 1)}")
        self._text.setText(outcome.text.strip(" "))
        self._text.show()

    def _adopt_theme(self) -> None:
        give_font(self._text, current_theme().token_font(12.5))

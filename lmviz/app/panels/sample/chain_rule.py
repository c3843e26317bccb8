"""The chain rule as a strip: each word under its probability given all before it, and their product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import in_words
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.text.product_strip import ProductStrip
from lmviz.decoding.likelihood import Likelihood, text_log_probabilities
from lmviz.inspection.recipes.decoding import likelihood_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject
from lmviz.looks.names import Names
from lmviz.models.prefix import read_prefix
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("chain rule")

FORMULA = "p(w₁ … wₙ) = ∏ p(wₜ | w₁ … wₜ₋₁)"
SHORTENED = "p(w₁ … wₙ) = ∏ p(wₜ | {known}): what is struck out, it cannot see"
LOSSES = "ℓ = 1/n · Σ −ln p(wₜ | w₁ … wₜ₋₁), wₙ = END"
NO_MODEL = "Open or train a model to multiply the probabilities of words."
NO_TEXT = "Type a text above: the probabilities of its words are multiplied here."
NO_PROBABILITY = "a first word has no probability"
LOSSES_TIP = "What each token and the END after them cost, in nats, as in training, and the mean of that."
SUM_WIDTH = 150  # pixels at scale 1 for the product's figures


class ChainRulePanel(Panel):
    """The prefix and what was written after it; the bar above a word is how much it surprised, in bits.

    Of a model that sees only the last few words, the words are struck out that make no difference to the
    word that is pointed at or pinned, or else to the newest. As a training sentence, the text has END after
    it, and each word its loss, with their mean.
    """

    needs_next_word = "Open a language model to multiply the probabilities of its words."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._strip = named(ProductStrip(), "chain_rule_strip", "the text, each token under its probability")
        self._strip.set_readout(self._explain)
        self._bits, self._product = Label(), Label(role="muted")
        self.likelihood: Likelihood | None = None  # what is drawn
        self._moment: RecipeSubject | None = None
        self._button = QuietButton("losses_with_end_button", "losses with END", "link")
        self._button.setAccessibleDescription(LOSSES_TIP)
        self._button.setToolTip(paragraph(LOSSES_TIP))
        self._button.setCheckable(True)
        self._button.toggled.connect(self.refresh)
        self._has_losses = False  # whether what is drawn are losses
        self._card = self.add_card("Chain rule", "", self._lay_out())
        self._card.set_control(self._button)
        self._strip.part_clicked.connect(self._choose)
        self._strip.part_hovered.connect(self._hover)
        session.focus.position_changed.connect(self._mark)
        session.focus.hovered_position_changed.connect(self._mark)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self.follow(
            session.writing.branches_changed,
            session.reading.encoding_changed,
            session.surgery.changed,
            session.work.ready_changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The figures of every word (token,), by their names; NaN where there is none."""
        tokens = self.likelihood.tokens if self.likelihood is not None else ()
        if not tokens:
            return {}
        return {
            "p": _array([token.probability for token in tokens]),
            "loss": _array([token.loss for token in tokens]),
            "bits": _array([token.surprisal for token in tokens]),
            "rank": _array([token.rank for token in tokens]),
            "product": _array([token.product if token.count else None for token in tokens]),
            "perplexity": _array([token.perplexity for token in tokens]),
        }

    def exported_names(self) -> Names:
        return Names([token.token for token in self.likelihood.tokens] if self.likelihood is not None else ())

    def recipe(self) -> str:
        return "" if self._moment is None else likelihood_recipe(self._moment, ends=self._has_losses)

    def refresh(self) -> None:
        session = self.session
        shown = session.comparison.shown
        self._button.setVisible(shown is not None and session.writing.can_write and _has_end(session))
        if shown is None or not session.writing.can_write:
            self.silence(KEY)
            self._show(None, None)
            return
        prefix, chosen = session.writing.branches.prefix, session.writing.branches.chosen()
        moment = session.reading.moment_of(session.writing.branches.node.text)
        ends = self._button.isChecked() and _has_end(session)

        def work(model: Model) -> Likelihood:
            ids = np.concatenate([read_prefix(model, prefix).ids, np.array(chosen, dtype=np.int64)])
            return text_log_probabilities(model, ids, ends=ends)

        self.ask_once(
            Question(KEY, shown, work, about=(prefix, chosen, ends)),
            lambda likelihood: self._show(likelihood, moment, ends),
        )

    def _lay_out(self) -> QWidget:
        figures = column(STRETCH, self._bits, self._product, gap=2)
        return sheet(row(figures, (self._strip, 1), gap=12))

    def _adopt_theme(self) -> None:
        for label in (self._bits, self._product):
            label.setFixedWidth(round(SUM_WIDTH * current_theme().scale))

    def _show(self, likelihood: Likelihood | None, moment: RecipeSubject | None, ends: bool = False) -> None:
        self.likelihood, self._moment, self._has_losses = likelihood, moment, ends
        tokens = likelihood.tokens if likelihood is not None else ()
        of_units = self.of_units
        missing = of_units(NO_TEXT if self.session.library.model else NO_MODEL)
        self._card.set_placeholder("" if tokens else missing)
        words = [visible(token.token) for token in tokens]
        if likelihood is not None and ends:
            mean = likelihood.mean_loss
            self._strip.set_sum(
                words, _array([token.loss for token in tokens]), np.nan if mean is None else mean
            )
        else:
            self._strip.set_product(
                words,
                _array([token.probability for token in tokens]),
                _array([token.surprisal for token in tokens]),
            )
        self._strip.set_new(len(self.session.writing.branches.path()) + ends)
        if likelihood is None or moment is None or likelihood.perplexity is None:
            self._card.set_aside(of_units(NO_PROBABILITY) if tokens else "")
            self._bits.setText("")
            self._product.setText("")
        else:
            whose = "of the words as read" if likelihood.differs else ""
            formula = LOSSES if ends else of_units(_formula(likelihood.sight))
            parts = (in_words(moment.interventions), of_units(whose), formula)
            self._card.set_aside(" · ".join(part for part in parts if part))
            perplexity = f"perplexity {number(likelihood.perplexity, 1)}"
            assert likelihood.mean_loss is not None, "a text with a perplexity has a mean loss"
            if ends:
                self._bits.setText(f"ℓ = {number(likelihood.mean_loss, 2)} nats")
                total = number(-likelihood.log_probability, 2)
                self._product.setText(f"{total} ÷ {count(tokens[-1].count)}\n{perplexity}")
            else:
                self._bits.setText(f"{likelihood.bits:.1f} bits")
                self._product.setText(f"p = {percentage(tokens[-1].product)}\n{perplexity}")
        self._mark()

    def _explain(self, row: int) -> tuple[str, Sequence[str]]:
        """What the card beside a word says."""
        assert self.likelihood is not None, "only words that are shown can be pointed at"
        token = self.likelihood.tokens[row]
        if token.probability is None:
            return visible(token.token), (self.of_units(NO_PROBABILITY),)
        assert token.surprisal is not None, "a word with a probability has a surprisal"
        assert token.loss is not None, "and a loss"
        assert token.rank is not None, "and a rank"
        assert token.perplexity is not None, "and a perplexity"
        return visible(token.token), (
            f"p = {percentage(token.probability)}, rank {count(token.rank)}",
            f"−log₂ p = {token.surprisal:.1f} bits",
            f"ℓ = −ln p = {number(token.loss, 2)} nats",
            f"product so far {percentage(token.product)}",
            f"perplexity so far {number(token.perplexity, 1)}",
            *self._known(row),
        )

    def _known(self, row: int) -> tuple[str, ...]:
        """What a word's probability depends on, where it is not all of what stands before it."""
        assert self.likelihood is not None, "only words that are shown can be pointed at"
        forgotten = self.likelihood.forgotten(row)
        if not forgotten:
            return ()
        known = " ".join(visible(token.token) for token in self.likelihood.tokens[len(forgotten) : row])
        words = "1 word" if len(forgotten) == 1 else f"{count(len(forgotten))} words"
        words = self.of_units(words)
        return (f"given “{known}” alone; {words} before it forgotten" if known else "given nothing",)

    def _row_of(self, position: int) -> int:
        """The row of a position of the session, which counts from the first token the model can see."""
        if self.likelihood is None:
            return -1
        wanted = position + self.session.reading.dropped
        return next((row for row, token in enumerate(self.likelihood.tokens) if token.position == wanted), -1)

    def _position_of(self, row: int) -> int | None:
        """The session's position of a row; None for what was written after the prefix."""
        if self.likelihood is None or not 0 <= row < len(self.likelihood.tokens):
            return None
        position = self.likelihood.tokens[row].position - self.session.reading.dropped
        return position if 0 <= position < len(self.session.reading.encoding or ()) else None

    def _choose(self, row: int) -> None:
        position = self._position_of(row)
        if position is not None:
            self.session.focus.choose_position(position)

    def _hover(self, row: int) -> None:
        self.session.focus.hover_position(self._position_of(row))

    def _mark(self) -> None:
        session = self.session
        pinned = self._row_of(session.focus.position) if session.focus.is_position_pinned else -1
        hovered = session.focus.hovered_position
        self._strip.set_current(pinned)
        pointed = -1 if hovered is None else self._row_of(hovered)
        self._strip.set_hovered(pointed)
        tokens = self.likelihood.tokens if self.likelihood is not None else ()
        asked = next((row for row in (pointed, pinned, len(tokens) - 1) if row >= 0), -1)
        self._strip.set_forgotten(self.likelihood.forgotten(asked) if self.likelihood and tokens else ())

    def handle_failure(self, key: str) -> None:
        self._show(None, None)


def _has_end(session: Session) -> bool:
    """Whether a text ends for the shown model; not before work can be done, which loads tokenizers."""
    model = session.library.model
    return session.work.is_ready and model is not None and model.tokenizer.end_id is not None


def _formula(sight: int | None) -> str:
    """The chain rule, with as much of the text as the model sees."""
    if sight is None:
        return FORMULA
    last = "wₜ₋₁" if sight == 1 else f"{sight} words before it"
    return SHORTENED.format(known="nothing" if sight == 0 else last)


def _array(values: list[float | None]) -> np.ndarray:
    """(row,) float64, not-a-number where there is nothing."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

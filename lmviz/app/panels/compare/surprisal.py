"""Each model's surprisal at each word of the prefix, and where their predictions differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.compare.colors import color_of
from lmviz.app.panels.compare.expectation import UnitsCache
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel, names_of_compared, turns_of
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import row
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot, WordCurve
from lmviz.base.errors import LmvizError
from lmviz.decoding.comparison import Disagreement, disagreement_of, shares_after, surprisal_over
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.inspection.recipes.decoding import comparison_recipe, likelihood_recipe
from lmviz.looks.names import Names
from lmviz.text.tokenizer import START, Encoding, visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("surprisal")

LATEST = 256
"""On how many tokens at the end of a long text the models' expectations are compared in full."""

Found = tuple[np.ndarray, Mapping[int, np.ndarray], tuple[str, ...]]
"""The bits of each word, the shares of what comes next after some, and the words that surgery has it read."""


class SurprisalPanel(Panel):
    """One curve per compared model over the tokens of the shown one; a hovered word is so in all panels."""

    needs_next_word = "See Labels, or open a language model to see how much each word surprises it."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.plot = SurprisalPlot()  # the plot itself
        self._legend = Legend(hides=True)
        self._note = MutedLine(right=True)
        self._units = UnitsCache()
        self._tokens: tuple[str, ...] = ()
        self._words: tuple[str, ...] = ()
        self._word_ends: tuple[int, ...] = ()
        self._first = 0
        self.curves: tuple[WordCurve, ...] = ()  # what is drawn, in the order of the moments
        self._models: tuple[ComparedModel, ...] = ()
        self._text = ""
        self.disagreement: np.ndarray | None = None
        """The divergence (word,) of what comes after each word, in bits; None with a single model."""
        self._hidden: set[str] = set()
        self._card = self.add_card(
            "Surprisal over the text, bits", row(self._legend, self._note, gap=16), scrolling(self.plot)
        )
        self._legend.entry_clicked.connect(self._toggle)
        self.plot.part_hovered.connect(
            lambda word: session.focus.hover_position(word + self._first if word >= 0 else None)
        )
        self.plot.part_clicked.connect(lambda word: session.focus.choose_position(word + self._first))
        session.focus.hovered_position_changed.connect(self._mark)
        session.focus.position_changed.connect(self._mark)
        theme_switch().theme_changed.connect(self._recolor)
        self.follow(
            session.comparison.changed,
            session.reading.encoding_changed,
            session.work.ready_changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Each curve's surprisals (word,) by its name, and where the models disagree, in bits."""
        arrays = {curve.name: np.asarray(curve.values) for curve in self.curves}
        return arrays if self.disagreement is None else arrays | {"disagreement": self.disagreement}

    def exported_names(self) -> Names:
        return Names(self._tokens if self.curves else ())

    def recipe(self) -> str:
        if not self.curves:
            return ""
        moments = [item.reads(self._text) for item in self._models]
        return comparison_recipe(moments) if len(moments) > 1 else likelihood_recipe(moments[0])

    def refresh(self) -> None:
        session, models = self.session, self.session.comparison.models
        encoding, first = session.reading.encoding, 0
        if encoding is not None and len(encoding):  # START has no surprisal and no place in the text
            first = int(self._is_start(encoding))
        if not models or encoding is None or len(encoding) <= first:
            self.silence(KEY)
            self.curves, self.disagreement = (), None
            self._say("Open or train a model to see its surprisal." if not models else "Type a prefix above.")
            return
        self._ask(models, encoding, first)

    def _is_start(self, encoding: Encoding) -> bool:
        """Whether the first token is START; a stored one tells by its name, without its tokenizer."""
        reading = self.session.reading
        if reading.is_stored or reading.tokenizer is None:
            return encoding.tokens[0] == START
        return bool(encoding.ids[0] == reading.tokenizer.start_id)

    def _ask(self, models: tuple[ComparedModel, ...], encoding: Encoding, first: int) -> None:
        text, cache, opened = self.session.reading.prefix, self._units, [item.model for item in models]
        spans = encoding.offsets[first:]
        beginning = spans[0][0]

        def read(place: int, model: Model) -> Found | str:
            try:
                likelihood = text_log_probabilities(model, text)
                # The text before the shown model's context is not part of the first word.
                curve = surprisal_over(likelihood, [(0, beginning), *spans])[1:]
                changed = tuple(token.token for token in likelihood.tokens) if likelihood.differs else ()
                if len(opened) < 2:
                    return curve, {}, changed
                return curve, shares_after(model, text, cache.units(opened), place, LATEST), changed
            except LmvizError as sentence:
                return str(sentence)

        def take(found: list[Found | str]) -> None:
            self._text = text
            self._draw_curves(models, encoding, first, found)

        self.ask(Question(KEY, models, lambda found: list(starmap(read, enumerate(found)))), take)

    def _draw_curves(
        self, models: tuple[ComparedModel, ...], encoding: Encoding, first: int, found: Sequence[Found | str]
    ) -> None:
        sentences = [item for item in found if isinstance(item, str)]
        if sentences:
            self.curves, self.disagreement = (), None
            self._say(sentences[0])
            return
        read = [item for item in found if not isinstance(item, str)]
        self._models, self._first = models, first
        self._tokens = tuple(encoding.tokens[first:])
        changed = next((words for _, _, words in read if len(words) == len(self._tokens)), self._tokens)
        if len(read) == 1:
            self._tokens = changed
        self._words = tuple(
            visible(token) if token == other else f"{visible(token)} / {visible(other)}"  # as each reads it
            for token, other in zip(self._tokens, changed, strict=True)
        )
        self._word_ends = tuple(end for _, end in encoding.offsets[first:])
        names, turns = names_of_compared(models), turns_of(models)
        self.curves = tuple(
            WordCurve(name, color_of(item.moment), curve, turn)
            for name, item, (curve, _, _), turn in zip(names, models, read, turns, strict=True)
        )
        self.disagreement = None
        self._draw()
        if len(models) > 1:
            shares = [share for _, share, _ in read]
            self.ask(Question(KEY, shares, disagreement_of, grows=True), self._take_disagreement)

    def _take_disagreement(self, found: Disagreement) -> None:
        at = dict(zip(found.places.tolist(), found.divergence.tolist(), strict=True))
        self.disagreement = np.array([at.get(end, np.nan) for end in self._word_ends])
        self._draw()

    def _draw(self) -> None:
        shown = [curve for curve in self.curves if curve.name not in self._hidden]
        self.plot.set_words(self._words, shown, self.disagreement)
        self._legend.set_entries(
            [
                LegendEntry(curve.name, curve.color, curve.name not in self._hidden, curve.line)
                for curve in self.curves
            ]
        )
        self._note.set_text(self._say_disagreement())
        self._card.set_placeholder("")
        self._mark()

    def _say_disagreement(self) -> str:
        values = self.disagreement
        if values is None or not np.isfinite(values).any():
            return ""
        most = int(np.nanargmax(values))
        return f"disagreement below, most after “{self._words[most]}”: {values[most]:.2f} bits"

    def _say(self, sentence: str) -> None:
        self._legend.set_entries([])
        self._note.set_text("")
        self._card.set_placeholder(sentence)

    def _mark(self) -> None:
        session = self.session
        hovered = session.focus.hovered_position
        self.plot.set_current(session.focus.position - self._first)
        self.plot.set_hovered(-1 if hovered is None else hovered - self._first)

    def _toggle(self, name: str) -> None:
        self._hidden ^= {name}
        self._draw()

    def _recolor(self) -> None:
        """The curves keep their colours, which belong to the theme."""
        if len(self.curves) != len(self._models):
            return  # others are on their way, and will have the theme's
        self.curves = tuple(
            WordCurve(curve.name, color_of(item.moment), curve.values, curve.turn)
            for curve, item in zip(self.curves, self._models, strict=True)
        )
        if self.curves:
            self._draw()

"""Since when the state has carried the answer: that of each earlier word gives way to those of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import number, signed_figure
from lmviz.circuits.recipes import replaced_recipe
from lmviz.inspection.recipes.text import loading_of
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Picker, Readout, WordBars, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.growing import Growing
    from lmviz.circuits.replaced_states import OtherStates, ReplacedStates
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus

BACK = 48
"""So many words are tried: each one farther back has to be run on through all that follow."""

OFFERED, PASSAGES = 6, 40

NO_READING = "Open a model and type a text to see since when its state carries the answer."
NO_TEXT = "Open a text: the states that are put in the place of this one are of its passages."
OTHERS = "{} hands on no state from word to word: open an RNN, a GRU or an LSTM that predicts the next token."

SENTENCE = Words("back_in_time_sentence")
WORD = Picker("carried_word_picker", says="the word whose lead is carried", given=True)
AGAINST = Picker("carried_against_picker", says="the word that it is held against", given=True)
BARS = WordBars("back_in_time_bars", says="what is lost where the state after a word is replaced", share=1)
TOLD = Words(
    text=(
        "Bars: what is lost of the lead where the state after a word gives way to those of 40 other places "
        "of the open text, and the words since are read as they are; on either side two standard errors. "
        "Dashed: the mean state in its place. Below each word: what was likeliest after it."
    ),
    role="muted",
)


@dataclass(frozen=True, eq=False)
class CarriedFound:
    """The states of other places, what is lost with them so far, and the two words by their ids."""

    others: OtherStates
    growing: Growing[ReplacedStates]
    words: tuple[int, int]


class BackInTimePanel(AskingPanel[Reading, CarriedFound]):
    """A bar over each earlier word; a click goes there. Two pickers choose whose lead is asked about."""

    title = "Since when it carries the answer"
    draws = ("reading",)
    key = Key("back in time")
    follows = ("reading.changed", "focus.position_changed", "text.changed", "library.model_changed")
    parts = (SENTENCE, BARS, TOLD, WORD, AGAINST)

    _chosen: tuple[int | None, int | None] = (None, None)
    _others: tuple[Any, OtherStates] | None = None

    def out_of_place(self, model: OpenedModel) -> str:
        fits = model.family in ("rnn", "gru", "lstm") and model.predicts.continues and not model.reads_source
        return "" if fits else OTHERS.format(model.name)

    def question(self) -> Question[Reading, CarriedFound] | Look:
        reading, corpus = self.session.reading.current, self.session.text.corpus
        if reading is None or corpus is None:
            return Look(self.parts, instead=NO_READING if reading is None else NO_TEXT)
        position = min(self.session.reading.position, reading.last)
        words = self._words(reading, position)
        whose = (reading.model, reading.step, corpus.fingerprint)
        known = self._others[1] if self._others is not None and self._others[0] == whose else None
        names = reading.model.tokenizer.tokens()
        changes, text = reading.trace.interventions, reading.trace.text or reading.trace.ids

        def work(model: Model) -> CarriedFound:
            from lmviz.circuits.growing import Growing
            from lmviz.circuits.replaced_states import other_states, replacing_states
            from lmviz.inspection.measures import WordSum
            from lmviz.readouts.passages import read_passages

            others = known
            if others is None:
                passages = read_passages(model, corpus.training_documents, count=PASSAGES, held_out=1)
                others = other_states(model, passages.fitted)
            states, of = others, WordSum((names[words[0]],), (names[words[1]],), "logit", position)
            growing = Growing(
                model,
                lambda model: replacing_states(model, text, of, states, back=BACK, interventions=changes),
            )
            return CarriedFound(others, growing, words)

        return Question(self.key, reading, work, about=(position, words, corpus.fingerprint))

    def goes_on(self, subject: Reading, found: CarriedFound) -> Question[Reading, CarriedFound] | None:
        if found.growing.is_done:
            return None

        def work(model: Model) -> CarriedFound:
            found.growing.go_on(model)
            return found

        return Question(self.key, subject, work)

    def look(self, reading: Reading, found: CarriedFound) -> Look:
        corpus = self.session.text.corpus
        self._others = (reading.model, reading.step, self.session.text.fingerprint), found.others
        carried = found.growing.found
        word, against = (visible(reading.answer(id)) for id in found.words)
        position = len(carried.tokens) - 1
        first = max(0, position + 1 - BACK)
        lost, error, tokens = carried.lost[first:], carried.error[first:], carried.tokens[first:]
        said = [visible(reading.answer(int(id))) for id in carried.said[first:]]
        where = carried.carried if found.growing.is_done else range(0)

        def read_out(at: int) -> Readout:
            value = float(lost[at])
            if not np.isfinite(value):
                return tokens[at], ["not measured yet"]
            ago = position - first - at
            lines = [
                f"{ago} words ago" if ago else "the last word",
                f"lost: {signed_figure(value)}, standard error {number(float(error[at]), 2)}",
                f"with the mean state: {signed_figure(float(carried.by_mean[first + at]))}",
                f"likeliest then: {said[at]}",
            ]
            return visible(tokens[at]), lines

        lead = f"“{word}” leads “{against}” by {number(carried.value, 2)}"
        text = f"{lead}. {carried.sentence}" if found.growing.is_done else f"{lead}. Measuring …"
        bars = replace(
            BARS,
            words=[visible(token) for token in tokens],
            values=lost,
            errors=2 * error,
            line=carried.by_mean[first:],
            below=said,
            current=where[0] - first if where and where[0] >= first else -1,
            readout=read_out,
            clicked=lambda at: self.session.focus.choose_position(first + at),
        )
        likely = self._offered(reading, position)
        offers = [id for id in likely if id != found.words[0]]
        pickers = (
            self._picker(WORD, reading, likely, found.words[0], 0),
            self._picker(AGAINST, reading, offers, found.words[1], 1),
        )
        return Look(
            (replace(SENTENCE, text=text), bars, TOLD),
            aside="logits",
            head=pickers,
            arrays={"lost": carried.lost, "error": carried.error, "by_mean": carried.by_mean},
            names=Names([visible(token) for token in carried.tokens]),
            recipe=self._recipe(reading, corpus, found, position),
        )

    def _words(self, reading: Reading, position: int) -> tuple[int, int]:
        """The word whose lead is asked about, and the one that it leads: what was chosen, if it is likely."""
        likely = self._offered(reading, position)
        word = self._chosen[0] if self._chosen[0] in likely else likely[0]
        against = self._chosen[1]
        if against not in likely or against == word:
            against = next(id for id in likely if id != word)
        return int(word or 0), int(against or 0)

    def _offered(self, reading: Reading, position: int) -> list[int]:
        shares = reading.trace["probabilities"].array[position]
        found: list[int] = np.argsort(-shares, kind="stable")[:OFFERED].tolist()
        return found

    def _picker(self, part: Picker, reading: Reading, ids: list[int], chosen: int, which: int) -> Picker:
        def choose(place: int) -> None:
            first, second = self._chosen
            self._chosen = (ids[place], second) if which == 0 else (first, ids[place])
            self.refresh_soon()

        return replace(
            part,
            choices=[visible(reading.answer(id)) for id in ids],
            chosen=ids.index(chosen) if chosen in ids else 0,
            chose=choose,
        )

    def _recipe(self, reading: Reading, corpus: Corpus | None, found: CarriedFound, position: int) -> str:
        if corpus is None or not corpus.sources or not reading.trace.text:
            return ""
        names = reading.model.tokenizer.tokens()
        words = names[found.words[0]], names[found.words[1]]
        return replaced_recipe(reading.moment, loading_of(corpus), words, position, BACK)

"""Since which step of its training each layer can say a word, by the chosen lens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.inside.lens_choice import FORMULAS, LENSES, lens_of
from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.question import Key
from lmviz.app.panels.shared.answers_by_step import AnswersByStep
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.base.counting import numbered
from lmviz.inspection.names import stop_name
from lmviz.inspection.recipes.recipe import arguments_of
from lmviz.inspection.recipes.text import loading_of
from lmviz.looks.look import Look
from lmviz.looks.parts import Matrix, Picker, Words
from lmviz.models.address import Address
from lmviz.readouts.lens_sentence import since_in_words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.readouts.lens_over_time import LensOverTime, SaidByLayer

KEY = Key("lens over training")
PASSAGES = 10
"""On which a lens is fitted anew at each snapshot."""

FLOOR = 1e-5
NO_READING = "Open a run and type a text to see since which step each layer can say the next word."
ONE_STEP = "{} has one snapshot, so there is nothing before it: open a run with several."
NO_TEXT = "Open a text, on which the {} is fitted at each snapshot, or choose the logit lens."
NOT_THIS = "{} does not predict the next token of one text: open a language model."

KIND = Picker(
    "lens_over_training_picker",
    says="by which lens states are read",
    choices=tuple(LENSES.values()),
    tips=tuple(FORMULAS[kind] for kind in LENSES),
)
SENTENCE = Words("lens_over_training_sentence")
GRID = Matrix("lens_over_training_grid", says="rank of the word by layer and step", share=1)


class LensOverTrainingPanel(ShowingPanel):
    """The rank of the next word in cells (layer, step), its probability as colour; a click goes to the step.

    The word is what the model says at the shown step. Steps are asked one after the other.
    """

    title = "Since which step"
    draws = ("reading",)
    follows = (
        "reading.changed",
        "focus.position_changed",
        "lenses.changed",
        "text.changed",
        "library.model_changed",
    )

    _answers: AnswersByStep[SaidByLayer] | None = None

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._answers = AnswersByStep(self, self.refresh_soon, key=KEY)

    @property
    def known(self) -> LensOverTime:
        """What is known so far, by step."""
        from lmviz.readouts.lens_over_time import LensOverTime

        return LensOverTime(self._answers or {})

    def out_of_place(self, model: OpenedModel) -> str:
        fits = model.predicts.continues and not model.reads_source
        return "" if fits else NOT_THIS.format(model.name)

    def handle_failure(self, key: str) -> None:
        if self._answers is not None:
            self._answers.forget()
            self.show_look(Look((SENTENCE, GRID), head=(self._picker(),)))

    def look(self) -> Look:
        reading, parts = self.session.reading.current, (SENTENCE, GRID)
        kind = lens_of(self.session)
        picker = self._picker()
        if reading is None or self._answers is None:
            return Look(parts, instead=NO_READING, head=(picker,))
        if len(reading.model.snapshots) < 2:
            return Look(parts, instead=ONE_STEP.format(reading.model.name), head=(picker,))
        corpus = self.session.text.corpus
        if kind != "logit" and corpus is None:
            return Look(parts, instead=NO_TEXT.format(LENSES[kind]), head=(picker,))
        position = min(self.session.reading.position, reading.last)
        word = int(reading.trace["probabilities"].array[position].argmax())
        ids = reading.trace.ids[: position + 1]
        texts = None if corpus is None or kind == "logit" else corpus.training_documents
        self._answers.be_about((reading.model, tuple(ids.tolist()), word, kind, corpus if texts else None))

        def work(model: Model) -> SaidByLayer:
            from lmviz.readouts.lens_over_time import said_by_layer
            from lmviz.readouts.passages import read_passages

            passages = None if texts is None else read_passages(model, texts, count=PASSAGES)
            return said_by_layer(model, ids, word, kind, passages)

        self._answers.ask_next(reading.model, reversed(reading.model.snapshots), work)
        if not self._answers:
            return self._until_answered(picker)
        return self._drawn(reading, position, word, picker)

    def _until_answered(self, picker: Picker) -> Look:
        """What is shown before the first step is known: what was known of the last word, whole and paled."""
        if self.shown_look.arrays and self.is_in_sight:  # behind another tab nothing is asked
            return replace(self.shown_look, head=(picker,))
        return Look((SENTENCE, GRID), head=(picker,), aside="reading the snapshots …")

    def _picker(self) -> Picker:
        return replace(
            KIND,
            chosen=list(LENSES).index(lens_of(self.session)),
            chose=lambda at: self.session.lenses.choose(list(LENSES)[at]),
        )

    def _drawn(self, reading: Reading, position: int, word: int, picker: Picker) -> Look:
        known, kind = self.known, lens_of(self.session)
        steps, places, name = known.steps, known.places, visible(reading.answer(word))
        shares, ranks = known.probabilities.T, known.ranks.T

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            likeliest = visible(reading.answer(int(known[steps[column]].likeliest[row])))
            return (
                f"“{name}”: rank {count(int(ranks[row, column]))}, {percentage(float(shares[row, column]))}",
                [
                    f"after {stop_name(places[row])}, step {count(steps[column])}",
                    f"likeliest there: “{likeliest}”",
                ],
            )

        since = [known.since(place) for place in places]
        grid = replace(
            GRID,
            values=shares,
            scale="share",
            limit=1.0,
            floor=FLOOR,
            rows=[_row_name(place) for place in places],
            columns=[count(step) for step in steps],
            words=[[count(int(rank)) for rank in row] for row in ranks],
            column=steps.index(reading.step) if reading.step in steps else -1,
            notes=["–" if step is None else count(step) for step in since],
            notes_title="since",
            readout=read_out,
            clicked=lambda _, column: self.session.library.choose_step(steps[column]),
        )
        is_whole = len(steps) == len(reading.model.snapshots)
        said = since_in_words(name, places, since, known.since(places[-1], 5)) if is_whole else ""
        after = visible(reading.trace.tokens[min(position, len(reading.trace.tokens) - 1)])
        fitted = "" if kind == "logit" else f", fitted on {PASSAGES} passages at each step"
        return Look(
            (
                replace(
                    SENTENCE, text=said or f"{len(steps)} of {len(reading.model.snapshots)} snapshots read …"
                ),
                grid,
            ),
            head=(picker,),
            aside=f"rank of “{name}” after “{after}”{fitted}",
            aside_tip=FORMULAS[kind],
            arrays={"steps": np.array(steps), "ranks": ranks, "probabilities": shares},
            recipe=self._recipe(reading, position, word, steps),
        )

    def _recipe(self, reading: Reading, position: int, word: int, steps: list[int]) -> str:
        corpus, kind = self.session.text.corpus, lens_of(self.session)
        if not reading.trace.text or position != reading.last or reading.trace.interventions:
            return ""
        token = reading.model.tokenizer.tokens()[word]
        given = arguments_of(reading.moment.model, reading.trace.text, token, kind=kind, steps=steps)
        lines = []
        if kind != "logit":
            if corpus is None or not corpus.sources:
                return ""
            lines, given = [loading_of(corpus)], f"{given}, texts=corpus, passages={PASSAGES}"
        call = f"found = lmviz.lens_over_training({given})"
        return "\n".join(["import lmviz", "", *lines, call, "values = found.probabilities.T", ""])


def _row_name(place: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(place).layer
    return stop_name(place) if layer is None else str(numbered(layer))

"""A direction that steers: the state of one text less that of the other, added to the second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Bars, Curves, LookPart, Picker, SideBySide, SliderLine, Stacked, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.readouts.direction import StateDirection
    from lmviz.readouts.steering import SteeredMeasure, SteeredText

LEAST, MOST, STEP = -2.0, 2.0, 0.1
PLACES = round((MOST - LEAST) / STEP) + 1
WORDS, TOKENS, JUDGED, PASSAGES = 8, 24, 32, 8
"""So many next words are shown and tokens written; the loss is that of so many tokens of so many passages."""

NO_PAIR = (
    "Type a changed text beside the first: what the model's state is in one and not in the other is the "
    "direction that is added here."
)
ONE_LANGUAGE_MODEL = "{} does not predict the next token of one text: open a language model."

SLIDER = SliderLine("steer_slider", says="strength of the direction", title="strength", count=PLACES)
PLACE = Picker("steer_place_picker", says="after which layer the direction is added")
SENTENCE = Words("steer_sentence")
SAMPLE = Words("steer_sample", says="what the steered model writes")
BARS = Bars("steer_words", says="what it expects next", share=1)
PLOT = Curves(
    "steer_plot",
    says="the measure by the strength, beside a random direction",
    x_name="strength",
    y_name="the measure",
    possible=((LEAST, MOST), (-np.inf, np.inf)),
    share=1,
)
LOSS = Curves(
    "steer_loss",
    says="the loss on other text by the strength",
    x_name="strength",
    y_name="nats per token",
    possible=((LEAST, MOST), (0.0, np.inf)),
    share=1,
)


@dataclass(frozen=True, eq=False)
class SteerFound:
    """The places there are, the direction at the chosen one, and what the second text becomes with it."""

    places: tuple[str, ...]
    direction: StateDirection
    steered: SteeredText


class SteerPanel(AskingPanel[Reading, SteerFound]):
    """A slider; the next words and a sample at its place; the measure and the loss by the strength."""

    title = "Along a direction"
    draws = ("reading", "contrast")
    key = Key("steer")
    curve_key = Key("steer curve")
    follows = ("contrast.answered", "reading.changed", "text.changed", "library.model_changed")
    parts = (SENTENCE, PLACE, SLIDER, SAMPLE, BARS, PLOT, replace(LOSS, shown=False))

    _place = round((1.0 - LEAST) / STEP)
    _tap = ""
    _curve: tuple[Any, SteeredMeasure] | None = None

    def out_of_place(self, model: OpenedModel) -> str:
        fits = model.predicts.continues and not model.reads_source
        return "" if fits else ONE_LANGUAGE_MODEL.format(model.name)

    def have_asked(self) -> None:
        self.session.contrast.renew()

    @property
    def strength(self) -> float:
        """Where the slider stands."""
        return round(LEAST + STEP * self._place, 2)

    def question(self) -> Question[Reading, SteerFound] | Look:
        measured, reading = self.session.contrast.found, self.session.contrast.reading
        if measured is None or reading is None or not measured.others:
            return Look(self.parts, instead=NO_PAIR)
        text, other = measured.contrast.text, measured.contrast.changed
        strength, asked_tap, changes = self.strength, self._tap, reading.question.interventions

        def work(model: Model) -> SteerFound:
            from lmviz.inspection.logit_lens import lens_places
            from lmviz.readouts.direction import differing, mean_difference
            from lmviz.readouts.steering import steered_text

            places = differing(model, str(text), str(other), lens_places(model, after_layers=True))
            tap = asked_tap if asked_tap in places else places[len(places) // 2]
            direction = mean_difference(model, [str(text)], [str(other)], tap)
            return SteerFound(
                places, direction, steered_text(model, direction, str(other), strength, TOKENS, changes)
            )

        return Question(self.key, reading, work, about=(measured.contrast, strength, asked_tap, changes))

    def look(self, reading: Reading, found: SteerFound) -> Look:
        measured = self.session.contrast.found
        if measured is None or not measured.others:
            return Look(self.parts, instead=NO_PAIR)
        self._ask_curve(reading, found)
        tap, steered = found.direction.address, found.steered
        rows = steered.distribution.top(WORDS)
        bars = replace(
            BARS,
            labels=[visible(row.token) for row in rows],
            values=[row.probability for row in rows],
            texts=[percentage(row.probability) for row in rows],
            notes=[f"{percentage(steered.unsteered.probability_of(row.id))} without" for row in rows],
            limit=1.0,
        )
        controls = SideBySide(
            first=replace(
                PLACE,
                choices=[place_in_words(place) for place in found.places],
                chosen=found.places.index(tap),
                chose=lambda at: self._choose(found.places[at]),
            ),
            second=replace(
                SLIDER, place=self._place, written=f"× {number(self.strength, 1)}", moved=self._move
            ),
            shares=(1, 3),
        )
        left = Stacked(parts=(replace(SAMPLE, text=f"…{steered.sample}"), bars), share=1)
        curves = self._curves(reading, found)
        arrays = {"probabilities": steered.distribution.probabilities, "direction": found.direction.vector}
        curve = self._known(reading, found)
        if curve is not None:
            arrays |= {"strengths": curve.strengths, "measure": curve.array, "random": curve.random}
        from lmviz.readouts.steering import steering_recipe

        contrast = measured.contrast
        return Look(
            (
                self._said(rows[0].token, rows[0].probability, found, curve),
                controls,
                SideBySide(first=left, second=Stacked(parts=curves, share=1), shares=(1, 1), share=1),
            ),
            aside="added to the changed text at every word",
            arrays=arrays,
            names=Names(steered.distribution.tokens),
            recipe=steering_recipe(
                reading.moment, str(contrast.text), str(contrast.changed), tap, steered.strength
            ),
        )

    def _said(self, token: str, share: float, found: SteerFound, curve: SteeredMeasure | None) -> Words:
        """What the direction does, beside what a random one does."""
        where = place_in_words(found.direction.address)
        text = (
            f"With {number(found.steered.strength, 1)} × the difference after {where}, “{visible(token)}” "
            f"is likeliest, {percentage(share)}."
        )
        if curve is not None and curve.is_complete:
            own, random = (float(np.ptp(values)) for values in (curve.array, curve.random))
            ratio = own / random if random > 0 else np.inf
            text += (
                f" Over all strengths it moves the number {number(ratio, 1)} times as far as a random "
                "direction of the same length does."
            )
        return replace(SENTENCE, text=text)

    def _choose(self, tap: str) -> None:
        if tap != self._tap:
            self._tap = tap
            self.refresh_soon()

    def _move(self, place: int) -> None:
        if place != self._place:
            self._place = place
            self.refresh_soon()

    def _go_to(self, strength: float) -> None:
        self._move(min(PLACES - 1, max(0, round((strength - LEAST) / STEP))))

    def _about(self, reading: Reading, found: SteerFound) -> Any:
        measured, corpus = self.session.contrast.found, self.session.text.corpus
        return None if measured is None else (reading, measured.contrast, found.direction.address, corpus)

    def _known(self, reading: Reading, found: SteerFound) -> SteeredMeasure | None:
        is_known = self._curve is not None and self._curve[0] == self._about(reading, found)
        return self._curve[1] if is_known and self._curve is not None else None

    def _ask_curve(self, reading: Reading, found: SteerFound) -> None:
        """The number and the loss by the strength; the loss on held-out text, where one is open."""
        about, measured = self._about(reading, found), self.session.contrast.found
        corpus = self.session.text.corpus
        if about is None or measured is None:
            return
        held_out = corpus.validation_documents if corpus is not None and corpus.task == "next-token" else ()
        other, of, direction = str(measured.contrast.changed), measured.contrast.measure, found.direction
        changes = reading.question.interventions

        def work(model: Model) -> SteeredMeasure:
            from lmviz.models.prefix import read_prefix
            from lmviz.readouts.steering import steering

            rows = [read_prefix(model, one).ids[:JUDGED] for one in held_out[:PASSAGES] if one.strip()]
            *_, last = steering(
                model,
                direction,
                other,
                of,
                held_out=[ids for ids in rows if len(ids) > 1],
                interventions=changes,
            )
            return last

        question = Question(self.curve_key, reading, work, about=about, grows=True)
        if self.must_ask(question):
            self.ask(question, lambda curve: self._take_curve(about, curve))

    def _take_curve(self, about: Any, curve: SteeredMeasure) -> None:
        self._curve = (about, curve)
        self.refresh()

    def _curves(self, reading: Reading, found: SteerFound) -> tuple[LookPart, ...]:
        curve, measured = self._known(reading, found), self.session.contrast.found
        if curve is None or measured is None:
            return (PLOT,)
        own = PlotCurve("this direction", curve.strengths, curve.array, "accent", dots=True)
        random = PlotCurve("random ones", curve.strengths, curve.random, "muted_text", dashed=True)
        plot = replace(
            PLOT,
            curves=[own, random],
            marks=[(0.0, "as it is")],
            cursor=self.strength,
            moved=self._go_to,
        )
        if curve.loss is None or curve.random_loss is None:
            return (plot,)
        loss = replace(
            LOSS,
            says=f"the loss on {count(curve.tokens)} tokens of the open text",
            curves=[
                PlotCurve("loss, this direction", curve.strengths, curve.loss, "validation", dots=True),
                PlotCurve("random", curve.strengths, curve.random_loss, "muted_text", dashed=True),
            ],
            cursor=self.strength,
            moved=self._go_to,
        )
        return plot, loss

"""A direction that steers: that between the two texts, or one of the list, added, removed or swapped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lmviz.app.panels.circuits.steer_parts import (
    APPLY,
    BARS,
    BETWEEN,
    HOW,
    LAYERS,
    LEAST,
    LOSS,
    NO_PAIR,
    ONE_LANGUAGE_MODEL,
    PLACE,
    PLACES,
    PLOT,
    SAMPLE,
    SENTENCE,
    SLIDER,
    SOURCE,
    STEP,
    UNIT,
    WORDS_PICKER,
    SteerFound,
    curves_of,
    effect_in_words,
    unit_in_words,
)
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.keep_direction import KEEP
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import LookPart, SideBySide, Stacked
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.readouts.direction import StateDirection
    from lmviz.readouts.steering import SteeredMeasure

WORDS, TOKENS, JUDGED, PASSAGES = 8, 24, 32, 8
"""So many next words are shown and tokens written; the loss is that of so many tokens of so many passages."""


class SteerPanel(AskingPanel[Reading, SteerFound]):
    """A slider; the next words and a sample at its place; the measure and the loss by the strength."""

    title = "Along a direction"
    draws = ("reading", "contrast")
    key = Key("steer")
    curve_key = Key("steer curve")
    begins_bare = True
    follows = (
        "contrast.changed",
        "contrast.answered",
        "reading.changed",
        "text.changed",
        "library.model_changed",
        "directions.changed",
        "directions.chosen_changed",
        "focus.position_changed",
    )
    parts = (
        SENTENCE,
        replace(KEEP, name="keep_steered_direction"),
        APPLY,
        SOURCE,
        HOW,
        PLACE,
        LAYERS,
        WORDS_PICKER,
        SLIDER,
        UNIT,
        SAMPLE,
        BARS,
        PLOT,
        replace(LOSS, shown=False),
    )

    _place = round((1.0 - LEAST) / STEP)
    _tap = ""
    _is_listed = False  # whether one of the list is used though there are two texts
    _how: tuple[str, StateDirection | None] = ("add", None)
    _everywhere = _from_here = False
    _curve: tuple[Any, SteeredMeasure] | None = None

    def out_of_place(self, model: OpenedModel) -> str:
        fits = model.predicts.continues and not model.reads_source
        return "" if fits else ONE_LANGUAGE_MODEL.format(model.name)

    def have_asked(self) -> None:
        self.session.contrast.renew()
        self.session.directions.look_for()

    @property
    def strength(self) -> float:
        """Where the slider stands."""
        return round(LEAST + STEP * self._place, 2)

    @property
    def listed(self) -> StateDirection | None:
        """The direction of the list that is used; None where it is that between the two texts."""
        measured, chosen = self.session.contrast.found, self.session.directions.direction
        is_pair = measured is not None and bool(measured.others)
        return chosen if self._is_listed or not is_pair else None

    @property
    def start(self) -> int:
        """From which position on."""
        return self.session.reading.position if self._from_here else 0

    def question(self) -> Question[Reading, SteerFound] | Look:
        measured, reading = self.session.contrast.found, self.session.contrast.reading
        listed = self.listed
        if measured is None or reading is None or (listed is None and not measured.others):
            return Look(self.parts, instead=NO_PAIR)
        text, changed = str(measured.contrast.text), str(measured.contrast.changed)
        strength, asked_tap, changes = self.strength, self._tap, reading.question.interventions
        (how, other), everywhere, start = self._how, self._everywhere, self.start

        def work(model: Model) -> SteerFound:
            from lmviz.inspection.logit_lens import lens_places
            from lmviz.inspection.tracing import trace
            from lmviz.readouts.direction import differing, mean_difference
            from lmviz.readouts.direction_use import DirectionUse
            from lmviz.readouts.steering import steered_text

            places: tuple[str, ...] = ()
            direction, moved = listed, text
            if direction is None:
                places = differing(model, text, changed, lens_places(model, after_layers=True))
                tap = asked_tap if asked_tap in places else places[len(places) // 2]
                direction, moved = mean_difference(model, [text], [changed], tap), changed
            is_fitting = other is not None and other.address == direction.address and other is not direction
            own_how = how if how != "swap" or is_fitting else "add"
            partner = other if own_how == "swap" else None
            tap = direction.address
            scaled = direction.scaled_to(trace(model, moved, taps=[tap])[tap].array)
            use = DirectionUse(scaled, own_how, partner, everywhere, start)
            steered = steered_text(model, use, moved, strength, TOKENS, changes)
            return SteerFound(places, direction, use, moved, steered)

        about = (measured.contrast, listed, strength, asked_tap, changes, how, other, everywhere, start)
        return Question(self.key, reading, work, about=about)

    def look(self, reading: Reading, found: SteerFound) -> Look:
        measured = self.session.contrast.found
        if measured is None:
            return Look(self.parts, instead=NO_PAIR)
        self._ask_curve(reading, found)
        steered = found.steered
        rows = steered.distribution.top(WORDS)
        bars = replace(
            BARS,
            labels=[visible(row.token) for row in rows],
            values=[row.probability for row in rows],
            texts=[percentage(row.probability) for row in rows],
            notes=[f"{percentage(steered.unsteered.probability_of(row.id))} without" for row in rows],
            limit=1.0,
        )
        left = Stacked(parts=(replace(SAMPLE, text=f"…{steered.sample}"), bars), share=1)
        arrays = {"probabilities": steered.distribution.probabilities, "direction": found.direction.vector}
        curve = self._known(reading, found)
        if curve is not None:
            arrays |= {"strengths": curve.strengths, "measure": curve.array, "random": curve.random}
        is_listed = self.listed is not None
        curves = self._curves(curve, found)
        what = found.direction.called if is_listed else "the difference"
        keep = replace(
            KEEP,
            name="keep_steered_direction",
            clicked=lambda: self.session.directions.add(_named(found.direction)),
            enabled=not is_listed,
        )
        return Look(
            (
                replace(SENTENCE, text=effect_in_words(rows[0], steered.strength, found.use, what, curve)),
                *self._controls(found),
                SideBySide(first=left, second=Stacked(parts=curves, share=1), share=1),
            ),
            aside=f"in {'the text' if is_listed else 'the changed text'}",
            head=(keep, replace(APPLY, clicked=lambda: self._apply(found))),
            arrays=arrays,
            names=Names(steered.distribution.tokens),
            recipe=self._recipe(reading, found),
        )

    def _controls(self, found: SteerFound) -> tuple[LookPart, ...]:
        """Which direction, what is done along it, where, and how strongly."""
        directions, listed = self.session.directions, self.listed
        source = replace(
            SOURCE,
            choices=[BETWEEN, *(one.called for one in directions.listed)],
            chosen=0 if listed is None else directions.chosen + 1,
            chose=self._choose_source,
        )
        others = [
            one
            for one in directions.listed
            if one.address == found.direction.address and one is not found.direction
        ]
        hows: list[tuple[str, StateDirection | None]] = [("add", None), ("remove", None)]
        hows += [("swap", one) for one in others]
        own = (found.use.how, found.use.other)
        how = replace(
            HOW,
            choices=["add", "remove", *(f"swap with {one.called}" for one in others)],
            chosen=hows.index(own) if own in hows else 0,
            chose=lambda at: self._choose_how(hows[at]),
        )
        place = replace(
            PLACE,
            choices=[place_in_words(place) for place in found.places],
            chosen=found.places.index(found.direction.address) if found.places else 0,
            chose=lambda at: self._choose(found.places[at]),
            shown=bool(found.places),
        )
        layers = replace(LAYERS, chosen=int(self._everywhere), chose=self._choose_layers)
        words = replace(WORDS_PICKER, chosen=int(self._from_here), chose=self._choose_words)
        slider = replace(SLIDER, place=self._place, written=f"× {number(self.strength, 1)}", moved=self._move)
        where = SideBySide(first=layers, second=words)
        unit = replace(UNIT, text=unit_in_words(found.use, found.own_length))
        return (
            SideBySide(
                first=SideBySide(first=source, second=how, shares=(3, 2)),
                second=SideBySide(first=place, second=where, shares=(1, 2)),
            ),
            slider,
            unit,
        )

    def _recipe(self, reading: Reading, found: SteerFound) -> str:
        from lmviz.readouts.steering import steering_recipe

        measured, directions = self.session.contrast.found, self.session.directions
        if measured is None:
            return ""
        contrast, direction = measured.contrast, found.direction
        made = directions.code_of(direction) or (
            f"lmviz.direction(model, {[str(contrast.text)]!r}, {[str(contrast.changed)]!r}, "
            f"{direction.address!r})"
        )
        if found.use.how == "add" and found.is_scaled:
            tap = repr(direction.address)
            states = f"lmviz.trace(model, {found.text!r}, taps=[{tap}])[{tap}].array"
            made = f"{made}.scaled_to({states})"
        other = "" if found.use.other is None else directions.code_of(found.use.other)
        return steering_recipe(reading.moment, made, other, found.text, found.use, found.steered.strength)

    def _apply(self, found: SteerFound) -> None:
        """Put it into surgery; what is not yet on the list is put there, so that Python code can open it."""
        directions, given, use = self.session.directions, found.direction, found.use
        if not directions.code_of(given):
            given, use = _named(given), replace(use, direction=_named(use.direction))
            directions.add(given)
        opened, other = ("" if one is None else directions.code_of(one) for one in (given, use.other))
        directions.apply(use.change(found.steered.strength, opened, other))

    def _choose(self, tap: str) -> None:
        if tap != self._tap:
            self._tap = tap
            self.refresh_soon()

    def _choose_source(self, at: int) -> None:
        self._is_listed = at > 0
        if at > 0:
            self.session.directions.choose(at - 1)
        self.refresh_soon()

    def _choose_how(self, how: tuple[str, StateDirection | None]) -> None:
        self._how = how
        self.refresh_soon()

    def _choose_layers(self, at: int) -> None:
        self._everywhere = at == 1
        self.refresh_soon()

    def _choose_words(self, at: int) -> None:
        self._from_here = at == 1
        self.refresh_soon()

    def _move(self, place: int) -> None:
        if place != self._place:
            self._place = place
            self.refresh_soon()

    def _go_to(self, strength: float) -> None:
        self._move(min(PLACES - 1, max(0, round((strength - LEAST) / STEP))))

    def _about(self, reading: Reading, found: SteerFound) -> Any:
        measured, corpus = self.session.contrast.found, self.session.text.corpus
        if measured is None:
            return None
        use = found.use
        own = found.direction.address if self.listed is None else found.direction
        return (reading, measured.contrast, own, use.how, use.other, use.everywhere, use.start, corpus)

    def _known(self, reading: Reading, found: SteerFound) -> SteeredMeasure | None:
        is_known = self._curve is not None and self._curve[0] == self._about(reading, found)
        return self._curve[1] if is_known and self._curve is not None else None

    def _ask_curve(self, reading: Reading, found: SteerFound) -> None:
        """The number and the loss by the strength; the loss on held-out text, where one is open."""
        about, measured = self._about(reading, found), self.session.contrast.found
        corpus = self.session.text.corpus
        if about is None or measured is None or self._known(reading, found) is not None:
            return  # drawing the answer comes back to here
        held_out = corpus.validation_documents if corpus is not None and corpus.task == "next-token" else ()
        text, of, use = found.text, measured.contrast.measure, found.use
        changes = reading.question.interventions

        def work(model: Model) -> SteeredMeasure:
            from lmviz.models.prefix import read_prefix
            from lmviz.readouts.steering import steering

            rows = [read_prefix(model, one).ids[:JUDGED] for one in held_out[:PASSAGES] if one.strip()]
            *_, last = steering(
                model,
                use,
                text,
                of,
                held_out=[ids for ids in rows if len(ids) > 1],
                interventions=changes,
            )
            return last

        question = Question(self.curve_key, reading, work, about=about, grows=True)
        if self.must_ask(question):
            self.ask(question, lambda curve: self._take_curve(about, curve))

    def _curves(self, curve: SteeredMeasure | None, found: SteerFound) -> tuple[LookPart, ...]:
        if curve is None:
            return (PLOT,)
        parts = curves_of(curve, found)
        return tuple(replace(part, cursor=self.strength, moved=self._go_to) for part in parts)

    def _take_curve(self, about: Any, curve: SteeredMeasure) -> None:
        self._curve = (about, curve)
        self.refresh()


def _named(direction: StateDirection) -> StateDirection:
    """The difference of two texts, as it is called in a list."""
    return replace(direction, origin="difference of two texts")

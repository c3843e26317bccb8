"""Three lenses beside one another: what the state after each layer says, read in three ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import count, percentage, whole_percentage
from lmviz.app.workers.job import Job
from lmviz.base.counting import numbered
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.names import stop_name
from lmviz.inspection.recipes.recipe import lens_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Button, Curves, LookPart, Matrix, SideBySide, Space, Stacked, Words
from lmviz.models.address import Address
from lmviz.readouts.fitted_lens import UNSURE
from lmviz.readouts.lens_sentence import way_in_words, worth_in_words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.base.reporting import Report
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.models.model import Model
    from lmviz.readouts.fitted_lens import FittedLens
    from lmviz.readouts.lens_column import LensColumn

CANDIDATES = 3
FLOOR = 1e-5
"""The probability from which on the final word has a colour."""

FITTED = ("tuned", "jacobian")
TITLES = {"logit": "Logit lens", "tuned": "Tuned lens", "jacobian": "Jacobian lens"}
NAMES = {"tuned": "tuned lens", "jacobian": "Jacobian lens"}
READ = {
    "logit": "read as if it were the last state",
    "tuned": "by least squares to the last state",
    "jacobian": "carried on by the average Jacobian",
}
INKS = {"logit": "muted_text", "tuned": "value", "jacobian": "accent"}

HINT = "colour: probability of the final word; at the right its rank · "

NO_TEXT = "Open a text, on whose passages a lens can be fitted."
COLUMNS = 12
"""Passages along which one state is carried."""

ONE_COLUMN = "Carry this state alone"
ONE_STATE = "{} has one state before its answer, so there is none that a lens could carry on."

SENTENCE = Words("lenses_sentence", shown=False)


@dataclass(frozen=True, eq=False)
class LensesFound:
    """What is read by each lens there is, by kind, at one position; and what was fitted.

    `column` is what the Jacobian was taken of where its matrix is not fitted: the state that is looked at.
    """

    read: dict[str, LogitLens]
    fitted: dict[str, FittedLens]
    column: LensColumn | None = None


class LensesPanel(AskingPanel[Reading, LensesFound]):
    """For each lens a column of words, a row for each layer; a click goes to the stage.

    Colour is the probability of the final word, on a logarithmic scale; beside a row stands its rank.
    """

    title = "Three lenses"
    draws = ("reading",)
    key = Key("lenses")
    follows = (
        "reading.changed",
        "focus.position_changed",
        "text.changed",
        "library.model_changed",
        "lenses.changed",
    )
    _column_of: tuple[Any, LensColumn] | None = None
    _job: Job | None = None

    parts = (
        SENTENCE,
        Button("read_lens_column", text=ONE_COLUMN, shown=False),
        *(Button(f"fit_{kind}_lens", text=f"Fit the {NAMES[kind]}", shown=False) for kind in FITTED),
        Button("stop_fitting_lens", text="Stop", shown=False),
        *(
            Matrix(f"{kind}_lens_words", says=f"likeliest words by the {TITLES[kind]}", shown=False)
            for kind in TITLES
        ),
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.show_failures(session.lenses)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.predicts.continues and not model.reads_source:
            return ""
        return f"{model.name} does not predict the next token of one text: open a language model."

    def question(self) -> Question[Reading, LensesFound] | Look:
        reading = self.session.reading.current
        if reading is None:
            return Look(instead="Open a model and type a text to see what each layer says.")
        moment = (reading.model, reading.step)
        lenses, position = self.session.lenses, self.session.reading.position
        lenses.look_for(moment)
        fitted = {kind: lens for kind in FITTED if (lens := lenses.fitted(moment, kind)) is not None}
        column = None if "jacobian" in fitted else self._known_column(reading, position)

        def work(model: Model) -> LensesFound:
            from lmviz.inspection.logit_lens import logit_lens
            from lmviz.readouts.fitting import carrier

            read = {"logit": logit_lens(model, reading.trace, CANDIDATES, [position], after_layers=True)}
            for kind, lens in fitted.items():
                read[kind] = logit_lens(
                    model, reading.trace, CANDIDATES, [position], after_layers=True, carried=carrier(lens)
                )
            if column is not None:
                read["jacobian"] = logit_lens(
                    model, reading.trace, CANDIDATES, [position], after_layers=True, carried=column.carrier()
                )
            return LensesFound(read, fitted, column)

        state = tuple(lenses.is_fitting(moment, kind) for kind in FITTED), lenses.is_busy, self._job
        return Question(self.key, reading, work, about=(position, tuple(fitted.values()), column, state))

    def _about(self, reading: Reading, position: int) -> tuple[object, ...]:
        """What a column is of: a state of this text, by this model, along passages of this text."""
        return reading.model, reading.step, reading.trace, position, self.session.text.corpus

    def _known_column(self, reading: Reading, position: int) -> LensColumn | None:
        known = self._column_of
        return known[1] if known is not None and known[0] == self._about(reading, position) else None

    def _read_column(self) -> None:
        """Carry the state that is looked at along passages of the open text, in the background."""
        reading, corpus = self.session.reading.current, self.session.text.corpus
        if reading is None or corpus is None or self._job is not None:
            return
        position = min(self.session.reading.position, reading.last)
        about, trace, opened, step = (
            self._about(reading, position),
            reading.trace,
            reading.model,
            reading.step,
        )

        def work(report: Report) -> Iterator[LensColumn]:
            from lmviz.inspection.logit_lens import lens_places
            from lmviz.models.interruption import heard_by
            from lmviz.readouts.lens_column import fit_column
            from lmviz.readouts.passages import read_passages
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(opened.folder), step)
            with heard_by(report):
                passages = read_passages(model, corpus.training_documents, count=COLUMNS)
                places = lens_places(model, after_layers=True)
                yield from fit_column(model, passages, {at: trace[at].array[position] for at in places})

        def take(column: LensColumn) -> None:
            self._column_of = about, column
            self.refresh_soon()

        self._job = self.start_job("Carrying one state", work, lambda _: None, take)
        self._job.ended.connect(self._end_column)
        self.refresh_soon()

    def _end_column(self, job: Job) -> None:
        self._job = None
        self.refresh_soon()

    def _stop_all(self) -> None:
        """Fit no more, and carry no more."""
        self.session.lenses.stop()
        if self._job is not None:
            self._job.cancel()

    def look(self, reading: Reading, found: LensesFound) -> Look:
        logit = found.read["logit"]
        if len(logit.places) < 2:
            return Look(instead=ONE_STATE.format(reading.model.name))
        moment = (reading.model, reading.step)
        final = visible(reading.answer(int(logit.ids[-1, 0, 0])))
        columns = [self._column(reading, moment, kind, found, final) for kind in TITLES]
        body = SideBySide(
            first=columns[0],
            second=SideBySide(first=columns[1], second=columns[2]),
            shares=(1, 2),
            share=1,
        )
        names = [_row_name(place) for place in logit.places]
        ranks = Curves(
            "lens_ranks",
            says="rank of the final word by layer",
            curves=[
                PlotCurve(
                    TITLES[kind],
                    range(len(lens.places)),
                    lens.ranks[:, 0],
                    role=INKS[kind],
                    said="",
                )
                for kind, lens in found.read.items()
            ],
            x_name="layer",
            y_name=f"rank of “{final}”",
            possible=((0.0, np.inf), (1.0, np.inf)),
            logarithmic=(False, True),
            writes=(lambda row: names[round(row)] if row == round(row) < len(names) else "", None),
        )
        return Look(
            (self._sentence(reading, found), body, ranks),
            aside=HINT
            + f"after “{visible(reading.trace.tokens[min(logit.positions[0], len(reading.trace) - 1)])}”",
            arrays=_arrays(found),
            units={"divergence": "bits"},
            recipe=lens_recipe(reading.moment, CANDIDATES, list(logit.positions), after_layers=True),
        )

    def _sentence(self, reading: Reading, found: LensesFound) -> Words:
        def word(id: int) -> str:
            return visible(reading.answer(id))

        best = next((kind for kind in reversed(FITTED) if kind in found.read), None)
        if best is None:
            return SENTENCE
        carried = way_in_words(found.read[best], 0, word, found.fitted.get(best))
        direct = way_in_words(found.read["logit"], 0, word, None)
        if not carried or carried == direct:
            return SENTENCE
        how = "Carried on by the average Jacobian" if best == "jacobian" else "By the fitted map"
        return replace(
            SENTENCE, text=f"{how}, the state says {carried}. Read directly: {direct}.", shown=True
        )

    def _column(
        self, reading: Reading, moment: Moment, kind: str, found: LensesFound, final: str
    ) -> LookPart:
        lens, fitted = found.read.get(kind), found.fitted.get(kind)
        heading = Words(text=f"{TITLES[kind]}, {READ[kind]}", role="muted")
        if lens is None:
            return Stacked(parts=(heading, *self._offer(moment, kind), Space()), share=1)
        places = lens.places

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            share, rank = float(lens.probabilities[row, 0, column]), int(lens.ranks[row, 0])
            lines = [
                f"{READ[kind]}, after {stop_name(places[row])}",
                f"“{final}”: rank {count(rank)}, {percentage(float(lens.of_final[row, 0]))}",
            ]
            if fitted is not None and row < len(places) - 1:
                lines.append(worth_in_words(fitted, places[row]))
                if fitted.errors is not None:
                    lines.append(
                        f"standard error of the map {whole_percentage(float(fitted.errors[places[row]]))}"
                    )
            return f"{reading.answer(int(lens.ids[row, 0, column]))}  {percentage(share)}", lines

        def go(row: int, column: int) -> None:
            stages = enumerate(reading.trace.stages)
            made = next((number for number, stage in stages if places[row] in stage.results), None)
            if made is not None:
                self.session.focus.choose_stage(made)

        words = [[visible(reading.answer(int(id))) for id in row] for row in lens.ids[:, 0]]
        errors = column_of.errors if (column_of := found.column) is not None and fitted is None else {}
        if kind == "jacobian" and errors:
            words = [
                [f"({word})" for word in row] if errors.get(place, 0.0) > UNSURE else row
                for row, place in zip(words, places, strict=True)
            ]
        if fitted is not None:
            words = [
                [f"({word})" for word in row] if fitted.is_unsure(place) else row
                for row, place in zip(words, places, strict=True)
            ]
        grid = Matrix(
            f"{kind}_lens_words",
            says=f"likeliest words by the {TITLES[kind]}",
            values=np.repeat(lens.of_final, lens.ids.shape[2], axis=1),
            scale="share",
            limit=1.0,
            floor=FLOOR,
            rows=[_row_name(place) for place in places],
            words=words,
            notes=[count(int(rank)) for rank in lens.ranks[:, 0]],
            readout=read_out,
            clicked=go,
            share=1,
        )
        told = self._told(moment, kind, fitted)
        if kind == "jacobian" and fitted is None and found.column is not None:
            told = self._told_of_column(moment, found.column)
        return Stacked(parts=(heading, grid, *told), share=1)

    def _told_of_column(self, moment: Moment, column: LensColumn) -> tuple[LookPart, ...]:
        """On how many passages one state was carried, how sure that is, and the matrix that is not fitted."""
        middle = column.places[(len(column.places) - 1) // 2]
        error = column.errors[middle]
        sure = (
            f", standard error {whole_percentage(error)} after {place_in_words(middle)}"
            if error == error
            else ""
        )
        said = f"This state alone, carried along {count(column.passages)} passages by forward mode{sure}."
        stop = (self._stop(),) if self._job is not None else ()
        return (Words(text=said, role="muted"), *stop, *self._offer(moment, "jacobian")[:1])

    def _told(self, moment: Moment, kind: str, fitted: FittedLens | None) -> tuple[LookPart, ...]:
        """What a lens was fitted on, its formula, and what can be done further."""
        if fitted is None:
            return (Words(text="W norm(h), nothing fitted", role="muted"),)
        is_growing = self.session.lenses.is_fitting(moment, kind)
        so_far = " so far" if is_growing else ""
        on = f"{fitted.formula}, fitted on {count(fitted.passages or 0)} passages{so_far}"
        middle = fitted.places[(len(fitted.places) - 1) // 2]
        worth = f"After {place_in_words(middle)}: {worth_in_words(fitted, middle)}."
        told = Words(text=on, role="muted"), Words(text=worth, role="muted")
        return (*told, self._stop()) if is_growing else told

    def _offer(self, moment: Moment, kind: str) -> tuple[LookPart, ...]:
        """The button that fits a lens, or what is on its way."""
        lenses = self.session.lenses
        if lenses.is_fitting(moment, kind):
            return Words(text="Reading the first passages …", role="muted"), self._stop()
        if self.session.text.corpus is None:
            return (Words(text=NO_TEXT, role="muted"),)
        button = Button(
            f"fit_{kind}_lens",
            text=f"Fit the {NAMES[kind]} on the open text",
            enabled=not lenses.is_busy,
            clicked=lambda: lenses.fit(moment, kind),
        )
        if kind != "jacobian":
            return (button,)
        if self._job is not None:
            return Words(text="Carrying the state along the first passage …", role="muted"), self._stop()
        column = Button(
            "read_lens_column",
            text=ONE_COLUMN,
            tip="One forward-mode pass a passage in place of the matrix: for deep models",
            enabled=not lenses.is_busy,
            clicked=self._read_column,
        )
        return button, column

    def _stop(self) -> Button:
        return Button("stop_fitting_lens", text="Stop", clicked=self._stop_all)


def _arrays(found: LensesFound) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    for kind, lens in found.read.items():
        arrays[f"{kind}_ids"] = lens.ids[:, 0]
        arrays[f"{kind}_probabilities"] = lens.probabilities[:, 0]
        arrays[f"{kind}_ranks"] = lens.ranks[:, 0]
    for kind, fitted in found.fitted.items():
        arrays[f"{kind}_divergence"] = np.array([fitted.divergence[place] for place in fitted.places])
    return arrays


def _row_name(place: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(place).layer
    return stop_name(place) if layer is None else str(numbered(layer))

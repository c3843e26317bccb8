"""A lens, by default the logit lens: the prediction after each layer, and the norm of the state there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.inside.lens_choice import (
    CHOICES,
    FORMULAS,
    can_choose,
    choose_lens,
    chosen_recipe,
    said_of,
)
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, sheet
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.position_curve import PositionCurve
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.names import stop_name
from lmviz.inspection.recipes.recipe import lens_recipe
from lmviz.inspection.stream import residual_norms, stream_places
from lmviz.inspection.trace import Trace
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.models.model import Model
    from lmviz.readouts.fitted_lens import FittedLens

KEY = Key("lens")

CANDIDATES = 3
MOST_PLACES = 16
"""With more, only the last place of each layer is shown: of a deep model not all have room for words."""
LOWEST, HIGHEST, AROUND = 15, 56, 40  # pixels at scale 1 of a row with words, and of what is around the rows
NOTHING = np.zeros((0, 0), dtype=np.float32)


class LensPanel(Panel):
    """The likeliest words at each place of the residual stream; a click goes to its stage."""

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._words = named(HeatmapView(), description="likeliest answers at each layer")
        self._kind = picker("lens_kind_choice", "by which lens states are read", CHOICES.values())
        self._told = Label(name="lens_fitted", role="muted", wraps=True)
        self._told.hide()
        self._norms = PositionCurve()
        leave_arrow_keys(self, self._words, self._norms)
        self._norms.setAccessibleName("norm of the state along the layers")
        self._norm_label = Label("norm of the state along the layers", role="muted")
        self._drawn: tuple[Reading, LogitLens, FittedLens | None] | None = None
        self.norms: dict[str, float] = {}
        """The Euclidean norm of the state at each place, where it is a vector."""
        body = column(self._kind, self._told, (self._words, 1), self._norm_label, self._norms)
        body.addStretch()
        self._card = self.add_card("Logit lens", "", scrolling(sheet(body)))
        self._words.set_readout(self._read_out)
        self._words.cell_clicked.connect(self._go_to_row)
        self._norms.part_clicked.connect(lambda place: self._go(list(self.norms)[place]))
        self._kind.activated.connect(self._choose)
        session.focus.stage_changed.connect(self._mark)
        self.show_failures(session.lenses)
        self.follow(
            session.reading.changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.lenses.changed,
        )

    @property
    def lens(self) -> LogitLens | None:
        """What is drawn: one position, all places."""
        return None if self._drawn is None else self._drawn[1]

    def exported_arrays(self) -> dict[str, np.ndarray]:
        lens = self.lens
        if lens is None:
            return {}
        arrays = {"ids": lens.ids[:, 0], "probabilities": lens.probabilities[:, 0]}
        return arrays | {"norms": np.array(list(self.norms.values()))}

    def recipe(self) -> str:
        if self._drawn is None:
            return ""
        reading, _, fitted = self._drawn
        if fitted is not None or _is_deep(reading.trace):
            return chosen_recipe(self.session, reading, fitted, CANDIDATES, None)
        return lens_recipe(reading.moment, CANDIDATES)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.predicts.per == "position":
            return ""
        return (
            f"{model.name} gives one answer for the whole text, but the lens shows answers at a position: "
            "open a tagger or a language model."
        )

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None:
            self.silence(KEY)
            self._show_nothing()
            return
        position, is_deep = self.session.reading.position, _is_deep(reading.trace)
        lenses, moment, fitted = self.session.lenses, (reading.model, reading.step), None
        if can_choose(reading):
            lenses.look_for(moment)
            fitted = lenses.chosen(moment)
        by_layer = is_deep or fitted is not None

        def work(model: Model) -> LogitLens:
            from lmviz.inspection.logit_lens import logit_lens
            from lmviz.readouts.fitting import carrier

            carried = None if fitted is None else carrier(fitted)
            return logit_lens(
                model, reading.trace, CANDIDATES, [position], after_layers=by_layer, carried=carried
            )

        self.ask(Question(KEY, reading, work), lambda lens: self._show(reading, lens, fitted))

    def _choose(self, place: int) -> None:
        reading = self.session.reading.current
        moment = None if reading is None else (reading.model, reading.step)
        choose_lens(self.session, moment, list(CHOICES)[place])

    def _show_nothing(self) -> None:
        self._drawn = None
        self.norms = {}
        self._words.setMinimumHeight(0)
        self._words.set_matrix(NOTHING)
        self._norms.set_values([])
        self._card.set_aside("Open a model and type a prefix")

    def _show(self, reading: Reading, lens: LogitLens, fitted: FittedLens | None) -> None:
        self._drawn = (reading, lens, fitted)
        self._kind.setVisible(can_choose(reading))
        self._kind.setCurrentIndex(list(CHOICES).index(self.session.lenses.kind))
        told = said_of(self.session, reading) if can_choose(reading) else ""
        self._told.setText(told[:1].upper() + told[1:])
        self._told.setToolTip(paragraph(FORMULAS[self.session.lenses.kind]))
        self._told.setVisible(bool(told))
        self._card.set_title(CHOICES["logit" if fitted is None else fitted.kind].capitalize())
        token = reading.answer
        rows = len(lens.places)
        self._words.setMinimumHeight(round(self._words.usual_length(LOWEST * rows + AROUND)))
        self._words.setMaximumHeight(round(self._words.length(HIGHEST * rows + AROUND)))
        self._words.set_matrix(
            lens.probabilities[:, 0],
            scale="share",
            rows=self._names(reading, lens.places),
            words=[[visible(token(int(id))) for id in ids] for ids in lens.ids[:, 0]],
        )
        self._measure(reading, lens)
        tokens = reading.trace.tokens
        self._card.set_aside(f"after “{visible(tokens[min(lens.positions[0], len(tokens) - 1)])}”")
        self._mark()

    def _measure(self, reading: Reading, lens: LogitLens) -> None:
        places, norms = residual_norms(reading.trace)
        at = min(lens.positions[0], norms.shape[1] - 1)
        found = dict(zip(places, norms[:, at].tolist(), strict=True))
        self.norms = {place: norm for place, norm in found.items() if place in lens.places}
        several = len(self.norms) > 1
        self._norms.setVisible(several)
        self._norm_label.setVisible(several)
        self._norms.set_values(list(self.norms.values()), self._names(reading, self.norms))

    def _names(self, reading: Reading, places: Iterable[str]) -> list[str]:
        name = place_in_words if _is_deep(reading.trace) else stop_name
        return [name(place) for place in places]

    def _mark(self) -> None:
        """Outline the last place before the current stage."""
        reading, lens = self.session.reading.current, self.lens
        if lens is None or reading is None or self.awaits_answer:
            return
        made = {address: n for n, stage in enumerate(reading.trace.stages) for address in stage.results}
        behind = [place for place in lens.places if made.get(place, -1) <= self.session.focus.stage]
        last = max(behind, key=lambda place: made.get(place, -1), default=None)
        row = -1 if last is None else lens.places.index(last)
        self._words.set_selection(row=row)
        self._norms.set_current(row)

    def _go_to_row(self, row: int, column: int) -> None:
        if self.lens is not None:
            self._go(self.lens.places[row])

    def _go(self, place: str) -> None:
        reading = self.session.reading.current
        for number_of_stage, stage in enumerate(reading.trace.stages if reading is not None else ()):
            if place in stage.results:
                self.session.focus.choose_stage(number_of_stage)

    def _read_out(self, row: int, column: int) -> tuple[str, list[str]]:
        if self._drawn is None:
            return "", []
        reading, lens, _ = self._drawn
        place = lens.places[row]
        word = reading.answer(int(lens.ids[row, 0, column]))
        lines = [
            f"if the model stopped after {stop_name(place)}",
            f"{percentage(float(lens.of_final[row, 0]))} for the final prediction",
            f"entropy {float(lens.entropy[row, 0]):.1f} bits",
        ]
        lines += [f"norm of the state {number(self.norms[place])}"] if place in self.norms else []
        return f"{word}  {percentage(float(lens.probabilities[row, 0, column]))}", lines


def _is_deep(trace: Trace) -> bool:
    return len(stream_places(trace.arrays, trace.stages)) > MOST_PLACES

"""A lens, by default the logit lens: the prediction after each layer, and the norm of the state there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.inside.lens_choice import (
    CHOICES,
    FORMULAS,
    PROBE,
    SHOW_PROBE,
    can_choose,
    choose_lens,
    chosen_recipe,
    fitted_in_words,
    judged_in_words,
    kind_for,
    probe_recipe,
    probes_for,
    said_of,
)
from lmviz.app.panels.inside.probe_over_text import ReadByProbes, explained
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, explain_choices, named, picker, sheet
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
UNTIL_THEN = " Until then states are read directly."
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
        self._show_probe = named(QPushButton(SHOW_PROBE), "show_probe_from_lens")
        self._show_probe.clicked.connect(session.lenses.probes.ask_for)
        self._show_probe.hide()
        explain_choices(self._kind, FORMULAS.values())
        self._norms = PositionCurve()
        leave_arrow_keys(self, self._words, self._norms)
        self._norms.setAccessibleName("norm of the state along the layers")
        self._norm_label = Label("norm of the state along the layers", role="muted")
        self._drawn: tuple[Reading, LogitLens | ReadByProbes, FittedLens | None] | None = None
        self.norms: dict[str, float] = {}
        """The Euclidean norm of the state at each place, where it is a vector."""
        body = column(
            self._kind, self._told, self._show_probe, (self._words, 1), self._norm_label, self._norms
        )
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
        """What is drawn: one position, all places; None where probes read them."""
        drawn = self._what
        return None if isinstance(drawn, ReadByProbes) else drawn

    @property
    def _what(self) -> LogitLens | ReadByProbes | None:
        return None if self._drawn is None else self._drawn[1]

    def exported_arrays(self) -> dict[str, np.ndarray]:
        drawn = self._what
        if drawn is None:
            return {}
        if isinstance(drawn, ReadByProbes):
            arrays = {"shares": drawn.read.shares[:, 0], "scores": drawn.read.scores[:, 0]}
        else:
            arrays = {"ids": drawn.ids[:, 0], "probabilities": drawn.probabilities[:, 0]}
        return arrays | {"norms": np.array(list(self.norms.values()))}

    def recipe(self) -> str:
        if self._drawn is None:
            return ""
        reading, drawn, fitted = self._drawn
        if isinstance(drawn, ReadByProbes):
            return probe_recipe(reading, drawn.fitted, list(drawn.positions))
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
        probes = probes_for(self.session, reading)

        def work(model: Model) -> LogitLens | ReadByProbes:
            if probes is not None:
                return ReadByProbes(probes.probes.read(reading.trace, [position]), probes)
            from lmviz.inspection.logit_lens import logit_lens
            from lmviz.readouts.fitting import carrier

            carried = None if fitted is None else carrier(fitted)
            return logit_lens(
                model, reading.trace, CANDIDATES, [position], after_layers=by_layer, carried=carried
            )

        self.ask(Question(KEY, reading, work), lambda found: self._show(reading, found, fitted))

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

    def _show(self, reading: Reading, found: LogitLens | ReadByProbes, fitted: FittedLens | None) -> None:
        self._drawn = (reading, found, fitted)
        self._tell(reading, found, fitted)
        if isinstance(found, ReadByProbes):
            ranked = self._ranked(found)
            values = np.take_along_axis(found.read.shares[:, 0], ranked, axis=1)
            words = [[found.read.names[label] for label in row] for row in ranked.tolist()]
        else:
            values, token = found.probabilities[:, 0], reading.answer
            words = [[visible(token(int(id))) for id in ids] for ids in found.ids[:, 0]]
        rows = len(found.places)
        self._words.setMinimumHeight(round(self._words.usual_length(LOWEST * rows + AROUND)))
        self._words.setMaximumHeight(round(self._words.length(HIGHEST * rows + AROUND)))
        self._words.set_matrix(values, scale="share", rows=self._names(reading, found.places), words=words)
        self._measure(reading, found)
        tokens = reading.trace.tokens
        self._card.set_aside(f"after “{visible(tokens[min(found.positions[0], len(tokens) - 1)])}”")
        self._mark()

    def _tell(self, reading: Reading, found: LogitLens | ReadByProbes, fitted: FittedLens | None) -> None:
        """By what states are read, and what it was fitted on."""
        kind, told = kind_for(self.session, reading), said_of(self.session, reading)
        shown: str = "logit" if fitted is None else fitted.kind
        if isinstance(found, ReadByProbes):
            kind = shown = PROBE
            told = f"{fitted_in_words(found.fitted)}. {judged_in_words(found.fitted)}"
        is_missing = kind == PROBE and shown != PROBE
        self._kind.setVisible(can_choose(reading))
        self._kind.setCurrentIndex(list(CHOICES).index(kind))
        self._kind.setToolTip(paragraph(FORMULAS[kind]))
        self._told.setText(told[:1].upper() + told[1:] + (UNTIL_THEN if is_missing else ""))
        self._told.setToolTip(paragraph(FORMULAS[kind]))
        self._told.setVisible(bool(told))
        self._show_probe.setVisible(is_missing)
        title = CHOICES[shown]
        self._card.set_title(title[:1].upper() + title[1:])

    def _ranked(self, found: ReadByProbes) -> np.ndarray:
        """(place, candidate) labels, likeliest first."""
        return np.argsort(-found.read.scores[:, 0], axis=-1, kind="stable")[:, :CANDIDATES]

    def _measure(self, reading: Reading, lens: LogitLens | ReadByProbes) -> None:
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
        reading, lens = self.session.reading.current, self._what
        if lens is None or reading is None or self.awaits_answer:
            return
        made = {address: n for n, stage in enumerate(reading.trace.stages) for address in stage.results}
        behind = [place for place in lens.places if made.get(place, -1) <= self.session.focus.stage]
        last = max(behind, key=lambda place: made.get(place, -1), default=None)
        row = -1 if last is None else lens.places.index(last)
        self._words.set_selection(row=row)
        self._norms.set_current(row)

    def _go_to_row(self, row: int, column: int) -> None:
        if self._what is not None:
            self._go(self._what.places[row])

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
        if isinstance(lens, ReadByProbes):
            return explained(lens, row, 0, int(self._ranked(lens)[row, column]))
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

"""A lens over the text: the likeliest word after each layer, at each position, or the label a probe reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QResizeEvent

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.inside.lens_choice import (
    CHOICES,
    FORMULAS,
    PROBE,
    can_choose,
    choose_lens,
    chosen_recipe,
    kind_for,
    probes_for,
    said_of,
)
from lmviz.app.panels.inside.probe_over_text import (
    INVITATION,
    SHOW,
    ReadByProbes,
    no_probe_look,
    probe_look,
)
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import brief_percentage, percentage
from lmviz.base.counting import numbered
from lmviz.inspection.lens_sentence import all_settled_in_words, settled_in_words
from lmviz.inspection.names import stop_name
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import Matrix, Picker, Words
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.models.model import Model

    Shown = LogitLens | ReadByProbes

MOST, FEWEST = 24, 4
"""Positions that are shown at once: with more no word could be read."""

NUMBERS, COLUMN = 160, 52  # pixels at scale 1 for what stands around the words, and for each position

HINT = "colour and %: probability of the final {} · Ctrl+wheel zooms"
STAIRS = "from here on it is the final {}"
SENTENCE = Words("lens_over_text_sentence", shown=False)
KIND = Picker(
    "lens_kind_picker",
    says="by which lens states are read",
    choices=tuple(CHOICES.values()),
    tips=tuple(FORMULAS[kind] for kind in CHOICES),
)
GRID = Matrix("lens_grid", says="likeliest answers at each layer and position", share=1)


class LensOverTextPanel(AskingPanel[Reading, "Shown"]):
    """Words in cells (layer, position), the last layer at the bottom; a click goes to a position and a stage.

    It shows the positions up to the one that is looked at, as many as there is room for. Stairs mark from
    which layer on the likeliest word stays the final one, and a sentence says it of the position. Where a
    probe is chosen, its labels stand in the cells.
    """

    draws = ("reading",)
    follows = ("reading.changed", "focus.position_changed", "lenses.changed", "text.changed")
    key = Key("lens over text")
    title = "If it stopped here"
    parts = (SENTENCE, GRID, KIND, INVITATION, SHOW)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.show_failures(session.lenses)
        leave_arrow_keys(self, self.look_card.widget_of(GRID.name))

    @property
    def lens(self) -> LogitLens | None:
        """What is drawn, where a lens reads the states."""
        return None if isinstance(self.found, ReadByProbes) else self.found

    def out_of_place(self, model: OpenedModel) -> str:
        if model.predicts.per == "position":
            return ""
        return (
            f"{model.name} gives one answer for the whole text, but the lens shows answers at a position: "
            "open a tagger or a language model."
        )

    def question(self) -> Question[Reading, Shown] | Look:
        reading = self.session.reading.current
        if reading is None:
            return Look(instead="Open a model and type a text to see its words layer by layer.")
        kind, probes = kind_for(self.session, reading), probes_for(self.session, reading)
        if kind == PROBE and probes is None:
            hidden = (replace(SENTENCE, shown=False), replace(GRID, shown=False))
            return no_probe_look(self._picker(reading), hidden, self.session.lenses.probes.ask_for)
        position, length, most = self.session.reading.position, len(reading.trace), self._columns()
        last = min(max(position, most - 1), length - 1)
        positions = tuple(range(max(0, last + 1 - most), last + 1))
        is_same_text = self.asked is not None and self.asked.subject is reading
        shown = self.found.positions if is_same_text and self.found is not None else ()
        if position in shown and len(shown) == len(positions):  # it moves on only with what is not in sight
            positions = tuple(shown)

        moment = (reading.model, reading.step)
        fitted = None
        if can_choose(reading):
            self.session.lenses.look_for(moment)
            fitted = self.session.lenses.chosen(moment)

        def work(model: Model) -> Shown:
            if probes is not None:
                return ReadByProbes(probes.probes.read(reading.trace, list(positions)), probes)
            from lmviz.inspection.logit_lens import logit_lens
            from lmviz.readouts.fitting import carrier

            carried = None if fitted is None else carrier(fitted)
            return logit_lens(model, reading.trace, 1, list(positions), after_layers=True, carried=carried)

        return Question(self.key, reading, work, about=(positions, fitted or probes))

    def look(self, reading: Reading, found: Shown) -> Look:
        if isinstance(found, ReadByProbes):
            return self._labels(reading, found)
        return self._words(reading, found)

    def _labels(self, reading: Reading, found: ReadByProbes) -> Look:
        read = found.read
        look = probe_look(
            reading,
            found,
            (SENTENCE, GRID),
            [_row_name(place) for place in read.places],
            _tokens_at(reading, read.positions),
            self.session.reading.position,
            self._goes(reading, read.places, read.positions),
        )
        return replace(look, head=(self._picker(reading),))

    def _picker(self, reading: Reading) -> Picker:
        moment = (reading.model, reading.step)
        return replace(
            KIND,
            chosen=list(CHOICES).index(kind_for(self.session, reading)),
            chose=lambda at: choose_lens(self.session, moment, list(CHOICES)[at]),
            shown=can_choose(reading),
        )

    def _goes(
        self, reading: Reading, places: Sequence[str], positions: Sequence[int]
    ) -> Callable[[int, int], None]:
        """What a click on a cell does."""

        def go(row: int, column: int) -> None:
            self.session.focus.choose_position(positions[column])
            stages = enumerate(reading.trace.stages)
            made = next((number for number, stage in stages if places[row] in stage.results), None)
            if made is not None:
                self.session.focus.choose_stage(made)

        return go

    def _words(self, reading: Reading, lens: LogitLens) -> Look:
        unit = "character" if self.session.reading.noun == "character" else "word"  # pieces are read as words
        noun = unit if reading.trace.predicts.continues else "label"
        position, ids = self.session.reading.position, lens.ids[:, :, 0]
        words = [[visible(reading.answer(int(id))) for id in row] for row in ids]

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            share, settled = lens.probabilities[row, column, 0], settled_in_words(lens, column, noun)
            return f"{reading.answer(int(ids[row, column]))}  {percentage(float(share))}", [
                f"if the model stopped after {stop_name(lens.places[row])}",
                f"{percentage(float(lens.of_final[row, column]))} for the final {noun}, {words[-1][column]}",
                *([f"which {settled}"] if settled else []),
                f"entropy {float(lens.entropy[row, column]):.1f} bits",
            ]

        sentence, grid = (
            SENTENCE,
            replace(
                GRID,
                values=lens.of_final,
                scale="share",
                limit=1.0,
                rows=[_row_name(place) for place in lens.places],
                columns=_tokens_at(reading, lens.positions),
                words=words,
                stairs=lens.settled.tolist() if len(lens.places) > 1 else (),
                stairs_mean=STAIRS.format(noun),
                readout=read_out,
                clicked=self._goes(reading, lens.places, lens.positions),
            ),
        )
        if position in lens.positions:
            at = lens.positions.index(position)
            shares = [brief_percentage(float(share)) for share in lens.of_final[:, at]]
            grid = replace(grid, column=at, notes_title="%", notes=shares)
            if settled := settled_in_words(lens, at, noun):
                final = Inked(f"“{words[-1][at]}”", is_bold=True, ink="accent")
                said = Inked(f" {settled} {all_settled_in_words(lens, unit)}")
                sentence = replace(SENTENCE, text=(final, said), shown=True)
        lenses, moment = self.session.lenses, (reading.model, reading.step)
        return Look(
            (sentence, grid),
            head=(self._picker(reading),),
            aside=said_of(self.session, reading) or HINT.format(noun),
            aside_tip=FORMULAS[kind_for(self.session, reading)],
            arrays={
                "positions": np.array(lens.positions),
                "ids": ids,
                "probabilities": lens.probabilities[:, :, 0],
                "of_final": lens.of_final,
                "settled": lens.settled,
                "entropy": lens.entropy,
            },
            units={"entropy": "bits"},
            recipe=chosen_recipe(
                self.session, reading, lenses.chosen(moment), 1, list(map(int, lens.positions))
            ),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.found is not None and len(self.found.positions) != self._columns():
            self.refresh_soon()

    def _columns(self) -> int:
        """For how many positions there is room."""
        room = self.width() / current_theme().scale - NUMBERS
        return min(MOST, max(FEWEST, int(room / COLUMN)))


def _tokens_at(reading: Reading, positions: Sequence[int]) -> list[str]:
    """The tokens over the columns."""
    tokens = reading.trace.tokens
    return [visible(tokens[at]) if at < len(tokens) else "" for at in positions]


def _row_name(place: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(place).layer
    return stop_name(place) if layer is None else str(numbered(layer))

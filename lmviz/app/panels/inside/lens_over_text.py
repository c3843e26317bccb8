"""A lens over the text: the likeliest word after each layer, at each position."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QResizeEvent

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.inside.lens_choice import (
    CHOICES,
    FORMULAS,
    can_choose,
    choose_lens,
    chosen_recipe,
    said_of,
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

MOST, FEWEST = 24, 4
"""Positions that are shown at once: with more no word could be read."""

NUMBERS, COLUMN = 160, 52  # pixels at scale 1 for what stands around the words, and for each position

HINT = "colour and %: probability of the final {} · Ctrl+wheel zooms"
STAIRS = "from here on it is the final {}"
SENTENCE = Words("lens_over_text_sentence", shown=False)
KIND = Picker("lens_kind_picker", says="by which lens states are read", choices=tuple(CHOICES.values()))
GRID = Matrix("lens_grid", says="likeliest answers at each layer and position", share=1)


class LensOverTextPanel(AskingPanel[Reading, "LogitLens"]):
    """Words in cells (layer, position), the last layer at the bottom; a click goes to a position and a stage.

    It shows the positions up to the one that is looked at, as many as there is room for. Stairs mark from
    which layer on the likeliest word stays the final one, and a sentence says it of the position.
    """

    draws = ("reading",)
    follows = ("reading.changed", "focus.position_changed", "lenses.changed", "text.changed")
    key = Key("lens over text")
    title = "If it stopped here"
    parts = (SENTENCE, GRID, KIND)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.show_failures(session.lenses)
        leave_arrow_keys(self, self.look_card.widget_of(GRID.name))

    @property
    def lens(self) -> LogitLens | None:
        """What is drawn."""
        return self.found

    def out_of_place(self, model: OpenedModel) -> str:
        if model.predicts.per == "position":
            return ""
        return (
            f"{model.name} gives one answer for the whole text, but the lens shows answers at a position: "
            "open a tagger or a language model."
        )

    def question(self) -> Question[Reading, LogitLens] | Look:
        reading = self.session.reading.current
        if reading is None:
            return Look(instead="Open a model and type a text to see its words layer by layer.")
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

        def work(model: Model) -> LogitLens:
            from lmviz.inspection.logit_lens import logit_lens
            from lmviz.readouts.fitting import carrier

            carried = None if fitted is None else carrier(fitted)
            return logit_lens(model, reading.trace, 1, list(positions), after_layers=True, carried=carried)

        return Question(self.key, reading, work, about=(positions, fitted))

    def look(self, reading: Reading, lens: LogitLens) -> Look:
        unit = "character" if self.session.reading.noun == "character" else "word"  # pieces are read as words
        noun = unit if reading.trace.predicts.continues else "label"
        tokens, position, ids = reading.trace.tokens, self.session.reading.position, lens.ids[:, :, 0]
        words = [[visible(reading.answer(int(id))) for id in row] for row in ids]

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            share, settled = lens.probabilities[row, column, 0], settled_in_words(lens, column, noun)
            return f"{reading.answer(int(ids[row, column]))}  {percentage(float(share))}", [
                f"if the model stopped after {stop_name(lens.places[row])}",
                f"{percentage(float(lens.of_final[row, column]))} for the final {noun}, {words[-1][column]}",
                *([f"which {settled}"] if settled else []),
                f"entropy {float(lens.entropy[row, column]):.1f} bits",
            ]

        def go(row: int, column: int) -> None:
            self.session.focus.choose_position(lens.positions[column])
            stages = enumerate(reading.trace.stages)
            made = next((number for number, stage in stages if lens.places[row] in stage.results), None)
            if made is not None:
                self.session.focus.choose_stage(made)

        sentence, grid = (
            SENTENCE,
            replace(
                GRID,
                values=lens.of_final,
                scale="share",
                limit=1.0,
                rows=[_row_name(place) for place in lens.places],
                columns=[visible(tokens[at]) if at < len(tokens) else "" for at in lens.positions],
                words=words,
                stairs=lens.settled.tolist() if len(lens.places) > 1 else (),
                stairs_mean=STAIRS.format(noun),
                readout=read_out,
                clicked=go,
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
        kind = replace(
            KIND,
            chosen=list(CHOICES).index(lenses.kind),
            chose=lambda at: choose_lens(self.session, moment, list(CHOICES)[at]),
            shown=reading.trace.predicts.continues
            and not reading.model.reads_source
            and len(lens.places) > 1,
        )
        return Look(
            (sentence, grid),
            head=(kind,),
            aside=said_of(self.session, reading) or HINT.format(noun),
            aside_tip=FORMULAS[lenses.kind],
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


def _row_name(place: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(place).layer
    return stop_name(place) if layer is None else str(numbered(layer))

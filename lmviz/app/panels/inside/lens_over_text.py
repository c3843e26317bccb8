"""The logit lens over the text: the likeliest word after each layer, at each position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QResizeEvent

from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.base.figures import brief_percentage, percentage
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.inspection.lens_sentence import all_settled_in_words, settled_in_words
from lmviz.inspection.names import stop_name
from lmviz.inspection.recipes.recipe import lens_recipe
from lmviz.looks.ink import Inked
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.models.model import Model

MOST, FEWEST = 24, 4
"""Positions that are shown at once: with more no word could be read."""

NUMBERS, COLUMN = 130, 52  # pixels at scale 1 for what stands beside the words, and for each position

HINT = "colour and %: probability of the final {} · Ctrl+wheel zooms"
STAIRS = "from here on it is the final {}"
QUESTION = Key("lens over text")
NOTHING = np.zeros((0, 0), dtype=np.float32)


class LensOverTextPanel(Panel):
    """Words in cells (layer, position), the last layer at the bottom; a click goes to a position and a stage.

    It shows the positions up to the one that is looked at, as many as there is room for. Stairs mark from
    which layer on the likeliest word stays the final one, and a sentence says it of the position.
    """

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._words = named(HeatmapView(), "lens_grid", "likeliest answers at each layer and position")
        leave_arrow_keys(self, self._words)
        self._drawn: tuple[Reading, LogitLens] | None = None
        self._said = InkedLabel(name="lens_over_text_sentence", wraps=True)
        body = column(self._said, (self._words, 1))
        self._card = self.add_card("If it stopped here", HINT.format("word"), body)
        self._words.set_readout(self._read_out)
        self._words.cell_clicked.connect(self._go)
        self.follow(session.reading.changed, session.focus.position_changed)

    @property
    def lens(self) -> LogitLens | None:
        """What is drawn."""
        return None if self._drawn is None else self._drawn[1]

    def exported_arrays(self) -> dict[str, np.ndarray]:
        lens = self.lens
        if lens is None:
            return {}
        return {
            "positions": np.array(lens.positions),
            "ids": lens.ids[:, :, 0],
            "probabilities": lens.probabilities[:, :, 0],
            "of_final": lens.of_final,
            "settled": lens.settled,
            "entropy": lens.entropy,
        }

    def recipe(self) -> str:
        if self._drawn is None:
            return ""
        reading, lens = self._drawn
        return lens_recipe(reading.moment, 1, list(lens.positions), after_layers=True)

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
            self.silence(QUESTION)
            self._drawn = None
            self._words.set_matrix(NOTHING)
            self._say([])
            self._card.set_placeholder("Open a model and type a text to see its words layer by layer.")
            return
        position, length, most = self.session.reading.position, len(reading.trace), self._columns()
        last = min(max(position, most - 1), length - 1)
        positions = tuple(range(max(0, last + 1 - most), last + 1))
        shown = self._drawn[1].positions if self._drawn is not None and self._drawn[0] is reading else ()
        if position in shown and len(shown) == len(positions):  # it moves on only with what is not in sight
            positions = shown

        def work(model: Model) -> LogitLens:
            from lmviz.inspection.logit_lens import logit_lens

            return logit_lens(model, reading.trace, 1, list(positions), after_layers=True)

        question = Question(QUESTION, reading, work, about=positions)
        if self.must_ask(question):
            self.ask(question, lambda lens: self._show(reading, lens))
        elif self.has_drawn(question):
            self._mark()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        lens = self.lens
        if lens is not None and len(lens.positions) != self._columns():
            self.refresh_soon()

    def _columns(self) -> int:
        """For how many positions there is room."""
        room = self._words.width() / self._words.theme.scale - NUMBERS
        return min(MOST, max(FEWEST, int(room / COLUMN)))

    def _show(self, reading: Reading, lens: LogitLens) -> None:
        self._drawn = reading, lens
        tokens = reading.trace.tokens
        self._card.set_placeholder("")
        self._words.set_matrix(
            lens.of_final,
            scale="share",
            limit=1.0,
            rows=[_row_name(place) for place in lens.places],
            columns=[visible(tokens[at]) if at < len(tokens) else "" for at in lens.positions],
            words=[[visible(reading.answer(int(id))) for id in row] for row in lens.ids[:, :, 0]],
        )
        several = len(lens.places) > 1
        self._card.set_aside(HINT.format(self._noun))
        self._words.set_stairs(lens.settled.tolist() if several else (), STAIRS.format(self._noun))
        self._mark()

    def _mark(self) -> None:
        """Outline the position one looks at, and say of it what the cells show."""
        lens, position = self.lens, self.session.reading.position
        if self._drawn is None or lens is None or position not in lens.positions:
            self._words.set_selection()
            self._words.set_notes("", ())
            self._say([])
            return
        at = lens.positions.index(position)
        self._words.set_selection(column=at)
        self._words.set_notes("%", [brief_percentage(float(share)) for share in lens.of_final[:, at]])
        settled = settled_in_words(lens, at, self._noun)
        final = f"“{visible(self._drawn[0].answer(int(lens.ids[-1, at, 0])))}”"
        pieces = [
            Inked(final, True, "accent"),
            Inked(f" {settled} {all_settled_in_words(lens, self._unit)}"),
        ]
        self._say(pieces if settled else [])

    def _say(self, pieces: list[Inked]) -> None:
        self._said.set_pieces(pieces)
        self._said.setVisible(bool(pieces))

    @property
    def _noun(self) -> str:
        """What answers are called."""
        model = self.session.library.model
        return "label" if model is not None and not model.predicts.continues else self._unit

    @property
    def _unit(self) -> str:
        """What the text is made of: pieces of words are read as words."""
        return "character" if self.session.reading.noun == "character" else "word"

    def _go(self, row: int, column: int) -> None:
        if self._drawn is None:
            return
        reading, lens = self._drawn
        self.session.focus.choose_position(lens.positions[column])
        stages = enumerate(reading.trace.stages)
        made = next((number for number, stage in stages if lens.places[row] in stage.results), None)
        if made is not None:
            self.session.focus.choose_stage(made)

    def _read_out(self, row: int, column: int) -> tuple[str, list[str]]:
        if self._drawn is None:
            return "", []
        reading, lens = self._drawn
        word = reading.answer(int(lens.ids[row, column, 0]))
        final = reading.answer(int(lens.ids[-1, column, 0]))
        return f"{word}  {percentage(float(lens.probabilities[row, column, 0]))}", [
            f"if the model stopped after {stop_name(lens.places[row])}",
            f"{percentage(float(lens.of_final[row, column]))} for the final {self._noun}, {visible(final)}",
            *([f"which {settled}"] if (settled := settled_in_words(lens, column, self._noun)) else []),
            f"entropy {float(lens.entropy[row, column]):.1f} bits",
        ]


def _row_name(place: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(place).layer
    return stop_name(place) if layer is None else str(layer + 1)

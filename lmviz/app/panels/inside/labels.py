"""The labels that a tagger or a classifier gives, beside what is right; one direction silenced by a click."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.gold import gold_of
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row, sheet
from lmviz.app.widgets.base.figures import percentage, percentage_change
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.plots.position_curve import PositionCurve
from lmviz.app.widgets.text.labelled_words import LabelledWord, LabelledWords
from lmviz.app.widgets.text.marked_words import WordScroll
from lmviz.inspection.interventions import silence_direction
from lmviz.inspection.recipes.recipe import array_recipe
from lmviz.inspection.views import answer_at
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.class_readings import ClassReadings
    from lmviz.models.model import Model

KEY = Key("classes")

DIRECTIONS = ("forward", "backward")
ARROWS = {"forward": "→", "backward": "←"}
NO_MODEL = "Open a tagger or a classifier to see its labels."
NO_TEXT = "Type a text above to see its labels."
OFFERED = 6  # labels that the hover card lists


class LabelsPanel(Panel):
    """A row for each word: of a tagger its tag, of a classifier how likely its label is up to there.

    What is right stands beside it where the open text has exactly this sentence. For a classifier the
    curve is the probability of the text's label over its beginnings, and the numbers at the edge are what
    taking the word out adds to it; both are measured by reading the text again.
    """

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.words, self._curve, self._said = LabelledWords(), PositionCurve(), MutedLine()  # the rows
        self._curve.setAccessibleName("probability of the label over the text")
        leave_arrow_keys(self, self._curve)
        self._reading: Reading | None = None
        self._found: ClassReadings | None = None
        self._silence: dict[str, QPushButton] = {}
        self._card = self.add_card("Labels", "", self._lay_out())
        self.words.set_readout(self._read_out)
        self.words.part_clicked.connect(session.focus.choose_position)
        self._curve.part_clicked.connect(session.focus.choose_position)
        for hovered in (self.words.part_hovered, self._curve.part_hovered):
            hovered.connect(session.focus.hover_position)
        self.follow(
            session.reading.changed,
            session.library.model_changed,
            session.text.changed,
            session.focus.position_changed,
            session.surgery.changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        if self._reading is None:
            return {}
        arrays = {"probabilities": self._reading.trace["probabilities"].array}
        if self._found is None:
            return arrays
        return arrays | {"beginnings": self._found.beginnings, "without": self._found.without}

    def recipe(self) -> str:
        return "" if self._reading is None else array_recipe(self._reading.moment, "probabilities")

    def out_of_place(self, model: OpenedModel) -> str:
        if not model.predicts.continues:
            return ""
        return f"{model.name} predicts the next token. Open a tagger or a classifier to see its labels."

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None or reading.trace.predicts.continues:
            self._show_nothing()
            return
        if reading.trace.predicts.per != "text":
            self.silence(KEY)
            self._reading, self._found = reading, None
        else:
            self._ask(reading)
        if reading is self._reading:  # the label of a text stays until its beginnings have been read too
            self._show(reading)
            self._offer_silence(reading)

    def _lay_out(self) -> QWidget:
        for direction in DIRECTIONS:
            button = self._silence[direction] = named(
                QPushButton(f"silence {ARROWS[direction]}"),
                f"silence_{direction}_button",
                f"silence the {direction} direction",
            )
            button.setCheckable(True)
            button.setToolTip(
                paragraph(f"Sets every state of the {direction} direction to zero, in all layers")
            )
            button.clicked.connect(lambda on, direction=direction: self._silence_direction(direction, on))
        words = scrolling(self.words, area=WordScroll([self.words]))
        return sheet(column(self._curve, self._said, (words, 1), row(*self._silence.values()), gap=6))

    def _show_nothing(self) -> None:
        self._reading = self._found = None
        self.silence(KEY)
        self.words.set_words([])
        self._curve.set_values([])
        self._card.set_aside("")
        self._card.set_placeholder(NO_TEXT if self.session.library.model else NO_MODEL)
        for widget in (self._curve, self._said, *self._silence.values()):
            widget.hide()

    def _ask(self, reading: Reading) -> None:
        """Have a classifier read the beginnings of the text."""
        ids, changes = reading.trace.ids, reading.trace.interventions

        def work(model: Model) -> ClassReadings:
            from lmviz.inspection.class_readings import read_classes

            return read_classes(model, ids, changes)

        def take(found: ClassReadings) -> None:
            self._reading, self._found = reading, found
            self.refresh_soon()

        self.ask_once(Question(KEY, reading, work), take)

    def _show(self, reading: Reading) -> None:
        self._card.set_placeholder("")
        is_of_text = reading.trace.predicts.per == "text"
        self._curve.setVisible(is_of_text)
        self._said.setVisible(is_of_text)
        if is_of_text:
            self._show_class(reading)
        else:
            self._show_tags(reading)
        if len(self.words.words) == len(reading.trace):  # and not still those of the text before
            for widget in (self.words, self._curve):
                widget.set_current(self.session.reading.position)

    def _show_tags(self, reading: Reading) -> None:
        gold, rows = gold_of(reading, self.session.text.corpus), []
        for position, token in enumerate(reading.trace.tokens):
            shares = answer_at(reading.trace, position)
            best, right = int(shares.argmax()), gold[position] if gold else frozenset()
            note = f"gold {' or '.join(reading.answer(id) for id in sorted(right))}" if right else ""
            before = int(answer_at(reading.untouched, position).argmax())
            if before != best:
                note = f"was {reading.answer(before)}" + (f", {note}" if note else "")
            wrong = bool(right) and best not in right
            rows.append(LabelledWord(visible(token), reading.answer(best), float(shares[best]), note, wrong))
        self.words.set_words(rows)
        self._card.set_title("Tags")
        right_ones = sum(not row.wrong for row in rows)
        self._card.set_aside(f"{right_ones} right of {len(rows)}" if gold else "no such sentence in the text")

    def _show_class(self, reading: Reading) -> None:
        shares = answer_at(reading.trace, -1)
        best, gold = int(shares.argmax()), gold_of(reading, self.session.text.corpus)
        name = reading.answer(best)
        self._card.set_title(f"Label: {name} {percentage(float(shares[best]))}")
        right = " or ".join(reading.answer(id) for id in sorted(gold[0])) if gold else ""
        self._card.set_aside(f"gold {right}" if right else "")
        found, tokens = self._found, [visible(token) for token in reading.trace.tokens]
        if found is None:
            return
        self._curve.set_values(found.beginnings[:, best], tokens, (0.0, 1.0))
        said = f"p({name}) up to each word, and the label there · right: what taking it out adds to p({name})"
        self._said.set_text(said)
        effects, rows = found.effects(best), []
        for position, token in enumerate(tokens):
            there, effect = found.beginnings[position], effects[position]
            if not np.isfinite(there).all():
                rows.append(LabelledWord(token, "", 0.0, "not read"))
                continue
            note = percentage_change(effect) if np.isfinite(effect) else ""
            at = int(there.argmax())
            rows.append(LabelledWord(token, reading.answer(at), float(there[at]), note))
        self.words.set_words(rows)

    def _read_out(self, index: int) -> tuple[str, list[str]]:
        """All that the model thinks possible there, likeliest first."""
        reading = self._reading
        if reading is None or index >= len(reading.trace.tokens):
            return "", []
        if reading.trace.predicts.per == "position":
            shares = answer_at(reading.trace, index)
        elif self._found is None or index >= len(self._found.beginnings):
            return "", []
        else:
            shares = self._found.beginnings[index]
        order = np.argsort(-shares, kind="stable")[:OFFERED]
        lines = [f"{reading.answer(int(id))} {percentage(float(shares[id]))}" for id in order]
        return visible(reading.trace.tokens[index]), lines

    def _offer_silence(self, reading: Reading) -> None:
        """A button for each direction, where the states of both are joined."""
        both = all(f"layers/0/{direction}/hidden" in reading.trace for direction in DIRECTIONS)
        for direction, button in self._silence.items():
            button.setVisible(both)
            button.setChecked(self._silenced(direction) >= 0)

    def _silenced(self, direction: str) -> int:
        """Which change silences a direction; −1 where none that is in force does."""
        wanted, surgery = silence_direction(direction), self.session.surgery
        found = (number for number, item in enumerate(surgery.interventions) if item == wanted)
        return -1 if surgery.is_off else next(found, -1)

    def _silence_direction(self, direction: str, on: bool) -> None:
        index = self._silenced(direction)
        if on and index < 0:
            self.session.surgery.add(silence_direction(direction))
        elif not on and index >= 0:
            self.session.surgery.remove(index)

"""The rows of a set with their measure as bars, and where a set is taken from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.texts.many_text import NO_MODEL
from lmviz.app.panels.texts.recipes import rows_recipe
from lmviz.app.session.library import FIRST_MODEL, MODEL_OFFER
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, row, sheet, stack
from lmviz.app.widgets.base.figures import count, number, plain
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.controls.search_field import SearchField
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.looks.columns import Column

PATTERN = """When {A} and {B} went to the {place}, {B} gave a {thing} to
A: Mary, John, Tom, Anna, James, Lucy
B: Mary, John, Tom, Anna, James, Lucy
place: store, school, river, market
thing: ring, book, ball, bone
wanted: {A}
other: {B}
rows: 60
"""
"""The first pattern that is offered: who gives to whom."""

STORIES = """{name} owned a {color} {thing}. She put it in the {box}. Later, {name} opened the {box}, \
and there lay the {color}
name: Maya, Nora, Ida
color: brown, violet, golden, grey
thing: stone, bell, scarf, needle, shell, ring
foil: stone, bell, scarf, needle, shell, ring
box: barrel, basket, chest
wanted: {thing}
other: {foil}
rows: 60
"""
"""The pattern for models of stories: which thing was put away."""

OF_LABELS = """The {thing} was {how} and the {more} was {also}
thing: film, story, music
more: film, story, music
how: great, charming, boring, dull
also: great, charming, boring, dull
wanted:first label
other:second label
rows: 36
"""
"""The pattern for models of labels."""

SOURCES = (
    "Take a set …",
    "Lines of the open text",
    "Sentences of the open text",
    "Questions of lmviz",
    "A file …",
)
SHORTEST = 40


class TextRowsPanel(Panel):
    """A table that can be sorted and filtered; a click looks at a row."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._offered = ""  # the pattern that was written for the shown model
        self._source = picker("set_source_picker", "where the texts come from", SOURCES)
        said = "write a pattern whose slots are filled in"
        self._edit = QuietButton("edit_pattern_button", "Pattern …", description=said)
        self._filter = SearchField(lambda event: False)
        named(self._filter, "rows_filter", "show only rows with these letters")
        self._filter.setPlaceholderText("Filter")
        self._said = named(Label(wraps=True), "rows_sentence")
        self._trouble = named(Label(role="muted", wraps=True), "rows_left_out")
        self._table = named(TableView(), "rows_table", "the texts and their measure")
        self._pattern = named(QPlainTextEdit(), "pattern_edit", "the pattern and what fills its slots")
        self._use = QuietButton("use_pattern_button", "Ask these texts", "primary")
        self._pages = stack(
            sheet(column(self._said, self._filter, (self._table, 1), self._trouble)),
            sheet(column((self._pattern, 1), row("stretch", self._use))),
        )
        head = row(self._source, self._edit)
        self._card = self.add_card("Texts", head, column((self._pages, 1)))
        self._invitation = Invitation("texts_invitation")
        self._invitation.invite(NO_MODEL, MODEL_OFFER)
        self._invitation.accepted.connect(lambda: session.library.open(FIRST_MODEL))
        self._card.set_invitation(self._invitation)
        self._source.activated.connect(self._take_source)
        self._edit.clicked.connect(self._toggle_pattern)
        self._use.clicked.connect(self._take_pattern)
        self._filter.textChanged.connect(self._table.set_filter)
        self._table.row_clicked.connect(session.many.choose)
        self.show_failures(session.many)
        session.many.chosen_changed.connect(self._mark)
        self.follow(session.many.changed, session.library.model_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        values = self.session.many.values
        return {} if values is None else {"measure": values.values}

    def recipe(self) -> str:
        return rows_recipe(self.session.many)

    def refresh(self) -> None:
        many, given = self.session.many, self.session.many.given
        many.renew()
        if given is None:
            is_open = self.session.library.model is not None
            self._card.set_placeholder("" if is_open or self._pages.currentIndex() else NO_MODEL)
            self._card.set_title("Texts")
            self._said.setText("Choose where texts come from, or write a pattern.")
            self._trouble.setText("")
            self._table.set_columns([])
            self._offer_pattern()
            return
        self._card.set_placeholder("")
        self._card.set_title(f"{count(len(given))} texts")
        values = many.values
        numbers = np.full(len(given), np.nan) if values is None else values.values
        columns = [
            Column(name, [line.fields.get(name, "") for line in given], spare=place > 3)
            for place, name in enumerate(given.columns)
        ] or [Column("text", [_short(line.text) for line in given])]
        if given.labels:
            columns.append(Column("label", [line.label for line in given]))
        columns.append(Column(self._measured, numbers, _written, bar=True))
        second = many.second_values
        if second is not None and many.second is not None:
            columns.append(Column(many.second[0].name, second.values, _written, spare=True))
        self._table.set_columns(columns)
        self._mark()
        self._said.setText(self._sentence(numbers))
        self._trouble.setText(self._left_out())

    def _offer_pattern(self) -> None:
        """A first pattern that the shown model can be asked, where nobody has written one."""
        model = self.session.library.model
        if model is None or self._pattern.toPlainText() not in ("", self._offered):
            return
        self._offered = _pattern_for(model)
        self._pattern.setPlainText(self._offered)
        self._pages.setCurrentIndex(1)

    @property
    def _measured(self) -> str:
        given = self.session.many.given
        if given is None or not any(line.wanted for line in given):
            return "loss"
        return "wanted − other" if any(line.other for line in given) else "logit"

    def _sentence(self, numbers: np.ndarray) -> str:
        many = self.session.many
        known = numbers[np.isfinite(numbers)]
        if not len(known):
            return "The texts are being asked."
        done = "" if many.values is None or many.values.done == len(numbers) else f" of {count(len(numbers))}"
        mean = f"mean {number(float(known.mean()))}"
        if self._measured == "wanted − other":
            right = int((known > 0).sum())
            return (
                f"In {count(right)} of {count(len(known))}{done} the wanted word is likelier; {mean} logits."
            )
        return f"{count(len(known))}{done} texts: {mean}, {number(known.min())} to {number(known.max())}."

    def _left_out(self) -> str:
        values = self.session.many.values
        if values is None or not values.troubles:
            return ""
        first = min(values.troubles)
        said = f"row {first + 1}: {values.troubles[first]}"
        several = len(values.troubles)
        return f"Left out, {said}" if several == 1 else f"{count(several)} rows are left out, {said}"

    def _mark(self) -> None:
        self._table.set_current(self.session.many.chosen)

    def _toggle_pattern(self) -> None:
        self._pages.setCurrentIndex(1 - self._pages.currentIndex())
        self.refresh_soon()

    def _take_pattern(self) -> None:
        self._pages.setCurrentIndex(0)
        self.session.many.take_pattern(self._pattern.toPlainText())

    def _take_source(self, place: int) -> None:
        many = self.session.many
        self._source.setCurrentIndex(0)
        if not place:
            return
        self._pages.setCurrentIndex(0)
        if place in (1, 2):
            many.take_lines(sentences=place == 2)
        elif place == 3:
            many.take_questions(self.session.contrast)
        else:
            path, _ = QFileDialog.getOpenFileName(self, "Open a set of texts")
            if path:
                many.open_file(Path(path))


def _pattern_for(model: OpenedModel) -> str:
    """A first pattern: of a classifier it asks for its first label rather than its second."""
    labels = model.predicts.names
    if not model.predicts.continues and len(labels) > 1:
        return OF_LABELS.replace("first label", labels[0]).replace("second label", labels[1])
    return STORIES if model.name.startswith("stories") else PATTERN


def _short(text: str) -> str:
    return text if len(text) <= SHORTEST else f"{text[: SHORTEST - 1]}…"


def _written(value: float) -> str:
    return plain(round(float(value), 1), 2)

"""The features of a dictionary as a list, and in its head what the dictionary is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QFileDialog

from lmviz.app.panels.features.asked_features import NO_FEATURES, NO_MODEL, NO_TEXT, what_is_missing
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.library import FIRST_MODEL, MODEL_OFFER
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, row
from lmviz.app.widgets.base.figures import count, number, percentage, plain
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.controls.search_field import SearchField
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.features.recipes import over_texts_recipe
from lmviz.inspection.names import title_of
from lmviz.looks.columns import Column
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.feature_reading import FeatureReading

ALL, HERE = "all", "on at this token"
OPEN, FIND = "Open its features", "Find features…"
ACTIVE = Key("active features")
LITTLE = 0.5
"""Less than this share of the variance is little."""


class FeaturesPanel(Panel):
    """A table that can be sorted, searched by a word and narrowed to what is on; a click looks at one."""

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        said = "open a file or a folder of features"
        self._open = QuietButton("open_features_button", "Open …", description=said)
        self._said = named(Label(wraps=True), "features_sentence")
        self._more = named(Label(role="muted", wraps=True), "features_told")
        self._search = SearchField(lambda event: False)
        named(self._search, "features_search", "show the features of a word")
        self._search.setPlaceholderText("Word, number or name")
        self._which = picker("features_picker", "which features are listed", (ALL, HERE))
        self._table = named(TableView(), "features_list", "the features and what they do")
        self._name = SearchField(lambda event: False)
        named(self._name, "feature_name_edit", "a name of your own for the chosen feature")
        self._name.setPlaceholderText("A name of your own for the chosen one")
        self._invitation = Invitation("shipped_features_button")
        self._listed: list[int] = []
        self._active: np.ndarray | None = None  # (feature,) at the position that is looked at
        body = column(
            self._said, self._more, row((self._search, 1), self._which), (self._table, 1), self._name
        )
        self._card = self.add_card("Features", self._open, body)
        self._card.set_invitation(self._invitation)
        self._open.clicked.connect(self._choose_file)
        self._invitation.accepted.connect(self._open_offered)
        self._search.textChanged.connect(lambda _: self.refresh_soon())
        self._which.activated.connect(lambda _: self.refresh_soon())
        self._table.row_clicked.connect(self._choose)
        self._name.editingFinished.connect(self._give_name)
        self.show_failures(session.features)
        session.features.taken.connect(self._forget)
        session.features.chosen_changed.connect(self._mark)
        self.follow(
            session.features.changed,
            session.features.named,
            session.library.model_changed,
            session.reading.changed,
            session.focus.position_changed,
        )

    @property
    def listed(self) -> tuple[int, ...]:
        """The features of the list, from top to bottom."""
        return tuple(self._listed)

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        reading = self.session.features.reading
        return {} if reading is None else reading.arrays()

    def exported_names(self) -> Names:
        features = self.session.features
        if features.reading is None or features.opened is None:
            return super().exported_names()
        names = [
            features.opened.name_of(at) or features.reading[at].name for at in range(features.reading.size)
        ]
        return Names([f"{at} {name}" for at, name in enumerate(names)])

    def recipe(self) -> str:
        features, corpus = self.session.features, self.session.text.corpus
        if features.reading is None or features.opened is None or features.moment is None or corpus is None:
            return ""
        model, step = features.moment
        needs = ", needed=True" if features.reading.needed is not None else ""
        return over_texts_recipe(
            model.reading("", step),
            str(features.opened.file),
            corpus,
            f"values = lmviz.read_features(model, dictionary, corpus{needs}).arrays()",
        )

    def refresh(self) -> None:
        features = self.session.features
        features.renew()
        missing = what_is_missing(self.session)
        self._invitation.invite(missing, self._offer(missing))
        self._card.set_placeholder(missing)
        dictionary, reading = features.dictionary, features.reading
        if missing or dictionary is None:
            self._card.set_title("Features")
            return
        self._card.set_title(f"{count(dictionary.size)} features of {title_of(dictionary.target)}")
        self._said.setText(worth_in_words(dictionary, reading))
        self._more.setText(self._told(dictionary, reading))
        self._ask_active()
        if reading is None:
            self._listed = []
            self._table.set_columns([])
            return
        self._listed = self._chosen_ones(reading)
        self._table.set_columns(self._columns(reading, np.array(self._listed, dtype=np.int64)))
        self._mark()

    def _columns(self, reading: FeatureReading, listed: np.ndarray) -> list[Column]:
        opened = self.session.features.opened
        names = {} if opened is None else opened.names
        columns = [Column("#", listed, count)]
        if any(int(at) in names for at in listed):
            columns.append(Column("name", [names.get(int(at), "") for at in listed]))
        columns += [
            Column("at", [_shown(str(reading.at(int(at)))) for at in listed], tokens=True),
            Column("next", [_shown(str(reading.next(int(at)))) for at in listed], tokens=True),
        ]
        if self._active is not None and self._which.currentIndex() == 1:
            columns.append(
                Column("here", self._active[listed], lambda value: number(float(value), 2), bar=True)
            )
        columns.append(Column("fires", reading.rate[listed], lambda value: percentage(float(value))))
        columns.append(
            Column("mean", reading.mean[listed], lambda value: number(float(value), 2), spare=True)
        )
        clean = reading.selective[listed]
        columns.append(Column("one word", clean, lambda value: percentage(float(value)), spare=True))
        if reading.needed is not None:
            columns.append(Column("loss without", reading.needed[listed] * 1000, _thousandths, bar=True))
        return columns

    def _chosen_ones(self, reading: FeatureReading) -> list[int]:
        """The features that are listed, those that the loss needs most first."""
        wanted = self._search.text().strip()
        listed = list(range(reading.size))
        if wanted:
            opened = self.session.features.opened
            names = {} if opened is None else opened.names
            found = {int(at) for at in reading.find(wanted)}
            found |= {at for at, name in names.items() if wanted.casefold() in name.casefold()}
            found |= {int(wanted)} if wanted.isdecimal() else set()
            listed = [at for at in listed if at in found]
        if self._which.currentIndex() == 1 and self._active is not None:
            listed = [at for at in listed if self._active[at] > 0]
            return sorted(listed, key=lambda at: -float(self._active[at]))  # type: ignore[index]
        weights = reading.rate if reading.needed is None else np.nan_to_num(reading.needed, nan=-np.inf)
        return sorted(listed, key=lambda at: -float(weights[at]))

    def _told(self, dictionary: Dictionary, reading: FeatureReading | None) -> str:
        """Numbers that belong to the sentence, and how far the reading is."""
        if reading is None:
            return ""
        silent = f"{count(reading.silent)} of {count(reading.size)} never fire"
        parts = [f"{number(reading.active, 1)} on at a token", silent, f"{count(reading.tokens)} tokens read"]
        if reading.needed is None:
            parts.append("what the loss needs is measured next")
        elif not np.isfinite(reading.needed).all():
            done = int(np.isfinite(reading.needed).sum())
            parts.append(f"taken out {count(done)} so far")
        return " · ".join(parts)

    def _ask_active(self) -> None:
        """Have it computed which features are on at the position that is looked at."""
        reading, dictionary = self.session.reading.current, self.session.features.dictionary
        is_wanted = self._which.currentIndex() == 1
        if reading is None or dictionary is None or not is_wanted or dictionary.tap not in reading.trace:
            return
        position = min(self.session.reading.position, len(reading.trace) - 1)
        states = reading.trace[dictionary.tap].array[position]

        def work(_: object) -> np.ndarray:
            return dictionary.encode(states)

        self.ask_once(
            Question(ACTIVE, reading, work, about=(dictionary, position), grows=True), self._take_active
        )

    def _take_active(self, active: np.ndarray) -> None:
        self._active = active
        self.refresh()

    def _choose(self, at: int) -> None:
        if at < len(self._listed):
            self.session.features.choose(self._listed[at])

    def _mark(self) -> None:
        chosen, opened = self.session.features.chosen, self.session.features.opened
        self._table.set_current(self._listed.index(chosen) if chosen in self._listed else -1)
        self._name.setEnabled(chosen >= 0)
        self._name.setText("" if opened is None else opened.name_of(chosen))

    def _give_name(self) -> None:
        if self.session.features.chosen >= 0:
            self.session.features.give_name(self.session.features.chosen, self._name.text())

    def _forget(self) -> None:
        self._active = None
        self._search.clear()
        self._which.setCurrentIndex(0)

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open features")
        if path:
            self.session.features.open_file(Path(path))

    def _offer(self, missing: str) -> str:
        """What a button does about what is missing; empty where it can do nothing."""
        features, model = self.session.features, self.session.library.model
        if missing == NO_FEATURES:
            return OPEN if features.offers() else FIND if features.has_no_offers else ""
        if missing == NO_TEXT and model is not None and model.description.corpus.get("sources"):
            return f"Open the text of {model.name}"
        return MODEL_OFFER if missing == NO_MODEL else ""

    def _open_offered(self) -> None:
        features, model = self.session.features, self.session.library.model
        if model is None:
            self.session.library.open(FIRST_MODEL)
        elif features.opened is not None:
            self.session.text.open_text_of(model)
        elif offers := features.offers():
            features.open_file(offers[0])
        else:
            features.ask_to_find()


def worth_in_words(dictionary: Dictionary, reading: FeatureReading | None) -> str:
    """What a dictionary is worth: never the share of the loss alone, and little is called little."""
    worth = dictionary.worth
    at_once = "" if dictionary.k is None else f"{count(dictionary.k)} of "
    if worth is not None:
        explained = worth.variance_explained
        said = (
            f"{at_once}{count(dictionary.size)} features at each token stand for the states. {worth.sentence}"
        )
    elif reading is not None:
        explained = reading.explained
        said = (
            f"{at_once}{count(dictionary.size)} features at each token explain {percentage(explained)} of "
            "the variance of the states."
        )
    else:
        return "The text is being read."
    return f"{said} That is little: most of what is there, they leave out." if explained < LITTLE else said


def _shown(words: str) -> str:
    return " ".join(visible(word) for word in words.split(" "))


def _thousandths(value: float) -> str:
    return f"{plain(round(float(value), 1), 3)}"

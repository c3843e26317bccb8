"""The form in which lanes are made of what is planned in Train: several values of one or two settings."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QLineEdit, QWidget

from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.figures import with_unit
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.families import FAMILIES
from lmviz.runs.prepared_races import PREPARED_RACES, PreparedRace
from lmviz.text.tokenizer import of_units
from lmviz.training.options import used_options

FIRST, VALUES = "learning_rate", "0.0003 0.002 0.01 0.1"
NO_SECOND = "no second setting"
FAMILY = "family"
TURNS = {"a step each in turn": "steps", "equal time": "seconds"}


class AddingForm(QWidget):
    """`AddingForm(session)`: `show_race()` brings it up to date."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._race = session, session.race
        self._settings: tuple[tuple[str, str], ...] = ()
        self._pickers = [
            picker("race_setting_picker", "the setting that varies", least=12),
            picker("race_second_picker", "a second setting that varies", least=12),
        ]
        self._edits = [
            named(QLineEdit(VALUES), "race_values_edit", "its values"),
            named(QLineEdit(), "race_second_values_edit", "values of the second setting"),
        ]
        for edit in self._edits:
            edit.setPlaceholderText("values, with spaces between")
            edit.returnPressed.connect(self._add)
        self._subject = MutedLine()
        self._add_button = QuietButton("add_values_button", "Add lanes")
        self._start = QuietButton("race_start_button", "Start", "primary")
        self._reason = Label(name="race_reason", role="muted", wraps=True)
        self._turns = picker("race_turns_picker", "how lanes take turns", TURNS)
        self._add_button.clicked.connect(self._add)
        self._start.clicked.connect(lambda: self._race.go_on())
        self._turns.activated.connect(lambda _: self._race.set_turns(TURNS[self._turns.currentText()]))
        self._pickers[1].currentIndexChanged.connect(lambda _: self._show_second())
        lines = [row(each, (edit, 1), gap=8) for each, edit in zip(self._pickers, self._edits, strict=True)]
        self._claim = Label(name="race_claim", role="muted", wraps=True)
        self._claim.hide()
        prepared = [self._button_for(race) for race in PREPARED_RACES]
        below = row(self._add_button, self._start, STRETCH, *prepared, gap=8)
        head = row((self._subject, 1), self._turns)
        column(head, *lines, below, self._claim, self._reason, STRETCH, on=self, gap=6)

    def show_race(self) -> None:
        """Offer the settings of what is planned, and say what would be begun and what it takes."""
        self._offer_settings()
        race = self._race
        self._subject.set_text(f"as planned in Train: {self._session.plan.in_words}")
        waiting = sum(lane.phase == "waiting" for lane in race.lanes)
        self._start.setEnabled(bool(waiting) and not race.obstacle)
        self._start.setText(f"Start {waiting}" if waiting else "Start")
        self._turns.setCurrentText(next(words for words, turns in TURNS.items() if turns == race.turns))
        self._turns.setEnabled(not race.is_active)
        memory = race.needed_memory
        needs = f"{waiting} wait · {with_unit(memory, 'B')} of memory" if waiting and memory else ""
        self._claim.setVisible(bool(self._claim.text()) and bool(race.lanes))
        self._reason.setText(race.obstacle or needs)
        self._reason.setVisible(bool(self._reason.text()))

    def _offer_settings(self) -> None:
        plan = self._session.plan.current
        used = plan.configuration.used_for(self._session.plan.task)
        options = used_options(plan.training_options, counts=FAMILIES[plan.family].counts)
        noun = self._session.reading.noun
        offered = [(FAMILY, "Family")]
        offered += [
            (each.name, of_units(each.label, noun))
            for each in plan.training_options.settings()
            if each.name in options
        ]
        offered += [
            (each.name, each.label)
            for each in plan.configuration.settings()
            if each.name in used and not each.of_others
        ]
        if tuple(offered) == self._settings:
            return
        self._settings = tuple(offered)
        for at, each in enumerate(self._pickers):
            none: dict[str | None, str] = {None: NO_SECOND} if at else {}
            set_choices(each, none | dict(offered), each.currentData() or (FIRST if at == 0 else None))
        self._show_second()

    def _button_for(self, race: PreparedRace) -> LinkButton:
        """What plans a prepared race, and makes its lanes."""
        button = LinkButton("prepared_race_button", race.title.lower(), f"prepare a race: {race.claim}")
        button.clicked.connect(lambda: self._prepare(race))
        return button

    def _prepare(self, race: PreparedRace) -> None:
        plan = self._session.plan
        configuration = FAMILIES[race.family].configuration(**race.settings)
        plan.set(race.family, configuration, plan.current.training_options)
        before = self._race.lanes
        self._race.add(race.varied)
        if self._race.lanes != before:
            self._claim.setText(race.claim)
            self.show_race()

    def _show_second(self) -> None:
        self._edits[1].setVisible(self._pickers[1].currentData() is not None)

    def _add(self) -> None:
        """A lane for each value; for each pair of values where two settings vary."""
        varied = {
            each.currentData(): _values(edit)
            for each, edit in zip(self._pickers, self._edits, strict=True)
            if each.currentData() is not None and _values(edit)
        }
        self._race.add(varied)


def _values(edit: QLineEdit) -> list[str]:
    return [word for word in re.split(r"[\s,;]+", edit.text()) if word]

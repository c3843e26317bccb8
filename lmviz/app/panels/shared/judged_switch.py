"""The choice under which changes models are judged on whole texts, the same in every panel that judges."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox

from lmviz.app.session.comparison import BOTH, WITH, WITHOUT
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import picker
from lmviz.looks.parts import Picker

CHOICES = {"with the changes": WITH, "without": WITHOUT, "both": BOTH}
SAYS = "under which changes it is judged"


def judged_choice(session: Session, name: str) -> Picker:
    """The choice as part of a look."""
    comparison = session.comparison
    return Picker(
        name,
        says=SAYS,
        choices=tuple(CHOICES),
        chosen=list(CHOICES.values()).index(comparison.judged_under),
        shown=comparison.has_judged_changes,
        chose=lambda at: comparison.judge_under(list(CHOICES.values())[at]),
    )


def judged_switch(session: Session, name: str) -> QComboBox:
    """The choice, hidden while no change holds for any text."""
    choice, comparison = picker(name, SAYS, CHOICES), session.comparison
    choice.activated.connect(lambda at: comparison.judge_under(list(CHOICES.values())[at]))

    def follow() -> None:
        choice.setVisible(comparison.has_judged_changes)
        choice.setCurrentIndex(list(CHOICES.values()).index(comparison.judged_under))

    comparison.changed.connect(follow)
    follow()
    return choice

"""What the Train button would train, and how long that takes here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.pace import Pace
from lmviz.app.session.part import Part
from lmviz.app.session.training_state import Plan, in_words

if TYPE_CHECKING:
    from lmviz.app.session.open_text import OpenText
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.training.options import TrainingOptions
    from lmviz.training.progress import Progress

FIRST_FAMILY = "transformer"


class TrainingPlan(Part):
    """A family, its configuration and how it learns, on the open text."""

    changed = Signal()

    def __init__(self, text: OpenText, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._text = text
        self._plan: Plan | None = None
        self._problem = ""
        self._pace = Pace()

    @property
    def current(self) -> Plan:
        """What would be trained, and how."""
        if self._plan is None:
            from lmviz.families import FAMILIES
            from lmviz.training.options import TrainingOptions

            self._plan = Plan(FIRST_FAMILY, FAMILIES[FIRST_FAMILY].configuration(), TrainingOptions())
        return self._plan

    def set(self, family: str, configuration: ModelConfiguration, training_options: TrainingOptions) -> None:
        """Plan something else."""
        plan = Plan(family, configuration, training_options)
        if plan != self._plan:
            self._plan = plan
            self._problem = ""
            self.changed.emit()

    @property
    def problem(self) -> str:
        """Why what stands in the form cannot be trained; "" when it can."""
        return self._problem

    def refuse(self, sentence: str) -> None:
        """Say why what stands in the form cannot be trained; "" when it can."""
        self._problem = sentence

    @property
    def in_words(self) -> str:
        """What would be trained on what; the family alone while no text is open."""
        corpus = self._text.corpus
        text, tokenizer = ("", "") if corpus is None else (corpus.name, corpus.options.tokenizer)
        return in_words(self.current.family, text, tokenizer)

    @property
    def expected_seconds(self) -> float | None:
        """How long it will take here; None until a second of it was measured."""
        corpus = self._text.corpus
        return None if corpus is None else self._pace.seconds(self.current, corpus.fingerprint)

    def begin_timing(self, fingerprint: str) -> None:
        """What is planned is being trained on this text: learn from it how long that takes."""
        self._pace.begin(self.current, fingerprint)

    def note_progress(self, progress: Progress) -> None:
        """The training has come so far."""
        self._pace.note(progress)

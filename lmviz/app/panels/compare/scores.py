"""How well each model does what the open text asks: measured on the same held-out part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.compare.score_columns import NOTES, columns_of, numbers_of
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.judged_switch import judged_switch
from lmviz.app.session.comparison import WITHOUT, ComparedModel, names_of_compared
from lmviz.app.session.opened_model import Moment
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.inspection.recipes.run import scores_recipe
from lmviz.inspection.recipes.text import settings_of
from lmviz.tasks import NEXT_TOKEN

if TYPE_CHECKING:
    from lmviz.app.session.scores import Asked, Changes
    from lmviz.runs.evaluating import Score

NOTHING_HELD_OUT = "This text has no held-out part: open it again with a validation share."
NEEDED = {
    "tagging": "tagged text",
    "classification": "labelled text",
    "translation": "pairs of texts",
    "captioning": "pictures with captions",
}
"""What models of a task are measured on."""


class ScoresPanel(Panel):
    """Measures when asked to, one model after the other; what was measured once is remembered."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._button = named(QPushButton("Measure"), "measure_button", role="link")
        self._button.clicked.connect(self._toggle)
        self._asked: list[Asked] = []  # what was asked for here and is being measured
        self._note = MutedLine(right=True)
        self._table = named(TableView(), description="scores on the held-out text")
        head = row(self._note, judged_switch(session, "scores_under_picker"), self._button)
        self._card = self.add_card("Scores", head, self._table)
        session.scores.progressed.connect(lambda: self._note.set_text(self._said()))
        self.show_failures(session.scores.failed, session.scores.begun)
        self.follow(
            session.comparison.changed,
            session.scores.changed,
            session.text.changed,
            session.work.ready_changed,
        )

    def score_of(self, moment: Moment, changes: Changes = ()) -> Score | None:
        """The measured score of a model and step, under changes, on the open corpus."""
        return self.session.scores.score_of(moment, changes)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Of each measured model the numbers of its row, in the order of the columns."""
        judged = self.session.comparison.judged
        scores = [(item.model.task.name, self.score_of(*_asked(item))) for item in judged]
        return {
            name: numbers_of(score, task)
            for name, (task, score) in zip(names_of_compared(judged), scores, strict=True)
            if score is not None
        }

    def recipe(self) -> str:
        corpus, judged = self.session.text.corpus, self.session.comparison.judged
        measured = [
            (str(item.model.folder), item.step, item.interventions)
            for item in judged
            if self.score_of(*_asked(item)) is not None
        ]
        part = self.session.scores.part
        if corpus is None or part is None or not measured or not corpus.sources:
            return ""
        return scores_recipe(corpus.sources, settings_of(corpus), measured, part)

    def refresh(self) -> None:
        scores, judged, corpus = self.session.scores, self.session.comparison.judged, self.session.text.corpus
        sentence = self._obstacle(judged)
        self._button.setVisible(not sentence)
        self._asked = scores.awaited(self._asked)
        self._button.setText("Cancel" if self._asked else "Measure")
        self._button.setEnabled(bool(self._asked or scores.to_measure(list(map(_asked, judged)))))
        on = "Held-out part of" if scores.part == "validation" else "Scores on"
        self._card.set_title("Scores" if sentence or corpus is None else f"{on} {corpus.name}")
        self._note.set_text("" if sentence else self._said())
        self._card.set_placeholder(sentence)
        if not sentence:
            self._table.set_columns(columns_of(judged, [self.score_of(*_asked(item)) for item in judged]))

    def _obstacle(self, judged: Sequence[ComparedModel]) -> str:
        """Why nothing can be measured, and what to do; empty where it can."""
        corpus = self.session.text.corpus
        if not judged:
            return "Open or train models to evaluate them on the same text."
        if corpus is None:
            return "Open a text: the models are evaluated on its held-out part."
        task = judged[0].model.task
        if task.name not in (corpus.task, NEXT_TOKEN):
            return f"{corpus.name} is not a text for a {task.model}: open {NEEDED[task.name]} under Corpus."
        return "" if self.session.scores.part is not None else NOTHING_HELD_OUT

    def _said(self) -> str:
        scores, judged = self.session.scores, self.session.comparison.judged
        if scores.is_measuring or not judged:
            return scores.doing
        said, comparison = NOTES[judged[0].model.task.name], self.session.comparison
        is_without = not comparison.has_judged_changes or comparison.judged_under == WITHOUT
        return f"without the changes · {said}" if self.session.surgery.in_force and is_without else said

    def _toggle(self) -> None:
        """Measure, or stop what was asked for here: other panels measure without being asked."""
        scores = self.session.scores
        if self._asked:
            scores.cancel(self._asked)
        else:
            self._asked = scores.to_measure(list(map(_asked, self.session.comparison.judged)))
            scores.measure(self._asked)


def _asked(item: ComparedModel) -> Asked:
    return item.moment, item.interventions

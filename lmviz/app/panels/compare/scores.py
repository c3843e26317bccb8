"""How well each model does what the open text asks: measured on the same held-out part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lmviz.app.panels.compare.score_columns import NOTES, columns_of, numbers_of
from lmviz.app.panels.compare.text_to_come import lacking_in_text
from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.shared.judged_switch import judged_choice
from lmviz.app.session.comparison import WITHOUT, ComparedModel, names_of_compared
from lmviz.app.session.opened_model import Moment
from lmviz.app.session.session import Session
from lmviz.inspection.recipes.run import scores_recipe
from lmviz.inspection.recipes.text import settings_of
from lmviz.looks.look import Look
from lmviz.looks.parts import Button, Table
from lmviz.tasks import NEXT_TOKEN

if TYPE_CHECKING:
    from lmviz.app.session.scores import Asked, Changes
    from lmviz.runs.evaluating import Score

TABLE = Table(says="scores on the held-out text", share=1)
NOTHING_HELD_OUT = "This text has no held-out part: open it again with a validation share."
NEEDED = {
    "tagging": "tagged text",
    "classification": "labelled text",
    "translation": "pairs of texts",
    "captioning": "pictures with captions",
}
"""What models of a task are measured on."""


class ScoresPanel(ShowingPanel):
    """Measures when asked to, one model after the other; what was measured once is remembered."""

    follows = (
        "comparison.changed",
        "scores.changed",
        "scores.progressed",
        "text.changed",
        "text.reading_begun",
        "text.reading_given_up",
        "work.ready_changed",
    )
    title = "Scores"

    _asked: Sequence[Asked] = ()  # what was asked for here and is being measured

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.show_failures(session.scores)

    def score_of(self, moment: Moment, changes: Changes = ()) -> Score | None:
        """The measured score of a model and step, under changes, on the open corpus."""
        return self.session.scores.score_of(moment, changes)

    def look(self) -> Look:
        """The table; of each measured model the numbers of its row, in the order of the columns."""
        scores, judged, corpus = self.session.scores, self.session.comparison.judged, self.session.text.corpus
        obstacle, asks = self._obstacle(judged), list(map(_asked, judged))
        self._asked = scores.awaited(self._asked)
        switch = judged_choice(self.session, "scores_under_picker")
        measure = Button(
            "measure_button",
            text="Cancel" if self._asked else "Measure",
            role="link",
            enabled=bool(self._asked or scores.to_measure(asks)),
            shown=not obstacle,
            clicked=self._toggle,
        )
        if obstacle:
            return Look((TABLE,), head=(switch, measure), instead=obstacle)
        found = [self.score_of(*each) for each in asks]
        named = zip(names_of_compared(judged), judged, found, strict=True)
        measured = [(name, item, score) for name, item, score in named if score is not None]
        on = "Held-out part of" if scores.part == "validation" else "Scores on"
        return Look(
            (replace(TABLE, columns=columns_of(judged, found)),),
            title="" if corpus is None else f"{on} {corpus.name}",
            aside=self._said(),
            head=(switch, measure),
            arrays={name: numbers_of(score, item.model.task.name) for name, item, score in measured},
            recipe=self._recipe([item for _, item, _ in measured]),
        )

    def _recipe(self, measured: Sequence[ComparedModel]) -> str:
        corpus, part = self.session.text.corpus, self.session.scores.part
        if corpus is None or part is None or not measured or not corpus.sources:
            return ""
        models = [(str(item.model.folder), item.step, item.interventions) for item in measured]
        return scores_recipe(corpus.sources, settings_of(corpus), models, part)

    def _obstacle(self, judged: Sequence[ComparedModel]) -> str:
        """Why nothing can be measured, and what to do; empty where it can."""
        corpus = self.session.text.corpus
        if not judged:
            return "Open or train models to evaluate them on the same text."
        if corpus is None:
            return lacking_in_text(
                self.session, "Open a text: the models are evaluated on its held-out part."
            )
        task = judged[0].model.task
        if task.name not in (corpus.task, NEXT_TOKEN):
            other = f"{corpus.name} is not a text for a {task.model}: open {NEEDED[task.name]} under Corpus."
            return lacking_in_text(self.session, other)
        return "" if self.session.scores.part is not None else lacking_in_text(self.session, NOTHING_HELD_OUT)

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

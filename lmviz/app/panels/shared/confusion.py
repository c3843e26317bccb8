"""What a tagger or a classifier took for what in the open text, and how well it found each label.

A click on a cell reads an example of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.judged_switch import judged_switch
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import in_words
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row, sheet, stack
from lmviz.app.widgets.base.figures import count, percentage, share_or_none
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.confusion_grid import ConfusionGrid
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.inspection.recipes.run import confusion_recipe
from lmviz.inspection.recipes.text import settings_of
from lmviz.looks.columns import Column
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.session.scores import Asked, Changes
    from lmviz.runs.evaluating import Score
    from lmviz.text.corpus import Corpus
    from lmviz.training.label_evaluation import LabelEvaluation

FEW = 5000
"""So many labels are judged without being asked."""

BESIDE = 150
"""Pixels at scale 1 that what the counts come to needs to stand beside them."""

COUNTS, BY_LABEL = "counts", "by label"

MISSED = 4
"""How many of the words that are missed most often are named."""


class ConfusionPanel(Panel):
    """The counts of the shown model at the shown step: changed, as it was trained, or one below the other.

    A short text is judged at once, so that one sees the mistakes go while one steps through a training; a
    long one when asked. While that is under way what was judged last stays in sight.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._counts = (_Counts(), _Counts())
        for at, counts in enumerate(self._counts):
            counts.grid.cell_clicked.connect(partial(self._read_example, at))
        self._button = named(QPushButton("Measure"), "confusion_button", role="link")
        self._button.clicked.connect(lambda: session.scores.measure(self._question))
        self._note = MutedLine(right=True)
        self._by_label = named(TableView(), description="how well each label was found")
        body = scrolling(sheet(column(*self._counts, gap=14)), sideways=True)
        self._pages = stack(body, self._by_label)
        self._page = picker("confusion_page_picker", "what is shown of the answers", (COUNTS, BY_LABEL))
        self._page.currentIndexChanged.connect(self._pages.setCurrentIndex)
        under = judged_switch(session, "confusion_under_picker")
        head = row(self._note, under, self._page, self._button)
        self._card = self.add_card("Confusion", head, self._pages)
        self._shown: tuple[tuple[Asked, ...], str] | None = None
        self.scores: tuple[LabelEvaluation, ...] = ()  # what is shown: one, or with the changes and without
        self._asked: tuple[tuple[Asked, ...], str] | None = None
        session.scores.progressed.connect(lambda: self._note.set_text(self.session.scores.doing))
        self.show_failures(session.scores)
        self.follow(
            session.comparison.changed,
            session.scores.changed,
            session.text.changed,
            session.work.ready_changed,
        )

    @property
    def score(self) -> LabelEvaluation | None:
        """What is shown first."""
        return self.scores[0] if self.scores else None

    def exported_arrays(self) -> dict[str, np.ndarray]:
        names = ("confusion", "confusion_as_trained")
        return {name: score.confusion for name, score in zip(names, self.scores, strict=False)}

    def exported_names(self) -> Names:
        labels = () if self.score is None else self.score.labels
        return Names(labels, labels)

    def recipe(self) -> str:
        corpus, part = self.session.text.corpus, self.session.scores.part
        if self._shown is None or corpus is None or part is None or not corpus.sources:
            return ""
        judged = [(str(model.folder), step, changes) for (model, step), changes in self._shown[0]]
        return confusion_recipe(corpus.sources, settings_of(corpus), judged, part)

    def out_of_place(self, model: OpenedModel) -> str:
        if not model.predicts.continues:
            return ""
        return f"{model.name} {model.does}. Open a tagger or a classifier to see what it takes for what."

    def refresh(self) -> None:
        model, corpus, scores = self.session.library.model, self.session.text.corpus, self.session.scores
        if model is None or corpus is None or corpus.task != model.task.name:
            self._say(_needed(model))
            return
        asked = self._question
        key, missing = (asked, corpus.fingerprint), scores.missing(asked)
        is_asked_now = bool(missing) and self._asked != key and _is_short(corpus)
        is_of_another = self._shown is None or self._shown[1] != key[1] or self._shown[0][0][0][0] != model
        if not missing:
            self._show(key, [scores.score_of(*each) for each in asked], model)
        elif is_of_another or not (scores.is_measuring or is_asked_now):
            self._say("Measure to see what is taken for what.")
        self._note.set_text(scores.doing or self._judged(corpus))
        self._button.setVisible(bool(missing) and not scores.is_measuring)
        if is_asked_now and not scores.is_measuring:
            self._asked = key  # once, for it may fail
            scores.measure(asked)

    @property
    def _question(self) -> tuple[Asked, ...]:
        """The shown model, with its changes as far as they hold for any text, without them, or both."""
        return tuple((item.moment, item.interventions) for item in self.session.comparison.judged_present)

    def _say(self, sentence: str) -> None:
        self._shown, self.scores = None, ()
        self._button.hide()
        self._page.hide()
        self._note.set_text("")
        self._card.set_placeholder(sentence)

    def _show(
        self, key: tuple[tuple[Asked, ...], str], scores: Sequence[Score | None], model: OpenedModel
    ) -> None:
        from lmviz.training.label_evaluation import LabelEvaluation

        self._shown = key
        self.scores = tuple(score for score in scores if isinstance(score, LabelEvaluation))
        assert len(self.scores) == len(scores), "a model of labels is judged by them"
        names = [_under(changes) for _, changes in key[0]] if len(scores) > 1 else [""]
        for counts, score, name in zip(self._counts, self.scores, names, strict=False):
            counts.show_score(score, f"{model.task.target}s", name)
        self._counts[1].setVisible(len(scores) > 1)
        self._by_label.set_columns(_columns(self.scores))
        self._page.show()
        self._card.set_placeholder("")

    def _judged(self, corpus: Corpus) -> str:
        """With which changes, on what, at which step."""
        if self._shown is None:
            return ""
        (_, step), changes = self._shown[0][0]
        part = "held-out part of " if self.session.scores.part == "validation" else ""
        judged = f"{part}{corpus.name} · step {step:,}"
        if len(self._shown[0]) > 1:
            return f"{_under(changes)}, and without · {judged}"
        return f"{_under(changes)} · {judged}" if changes or self.session.surgery.in_force else judged

    def _read_example(self, at: int, right: int, given: int) -> None:
        part = self.session.scores.part
        if at >= len(self.scores) or part is None:
            return
        number, place = self.scores[at].first_of[right, given].tolist()
        self._counts[at].grid.set_cell(right, given)
        model = self.session.library.model
        per_text = model is not None and model.predicts.per == "text"
        self.session.reading.read_example(number, part, None if per_text else place)


class _Counts(QWidget):
    """The counts of one evaluation with what they come to beside them, or below where there is no room."""

    def __init__(self) -> None:
        super().__init__()
        self.grid = ConfusionGrid()
        self._name = Label(role="muted", wraps=True)
        self._right = Label(name="confusion_right", role="title")
        self._of, self._missed = Label(role="muted", wraps=True), Label(role="muted", wraps=True)
        hint = Label("Click a cell for an example.", role="muted", wraps=True)
        self._told = column(self._name, self._right, self._of, self._missed, hint, STRETCH, gap=4)
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setContentsMargins(0, 0, 0, 0)
        self._both.setSpacing(16)
        self._both.addWidget(self.grid, 3)
        self._both.addLayout(self._told, 2)
        self.setLayout(self._both)

    def show_score(self, score: LabelEvaluation, targets: str, name: str) -> None:
        """Show an evaluation of so called targets; `name` says which, where there are two."""
        self.grid.set_counts(score.confusion, [visible(label) for label in score.labels])
        self._name.setText(name)
        self._name.setVisible(bool(name))
        found = int(np.trace(score.confusion))
        self._right.setText(f"{count(found)} of {count(score.tokens)} {targets}")
        self._of.setText("\n".join(_in_all(score)))
        lines = [
            f"“{visible(word)}”: {percentage(item.accuracy)} of {count(item.count)} right"
            for word, item in score.most_missed(MISSED)
        ]
        self._missed.setText("\n".join(["missed most often:", *lines]) if lines else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed = self.grid.minimumSizeHint().width() + self._both.spacing() + BESIDE * current_theme().scale
        is_wide = self.width() >= needed
        way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        if way != self._both.direction():
            self._both.setDirection(way)
            of, at = (self._told, 1) if is_wide else (self._both, 0)
            of.insertWidget(at, self._right)  # what it comes to is seen above counts of many labels, too


def _under(changes: Changes) -> str:
    return in_words(changes) or "without the changes"


def _in_all(score: LabelEvaluation) -> list[str]:
    """What all answers come to, as far as it can be measured."""
    lines = [f"{percentage(score.accuracy)} · {score.negative_log_likelihood:.4f} nats each"]
    for name, item in (("known", score.known), ("unknown", score.unknown)):
        if item is not None and score.unknown is not None:
            lines.append(f"{name} words: {percentage(item.accuracy)} of {count(item.count)}")
    lines.append(f"F1, mean of all labels: {percentage(score.macro_f1)}")
    if score.spans is not None and score.spans.f1 is not None:
        whole = f"{percentage(score.spans.f1)} of {count(score.spans.wanted)}"
        lines.append(f"F1 of whole spans ({score.scheme}): {whole}")
    return lines


def _columns(scores: Sequence[LabelEvaluation]) -> list[Column]:
    """Precision, recall and F1 of each label, and of each kind of span below them.

    Of a model with changes and without them, also what F1 is without.
    """
    rows = _rows(scores[0])
    columns = [
        Column("label", list(rows), tokens=True),
        Column("times", np.array([times for times, *_ in rows.values()]), count),
    ]
    for place, title in enumerate(("precision", "recall", "F1"), start=1):
        shares = np.array([row[place] for row in rows.values()], dtype=np.float64)
        columns.append(Column(title, shares, share_or_none))
    if len(scores) > 1:
        others = _rows(scores[1])
        without = np.array([others[name][-1] if name in others else None for name in rows], dtype=np.float64)
        columns.append(Column("F1 without", without, share_or_none))
    return columns


def _rows(score: LabelEvaluation) -> dict[str, tuple[int, float | None, float | None, float | None]]:
    """By label and kind of span: how often it is right, precision, recall and F1."""
    labels = {
        visible(name): (item.count, item.precision, item.accuracy, item.f1)
        for name, item in score.by_label.items()
    }
    spans = {
        f"spans of {visible(kind)}": (item.wanted, item.precision, item.recall, item.f1)
        for kind, item in score.by_span.items()
    }
    return labels | spans


def _needed(model: OpenedModel | None) -> str:
    """What to open first."""
    if model is None:
        return "Open a tagger or a classifier to see what it takes for what."
    return f"Open a text for {model.task.title.lower()} under Corpus, such as the one it learned from."


def _is_short(corpus: Corpus) -> bool:
    examples = corpus.validation_examples if len(corpus.validation_documents) else corpus.training_examples
    return examples is not None and len(examples.target.ids) <= FEW

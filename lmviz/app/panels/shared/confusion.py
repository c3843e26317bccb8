"""What a tagger or a classifier took for what in the open text, and how well it found each label.

A click on a cell reads an example of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.session.surgery import in_words, of_whole_texts
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row, sheet, stack
from lmviz.app.widgets.base.export import Names
from lmviz.app.widgets.base.figures import count, percentage, share_or_none
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.confusion_grid import ConfusionGrid
from lmviz.app.widgets.tables.columns_model import Column
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.inspection.recipes.run import confusion_recipe
from lmviz.inspection.recipes.text import settings_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.scores import Asked
    from lmviz.app.session.session import Session
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
    """The counts of the shown model at the shown step, changed as it is, and beside them what they come to.

    A short text is judged at once, so that one sees the mistakes go while one steps through a training; a
    long one when asked. What was judged last stays in sight until the new is known.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._grid = ConfusionGrid()
        self._grid.cell_clicked.connect(self._read_example)
        self._right = Label(name="confusion_right", role="title")
        self._of, self._missed = Label(role="muted", wraps=True), Label(role="muted", wraps=True)
        self._hint = Label("Click a cell for an example.", role="muted", wraps=True)
        self._button = named(QPushButton("Measure"), "confusion_button", role="link")
        self._button.clicked.connect(lambda: session.scores.measure([self._question]))
        self._note = MutedLine(right=True)
        beside = (self._right, self._of, self._missed, self._hint)
        self._by_label = named(TableView(), description="how well each label was found")
        self._pages = stack(scrolling(_Beside(self._grid, beside), sideways=True), self._by_label)
        self._page = picker("confusion_page_picker", "what is shown of the answers", (COUNTS, BY_LABEL))
        self._page.currentIndexChanged.connect(self._pages.setCurrentIndex)
        self._card = self.add_card("Confusion", self._head(), self._pages)
        self._shown: tuple[Asked, str] | None = None
        self.score: LabelEvaluation | None = None  # what is shown
        self._asked: tuple[Asked, str] | None = None
        session.scores.progressed.connect(lambda: self._note.set_text(self.session.scores.doing))
        self.show_failures(session.scores.failed, session.scores.begun)
        self.follow(
            session.library.model_changed,
            session.library.step_changed,
            session.library.models_changed,
            session.scores.changed,
            session.surgery.changed,
            session.text.changed,
            session.work.ready_changed,
        )

    @property
    def sentence(self) -> str:
        """What stands in place of the counts."""
        return self._card.placeholder

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {} if self.score is None else {"confusion": self.score.confusion}

    def exported_names(self) -> Names:
        labels = () if self.score is None else self.score.labels
        return Names(labels, labels)

    def recipe(self) -> str:
        corpus, part = self.session.text.corpus, self.session.scores.part
        if self.score is None or self._shown is None or corpus is None or part is None or not corpus.sources:
            return ""
        ((model, step), changes), _ = self._shown
        judged = str(model.folder), step, changes
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
        key, score = (asked, corpus.fingerprint), scores.score_of(*asked)
        if score is not None:
            self._show(key, score, model)
        elif self._shown is None or (self._shown[0][0][0], self._shown[1]) != (model, corpus.fingerprint):
            self._say("Measure to see what is taken for what.")
        self._note.set_text(scores.doing or self._judged(corpus))
        self._button.setVisible(score is None and not scores.is_measuring)
        if score is None and self._asked != key and not scores.is_measuring and _is_short(corpus):
            self._asked = key  # once, for it may fail
            scores.measure([asked])

    @property
    def _question(self) -> Asked:
        """The shown model with its changes, as far as they hold for any text."""
        return self.session.comparison.present, of_whole_texts(self.session.surgery.in_force)

    def _head(self) -> QWidget:
        return sheet(row(self._note, self._page, self._button))

    def _say(self, sentence: str) -> None:
        self._shown = self.score = None
        self._button.hide()
        self._page.hide()
        self._note.set_text("")
        self._card.set_placeholder(sentence)

    def _show(self, key: tuple[Asked, str], score: Score, model: OpenedModel) -> None:
        from lmviz.training.label_evaluation import LabelEvaluation

        assert isinstance(score, LabelEvaluation), "a model of labels is judged by them"
        self._shown, self.score = key, score
        self._grid.set_counts(score.confusion, [visible(label) for label in score.labels])
        found = int(np.trace(score.confusion))
        self._right.setText(f"{count(found)} of {count(score.tokens)} {model.task.target}s")
        self._of.setText("\n".join(_in_all(score)))
        self._by_label.set_columns(_columns(score))
        self._page.show()
        lines = [
            f"“{visible(word)}”: {percentage(item.accuracy)} of {count(item.count)} right"
            for word, item in score.most_missed(MISSED)
        ]
        self._missed.setText("\n".join(["missed most often:", *lines]) if lines else "")
        self._card.set_placeholder("")

    def _judged(self, corpus: Corpus) -> str:
        """With which changes, on what, at which step."""
        if self._shown is None:
            return ""
        (_, step), changes = self._shown[0]
        part = "held-out part of " if self.session.scores.part == "validation" else ""
        judged = f"{part}{corpus.name} · step {step:,}"
        if changes:
            return f"{in_words(changes)} · {judged}"
        return f"without the changes · {judged}" if self.session.surgery.in_force else judged

    def _read_example(self, right: int, given: int) -> None:
        part = self.session.scores.part
        if self.score is None or part is None:
            return
        number, place = self.score.first_of[right, given].tolist()
        self._grid.set_cell(right, given)
        model = self.session.library.model
        per_text = model is not None and model.predicts.per == "text"
        self.session.reading.read_example(number, part, None if per_text else place)


class _Beside(QWidget):
    """The counts with what they come to beside them, or below where there is no room beside."""

    def __init__(self, grid: QWidget, sentences: Sequence[QWidget]) -> None:
        super().__init__()
        self._grid = grid
        told = column(*sentences, STRETCH, gap=4)
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._both.setContentsMargins(0, 0, 0, 0)
        self._both.setSpacing(16)
        self._both.addWidget(grid, 3)
        self._both.addLayout(told, 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed = self._grid.minimumSizeHint().width() + self._both.spacing() + BESIDE * current_theme().scale
        is_wide = self.width() >= needed
        way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        if way != self._both.direction():
            self._both.setDirection(way)


def _in_all(score: LabelEvaluation) -> list[str]:
    """What all answers come to, as far as it can be measured."""
    lines = [f"{percentage(score.accuracy)} · {score.negative_log_likelihood:.4f} nats each"]
    for name, item in (("known", score.known), ("unknown", score.unknown)):
        if item is not None and score.unknown is not None:
            lines.append(f"{name} words: {percentage(item.accuracy)} of {count(item.count)}")
    lines.append(f"F1, mean of all labels: {percentage(score.macro_f1)}")
    if score.spans is not None and score.spans.f1 is not None:
        lines.append(f"F1 of whole spans: {percentage(score.spans.f1)} of {count(score.spans.wanted)}")
    return lines


def _columns(score: LabelEvaluation) -> list[Column]:
    """Precision, recall and F1 of each label, and of each kind of span below them."""
    rows = [
        (visible(name), item.count, item.precision, item.accuracy, item.f1)
        for name, item in score.by_label.items()
    ] + [
        (f"spans of {visible(kind)}", item.wanted, item.precision, item.recall, item.f1)
        for kind, item in score.by_span.items()
    ]
    names, counts, *shares = zip(*rows, strict=True)
    return [
        Column("label", names, tokens=True),
        Column("times", np.array(counts), count),
        *(
            Column(title, np.array(values, dtype=np.float64), share_or_none)
            for title, values in zip(("precision", "recall", "F1"), shares, strict=True)
        ),
    ]


def _needed(model: OpenedModel | None) -> str:
    """What to open first."""
    if model is None:
        return "Open a tagger or a classifier to see what it takes for what."
    return f"Open a text for {model.task.title.lower()} under Corpus, such as the one it learned from."


def _is_short(corpus: Corpus) -> bool:
    examples = corpus.validation_examples if len(corpus.validation_documents) else corpus.training_examples
    return examples is not None and len(examples.target.ids) <= FEW

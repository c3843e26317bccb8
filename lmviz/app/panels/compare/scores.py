"""How well each model predicts the same held-out text: per token, and per character across tokenizers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.session.comparison import names_of
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.tables.columns_model import Column
from lmviz.app.widgets.tables.table_view import TableView

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.app.workers.job import Job, Report
    from lmviz.training.evaluation import Evaluation

NOTHING_HELD_OUT = "This text has no held-out part: open it again with a validation share."


class ScoresPanel(Panel):
    """Measures when asked to, one model after the other; what was measured once is remembered."""

    needs_next_word = "Open a language model to measure it on texts; “lmviz evaluate” measures this one."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("scores_view")
        self._button = QPushButton("Measure")
        self._button.setObjectName("measure_button")
        self._button.setProperty("role", "link")
        self._button.clicked.connect(self._toggle)
        self._note = MutedLine(right=True)
        self._table = TableView()
        self._table.setAccessibleName("scores on the held-out text")
        self._empty = EmptyText()
        self._known: dict[tuple[Path, int, str], Evaluation] = {}
        self._job: Job | None = None
        self._share = 0.0
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._note)
        row.addWidget(self._button)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._table)
        self._card = Card("Scores", head, self._pages)
        self.column.addWidget(self._card)
        self.follow(
            session.library.model_changed,
            session.library.models_changed,
            session.library.step_changed,
            session.comparison.choice_changed,
            session.surgery.changed,
            session.text.changed,
            session.work.ready_changed,
        )

    @property
    def table(self) -> TableView:
        """The table itself."""
        return self._table

    def score_of(self, moment: Moment) -> Evaluation | None:
        """The measured score of a model and step on the open corpus."""
        corpus = self.session.text.corpus
        return None if corpus is None else self._known.get(_key(moment, corpus.fingerprint))

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Of each measured model: tokens, nats per token, perplexity, bits per character, unknown tokens."""
        moments = self.session.comparison.moments
        scores = zip(names_of(moments), map(self.score_of, moments), strict=True)
        return {
            name: np.array(
                [
                    score.tokens,
                    score.negative_log_likelihood,
                    score.perplexity,
                    score.bits_per_character,
                    score.unknown,
                ],
                dtype=np.float64,
            )
            for name, score in scores
            if score is not None
        }

    def recipe(self) -> str:
        from lmviz.inspection.recipes.run import scores_recipe
        from lmviz.inspection.recipes.text import settings_of

        corpus, moments = self.session.text.corpus, self.session.comparison.moments
        measured = [(str(model.folder), step) for model, step in moments if self.score_of((model, step))]
        if corpus is None or not measured or not corpus.sources:
            return ""
        return scores_recipe(corpus.sources, settings_of(corpus), measured)

    def refresh(self) -> None:
        corpus, moments = self.session.text.corpus, self.session.comparison.moments
        held_out = corpus is not None and len(corpus.validation_documents) > 0
        can_measure = held_out and bool(moments)
        name = corpus.name if corpus is not None else ""
        self._button.setVisible(can_measure)
        self._button.setText("Cancel" if self._job is not None else "Measure")
        self._button.setEnabled(self._job is not None or bool(self._missing()))
        self._card.set_title(f"Scores on the held-out part of {name}" if can_measure else "Scores")
        self._note.set_text(self._said() if can_measure else "")
        self._pages.setCurrentIndex(int(can_measure))
        if not moments:
            self._empty.set_text("Open or train models to evaluate them on the same text.")
        elif corpus is None:
            self._empty.set_text("Open a text: the models are evaluated on its held-out part.")
        elif not held_out:
            self._empty.set_text(NOTHING_HELD_OUT)
        else:
            self._fill(moments)

    def _fill(self, moments: tuple[Moment, ...]) -> None:
        found = [self.score_of(moment) for moment in moments]
        perplexity = [item.perplexity if item else np.nan for item in found]
        bits = [item.bits_per_character if item and item.bits_per_character else np.nan for item in found]
        tokens = [item.tokens if item else np.nan for item in found]
        unknown = [item.unknown_share if item else np.nan for item in found]
        self._table.set_columns(
            [
                Column("model", list(names_of(moments))),
                Column("tokens are", [model.tokenizer.kind for model, _ in moments]),
                Column("learned from", [_origin(model) for model, _ in moments]),
                Column("tokens judged", np.array(tokens), lambda value: _written(value, count)),
                Column(
                    "perplexity per token",
                    np.array(perplexity),
                    lambda value: _written(value, lambda known: number(known, 2)),
                ),
                Column(
                    "bits per character",
                    np.array(bits),
                    lambda value: _written(value, lambda known: number(known, 3)),
                ),
                Column("unknown", np.array(unknown), lambda value: _written(value, percentage)),
            ]
        )

    def _said(self) -> str:
        if self._job is not None:
            return f"{self._job.name}: {100 * self._share:.0f} %"
        said = "across tokenizers only bits per character compare; unknown words are spelled out"
        # A score is of a model as it was trained, and is remembered.
        return f"without the interventions · {said}" if self.session.surgery.in_force else said

    def _missing(self) -> list[Moment]:
        return [moment for moment in self.session.comparison.moments if self.score_of(moment) is None]

    def _toggle(self) -> None:
        if self._job is not None:
            self._job.cancel()
        else:
            self._measure_next()

    def _measure_next(self) -> None:
        corpus, missing = self.session.text.corpus, self._missing()
        if corpus is None or not missing:
            return
        moment = missing[0]
        key, documents = _key(moment, corpus.fingerprint), corpus.validation_documents
        folder, step = moment[0].folder, moment[1]

        def work(report: Report) -> Evaluation:
            from lmviz.runs.opening import open_model_of, open_recorded
            from lmviz.training.held_out import evaluate_documents

            # Its own instance: those of the reading thread belong to that thread alone.
            return evaluate_documents(open_model_of(open_recorded(folder), step), documents, report)

        def take(score: Evaluation) -> None:
            self._known[key] = score

        (name,) = names_of([moment])
        self._share = 0.0
        self._job = self.start_job(f"Judging {name}", work, take)
        self._job.progressed.connect(self._progress)
        self._job.ended.connect(self._go_on)
        self.refresh_soon()

    def _progress(self, share: float) -> None:
        self._share = share
        self._note.set_text(self._said())

    def _go_on(self, job: Job) -> None:
        """Start the next one, unless the work was cancelled or failed."""
        self._job = None
        if not job.is_cancelled and not self.complaint:
            self._measure_next()
        self.refresh_soon()


def _key(moment: Moment, fingerprint: str) -> tuple[Path, int, str]:
    return moment[0].folder, moment[1], fingerprint


def _origin(model: OpenedModel) -> str:
    return str(model.description.corpus.get("name", "")) or "an unknown text"


def _written(value: float, write: Callable[[float], str]) -> str:
    return "–" if np.isnan(value) else write(value)

"""What the model writes at the moment that is shown: a text sampled from the prefix, again and again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from lmviz.app.panels.panel import Panel
from lmviz.app.theme import current_theme, theme_switch
from lmviz.app.widgets.card import Card

if TYPE_CHECKING:
    from lmviz.app.session import Session
    from lmviz.models.model import Model

LENGTH = {"characters": 420, "bpe": 140, "words": 110}
PIECE = 8
EVERY = 6.0  # seconds between two texts while the moment keeps changing
WHILE_TRAINING = 500  # milliseconds between two pieces, so that training keeps its cores
BEGINNING = "\n"


class LiveSamplePanel(Panel):
    """A sample at the sampling options in force, written a few tokens at a time between other readings."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("live_sample_view")
        self._page = QPlainTextEdit()
        self._page.setReadOnly(True)
        self._page.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self._page.setAccessibleName("sampled text")
        self._card = Card("A sample", "", self._page)
        self.column.addWidget(self._card)
        self._text = self._begun_with = ""
        self._written = self._limit = 0
        self._step = -1
        self._begun = 0.0
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self.refresh_soon)
        self._next_piece = QTimer(self, singleShot=True)
        self._next_piece.timeout.connect(self._write_on)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self.follow(
            session.step_changed, session.model_changed, session.prefix_changed, session.sampling_changed
        )

    def refresh(self) -> None:
        """Begin anew, unless a text was begun a moment ago and the training just moves on."""
        session = self.session
        if session.model is None:
            self._card.set_aside("open or train a model")
            self._page.setPlainText("")
            return
        wait = EVERY - (time.monotonic() - self._begun)
        writing = self._written < self._limit
        running = session.training.phase == "running"
        if writing and wait > 0 and session.prefix == self._begun_with and session.live and running:
            self._later.start(round(1000 * wait))
            return
        self._next_piece.stop()
        self._begun, self._begun_with, self._step = time.monotonic(), session.prefix, session.step
        self._text, self._written = session.prefix, 0
        self._limit = LENGTH.get(session.model.tokenizer.kind, LENGTH["words"])
        if session.encoding is None or not len(session.encoding):
            self._text = BEGINNING
        self._card.set_aside(f"temperature {session.sampling.temperature:g}")
        self._write_on()

    def _write_on(self) -> None:
        """A few tokens at a time, so that nobody waits for the reading thread."""
        if not self.isVisible():
            return
        text, sampling, written = self._text, self.session.sampling, self._written
        first, now = self._step, self.session.step
        self._card.set_title(
            f"A sample, at step {now:,}" if now == first else f"A sample, steps {first:,} to {now:,}"
        )

        def work(model: Model) -> tuple[str, int, bool]:
            from dataclasses import replace

            from lmviz.decoding.sampling import sample

            ended, count, longer = False, 0, text
            for step in sample(model, text, PIECE, replace(sampling, seed=sampling.seed + written)):
                ended, count, longer = step.is_end, count + 1, step.text
            return longer, count, ended

        self.session.ask("live sample", work, self._take)

    def _take(self, piece: tuple[str, int, bool]) -> None:
        self._text, count, ended = piece
        self._written = self._limit if ended else self._written + count
        self._page.setPlainText(self._text)
        self._page.moveCursor(QTextCursor.MoveOperation.End)
        if self._written < self._limit:
            self._next_piece.start(WHILE_TRAINING if self.session.training.phase == "running" else 0)

    def _adopt_theme(self) -> None:
        self._page.setFont(current_theme().token_font(12.5))

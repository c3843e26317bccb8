"""A text sampled after the prefix from the shown snapshot, renewed while the model trains."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from lmviz.app.look.theme import current_theme, give_font, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.drawn_token import DrawnToken
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.base.plain_text import seen
from lmviz.decoding.options import DRAWING, SamplingOptions
from lmviz.decoding.sampling import sample
from lmviz.inspection.recipes.decoding import sample_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("live sample")

LENGTH = {"character": 420, "token": 140, "word": 110}
NO_MODEL = "Train a model, or open one: it writes a text here, over and over while it learns."
PIECE = 8
EVERY = 6.0  # seconds between two texts while the snapshot keeps changing
SHORTEST_PAUSE, LONGEST_PAUSE = 500, 2000  # milliseconds between two pieces while training
SHARE = 0.05  # of a core that writing may take from a training
BEGINNING = "\n"


@dataclass(frozen=True)
class _Piece:
    """Some tokens more, all of the text with them, and how many seconds of a core they took."""

    drawn: list[DrawnToken]
    text: str
    is_over: bool
    seconds: float


class LiveSamplePanel(Panel):
    """A sample at the sampling options in force, written a few tokens at a time between other readings."""

    needs_next_word = "It writes no text: open a language model to read what it writes while it learns."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._page = named(QPlainTextEdit(), description="sampled text")
        self._page.setReadOnly(True)
        self._page.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the panel's own is wanted
        self._page.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self._card = self.add_card("A sample", "", self._page)
        self._begun_with: tuple[OpenedModel | None, str] = (None, "")
        self._moments: list[RecipeSubject] = []
        self._drawn: list[DrawnToken] = []
        self._drawn_with: tuple[tuple[RecipeSubject, ...], SamplingOptions] = ((), SamplingOptions())
        self._next: list[DrawnToken] = []  # what is written on; shown with its first piece
        self._options = SamplingOptions()
        self._limit = 0
        self._begun = 0.0
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self.refresh_soon)
        self._next_piece = QTimer(self, singleShot=True)
        self._next_piece.timeout.connect(self._write_on)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self.follow(
            session.library.step_changed,
            session.library.model_changed,
            session.reading.prefix_changed,
            session.writing.sampling_changed,
            session.surgery.changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """What was drawn, token by token: the ids, their probabilities and the draws that chose them."""
        if not self._drawn:
            return {}
        return {
            "ids": np.array([item.id for item in self._drawn], dtype=np.int64),
            "probabilities": np.array([item.probability for item in self._drawn]),
            "draws": np.array([item.draw for item in self._drawn]),
        }

    def recipe(self) -> str:
        """None for a text written by several snapshots of a training."""
        moments, options = self._drawn_with
        if not self._drawn or len(moments) != 1:
            return ""
        return sample_recipe(moments[0], len(self._drawn), options.unusual_values(*DRAWING))

    def refresh(self) -> None:
        """Start a new text, unless one was started just before and only the training step has changed."""
        session = self.session
        if session.library.model is None:
            self.silence(KEY)
            self._card.set_aside("")
            self._card.set_placeholder(NO_MODEL)
            self._page.setPlainText("")
            self._drawn = []
            return
        wait = EVERY - (time.monotonic() - self._begun)
        writing = len(self._next) < self._limit
        running = session.training.state.phase == "running"
        if (
            writing
            and wait > 0
            and self._begins_with == self._begun_with
            and session.library.live
            and running
        ):
            self._later.start(round(1000 * wait))
            return
        self._next_piece.stop()
        self._begun, self._begun_with, self._options = (
            time.monotonic(),
            self._begins_with,
            session.writing.sampling,
        )
        self._next, self._moments = [], []
        self._limit = LENGTH[session.reading.noun]
        self._card.set_placeholder("")
        self._write_on()

    @property
    def _begins_with(self) -> tuple[OpenedModel | None, str]:
        """What writes, and after what."""
        return self.session.library.model, self.session.reading.prefix

    def _write_on(self) -> None:
        """A few tokens at a time, so that other requests to the reading thread need not wait."""
        session, options, ids = self.session, self._options, [item.id for item in self._next]
        if not self.is_in_sight:
            self.refresh_soon()  # another begins when it is shown again
            return
        shown = session.comparison.shown
        if shown is None or self._begins_with != self._begun_with:
            return  # another text begins soon: these ids may be no tokens of another model
        can_begin = session.reading.encoding is not None and len(session.reading.encoding) > 0
        text = session.reading.prefix if can_begin else BEGINNING
        moment = session.reading.moment_of(text)
        if moment not in self._moments:
            self._moments.append(moment)

        def work(model: Model) -> _Piece:
            began = time.thread_time()
            steps = list(sample(model, text, PIECE, options, ids))
            drawn = [DrawnToken.of(step) for step in steps]
            is_over = steps[-1].is_end and options.stop_at_end
            return _Piece(drawn, steps[-1].text, is_over, time.thread_time() - began)

        self.ask(Question(KEY, shown, work, grows=bool(ids)), self._append)

    def _append(self, piece: _Piece) -> None:
        self._next = self._drawn = [*self._next, *piece.drawn]
        self._drawn_with = tuple(self._moments), self._options
        first, now = self._moments[0].step, self._moments[-1].step
        model = self.session.library.model
        when = f"steps {first:,} to {now:,}" if now != first else ""
        if model is not None and now is not None and now == first:
            when = model.when(now)
        self._card.set_title(f"A sample, {when}" if when else "A sample")
        self._card.set_aside(f"temperature {self._options.temperature:g}")
        if piece.is_over:
            self._limit = len(self._drawn)
        self._page.setPlainText(seen(piece.text))
        self._page.moveCursor(QTextCursor.MoveOperation.End)
        if len(self._drawn) < self._limit:
            self._next_piece.start(self._pause_after(piece))

    def _pause_after(self, piece: _Piece) -> int:
        """Milliseconds until the next piece."""
        if self.session.training.state.phase != "running":
            return 0
        return min(max(SHORTEST_PAUSE, round(1000 * piece.seconds / SHARE)), LONGEST_PAUSE)

    def _adopt_theme(self) -> None:
        give_font(self._page, current_theme().token_font(12.5))

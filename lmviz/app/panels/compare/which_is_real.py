"""A game: a passage of the held-out text beside one that a model made up. Which is real?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from lmviz.app.panels.panel import Panel
from lmviz.app.session.comparing import lacking_for_a_game, offer_for_a_game, play_or_open
from lmviz.app.session.work import Moment
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.passage import Passage
from lmviz.decoding.which_is_real import Pair, RealGame, fitting_passages, invent

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from lmviz.app.session.session import Session
    from lmviz.decoding.options import SamplingOptions
    from lmviz.decoding.which_is_real import Passage as HeldOut
    from lmviz.text.corpus import Corpus

WHERE = "which is real"
PAIRS = 10
LENGTHS = {"characters": (60, 140), "bpe": (16, 32)}
USUAL_LENGTHS = (12, 24)
SIDE_BY_SIDE = 420
"""How wide two passages must be to stand beside each other."""


class WhichIsRealPanel(Panel):
    """Both passages begin alike; one goes on as it was written, the other as the present model would."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("real_view")
        self._passages: tuple[HeldOut, ...] = ()
        self._game: RealGame | None = None
        self._forgers: list[Moment] = []
        self._seed = 0
        self._is_revealed = False
        self._is_over = False
        self._complaint = ""
        self._build()
        self._card = Card("Which is real?", "", self._pages)
        self.column.addWidget(self._card)
        session.failed.connect(self._complain)
        session.corpus_changed.connect(self._forget)
        self.follow(
            session.corpus_changed, session.model_changed, session.models_changed, session.ready_changed
        )

    @property
    def game(self) -> RealGame | None:
        """The game under way; its pairs are those that were shown so far."""
        return self._game

    @property
    def pair(self) -> Pair | None:
        """The pair that is shown."""
        return self._game.pairs[-1] if self._game is not None and self._game.pairs else None

    def options_of(self, number: int) -> SamplingOptions:
        """How the passage of a round is drawn, the rounds being counted from 0."""
        return replace(self.session.sampling, seed=1000 * self._seed + number)

    def _build(self) -> None:
        self._invitation = Invitation("real_play_button")
        self._invitation.accepted.connect(lambda: play_or_open(self.session, self._start))
        self._beginning = QLabel()
        self._beginning.setProperty("role", "muted")
        self._beginning.setTextFormat(Qt.TextFormat.PlainText)
        self._beginning.setWordWrap(True)
        self._choices = (Passage("first passage"), Passage("second passage"))
        for first, choice in zip((True, False), self._choices, strict=True):
            choice.setObjectName("real_first" if first else "real_second")
            choice.chosen.connect(lambda first=first: self._answer(first))
        self._next = QPushButton("Next")
        self._next.setObjectName("real_next_button")
        self._next.clicked.connect(self._go_on)
        self._verdict = QLabel()
        self._verdict.setObjectName("real_verdict")
        self._pages = QStackedWidget()
        for page in (self._invitation, self._pair_page()):
            self._pages.addWidget(page)

    def _pair_page(self) -> QWidget:
        self._pair_row = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._pair_row.setSpacing(8)
        for choice in self._choices:
            self._pair_row.addWidget(choice, 1)
        below = QHBoxLayout()
        below.addWidget(self._verdict, 1)
        below.addWidget(self._next)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._beginning)
        column.addLayout(self._pair_row, 1)
        column.addLayout(below)
        return scrolling(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= self._card.length(SIDE_BY_SIDE)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._pair_row.setDirection(direction)

    def refresh(self) -> None:
        can_play = self._show_invitation()
        shown = can_play and self.pair is not None and not self._is_over
        self._pages.setCurrentIndex(int(shown))
        found = self._game.found if self._game is not None else ()
        self._card.set_aside(f"{sum(found)} of {len(found)} found" if found else "")
        if not shown:
            return
        pair = self.pair
        self._beginning.setText(f"{pair.beginning} …")
        if not self._is_revealed:
            for choice, text in zip(self._choices, pair.shown, strict=True):
                if choice.verdict or choice.text != _continued(text):
                    choice.set_passage(_continued(text))
        self._next.setVisible(self._is_revealed)
        self._verdict.setText("" if self._is_revealed else "Choose the one that somebody wrote.")
        if self._is_revealed:
            self._reveal(pair)

    def _reveal(self, pair: Pair) -> None:
        model, step = self._forgers[-1]
        invented = f"invented by {model.name} at step {step:,}"
        for choice, first in zip(self._choices, (True, False), strict=True):
            real = first == pair.real_first
            choice.set_verdict("real" if real else invented, emphasised=real)
        self._verdict.setText("You found it." if self._game.found[-1] else "You took the invented one.")

    def _show_invitation(self) -> bool:
        """What to do before one can play; whether one can."""
        lacking = lacking_for_a_game(
            self.session,
            model="Open or train a model that tries to fool you.",
            text="Open a text: the real passages come from its held-out part.",
            held_out="This text keeps nothing from training: open it with a validation part to play with.",
        )
        sentence = "The same beginning, continued twice: by the held-out text and by the model."
        if self._is_over:
            sentence = f"You found {self._game.score} of {len(self._game.found)} real passages."
        offer = "Play" if self._game is None else "Play again"
        first, _ = offer_for_a_game(self.session)
        self._invitation.invite(self._complaint or lacking or sentence, first if lacking else offer)
        return not lacking and not self._complaint

    def _start(self) -> None:
        corpus = self.session.corpus
        self._complaint = ""
        self._seed += 1
        seed = self._seed
        before, length = LENGTHS.get(corpus.tokenizer.kind, USUAL_LENGTHS)

        def work() -> tuple[HeldOut, ...]:
            return fitting_passages(
                corpus.validation, corpus.tokenizer, PAIRS, before=before, length=length, seed=seed
            )

        self.session.ask_reader(WHERE, work, lambda passages: self._begin_game(corpus, passages))

    def _begin_game(self, corpus: Corpus, passages: tuple[HeldOut, ...]) -> None:
        if corpus is self.session.corpus:
            self._passages, self._game, self._forgers = passages, RealGame(()), []
            self._is_over = False
            self._go_on()

    def _go_on(self) -> None:
        """Have the model that is present now invent the next passage."""
        done = len(self._game.found)
        if done == len(self._passages) or self.session.model is None:
            self._is_over = True
            self.refresh_soon()
            return
        passage, options = self._passages[done], self.options_of(done)
        moment, game = (self.session.model, self.session.step), self._game
        self._next.setEnabled(False)

        def take(pair: Pair) -> None:
            self._next.setEnabled(True)
            if self._game is game:
                self._game = replace(game, pairs=(*game.pairs, pair))
                self._forgers.append(moment)
                self._is_revealed = False
                self.refresh_soon()

        self.session.ask_of(moment, WHERE, lambda model: invent(model, passage, options), take)

    def _answer(self, first: bool) -> None:
        if self._game is not None and self._game.current is not None and not self._is_revealed:
            self._game = self._game.answered(first)
            self._is_revealed = True
            self.refresh_soon()

    def _forget(self) -> None:
        """Another text, another game."""
        self._game, self._is_revealed, self._is_over, self._complaint = None, False, False, ""
        self._next.setEnabled(True)
        self.session.silence(WHERE)

    def _complain(self, where: str, sentence: str) -> None:
        if where == WHERE:
            self._forget()
            self._complaint = sentence
            self.refresh_soon()


def _continued(text: str) -> str:
    return f"… {text.strip()}"

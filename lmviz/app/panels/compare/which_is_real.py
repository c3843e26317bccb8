"""A game: which of two passages is from the held-out text, and which did a model generate?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from lmviz.app.panels.compare.game import GamePanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import Moment
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, row, sheet
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.passage_view import PassageView
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.which_is_real import HeldOutPassage, Pair, RealGame, fitting_passages, invent

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

PAIRS = 10
LENGTHS = {"characters": (60, 140), "bpe": (16, 32)}
USUAL_LENGTHS = (12, 24)
SIDE_BY_SIDE = 420
"""The width at which two passages fit side by side."""


class WhichIsRealPanel(GamePanel):
    """Both passages begin alike; one continues with the held-out text, one with text of the shown model."""

    needs_next_word = "Open a language model to tell its writing from the real text."

    title = "Which is real?"
    key = Key("which is real")
    needs_model = "Open or train a model to play against."
    needs_text = "Open a text: the real passages come from its held-out part."
    needs_held_out = "This text has no held-out part: open it again with a validation share."

    def __init__(self, session: Session) -> None:
        super().__init__(session, "real_play_button", "real_next_button")
        self.setObjectName("real_view")
        self._passages: tuple[HeldOutPassage, ...] = ()
        self.game: RealGame | None = None  # the game under way; its pairs are those that were shown so far
        self._forgers: list[Moment] = []
        self._temperatures: list[float] = []  # at which each invented passage was drawn
        self._is_revealed = False
        self._is_over = False
        self._build()

    @property
    def pair(self) -> Pair | None:
        """The pair that is shown."""
        return self.game.pairs[-1] if self.game is not None and self.game.pairs else None

    def options_of(self, number: int) -> SamplingOptions:
        """How the passage of a round is drawn, the rounds being counted from 0."""
        return replace(self.session.writing.sampling, seed=1000 * self.seed + number)

    def _build(self) -> None:
        self._beginning = Label(role="muted", wraps=True)
        self._choices = (PassageView("first passage"), PassageView("second passage"))
        for first, choice in zip((True, False), self._choices, strict=True):
            choice.setObjectName("real_first" if first else "real_second")
            choice.chosen.connect(lambda first=first: self._answer(first))
        self.next.clicked.connect(self._go_on)
        self._verdict = Label(name="real_verdict")
        self.add_page(self._pair_page())

    def _pair_page(self) -> QWidget:
        self._pair_row = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._pair_row.setSpacing(8)
        for choice in self._choices:
            self._pair_row.addWidget(choice, 1)
        below = row((self._verdict, 1), self.next)
        page = sheet(column(self._beginning, (self._pair_row, 1), below, gap=8))
        return scrolling(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= self.game_card.length(SIDE_BY_SIDE)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._pair_row.setDirection(direction)

    def refresh(self) -> None:
        can_play = self._show_invitation()
        pair = self.pair if can_play and not self._is_over else None
        self.show_page(int(pair is not None))
        found = self.game.found if self.game is not None else ()
        self.game_card.set_aside(f"{sum(found)} of {len(found)} found" if found else "")
        if pair is None:
            return
        self._beginning.setText(f"{pair.beginning} …")
        if not self._is_revealed:
            for choice, text in zip(self._choices, pair.shown, strict=True):
                if choice.verdict or choice.text != _continued(text):
                    choice.set_passage(_continued(text))
        self.next.setVisible(self._is_revealed)
        self._verdict.setText("" if self._is_revealed else "Which one is from the held-out text? Click it.")
        if self._is_revealed:
            self._reveal(pair, has_found=found[-1])
        self.pass_keyboard_to(self.next if self._is_revealed else self._choices[0])

    def _reveal(self, pair: Pair, *, has_found: bool) -> None:
        model, step = self._forgers[-1]
        forger = f"{model.name} {model.when(step)}".strip()
        invented = f"invented by {forger}, temperature {number(self._temperatures[-1], 2)}"
        for choice, first in zip(self._choices, (True, False), strict=True):
            real = first == pair.real_first
            choice.set_verdict("real" if real else invented, emphasised=real)
        self._verdict.setText("You found it." if has_found else "You chose the invented one.")

    def _show_invitation(self) -> bool:
        """What to do before one can play; whether one can."""
        sentence = (
            "The same beginning, continued twice: by the held-out text, and by the model, which draws at "
            f"temperature {number(self.session.writing.sampling.temperature, 2)}, as Sample has it."
        )
        if self.game is not None and self._is_over and self.game.found:
            sentence = f"You found {self.game.score} of {len(self.game.found)} real passages."
        return self.invite(sentence, again=self.game is not None)

    def start(self, corpus: Corpus) -> None:
        seed = self.seed
        before, length = LENGTHS.get(corpus.tokenizer.kind, USUAL_LENGTHS)

        def work(corpus: Corpus) -> tuple[HeldOutPassage, ...]:
            return fitting_passages(corpus.validation_stream, PAIRS, before=before, length=length, seed=seed)

        self.deal(corpus, work, self._begin_game)

    def _begin_game(self, corpus: Corpus, passages: tuple[HeldOutPassage, ...]) -> None:
        self._passages, self.game, self._forgers = passages, RealGame(()), []
        self._temperatures = []
        self._is_over = False
        self._invent(self.game)

    def _go_on(self) -> None:
        if self.game is not None:
            self._invent(self.game)

    def _invent(self, game: RealGame) -> None:
        """Have the model that is present now invent the next passage."""
        done = len(game.found)
        if done == len(self._passages) or self.session.library.model is None:
            self._is_over = True
            self.refresh_soon()
            return
        passage, options = self._passages[done], self.options_of(done)
        moment = (self.session.library.model, self.session.library.step)
        self.next.setEnabled(False)

        def take(pair: Pair) -> None:
            self.next.setEnabled(True)
            if self.game is game:
                self.game = replace(game, pairs=(*game.pairs, pair))
                self._forgers.append(moment)
                self._temperatures.append(options.temperature)
                self._is_revealed = False
                self.refresh_soon()

        self.ask(Question(self.key, moment, lambda model: invent(model, passage, options)), take)

    def _answer(self, first: bool) -> None:
        if self.game is not None and self.game.current is not None and not self._is_revealed:
            self.hold_keyboard()
            self.game = self.game.answered(first)
            self._is_revealed = True
            self.refresh_soon()

    def forget(self) -> None:
        self.game, self._is_revealed, self._is_over = None, False, False
        self.next.setEnabled(True)


def _continued(text: str) -> str:
    return f"… {text.strip()}"

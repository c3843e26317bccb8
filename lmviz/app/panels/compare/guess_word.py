"""A game: guess the next word in a held-out passage; you and the models are scored in bits."""

from __future__ import annotations

from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.panels.compare.game import GamePanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel, names_of
from lmviz.app.session.opened_model import Moment
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.controls.word_choice import WordChoice
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.tables.quiet_table import ROW
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import Distribution, next_distribution
from lmviz.decoding.guessing import GuessingGame, Round, choose_rounds, common_words, has_units, offered_words
from lmviz.looks.columns import Column
from lmviz.text.tokenizer import Tokenizer, visible

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus

ROUNDS = 10
BEFORE = {"characters": 60, "bpe": 24}
USUAL_BEFORE = 18
OFFERED = 4
SHOWN = 5
UNSURE = 50
"""The confidence, in percent, that the slider begins with."""


class GuessWordPanel(GamePanel):
    """Rounds from the held-out text. Nothing of what the models expect is shown before one commits."""

    needs_next_word = "See Confusion, or open a language model to guess words against it."

    title = "Guess the next word"
    key = Key("guess")
    needs_model = "Open or train a model to play against."
    needs_text = "Open a text: you guess words of its held-out part."
    needs_held_out = "This text has no held-out part: open it again with a validation share."

    def __init__(self, session: Session) -> None:
        super().__init__(session, "guess_play_button", "guess_next_button")
        self.setObjectName("guess_view")
        self.game: GuessingGame | None = None  # the game under way
        self._corpus: Corpus | None = None
        self._model_bits: dict[str, float] | None = None
        self._expected: Distribution | None = None
        self._is_revealed = False
        self._build()
        session.comparison.choice_changed.connect(self._ask_again)
        session.library.model_changed.connect(self._ask_again)

    @property
    def round(self) -> Round | None:
        """The round that is shown: the one to be played, or the one just played."""
        if self.game is None:
            return None
        return self.game.answers[-1].round if self._is_revealed else self.game.current

    @property
    def _noun(self) -> str:
        """What is guessed."""
        corpus = self.session.text.corpus
        return "word" if corpus is None else corpus.tokenizer.noun

    def _build(self) -> None:
        self._passage = Label(name="guess_passage", wraps=True)
        self._words = WordChoice("guess_edit")
        self._words.chosen.connect(self._commit)
        self._sure = SliderRow("how sure are you?", "how sure you are, in percent")
        self._sure.value_changed.connect(lambda value: self._sure.show_value(value, f"{value} %"))
        self._verdict = Label(name="guess_verdict", wraps=True)
        self._told_by = MutedLine()
        self._bars = named(BarsView(), description="what the model expected")
        self.next.clicked.connect(self._go_on)
        self._look = named(QPushButton("Show predictions side by side"), "guess_look_button", role="link")
        self._look.setToolTip("Make this passage the prefix of the window")
        self._look.clicked.connect(self._compare_here)
        self._scores = named(TableView(), description="scores of the players")
        self.add_page(self._round_page())

    def _round_page(self) -> QWidget:
        buttons = row(self.next, self._look, STRETCH)
        above = (self._passage, self._words, self._sure, self._verdict)
        below = (self._scores, self._told_by, self._bars)
        return scrolling(sheet(column(*above, buttons, *below, STRETCH, gap=8)))

    def refresh(self) -> None:
        ready = self._show_invitation()
        game, shown = self.game, self.round
        self.game_card.set_title(f"Guess the next {self._noun}")
        self.show_page(int(ready and shown is not None))
        if not ready or game is None or shown is None:
            self.game_card.set_aside("")
            return
        number_of_round = len(game.answers) + (not self._is_revealed)
        self.game_card.set_aside(f"round {number_of_round} of {len(game.rounds)}")
        written = shown.answer.strip() or visible(shown.answer)
        self._passage.setText(f"“…{shown.text} {written if self._is_revealed else '____'}”")
        asking = (self._words, self._sure)
        telling = (self._verdict, self._told_by, self._bars, self.next, self._look)
        self.hold_keyboard_of(*(asking if self._is_revealed else telling))
        for question in asking:
            question.setVisible(not self._is_revealed)
        for answer in telling:
            answer.setVisible(self._is_revealed)
        if self._is_revealed:
            self._show_answer(game)
            self.pass_keyboard_to(self.next)
        elif self._words.own.isEnabled():
            self.pass_keyboard_to(self._words.own)
        self._show_scores(game)

    def _show_invitation(self) -> bool:
        """What to do before one can play; whether one can."""
        sentence = (
            f"Guess the next {self._noun} in held-out passages, and compare your score with the models'. It "
            "costs −log₂ p bits: p is how sure you were if you are right, plus the rest times how often "
            f"the {self._noun} occurs in the text."
        )
        if self.game is not None and self.game.current is None and not self._is_revealed:
            sentence = (
                f"You needed {self.game.mean_bits['you']:.2f} bits a {self._noun}. {_say_best(self.game)}"
            )
        return self.invite(sentence, again=self.game is not None)

    def _players(self) -> tuple[Moment, ...]:
        """The models that play along: those whose tokens make up what is to be guessed."""
        corpus = self.session.text.corpus
        return tuple(
            moment
            for moment in self.session.comparison.moments
            if corpus is not None and has_units(moment[0].tokenizer, corpus.tokenizer)
        )

    def lacking(self) -> str:
        lacking, model, corpus = super().lacking(), self.session.library.model, self.session.text.corpus
        if lacking or model is None or corpus is None or self._players():
            return lacking
        return (
            f"{model.name} reads {_units(model.tokenizer)} and cannot guess the {_units(corpus.tokenizer)} "
            f"of {corpus.name}: open a model of those, or the text as {_units(model.tokenizer)}."
        )

    def _show_answer(self, game: GuessingGame) -> None:
        answer = game.answers[-1]
        came = visible(answer.round.answer.strip(" ")) or visible(answer.round.answer)
        guessed = "" if answer.is_right else f", not “{answer.guess.strip()}”"
        praise = "Right" if answer.is_right else "It was"
        self._verdict.setText(f"{praise}: “{came}”{guessed}. That cost you {answer.bits['you']:.2f} bits.")
        rows = self._expected.top(SHOWN) if self._expected is not None else ()
        self._bars.set_bars(
            [visible(row.token) for row in rows],
            [row.probability for row in rows],
            highlighted={n for n, row in enumerate(rows) if answer.round.is_right(row.token)},
        )
        self._bars.setMinimumHeight(self._bars.sizeHint().height())

    def _show_scores(self, game: GuessingGame) -> None:
        means = game.mean_bits
        last = game.answers[-1].bits if game.answers else {}
        players = sorted(means, key=means.__getitem__)
        self._scores.setVisible(bool(players))
        written = partial(number, digits=2)
        columns = [
            Column("player", players),
            Column(f"last {self._noun}", np.array([last[name] for name in players]), written),
            Column(
                f"bits a {self._noun}",
                np.array([means[name] for name in players]),
                lambda bits: number(bits, 2),
            ),
        ]
        self._scores.set_columns(columns)
        self._scores.setFixedHeight(round(self.game_card.length(ROW) * (len(players) + 1.5)))
        self._scores.set_current(players.index("you") if "you" in players else -1)

    def start(self, corpus: Corpus) -> None:
        seed, before = self.seed, BEFORE.get(corpus.tokenizer.kind, USUAL_BEFORE)

        def work(corpus: Corpus) -> tuple[Round, ...]:
            return choose_rounds(corpus.validation_stream, ROUNDS, before=before, seed=seed)

        self.deal(corpus, work, self._begin_game)

    def _begin_game(self, corpus: Corpus, rounds: tuple[Round, ...]) -> None:
        self._corpus, self.game = corpus, GuessingGame(rounds)
        self._show_next()

    def _go_on(self) -> None:
        if self.game is None or self.game.current is None:
            self._is_revealed = False
            self.refresh_soon()
        else:
            self._show_next()

    def _show_next(self) -> None:
        """Show the next round, and have the models answer it meanwhile."""
        self._is_revealed = False
        self._words.clear()
        self._sure.set_range(99, UNSURE)
        self._sure.show_value(UNSURE, f"{UNSURE} %")
        self._ask()
        self.refresh_soon()

    def _ask_again(self) -> None:
        """Other models play along from this round on."""
        if self.game is not None and self.game.current is not None and not self._is_revealed:
            self._ask()

    def _ask(self) -> None:
        game, corpus, moments = self.game, self._corpus, self._players()
        current = game.current if game is not None else None
        self._model_bits = self._expected = None
        if game is None or current is None or corpus is None:
            return
        if not moments:
            self.forget()  # the last model that could play was closed: the invitation says what to open
            self.refresh_soon()
            return
        kinds = [model.tokenizer.kind for model, _ in moments]
        shown = self.session.comparison.present
        present = moments.index(shown) if shown in moments else 0
        # The present model says what it expected, unless only another has tokens like the corpus's.
        alike = [place for place, kind in enumerate(kinds) if kind == corpus.tokenizer.kind]
        teller = present if present in alike or not alike else alike[0]
        seed = self.seed + len(game.answers)

        def told(place: int, model: Model) -> tuple[float, Distribution | None]:
            expected = None
            if place == teller:
                continuation = Continuation.of(model, current.text)
                expected = next_distribution(continuation.logits, tokens=continuation.tokens)
            return current.model_bits(model), expected

        def take(found: list[tuple[float, Distribution | None]]) -> None:
            if self.game is None or self.game.current is not current:
                return
            self._model_bits = dict(zip(names_of(moments), (bits for bits, _ in found), strict=True))
            expected = self._expected = found[teller][1]
            self._told_by.set_text(f"what {names_of(moments)[teller]} expected")
            if alike and expected is not None:
                self._words.offer(offered_words(current, expected, OFFERED, seed))
            else:
                self._words.offer(common_words(current, corpus.validation, corpus.tokenizer, OFFERED, seed))
            self.refresh_soon()

        models = tuple(map(ComparedModel, moments))
        self.ask(Question(self.key, models, lambda found: list(starmap(told, enumerate(found)))), take)

    def _compare_here(self) -> None:
        if self.round is not None:
            self.session.reading.set_prefix(self.round.text)

    def _commit(self, guess: str) -> None:
        if self.game is None or self._model_bits is None or self._is_revealed or not guess:
            return
        self.hold_keyboard()
        self.game = self.game.answered(guess, self._sure.value / 100, self._model_bits)
        self._is_revealed = True
        self.refresh_soon()

    def forget(self) -> None:
        self.game, self._corpus, self._is_revealed = None, None, False


def _say_best(game: GuessingGame) -> str:
    models = {name: bits for name, bits in game.mean_bits.items() if name != "you"}
    if not models:
        return ""
    best = min(models, key=models.__getitem__)
    return f"The best model, {best}, needed {models[best]:.2f}."


def _units(tokenizer: Tokenizer) -> str:
    return "pieces of words" if tokenizer.noun == "token" else f"{tokenizer.noun}s"

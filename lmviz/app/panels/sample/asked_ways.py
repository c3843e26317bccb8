"""The same question asked three ways: as a chat, as plain text, and with special tokens as letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.figures import counted
from lmviz.app.widgets.text.answer_rows import AnswerRow, AnswerRows
from lmviz.base.errors import LmvizError
from lmviz.decoding.asked_ways import AS_CHAT, AS_LETTERS, AS_PLAIN_TEXT, WrittenAnswer, answers, asked_ways
from lmviz.inspection.recipes.decoding import asked_ways_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject
from lmviz.text.chat import Turn, chat_text
from lmviz.text.tokenizer import Encoding, Tokenizer, token_name

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("asked ways")
PAUSE = 150  # milliseconds without a change before the question is asked
TITLE = "The same question, asked three ways"
HOW = "the likeliest token each time · its probability in per cent"
NO_MODEL = "Open a model that was trained to answer to ask it one question three ways."
NO_QUESTION = (
    "Type a question above: it is asked as a chat, as plain text and with special tokens as letters."
)
MEANINGS = {
    AS_CHAT: "the template, with its special tokens",
    AS_PLAIN_TEXT: "the question alone",
    AS_LETTERS: "as chat, with each special token spelt out",
}


class AskedWaysPanel(Panel):
    """What the shown model answers to each, token by token, and what that was: an end, or none."""

    needs_next_word = "Open a model that was trained to answer to ask it one question three ways."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._view = named(AnswerRows(), "asked_ways_rows", "what is answered to the question in three ways")
        self.found: dict[str, WrittenAnswer] = {}
        """What is drawn: the answers so far, by how the question was asked."""
        self._asked: object = None  # what the answers depend on that are written or drawn
        self._writing: _Writing | None = None
        self._drawn: _Writing | None = None
        self._card = self.add_card(TITLE, HOW, self._view)
        self._wait = QTimer(self, singleShot=True, interval=PAUSE)
        self._wait.timeout.connect(self._begin)
        self.follow(
            session.chat.changed,
            session.reading.encoding_changed,
            session.library.model_changed,
            session.library.step_changed,
            session.surgery.changed,
        )

    @property
    def is_whole(self) -> bool:
        """Whether each answer has ended, or is as long as it may be."""
        return bool(self.found) and all(answer.is_whole for answer in self.found.values())

    @property
    def is_behind(self) -> bool:
        is_asking = self._writing is not self._drawn and not self.is_out_of_place
        return is_asking or super().is_behind

    @property
    def said(self) -> dict[str, str]:
        """What each answer was, by how the question was asked."""
        return {row.name: row.said for row in self._view.rows}

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """For each way the ids of the question, of the answer, and the probabilities of these."""
        found: dict[str, np.ndarray] = {}
        if self._drawn is None:
            return found
        for way, answer in self.found.items():
            found[f"{way}/asked"] = self._drawn.prompts[way]
            found[f"{way}/ids"] = np.array(answer.ids, dtype=np.int64)
            found[f"{way}/probabilities"] = np.array(answer.probabilities)
        return found

    def recipe(self) -> str:
        drawn = self._drawn
        return "" if drawn is None else asked_ways_recipe(drawn.moment, drawn.question)

    def out_of_place(self, model: OpenedModel) -> str:
        if super().out_of_place(model) or self.session.chat.is_possible:
            return super().out_of_place(model)
        return f"{model.name} has no template for chats. {self.needs_next_word}"

    def refresh(self) -> None:
        model, question = self.session.library.model, self._words_asked()
        missing = NO_MODEL if model is None else "" if question else NO_QUESTION
        self._card.set_placeholder(missing)
        if missing:
            self.silence(KEY)
            self.found, self._drawn, self._asked, self._writing = {}, None, None, None
            return
        asked = self._standing
        if asked != self._asked:
            self.silence(KEY)
            self._asked, self._writing = asked, None
            self._wait.start()
        elif self._writing is None:
            if not self.session.work.is_busy(KEY):
                self._wait.start()
        elif not (self.is_whole and self._writing is self._drawn) and not self.session.work.is_busy(KEY):
            self._go_on(self._writing)  # it stopped where it was hidden

    def handle_failure(self, key: str) -> None:
        self._writing = None

    def _words_asked(self) -> str:
        """What the user asks: the last question of a chat, or else all that is typed."""
        chat, reading = self.session.chat, self.session.reading
        return (chat.question if chat.is_on else reading.prefix).strip()

    @property
    def _standing(self) -> object:
        """What the answers depend on."""
        session = self.session
        return session.library.moment, session.surgery.in_force, session.reading.prefix, session.chat.is_on

    def _begin(self) -> None:
        """Ask the question anew."""
        session, model = self.session, self.session.library.model
        if model is None or self._asked != self._standing or not session.chat.is_possible:
            return
        question, tokenizer, asked = self._words_asked(), model.find_tokenizer(), self._asked

        def take(chat: str) -> None:
            if asked == self._asked == self._standing:
                self._ask_as(model, chat)

        if session.chat.is_on:
            take(session.reading.prefix)
            return
        self._await(KEY)
        turns = [Turn("user", question)]
        session.work.ask_beside(KEY, lambda: chat_text(tokenizer, turns), *self._ends(KEY, take))

    def _ask_as(self, model: OpenedModel, chat: str) -> None:
        """Ask the question, which is this chat."""
        session, question, tokenizer = self.session, self._words_asked(), model.find_tokenizer()
        try:
            prompts = asked_ways(tokenizer, chat, question)
        except LmvizError as sentence:
            self.complain(str(sentence), KEY)
            return
        moment = replace(session.reading.moment_of(chat), spells_out=False)
        written = tokenizer.encode_prefix(chat) if session.chat.is_on else None
        authors = "" if written is None else self._authors(written)
        self._writing = _Writing(prompts, moment, question, authors, model.tokenizer)
        self._go_on(self._writing)

    def _authors(self, chat: Encoding) -> str:
        """Who wrote the tokens of a chat."""
        special, spans = sum(chat.special), zip(chat.offsets, chat.special, strict=True)
        own = sum(not of and not self.session.chat.is_of_template(*span) for span, of in spans)
        return f"{own} yours, {len(chat) - own - special} the template’s, {special} special"

    def _go_on(self, writing: _Writing) -> None:
        """One token more of each answer, so that other requests to the reading thread need not wait."""
        known = self.found.values() if writing is self._drawn else ()
        count = max((len(answer.ids) for answer in known), default=0) + 1

        def take(found: dict[str, WrittenAnswer]) -> None:
            if writing is not self._writing:
                return
            self._drawn, self.found = writing, found
            self._draw(writing)
            if self.is_whole:
                return
            if self.is_in_sight:
                self._go_on(writing)
            else:
                self.refresh_soon()  # it goes on when it is seen again

        def work(model: Model) -> dict[str, WrittenAnswer]:
            return writing.written(model, count)

        shown = self.session.comparison.shown
        if shown is not None:
            self.ask(Question(KEY, shown, work, grows=writing is self._drawn), take)

    def _draw(self, writing: _Writing) -> None:
        rows = []
        for way, answer in self.found.items():
            special = writing.tokenizer.are_special(answer.ids)
            rows.append(
                AnswerRow(
                    name=way,
                    amount=counted(len(writing.prompts[way]), "token"),
                    meaning=(way == AS_CHAT and writing.authors) or MEANINGS[way],
                    tokens=tuple(map(token_name, answer.tokens, special)),
                    probabilities=answer.probabilities,
                    special=frozenset(at for at, is_special in enumerate(special) if is_special),
                    said=in_words(answer),
                )
            )
        self._view.set_rows(rows)


def in_words(answer: WrittenAnswer) -> str:
    """What an answer did: whether it says something, and whether it ends."""
    if answer.has_ended and len(answer.ids) == 1:
        return "The likeliest next token is the end: it says nothing at all."
    if answer.has_ended:
        return "It answers, and says by itself that its turn is over."
    if answer.repeated is not None:
        return (
            f"Nothing tells it to stop: it says the same {counted(answer.repeated, 'token')} again and again."
        )
    if answer.is_whole:
        return f"It does not stop: after {counted(len(answer.ids), 'token')} there is no end yet."
    return "It writes …"


class _Writing:
    """The answers to one question under way; `written` belongs to the reading thread."""

    def __init__(
        self,
        prompts: dict[str, np.ndarray],
        moment: RecipeSubject,
        question: str,
        authors: str,
        tokenizer: Tokenizer,
    ) -> None:
        self.prompts, self.moment, self.question, self.authors = prompts, moment, question, authors
        self.tokenizer = tokenizer
        self._model: Model | None = None
        self._answers: Iterator[dict[str, WrittenAnswer]] = iter(())
        self._found: dict[str, WrittenAnswer] = {}
        self._count = 0

    def written(self, model: Model, count: int) -> dict[str, WrittenAnswer]:
        """The answers, so many tokens each, or as many as they have."""
        if model is not self._model:  # the cache may have dropped the instance that it began with
            self._model, self._answers, self._count = model, answers(model, self.prompts), 0
        while self._count < count and (found := next(self._answers, None)) is not None:
            self._found, self._count = found, self._count + 1
        return self._found

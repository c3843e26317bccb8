"""The prefix as a chat: what system, user and assistant say, put together by the template of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.library import Library
    from lmviz.text.chat import Turn
    from lmviz.text.tokenizer import Tokenizer

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
QUESTION = 1
"""The line of the first question, among those of a chat."""


class Chat(Part):
    """Questions to a model that was trained to answer, and the beginning of its next answer.

    It has a line for each turn: the first is the system's, the second a question, and the last the answer,
    which is not over. While it is on, the prefix is what the template makes of them. A prefix that comes from
    elsewhere, such as a lesson's, or a model without a template, ends it.
    """

    changed = Signal()

    def __init__(self, library: Library, reading: CurrentReading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library, self._reading = library, reading
        self._lines = [(SYSTEM, ""), (USER, ""), (ASSISTANT, "")]
        self._is_on = False
        self._written: str | None = None  # the prefix as the template made it
        self._own: tuple[tuple[int, int], ...] = ()  # where in it stands what somebody has said
        self._default: tuple[Tokenizer, str | None] | None = None
        library.model_changed.connect(self._follow_model)
        reading.prefix_changed.connect(self._follow_prefix)

    @property
    def is_possible(self) -> bool:
        """Whether the shown model has a template."""
        model = self._library.model
        # A model of lmviz has none, and is not asked for its tokenizer before the first paint.
        return model is not None and model.run.was_trained_elsewhere and bool(model.tokenizer.chat_template)

    @property
    def is_on(self) -> bool:
        """Whether the prefix is a chat."""
        return self._is_on

    @property
    def default_system(self) -> str | None:
        """What the template says as the system where nobody does; None where it knows no system."""
        from lmviz.text.chat import system_text

        tokenizer = self._reading.tokenizer
        if tokenizer is None or not self.is_possible:
            return None
        if self._default is None or self._default[0] is not tokenizer:
            self._default = tokenizer, system_text(tokenizer)
        return self._default[1]

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Who says what, in order: the role and the words of each line."""
        return tuple(self._lines)

    @property
    def question(self) -> str:
        """What the user said last."""
        return next(words for role, words in reversed(self._lines) if role == USER)

    def is_of_template(self, first: int, last: int) -> bool:
        """Whether the characters of a token, from the first up to the last, were written by the template."""
        return self._is_on and not any(first < end and last > begun for begun, end in self._own)

    def turn_on(self, on: bool) -> None:
        """Read what is typed as a question in a chat, or the last question alone as plain text."""
        if on == self._is_on or (on and not self.is_possible):
            return
        if on:
            self.begin(self._reading.prefix)
            return
        self._end()
        self._reading.set_prefix(self.question)

    def begin(self, question: str) -> None:
        """Begin a chat with a question; the system says what the template has it say."""
        self._lines = [(SYSTEM, ""), (USER, question), (ASSISTANT, "")]
        self._is_on = True
        self._write_down()

    def say(self, line: int, text: str) -> None:
        """Have somebody say something else in a line."""
        role, before = self._lines[line]
        if text != before:
            self._lines[line] = role, text
            self._write_down()

    def roles_to_add(self) -> tuple[str, ...]:
        """Who may speak next, as the template has it; what is begun as an answer is said by then."""
        from lmviz.text.chat import chat_text

        tokenizer, found = self._reading.tokenizer, []
        for role in (USER, ASSISTANT, SYSTEM):
            try:
                if tokenizer is not None:
                    chat_text(tokenizer, _turns(self._with_turn(role)))
                    found.append(role)
            except LmvizError:
                continue
        return tuple(found)

    def add_turn(self, role: str) -> None:
        """Have somebody speak next; the answer that was begun is over, and another one follows."""
        self._lines = self._with_turn(role)
        self._write_down()

    def remove_turn(self, line: int) -> None:
        """Take a turn back that was added."""
        if QUESTION < line < len(self._lines) - 1:
            del self._lines[line]
            self._write_down()

    def _with_turn(self, role: str) -> list[tuple[str, str]]:
        *said, answer = self._lines
        return [*said, *([answer] if answer[1] else []), (role, ""), (ASSISTANT, "")]

    def _write_down(self) -> None:
        """Have the prefix follow what has been changed. Where it cannot, the last that is said is why."""
        if self._write():
            self.changed.emit()

    def _write(self) -> bool:
        """Have the prefix be what the template makes of the chat. Where it makes nothing, the chat ends."""
        from lmviz.text.chat import chat_text, places_of_turns

        tokenizer = self._reading.tokenizer
        if tokenizer is None:
            return True
        turns, answer = _turns(self._lines), self._lines[-1][1]
        try:
            asked = chat_text(tokenizer, turns)
        except LmvizError as sentence:
            self._end()
            self.failed.emit(str(sentence))
            return False
        text = asked + answer
        self._own = (*places_of_turns(tokenizer, turns, asked), (len(asked), len(text)))
        self._written = text
        self._reading.set_prefix(text)
        return True

    def _end(self) -> None:
        self._is_on, self._written = False, None
        self.changed.emit()

    def _follow_model(self) -> None:
        """Another model has another template, or none."""
        if self._is_on and self.is_possible:
            self._write_down()
            return
        if self._is_on:
            self.turn_on(False)
        self.changed.emit()

    def _follow_prefix(self) -> None:
        if self._is_on and self._reading.prefix != self._written:
            self._end()


def _turns(lines: list[tuple[str, str]]) -> list[Turn]:
    """The turns of lines before the answer; a system that nobody speaks for is left to the template."""
    from lmviz.text.chat import Turn

    first, *others = lines[:-1]
    return [Turn(*line) for line in ([first] if first[1] else []) + others]

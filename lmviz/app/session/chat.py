"""The prefix as a chat: what system, user and assistant say, put together by the template of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.library import Library
    from lmviz.app.session.work import Work
    from lmviz.text.chat import Turn
    from lmviz.text.tokenizer import Tokenizer

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
QUESTION = 1
"""The line of the first question, among those of a chat."""

KEY = "chat"
MOST = 200_000
"""Characters of a chat: what a template makes of it is cut into tokens while the window waits."""


@dataclass(frozen=True)
class _Written:
    """What the template makes of a chat: the text, where in it stands what each turn says, and who may speak
    next; what the system says where nobody does."""

    text: str
    places: tuple[tuple[int, int], ...]
    next_roles: tuple[str, ...]
    system: str | None


class Chat(Part):
    """Questions to a model that was trained to answer, and the beginning of its next answer.

    It has a line for each turn: the first is the system's, the second a question, and the last the answer,
    which is not over. While it is on, the prefix is what the template makes of them, soon after each change:
    a template may take seconds, and the window does not wait for it. What is added to its end elsewhere is
    said by the assistant; another prefix, such as a lesson's, or a model without a template, ends it.
    """

    changed = Signal()

    def __init__(
        self, work: Work, library: Library, reading: CurrentReading, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._library, self._reading = library, reading
        self._lines = [(SYSTEM, ""), (USER, ""), (ASSISTANT, "")]
        self._is_on = False
        self._written: str | None = None  # the prefix as the template made it
        self._own: tuple[tuple[int, int], ...] = ()  # where in it stands what somebody has said
        self._default: tuple[Tokenizer, str | None] | None = None
        self._next_roles: tuple[str, ...] = ()
        self._otherwise: Callable[[], object] | None = None
        library.model_changed.connect(self._follow_model)
        reading.prefix_changed.connect(self._follow_prefix)

    @property
    def is_possible(self) -> bool:
        """Whether the shown model has a template."""
        model = self._library.model
        # A model of lmviz has none, and is not asked for its tokenizer before the first paint.
        return model is not None and model.run.began_elsewhere and bool(model.tokenizer.chat_template)

    @property
    def is_on(self) -> bool:
        """Whether the prefix is a chat."""
        return self._is_on

    @property
    def is_writing(self) -> bool:
        """Whether the template is still to make a text of what is said."""
        return self._work.is_busy(KEY)

    @property
    def default_system(self) -> str | None:
        """What the template says as the system where nobody does; None where it knows no system, or has not
        yet written anything."""
        is_known = self._default is not None and self._default[0] is self._reading.tokenizer
        return self._default[1] if self._default is not None and is_known else None

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

    def begin(self, question: str, otherwise: Callable[[], object] | None = None) -> None:
        """Begin a chat with a question; the system says what the template has it say.

        `otherwise` is called if the template makes nothing of it.
        """
        self._lines = [(SYSTEM, ""), (USER, question), (ASSISTANT, "")]
        # Until the template has made a text of it, whatever else is typed ends the chat.
        self._is_on, self._written, self._otherwise = True, None, otherwise
        self._write_down()

    def say(self, line: int, text: str) -> None:
        """Have somebody say something else in a line."""
        role, before = self._lines[line]
        if text != before:
            self._lines[line] = role, text
            self._write_down()

    def roles_to_add(self) -> tuple[str, ...]:
        """Who may speak next, as the template has it; what is begun as an answer is said by then."""
        return self._next_roles

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
        """Have the prefix follow what has been changed. Where it cannot, the chat ends, and says why."""
        self.begun.emit()
        self.changed.emit()
        tokenizer = self._reading.tokenizer
        if tokenizer is None or not self._is_on:
            return
        turns, answer = _turns(self._lines), self._lines[-1][1]
        further = {role: _turns(self._with_turn(role)) for role in (USER, ASSISTANT, SYSTEM)}
        knows_system = self._default is not None and self._default[0] is tokenizer

        def take(found: _Written) -> None:
            begun = len(found.text)
            self._own = (*found.places, (begun, begun + len(answer)))
            self._written, self._next_roles, self._otherwise = found.text + answer, found.next_roles, None
            if not knows_system:
                self._default = tokenizer, found.system
            self._reading.set_prefix(self._written)
            self.changed.emit()

        self._work.ask_beside(
            KEY, lambda: _write(tokenizer, turns, further, not knows_system), take, self._refuse
        )

    def _refuse(self, sentence: str) -> None:
        otherwise = self._otherwise
        self._end()
        self.failed.emit(sentence)
        if otherwise is not None:
            otherwise()

    def _end(self) -> None:
        self._work.silence(KEY)
        self._is_on, self._written, self._otherwise = False, None, None
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
        """What is added at the end, as a click on a next word does, is said by the assistant."""
        prefix, written = self._reading.prefix, self._written
        if not self._is_on or prefix == written:
            return
        if written is None or not prefix.startswith(written):
            self._end()
            return
        self._written, answer = prefix, self._lines[-1][1]
        self.say(len(self._lines) - 1, answer + prefix.removeprefix(written))


def _write(
    tokenizer: Tokenizer, turns: list[Turn], further: dict[str, list[Turn]], asks_system: bool
) -> _Written:
    """Have the template write a chat; `further` has its turns where each role speaks next."""
    from lmviz.text.chat import chat_text, places_of_turns, system_text

    text = chat_text(tokenizer, turns)
    if len(text) > MOST:
        raise LmvizError(f"The template makes more than {MOST:,} characters of this chat: say less.")
    roles = []
    for role, longer in further.items():
        try:
            chat_text(tokenizer, longer)
        except LmvizError:
            continue
        roles.append(role)
    places = tuple(places_of_turns(tokenizer, turns, text))
    return _Written(text, places, tuple(roles), system_text(tokenizer) if asks_system else None)


def _turns(lines: list[tuple[str, str]]) -> list[Turn]:
    """The turns of lines before the answer; a system that nobody speaks for is left to the template."""
    from lmviz.text.chat import Turn

    first, *others = lines[:-1]
    return [Turn(*line) for line in ([first] if first[1] else []) + others]

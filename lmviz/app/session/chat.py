"""The prefix as a chat: what system, user and assistant say, put together by the template of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.library import Library
    from lmviz.text.tokenizer import Tokenizer

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"


class Chat(Part):
    """One question to a model that was trained to answer, and the beginning of its answer.

    While it is on, the prefix is what the template makes of it. A prefix that comes from elsewhere, such as
    a lesson's, or a model without a template, ends it.
    """

    changed = Signal()

    def __init__(self, library: Library, reading: CurrentReading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library, self._reading = library, reading
        self._said = {SYSTEM: "", USER: "", ASSISTANT: ""}
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

    def is_of_template(self, first: int, last: int) -> bool:
        """Whether the characters of a token, from the first up to the last, were written by the template."""
        return self._is_on and not any(first < end and last > begun for begun, end in self._own)

    def said(self, role: str) -> str:
        """What the system, the user or the assistant says."""
        return self._said[role]

    def turn_on(self, on: bool) -> None:
        """Read what is typed as a question in a chat, or the question alone as plain text."""
        if on == self._is_on or (on and not self.is_possible):
            return
        if on:
            self.begin(self._reading.prefix)
            return
        self._end()
        self._reading.set_prefix(self._said[USER])

    def begin(self, question: str) -> None:
        """Begin a chat with a question; the system says what the template has it say."""
        self._said = {SYSTEM: "", USER: question, ASSISTANT: ""}
        self._is_on = True
        self._write()
        self.changed.emit()

    def say(self, role: str, text: str) -> None:
        """Have the system, the user or the assistant say something else."""
        if text != self._said[role]:
            self._said[role] = text
            self._write()

    def _write(self) -> None:
        """Have the prefix be what the template makes of the chat."""
        from lmviz.text.chat import Turn, chat_text

        tokenizer = self._reading.tokenizer
        if tokenizer is None:
            return
        said = self._said
        turns = [Turn(SYSTEM, said[SYSTEM])] if said[SYSTEM] else []
        try:
            text = chat_text(tokenizer, [*turns, Turn(USER, said[USER])]) + said[ASSISTANT]
        except LmvizError as sentence:
            self._end()
            self.failed.emit(str(sentence))
            return
        # A template may take the spaces around a turn away.
        system, question = said[SYSTEM].strip(), said[USER].strip()
        begun = (text.find(system), text.rfind(question, 0, len(text) - len(said[ASSISTANT])))
        spans = [(at, at + len(words)) for at, words in zip(begun, (system, question), strict=True)]
        self._own = (*spans, (len(text) - len(said[ASSISTANT]), len(text)))
        self._written = text
        self._reading.set_prefix(text)

    def _end(self) -> None:
        self._is_on, self._written = False, None
        self.changed.emit()

    def _follow_model(self) -> None:
        """Another model has another template, or none."""
        if self._is_on and self.is_possible:
            self._write()
        elif self._is_on:
            self.turn_on(False)
        self.changed.emit()

    def _follow_prefix(self) -> None:
        if self._is_on and self._reading.prefix != self._written:
            self._end()

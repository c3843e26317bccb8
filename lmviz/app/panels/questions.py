"""What a panel has asked under each key, and which of its questions the picture answers."""

from __future__ import annotations

from collections.abc import Callable


class Questions:
    """By key the question that was asked last, and the one that what is drawn answers.

    A panel that goes from one question to another and back before the answer has come has what it wants: it
    must neither ask again nor be given the answer to the other one.
    """

    def __init__(self, is_busy: Callable[[str], bool]) -> None:
        """`is_busy` says whether an answer under a key is still to come."""
        self._is_busy = is_busy
        self._asked: dict[str, object] = {}
        self._drawn: dict[str, object] = {}

    def begin(self, key: str, question: object) -> None:
        """A question is asked; until it is answered, what is drawn answers the one before."""
        self._asked[key] = question

    def is_awaited(self, key: str, question: object) -> bool:
        """Whether the answer to a question is on its way."""
        return key in self._asked and self._asked[key] == question and self._is_busy(key)

    def is_drawn(self, key: str, question: object) -> bool:
        """Whether what is drawn is the whole answer to a question."""
        return key in self._drawn and self._drawn[key] == question

    def draw(self, key: str, draw: Callable[[], object]) -> None:
        """Draw an answer; where its question goes on, what is drawn is no whole answer to it yet."""
        asked = self._asked.get(key)
        draw()
        if not self._is_busy(key) and key in self._asked:
            self._drawn[key] = self._asked[key]
        elif self._asked.get(key) is not asked:
            self._drawn.pop(key, None)

    def replace(self, key: str) -> None:
        """What is drawn is part of an answer that grows."""
        self._drawn.pop(key, None)

    def forget(self, key: str) -> None:
        """Nothing is on its way, and nothing is drawn that would not have to be asked again."""
        self._asked.pop(key, None)
        self._drawn.pop(key, None)

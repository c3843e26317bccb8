"""How far a person has come in a lesson, as a value that settings can hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class LessonProgress:
    """`step` is where one was last, counted from 0; `done` are the steps that were done, in any order."""

    step: int = 0
    done: frozenset[int] = frozenset()

    def at(self, step: int) -> Self:
        """The same, standing at another step."""
        return replace(self, step=step)

    def with_done(self, step: int) -> Self:
        """The same with one more step done."""
        return replace(self, done=self.done | {step})

    def to_text(self) -> str:
        """As it is kept: "3: 0 1 2"."""
        return f"{self.step}: {' '.join(map(str, sorted(self.done)))}".strip()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """What was kept; where it was damaged, the beginning."""
        step, _, done = text.partition(":")
        numbers = [step, *done.split()]
        if not all(number.isascii() and number.isdigit() and len(number) < 4 for number in numbers):
            return cls()
        return cls(int(step), frozenset(map(int, done.split())))

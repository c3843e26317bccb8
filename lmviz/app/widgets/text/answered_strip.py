"""Tokens as chips, and under each the label that a model gives it, beside the right one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPaintEvent

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, cut
from lmviz.app.widgets.text.chips import CHIP, ROW_WITH_TAGS, ChipLayout, lay_out
from lmviz.app.widgets.text.token_strip import TokenStrip

LABEL_SIZE, RIGHT_SIZE = 11, 10
BAR = 2.5
BETWEEN = 8  # pixels at scale 1 between a label and the right one


@dataclass(frozen=True)
class TokenAnswer:
    """The likeliest label of a token and its probability; `right` is what is right, where that is known.

    `wrong` where another label is right. A label of "" stands for one that is not known yet.
    """

    label: str = ""
    probability: float = 0.0
    right: str = ""
    wrong: bool = False

    @property
    def beside(self) -> str:
        """What stands beside the label: a tick where it is the one that is right."""
        return "✓" if self.right == self.label else f"gold {self.right}" if self.right else ""


class AnsweredStrip(TokenStrip):
    """`AnsweredStrip()`: a `TokenStrip`; `set_answers(answers)`, one for each token, or none at all.

    Chips grow with their answers, and shrink only with other tokens: while a model learns, words stay put.
    """

    def __init__(self) -> None:
        super().__init__()
        self._answers: tuple[TokenAnswer, ...] = ()
        self._widest: tuple[object, list[float]] = (
            None,
            [],
        )  # the widest answers so far of some tokens

    @property
    def answers(self) -> tuple[TokenAnswer, ...]:
        """What stands under the tokens."""
        return self._answers

    def set_answers(self, answers: Sequence[TokenAnswer]) -> None:
        """Show what a model says of each token; empty for a model that says nothing of them."""
        if tuple(answers) != self._answers:
            self._answers = tuple(answers)
            if not answers:
                self._widest = (None, [])
            said = ", ".join(
                f"{token}: {answer.label}{', wrong' if answer.wrong else ''}"
                for token, answer in zip(self.tokens, self._answers, strict=False)
                if answer.label
            )
            self.setAccessibleDescription(said or f"{len(self.tokens)} tokens")
            self.lay_out_anew()

    def lay_out(self, width: int) -> ChipLayout:
        below = self._room_below() if self._answers else ()
        return lay_out(self.tokens, width, self.theme, below=below)

    def minimumSizeHint(self) -> QSize:
        if not self._answers:
            return super().minimumSizeHint()
        return QSize(round(self.length(80)), round(self.length(ROW_WITH_TAGS)))

    def _room_below(self) -> list[float]:
        """The room under each token, in pixels: for the widest answer that has stood there."""
        subject = self.tokens, self.length(1)
        room = [self._below(place) for place in range(len(self.tokens))]
        if self._widest[0] == subject:
            room = list(map(max, room, self._widest[1]))
        self._widest = subject, room
        return room

    def _below(self, place: int) -> float:
        """How wide the words under a token are, in pixels."""
        answer = self._answers[place] if place < len(self._answers) else TokenAnswer()
        wide = metrics(LABEL_SIZE, token=True, bold=True).horizontalAdvance(answer.label)
        if answer.right:
            wide += self.length(BETWEEN) + metrics(RIGHT_SIZE).horizontalAdvance(answer.beside)
        return wide + self.length(5)  # with what is left free on both sides

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        super().paint(painter, event)
        if not self._answers:
            return
        shown = self.laid_out().between(event.rect().top(), event.rect().bottom())
        for place in shown[: len(self._answers)]:
            answer = self._answers[place]
            if answer.label:
                self._draw_answer(painter, answer, self.token_rectangle(place))

    def _draw_answer(self, painter: Painter, answer: TokenAnswer, chip: QRectF) -> None:
        theme = self.theme
        ink = theme.warning if answer.wrong else theme.accent
        area = chip.translated(0, self.length(CHIP)).adjusted(self.length(2), 0, -self.length(2), 0)
        words, bar = QRectF(area), QRectF(area)
        words.setHeight(area.height() - self.length(BAR))
        bar.setTop(words.bottom())
        measure = metrics(LABEL_SIZE, token=True, bold=True)
        shown = cut(answer.label, words.width(), measure)
        painter.write(words, shown, ink, LABEL_SIZE, bold=True, token=True)
        if answer.right:
            left = words.adjusted(measure.horizontalAdvance(shown) + self.length(4), 0, 0, 0)
            said = cut(answer.beside, left.width(), metrics(RIGHT_SIZE))
            beside = theme.warning if answer.wrong else theme.muted_text
            painter.write(left, said, beside, RIGHT_SIZE, where=AT_RIGHT)
        painter.share(bar, answer.probability, ink, radius=1)

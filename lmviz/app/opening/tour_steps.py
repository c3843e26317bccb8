"""What the tour asks for: ten short steps, each with a control, a sentence, and how one knows it was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.plots.bars import BarsView

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

PAUSE = 1100  # milliseconds after the last thing done, so that one sees what it did
READING = 2500  # the same where there are numbers to read

Done = Callable[[], bool]
"""Whether what was asked for has been done since the step began."""


@dataclass(frozen=True)
class TourStep:
    """One step: where, at which control, what to say, and how one knows that it was done.

    `control` is an object name; the one that can be seen is meant. `watched` are others whose content is
    about to change, which the card leaves free. When `told` is emitted, what `begins` gave at the beginning
    says whether the step is done. The tour goes on `pause` milliseconds after the last telling, or, where
    there is no end of them, after the first.
    """

    perspective: str
    control: str
    sentence: str
    told: Callable[[Session, QWidget], SignalInstance]
    begins: Callable[[Session], Done]
    watched: tuple[str, ...] = ()
    pause: int = PAUSE
    may_repeat: bool = False


def _differs(state: Callable[[Session], Any]) -> Callable[[Session], Done]:
    """Done while something is not as it was."""

    def begin(session: Session) -> Done:
        before = state(session)
        return lambda: state(session) != before

    return begin


def _has_been(is_so: Callable[[Session], bool]) -> Callable[[Session], Done]:
    """Done from when something is so, even if it does not last."""

    def begin(session: Session) -> Done:
        seen: list[bool] = []

        def is_done() -> bool:
            if is_so(session):
                seen.append(True)
            return bool(seen)

        return is_done

    return begin


def _has_passed(is_so: Callable[[Session], bool]) -> Callable[[Session], Done]:
    """Done when something has been so, and is so no more."""

    def begin(session: Session) -> Done:
        has_been = _has_been(is_so)(session)
        has_been()
        return lambda: has_been() and not is_so(session)

    return begin


def _is_early(session: Session) -> bool:
    """Whether an early moment of the training is shown."""
    return session.library.model is not None and session.library.step < max(
        session.library.model.snapshots, default=0
    )


STEPS = (
    TourStep(
        "attention",
        "prefix_bar",
        "A model reads this text and predicts the next word. Change the text: take a word away, or add one.",
        lambda session, control: session.reading.prefix_changed,
        _differs(lambda session: session.reading.prefix),
        watched=("next_word_view", "attention_view"),
    ),
    TourStep(
        "attention",
        "next_word_view",
        "These are the words it thinks could come next. Click a bar to write that word.",
        lambda session, control: control.findChild(BarsView).bar_clicked,
        _differs(lambda session: session.reading.prefix),
        watched=("prefix_bar",),
    ),
    TourStep(
        "attention",
        "prefix_tokens",
        "The text has become tokens. Click one: everything shows what was predicted there. "
        "Then press Escape to let go of it.",
        lambda session, control: session.focus.position_changed,
        _has_passed(lambda session: session.focus.is_position_pinned),
        watched=("next_word_view", "attention_view"),
    ),
    TourStep(
        "attention",
        "heads_view",
        "Each small square is an attention head, one way of looking back. Click another one.",
        lambda session, control: session.attention.head_changed,
        _differs(lambda session: session.attention.head),
        watched=("attention_view", "attention_text_view"),
    ),
    TourStep(
        "attention",
        "attention_view",
        "Rows look at columns. Point at a strong cell: so much of its attention a word gives to another.",
        lambda session, control: session.focus.hovered_cell_changed,
        _has_been(lambda session: session.focus.hovered_cell is not None),
        watched=("why_view", "prefix_bar"),
        pause=READING,
    ),
    TourStep(
        "attention",
        "snapshot_slider",
        "This is training time. Pull the handle to the left and see what the model knew early on. "
        "Then bring it back to the end.",
        lambda session, control: session.library.step_changed,
        _has_passed(_is_early),
        watched=("attention_view", "next_word_view", "heads_view"),
    ),
    TourStep(
        "inside",
        "stage_next",
        "Inside walks through the whole computation, one stage after the other. Go to the next stage.",
        lambda session, control: session.focus.stage_changed,
        _differs(lambda session: session.focus.stage),
        watched=("stage_view", "picture_view", "state_view"),
    ),
    TourStep(
        "inside",
        "state_view",
        "Every cell is a real number of this model. Point at one, and “Why this number?” works it out.",
        lambda session, control: session.focus.hovered_cell_changed,
        _has_been(lambda session: session.focus.hovered_cell is not None),
        watched=("why_view", "stage_view"),
        pause=READING,
    ),
    TourStep(
        "sample",
        "sample_step_button",
        "To write, the model rolls a die on its distribution. Roll it once.",
        lambda session, control: session.writing.branches_changed,
        _differs(lambda session: session.writing.branches.chosen()),
        watched=("roll_view", "distribution_view"),
        pause=READING,
    ),
    TourStep(
        "train",
        "train_button",
        "Now your own: choose a family on the left and press Train. Every panel can watch it learn.",
        lambda session, control: session.training.changed,
        _has_been(lambda session: session.training.state.is_active),
        watched=("family_picker", "loss_view"),
        may_repeat=True,
    ),
)

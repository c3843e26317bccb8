"""The ten steps of the tour: each with a control, a sentence, and the condition that ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.plots.bars import BarsView

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

PAUSE = 1100  # milliseconds after a step is done, so that the effect is seen
READING = 2500  # the same where there are numbers to read

Done = Callable[[], bool]
"""Whether the step has been done since it began."""


@dataclass(frozen=True)
class TourStep:
    """One step: the perspective, the control, the sentence, and the condition that ends it.

    `control` is an object name; the visible one is meant. `watched` are other controls that will change and
    must not be covered by the card. Each time the signal `told` is emitted, the function that `begins`
    returned at the start says whether the step is done. The next step follows `pause` milliseconds after the
    last such signal, or, with `may_repeat`, after the first.
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
    """Done while a value differs from the one at the start."""

    def begin(session: Session) -> Done:
        before = state(session)
        return lambda: state(session) != before

    return begin


def _has_been(is_so: Callable[[Session], bool]) -> Callable[[Session], Done]:
    """Done once a condition has been true, even if it no longer is."""

    def begin(session: Session) -> Done:
        seen: list[bool] = []

        def is_done() -> bool:
            if is_so(session):
                seen.append(True)
            return bool(seen)

        return is_done

    return begin


def _has_passed(is_so: Callable[[Session], bool]) -> Callable[[Session], Done]:
    """Done once a condition has been true and no longer is."""

    def begin(session: Session) -> Done:
        has_been = _has_been(is_so)(session)
        has_been()
        return lambda: has_been() and not is_so(session)

    return begin


def _bars_in(panel: QWidget) -> BarsView:
    bars = panel.findChild(BarsView)
    assert bars is not None, "the next words are drawn as bars"
    return bars


def _is_early(session: Session) -> bool:
    """Whether an earlier snapshot than the last one is shown."""
    return session.library.model is not None and session.library.step < max(
        session.library.model.snapshots, default=0
    )


STEPS = (
    TourStep(
        "attention",
        "prefix_bar",
        "A model reads this text and predicts the next word. Change the text: delete a word, or add one.",
        lambda session, control: session.reading.prefix_changed,
        _differs(lambda session: session.reading.prefix),
        watched=("next_word_view", "attention_view"),
    ),
    TourStep(
        "attention",
        "next_word_view",
        "These are the words it predicts next, with their probabilities. Click a bar to add that word.",
        lambda session, control: _bars_in(control).bar_clicked,
        _differs(lambda session: session.reading.prefix),
        watched=("prefix_bar",),
    ),
    TourStep(
        "attention",
        "prefix_tokens",
        "The text is split into tokens. Click one: all panels show the prediction after it. "
        "Then press Escape to unpin it.",
        lambda session, control: session.focus.position_changed,
        _has_passed(lambda session: session.focus.is_position_pinned),
        watched=("next_word_view", "attention_view"),
    ),
    TourStep(
        "attention",
        "heads_view",
        "Each small square is an attention head, a way of looking back at earlier words. Click another.",
        lambda session, control: session.attention.head_changed,
        _differs(lambda session: session.attention.head),
        watched=("attention_view", "attention_text_view"),
    ),
    TourStep(
        "attention",
        "attention_view",
        "Rows look at columns: the darker, the more attention that word pays. Point at a strong cell.",
        lambda session, control: session.focus.hovered_cell_changed,
        _has_been(lambda session: session.focus.hovered_cell is not None),
        watched=("why_view", "prefix_bar"),
        pause=READING,
    ),
    TourStep(
        "attention",
        "snapshot_slider",
        "This is training time. Drag the handle to the left to see what the model knew early on. "
        "Then drag it back to the end.",
        lambda session, control: session.library.step_changed,
        _has_passed(_is_early),
        watched=("attention_view", "next_word_view", "heads_view"),
    ),
    TourStep(
        "inside",
        "stage_next",
        "Inside shows the whole computation, stage by stage. Go to the next stage.",
        lambda session, control: session.focus.stage_changed,
        _differs(lambda session: session.focus.stage),
        watched=("stage_view", "picture_view", "state_view"),
    ),
    TourStep(
        "inside",
        "state_view",
        "Every cell is a number inside this model. Point at one: “Why this number?” shows its computation.",
        lambda session, control: session.focus.hovered_cell_changed,
        _has_been(lambda session: session.focus.hovered_cell is not None),
        watched=("why_view", "stage_view"),
        pause=READING,
    ),
    TourStep(
        "sample",
        "sample_step_button",
        "To write, a token is drawn at random from the distribution. Roll the die once.",
        lambda session, control: session.writing.branches_changed,
        _differs(lambda session: session.writing.branches.chosen()),
        watched=("roll_view", "distribution_view"),
        pause=READING,
    ),
    TourStep(
        "train",
        "new_run_button",
        "Now train your own: press Train. In less than a minute it writes sentences, and every panel "
        "shows it as it learns.",
        lambda session, control: session.training.changed,
        _has_been(lambda session: session.training.state.is_active),
        watched=("family_picker", "loss_view", "live_sample_view"),
        may_repeat=True,
    ),
)

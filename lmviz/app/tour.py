"""The tour: ten short steps that point at real controls and wait for the person to use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.spotlight import Spotlight

if TYPE_CHECKING:
    from lmviz.app.main_window import MainWindow
    from lmviz.app.session import Session

PAUSE = 1100  # milliseconds after the last thing done, so that one sees what it did


@dataclass(frozen=True)
class Step:
    """One step: where, at which control, what to say, and what the session tells when it was done.

    `control` is an object name; the one that can be seen is meant. What is `gradual`, such as typing, is
    done when nothing has been told for a moment.
    """

    perspective: str
    control: str
    sentence: str
    done: Callable[[Session], SignalInstance]
    gradual: bool = False


STEPS = (
    Step(
        "attention",
        "prefix_edit",
        "A model reads this text and predicts the next word. Change the text: take a word away, or add one.",
        lambda session: session.prefix_changed,
        gradual=True,
    ),
    Step(
        "attention",
        "next_word_view",
        "These are the words it thinks could come next. Click a bar to write that word.",
        lambda session: session.prefix_changed,
    ),
    Step(
        "attention",
        "prefix_tokens",
        "The text has become tokens. Click one: everything shows what was predicted there. "
        "Escape lets go again.",
        lambda session: session.position_changed,
    ),
    Step(
        "attention",
        "heads_view",
        "Each small square is an attention head, one way of looking back. Click another one.",
        lambda session: session.head_changed,
    ),
    Step(
        "attention",
        "attention_view",
        "Rows look at columns. Point at a cell: it says its number, in every panel.",
        lambda session: session.hovered_cell_changed,
    ),
    Step(
        "attention",
        "snapshot_slider",
        "This is time. Pull the handle to the left and see what the model knew early in its training.",
        lambda session: session.step_changed,
        gradual=True,
    ),
    Step(
        "inside",
        "stage_next",
        "Inside walks through the whole computation, one stage after the other. Go to the next stage.",
        lambda session: session.stage_changed,
    ),
    Step(
        "inside",
        "state_view",
        "Every cell is a real number of this model. Point at one, and “Why this number?” works it out.",
        lambda session: session.hovered_cell_changed,
    ),
    Step(
        "sample",
        "sample_step_button",
        "To write, the model rolls a die on its distribution. Roll it once.",
        lambda session: session.branches_changed,
    ),
    Step(
        "train",
        "train_button",
        "Now your own: choose a family on the left and press Train. Every panel can watch it learn.",
        lambda session: session.training_changed,
    ),
)


class Tour(QObject):
    """Leads through the window. `start()`, `go_on()`, `end()`; signal `ended` when it is over."""

    ended = Signal()

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._light = Spotlight(window)
        self._light.next_wanted.connect(self.go_on)
        self._light.end_wanted.connect(self.end)
        self._number = -1
        self._awaited: SignalInstance | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(PAUSE)
        self._soon.timeout.connect(self.go_on)
        self._arrive = QTimer(self)
        self._arrive.setSingleShot(True)  # a perspective that was not shown yet has no controls before
        self._arrive.timeout.connect(self._point)

    @property
    def step(self) -> Step | None:
        """The step one is at; None when there is no tour."""
        return STEPS[self._number] if self._number >= 0 else None

    @property
    def spotlight(self) -> Spotlight:
        """What points at the controls."""
        return self._light

    def start(self) -> None:
        """Begin at the first step."""
        self._go_to(0)

    def go_on(self) -> None:
        """To the next step; after the last one the tour is over."""
        if self._number + 1 < len(STEPS):
            self._go_to(self._number + 1)
        else:
            self.end()

    def end(self) -> None:
        """Stop here."""
        self._wait_for(None)
        self._number = -1
        self._soon.stop()
        self._arrive.stop()
        self._light.stop()
        self.ended.emit()

    def _go_to(self, number: int) -> None:
        self._soon.stop()
        self._number = number
        step = STEPS[number]
        if step.perspective == "train":
            self._window.beginning.prepare_training()
        else:
            self._window.show_perspective(step.perspective)
        self._wait_for(step.done(self._window.session))
        self._arrive.start()

    def _point(self) -> None:
        step = self.step
        if step is None:
            return
        found = self._window.findChildren(QWidget, step.control)
        control = next((widget for widget in found if widget.isVisible()), None)
        if control is None:
            self.go_on()  # its panel has been closed
            return
        last = self._number + 1 == len(STEPS)
        heading = f"{self._number + 1} of {len(STEPS)}"
        self._light.point_at(control, heading, step.sentence, "done" if last else "next")

    def _wait_for(self, signal: SignalInstance | None) -> None:
        if self._awaited is not None:
            self._awaited.disconnect(self._take_note)
        self._awaited = signal
        if signal is not None:
            signal.connect(self._take_note)

    def _take_note(self) -> None:
        """What the step asks for was done, or some of it."""
        is_shown = self._light.control is not None and not self._arrive.isActive()
        if is_shown and (self.step.gradual or not self._soon.isActive()):
            self._soon.start()

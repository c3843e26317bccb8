"""The tour: ten short steps that point at real controls and wait for the person to use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QScrollArea, QWidget

from lmviz.app.opening.tour_steps import STEPS, Done, TourStep
from lmviz.app.widgets.controls.spotlight import Spotlight

if TYPE_CHECKING:
    from lmviz.app.opening.shell import Shell

TRY_AGAIN, TRIES = 50, 40  # milliseconds between looks for a control that is not there yet, and how many


class Tour(QObject):
    """Leads through the window. `start()`, `go_on()`, `go_back()`, `end()`; signals: `ended`,
    and `training_wanted` at a step that needs a text to train on.
    """

    ended = Signal()
    training_wanted = Signal()

    def __init__(self, window: Shell, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = window
        self._light = Spotlight(parent)
        self._light.next_wanted.connect(self.go_on)
        self._light.back_wanted.connect(self.go_back)
        self._light.return_wanted.connect(self._return)
        self._light.end_wanted.connect(self.end)
        self._number = -1
        self._awaited: SignalInstance | None = None
        self._is_done: Done | None = None
        self._tries = 0
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.go_on)
        self._arrive = QTimer(self)
        self._arrive.setSingleShot(True)  # a perspective that was not shown yet has no controls before
        self._arrive.timeout.connect(self._point)

    @property
    def step(self) -> TourStep | None:
        """The current step; None when the tour is not running."""
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

    def go_back(self) -> None:
        """To the step before."""
        self._go_to(max(0, self._number - 1))

    def end(self) -> None:
        """Stop here."""
        self._wait_for(None)
        self._number = -1
        self._soon.stop()
        self._arrive.stop()
        self._light.stop()
        self.ended.emit()

    def _return(self) -> None:
        """Back to where this step is, after the person went somewhere else."""
        self._go_to(self._number)

    def _go_to(self, number: int) -> None:
        self._soon.stop()
        self._wait_for(None)
        self._number = number
        step = STEPS[number]
        if step.perspective == "train":
            self.training_wanted.emit()
        else:
            self._window.show_perspective(step.perspective)
        self._tries = TRIES
        self._arrive.start(0)

    def _point(self) -> None:
        """Point at the control of this step, once it is there."""
        step = self.step
        if step is None:
            return
        control = self._window.find_control(step.control)
        if control is None:
            self._tries -= 1
            if self._tries:
                self._arrive.start(TRY_AGAIN)
            else:
                self.go_on()  # its panel has been closed
            return
        _scroll_to(control)
        self._is_done = step.begins(self._window.session)
        self._wait_for(step.told(self._window.session, control))
        watched = [found for found in map(self._window.find_control, step.watched) if found is not None]
        self._light.point_at(
            control,
            step.sentence,
            f"{self._number + 1} of {len(STEPS)}",
            watched=watched,
            is_first=self._number == 0,
            is_last=self._number + 1 == len(STEPS),
        )

    def _wait_for(self, signal: SignalInstance | None) -> None:
        if self._awaited is not None:
            self._awaited.disconnect(self._take_note)
        self._awaited = signal
        if signal is not None:
            signal.connect(self._take_note)

    def _take_note(self) -> None:
        """Check whether the step is done now."""
        step = self.step
        if step is None or self._is_done is None:
            return
        is_done = self._is_done()
        self._light.confirm(is_done)
        if not is_done:
            self._soon.stop()
        elif not (step.may_repeat and self._soon.isActive()):
            self._soon.start(step.pause)


def _scroll_to(control: QWidget) -> None:
    """Bring a control into sight, in a window that is too small for all of its panels."""
    around = control.parentWidget()
    while around is not None:
        if isinstance(around, QScrollArea):
            around.ensureWidgetVisible(control)
        around = around.parentWidget()

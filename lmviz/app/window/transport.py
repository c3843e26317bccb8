"""The transport: training's buttons and figures, and the time slider beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.offers import FIRST_TEXT
from lmviz.app.session.training import NO_TEXT
from lmviz.app.widgets.base.figures import short
from lmviz.app.widgets.plots.sparkline import Sparkline
from lmviz.app.window.notice import Notice
from lmviz.app.window.time_controls import TimeControls

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

WIDE, MEDIUM, NARROW = 1180, 940, 840
"""Pixels at scale 1 below which, one after the other, speed, curve and words give way to the slider."""


class Transport(QFrame):
    """Shows and steers the session's training, and holds the time slider."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("transport")
        self.train_button = _button("train_button", "Train", "train, or go on after a pause")
        self.train_button.setProperty("role", "primary")
        self.pause_button = _button("pause_button", "", "pause training")
        self.step_button = _button("step_button", "one step", "one training step")
        self.stop_button = _button("stop_button", "", "stop training")
        self._step = _Figure("training_step")
        self._loss = _Figure("training_loss")
        self._sparkline = Sparkline()
        self._speed = _Figure("training_speed")
        self._speed.setProperty("role", "muted")
        self.time = TimeControls(session)
        self.notice = Notice()
        row = QHBoxLayout()
        row.setContentsMargins(16, 10, 16, 10)
        row.setSpacing(14)
        figures = (self._step, self._loss, self._sparkline, self._speed)
        for widget in (self.train_button, self.pause_button, self.step_button, self.stop_button, *figures):
            row.addWidget(widget)
        row.addWidget(self.time, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.notice)
        column.addLayout(row)
        self._connect()
        self._adopt_theme()
        self._show_training()

    def _connect(self) -> None:
        session = self._session
        self.train_button.clicked.connect(self._train)
        self.pause_button.clicked.connect(session.training.pause)
        self.step_button.clicked.connect(session.training.step)
        self.stop_button.clicked.connect(session.training.stop)
        session.training.changed.connect(self._show_training)
        session.training.failed.connect(self._say)
        self.notice.show_failures(session.training.live_failed, session.library.step_changed)
        session.library.model_changed.connect(self._offer_to_go_on)
        theme_switch().theme_changed.connect(self._adopt_theme)

    def toggle_training(self) -> None:
        """Pause what runs; go on with what waits."""
        if self._session.training.state.phase == "running":
            self._session.training.pause()
        else:
            self._train()

    def _train(self) -> None:
        if self._session.training.state.phase == "paused":
            self._session.training.resume()
        else:
            self._session.training.start()

    def _say(self, sentence: str) -> None:
        if sentence == NO_TEXT:
            self.notice.offer(sentence, f"Open “{FIRST_TEXT}”", lambda: self._session.text.open(FIRST_TEXT))
        else:
            self.notice.say(sentence)
            self._offer_to_go_on()

    def _offer_to_go_on(self) -> None:
        """Put a button beside what stopped the training, once its run is open and can be resumed."""
        sentence = self._session.training.state.sentence
        if sentence and sentence == self.notice.sentence and self._session.training.can_go_on:
            self.notice.offer(sentence, "Resume", self._session.training.resume)

    def _show_training(self) -> None:
        training = self._session.training.state
        progress, phase = training.progress, training.phase
        if phase == "preparing":
            self.notice.hide()  # what it says is about an earlier training
        self.train_button.setText("Resume" if phase == "paused" else "Train")
        self.train_button.setEnabled(phase not in ("preparing", "running"))
        self.pause_button.setEnabled(phase == "running")
        self.stop_button.setEnabled(training.is_active)
        self._fit()
        if progress is None:
            self._step.say("preparing …" if phase == "preparing" else "not training")
            return
        self._step.say(f"step {progress.step:,} / {progress.steps:,}")
        loss = training.history.loss.values
        self._loss.say(f"loss {loss[-1]:.2f}" if len(loss) else "")
        self._sparkline.set_values(loss)
        left = f" · {_clock(progress.seconds_left)} left" if phase == "running" else f" · {phase}"
        self._speed.say(f"{short(progress.tokens_per_second)} tok/s{left}")

    def _fit(self) -> None:
        width = self.width() / current_theme().scale
        has_figures = self._session.training.state.progress is not None
        self._loss.setVisible(has_figures)
        self._sparkline.setVisible(has_figures and width >= MEDIUM)
        self._speed.setVisible(has_figures and width >= WIDE)
        self.step_button.setText("one step" if width >= MEDIUM else "")
        self.time.set_wordy(width >= NARROW)

    def _adopt_theme(self) -> None:
        theme = current_theme()
        self.train_button.setIcon(icon("transport/play", theme.on(theme.accent), theme.muted_text))
        for button, name in (
            (self.pause_button, "pause"),
            (self.step_button, "step"),
            (self.stop_button, "stop"),
        ):
            button.setIcon(icon(f"transport/{name}", theme.text, theme.faint_text))
        for button in (self.train_button, self.pause_button, self.step_button, self.stop_button):
            button.setIconSize(QSize(round(14 * theme.scale), round(14 * theme.scale)))
        for figure in (self._step, self._loss, self._speed):
            figure.measure()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _button(name: str, text: str, description: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setAccessibleName(description)
    button.setToolTip(description[0].upper() + description[1:])
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard where it was
    button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return button


class _Figure(QLabel):
    """A label that keeps its place while its digits change: it only ever grows.

    Of a fixed size, it also spares the whole window being laid out anew with every number.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)

    def say(self, text: str) -> None:
        """Show other words."""
        self.setText(text)
        wanted = self.sizeHint()
        if wanted.width() > self.minimumWidth() or self.minimumHeight() != self.maximumHeight():
            self.setFixedSize(wanted)

    def measure(self) -> None:
        """Take the size that the present words need."""
        self.setFixedSize(self.sizeHint())


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

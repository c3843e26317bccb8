"""The transport: training's buttons and figures, and the time slider beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.library import FIRST_TEXT
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.session.training_state import TrainingState
from lmviz.app.widgets.base.building import row
from lmviz.app.widgets.base.figures import number, short
from lmviz.app.widgets.base.fitting_row import least_width
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.plots.sparkline import Sparkline
from lmviz.app.window.notice import Notice
from lmviz.app.window.time_controls import TimeControls
from lmviz.families import FAMILIES

if TYPE_CHECKING:
    from lmviz.app.window.race_controls import RaceControls

WIDE, MEDIUM, NARROW = 1240, 1080, 840
"""Pixels at scale 1 below which, one after the other, speed, curve and words give way to the slider."""

AROUND, APART, CLOSE = 16, 14, 6
"""Pixels around the row and between its parts, and between them where there is no room for more."""

ANOTHER, ANOTHER_BRIEFLY = "Train a new one", "Train new"
TRAIN = "train a new run as planned"
INFINITE = "Infinite: the model gives probability 0 to a token that comes, as counts without smoothing do."
FURTHER = "train the model that is shown further"


class Transport(QFrame):
    """Shows and steers the session's training, and holds the time slider.

    Signals: `plan_wanted`, where what would be trained should be seen before a long training begins, and
    `can_step_changed`.
    """

    plan_wanted = Signal()
    can_step_changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("transport")
        self.train_button = _button("train_button", "Train", TRAIN)
        self.train_button.setProperty("role", "primary")
        self.pause_button = _button("pause_button", "", "pause training")
        self.step_button = _button("step_button", "one step", "one training step")
        self.stop_button = _button("stop_button", "", "stop training")
        self._step = _Figure("training_step")
        self._loss = _Figure("training_loss")
        self._sparkline = Sparkline()
        self._speed = _Figure("training_speed")
        self._speed.setProperty("role", "muted")
        self._phase = ""
        self._said: tuple[str, OpenedModel | None, bool] = ("", None, False)
        """A sentence, the model shown at the time, and whether it says why no training can begin."""
        self.time = TimeControls(session)
        self.notice = Notice(self)  # the window puts it where it covers no button
        buttons = (self.train_button, self.pause_button, self.step_button, self.stop_button)
        figures = (self._step, self._loss, self._sparkline, self._speed)
        self._own = (*buttons, *figures)
        self._race: RaceControls | None = None  # made when a race is first shown
        self._is_race_shown = self._is_plan_shown = False
        self._row = row(*self._own, (self.time, 1), on=self, gap=APART, margins=(AROUND, 10, AROUND, 10))
        self._connect()
        self._adopt_theme()
        self._show_training()

    def _connect(self) -> None:
        session = self._session
        self.train_button.clicked.connect(self._train)
        self.pause_button.clicked.connect(session.training.pause)
        self.step_button.clicked.connect(self._make_step)
        self.stop_button.clicked.connect(session.training.stop)
        session.training.changed.connect(self._show_training)
        session.training.failed.connect(self._say)
        session.training.text_missing.connect(self._offer_a_text)
        self.notice.show_failures(session.training.live_failed, old_after=[session.library.step_changed])
        session.library.model_changed.connect(self._offer_to_go_on)
        for changed in (
            session.library.model_changed,
            session.library.models_changed,
            session.plan.changed,
            session.text.changed,
            session.series_changed,
            session.work.ready_changed,
        ):
            changed.connect(self._show_training)
        theme_switch().theme_changed.connect(self._adopt_theme)

    def follow_perspective(self, name: str) -> None:
        """Steer the race, where it is what a person looks at; so it is, too, while it is under way."""
        self._is_race_shown, self._is_plan_shown = name == "race", name == "train"
        self._share_with_race()
        self._offer_training(self._session.training.state)
        self.can_step_changed.emit()

    @property
    def can_step(self) -> bool:
        """Whether a step can be made; where the race is what is steered, of its lanes."""
        return not self._steers_race or self._session.race.is_active

    @property
    def _steers_race(self) -> bool:
        return self._is_race_shown or self._session.is_racing

    def _share_with_race(self) -> None:
        """Show the controls of the race, or those of a single training."""
        steers = self._steers_race
        if steers and self._race is None:
            from lmviz.app.window.race_controls import RaceControls  # not needed for the first paint

            self._race = RaceControls(self._session)
            self._row.insertWidget(0, self._race, 1)
            self._session.race.changed.connect(self.can_step_changed)
        if self._race is not None and steers == self._race.isHidden():
            self._race.setVisible(steers)
            for widget in self._own:
                widget.setVisible(not steers)
            self._fit()

    def toggle_training(self) -> None:
        """Pause what runs; go on with what rests, or begin."""
        if self._race is not None and self._steers_race:
            self._race.toggle()
            return
        phase = self._session.training.state.phase
        if phase == "running":
            self._session.training.pause()
        elif phase != "preparing":  # which comes to something by itself
            self._train()

    def _make_step(self) -> None:
        """One step; of each lane where the race is what is steered, as by its keys."""
        if self._race is not None and self._steers_race:
            self._session.race.step()
        else:
            self._session.training.step()

    def train_as_planned(self) -> None:
        """Go on after a pause; otherwise train a new run, whatever model is shown.

        Where the race is what is steered, all lanes train or rest.
        """
        if self._race is not None and self._steers_race:
            self._race.toggle()
        elif self._session.training.state.phase == "paused":
            self._session.training.resume()
        else:
            self._session.training.start()

    def _train(self) -> None:
        if self._session.training.further_steps:
            self._session.training.resume()
        elif self.train_button.text() in (ANOTHER, ANOTHER_BRIEFLY) and not self._is_plan_shown:
            self.plan_wanted.emit()
        else:
            self.train_as_planned()

    def _say(self, sentence: str) -> None:
        training = self._session.training
        self._said = sentence, self._session.library.model, training.is_hindered_by(sentence)
        self.notice.say(sentence)
        self._offer_to_go_on()

    def _forget_what_is_past(self) -> None:
        """What is said of a model goes with it, and a refusal with its reason; why a training ended stays,
        until the next one."""
        (sentence, model, is_refusal), training = self._said, self._session.training
        if not sentence or sentence == training.state.sentence:
            return
        holds = training.is_hindered_by(sentence) if is_refusal else model == self._session.library.model
        if not holds:
            self._said = "", None, False
            self.notice.withdraw_when_read(sentence)

    def _offer_a_text(self, sentence: str) -> None:
        self.notice.offer(sentence, f"Open “{FIRST_TEXT}”", lambda: self._session.text.open(FIRST_TEXT))

    def _offer_to_go_on(self) -> None:
        """Put a button beside what stopped the training, once its run is open and can be resumed."""
        sentence = self._session.training.state.sentence
        if not sentence or sentence != self.notice.sentence:
            return
        if self._session.training.can_go_on:
            self.notice.offer(sentence, "Resume", self._session.training.resume)
        elif self.notice.waits:  # another model is shown, which it would train
            self.notice.say(sentence)

    def _show_training(self) -> None:
        training = self._session.training.state
        phase = training.phase
        if phase == "preparing" != self._phase:
            self.notice.clear()  # what it says is about an earlier training
        self._forget_what_is_past()
        self._offer_training(training)
        self.pause_button.setEnabled(phase == "running")
        self.stop_button.setEnabled(training.is_active)
        state = training if training.is_active else self._session.training.shown
        self._step.say(self._stand(state))
        if phase != self._phase:
            self._phase = phase
            self._step.measure()  # other words may take less room; other figures keep theirs
        loss = state.history.loss.values
        shown = self._session.library.model
        recorded = shown is not None and shown.folder == state.folder and bool(shown.run.recorded_by)
        # Counting has no batches, and of what others record nobody says that it is of one.
        of = "batch loss" if len(state.history.learning_rate) and not recorded else "loss"
        self._loss.say(f"{of} {number(loss[-1], 2)}" if len(loss) else "")
        self._loss.setToolTip(paragraph(INFINITE if len(loss) and math.isinf(loss[-1]) else ""))
        self._sparkline.set_values(loss)
        self._speed.say(_speed(state))
        self._share_with_race()
        self._fit()

    def _offer_training(self, training: TrainingState) -> None:
        """Say what the button does: go on after a pause, train the shown model further, or begin another."""
        session = self._session
        further, description = session.training.further_steps, TRAIN
        word, tip = "Train", ""
        if training.phase == "paused":
            word = "Resume"
        elif further:
            word, description = f"Train {further:,} more", FURTHER
        elif session.library.model is not None and not training.is_active:
            # What is shown cannot be trained further: say that another one is begun, and why.
            is_wide = self.width() >= MEDIUM * current_theme().scale
            word, tip = ANOTHER if is_wide else ANOTHER_BRIEFLY, session.training.obstacle
        planned = f"{description[0].upper()}{description[1:]}"
        if further and session.library.model is not None:
            planned = f"{planned}: {session.library.model.name}"
        if description == TRAIN and word != "Resume":
            planned = f"{planned}: {session.plan.in_words}"
        if (word, paragraph(planned, tip)) != (self.train_button.text(), self.train_button.toolTip()):
            self.train_button.setText(word)
            self.train_button.setAccessibleName(description)
            self.train_button.setToolTip(paragraph(planned, tip))
        self.train_button.setEnabled(training.phase not in ("preparing", "running"))
        # Before work can be done nothing is known yet: what changes until then costs the first paint a style.
        is_without_text = session.text.corpus is None and session.work.is_ready
        is_quiet = self._is_plan_shown if description == FURTHER else is_without_text
        set_role(self.train_button, "" if is_quiet and word != "Resume" else "primary")
        self._draw_play()

    def _draw_play(self) -> None:
        """The sign on the button. In Train, where the plan has a blue button, one that trains something else
        than the plan is none; nor is one that needs a text before there is any."""
        theme = current_theme()
        is_primary = self.train_button.property("role") == "primary"
        ink = theme.on(theme.accent) if is_primary else theme.text
        self.train_button.setIcon(icon("transport/play", ink, theme.muted_text))

    def _stand(self, state: TrainingState) -> str:
        """How far a training has come, and whose it is where another model is shown."""
        model = self._session.library.model
        if state.is_active and state.progress is None:
            return state.doing or state.phase
        if state.is_active and state.progress is not None:
            said = f"step {state.progress.step:,} / {state.progress.steps:,}"
        elif state.progress is not None:
            said = f"{state.phase} · {state.progress.step:,} of {state.progress.steps:,} steps"
        elif model is not None and model.folder == state.folder:
            if model.run.was_trained_elsewhere:
                followed = self._session.followed
                said = "" if followed is None else followed.in_words
                return said or "trained by another program"
            done, steps = model.snapshots[-1], model.description.training.get("steps", 0)
            if (recorded := model.description.recorded) is not None:
                return f"recorded from {recorded['by']} · step {done:,}"
            said = f"{state.phase} · {done:,} of {steps:,} steps"
        else:
            return "not training"
        is_other = state.is_active and model is not None and not self._session.training.trains_shown_model
        return f"{FAMILIES[state.family].short_title}: {said}" if is_other else said

    def _fit(self) -> None:
        """Leave away what would cover something else, what matters least first."""
        width = self.width() / current_theme().scale
        if self._race is not None and not self._race.isHidden():
            return
        wanted = {
            self._speed: bool(self._speed.text()) and width >= WIDE,
            self._sparkline: bool(self._loss.text()) and width >= MEDIUM,
            self._loss: bool(self._loss.text()),
            self._step: True,
        }
        self.step_button.setText("one step" if width >= MEDIUM else "")
        self.time.set_wordy(width >= NARROW)
        self.time.set_roomy(width >= MEDIUM)
        always = (self.train_button, self.pause_button, self.step_button, self.stop_button, self.time)
        least = [least_width(widget) for widget in always]
        gap = APART if self.width() - 2 * AROUND + APART >= sum(least) + APART * len(least) else CLOSE
        if gap != self._row.spacing():
            self._row.setSpacing(gap)
        room = self.width() - 2 * AROUND + gap - sum(least) - gap * len(least)
        for figure in reversed(wanted):
            taken = least_width(figure) + gap
            figure.setVisible(wanted[figure] and taken <= room)
            room -= taken if wanted[figure] and taken <= room else 0

    def _adopt_theme(self) -> None:
        theme = current_theme()
        self._draw_play()
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
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._offer_training(self._session.training.state)
        self._fit()


def _button(name: str, text: str, description: str) -> QPushButton:
    button = QuietButton(name, text, description=description)
    button.setToolTip(paragraph(description[0].upper() + description[1:]))
    button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return button


class _Figure(Label):
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
        """Take the size that the present words need: asked while it has a least size, it says no less."""
        text = self.text()
        self.clear()
        self.setMinimumSize(0, 0)
        self.setText(text)
        self.setFixedSize(self.sizeHint())


def _speed(state: TrainingState) -> str:
    """Tokens a second, and how long it will still take; nothing where it was not measured here."""
    if state.progress is None or state.progress.tokens_per_second is None:
        return ""
    speed, left = f"{short(state.progress.tokens_per_second)} tok/s", state.progress.seconds_left
    return f"{speed} · {_clock(left)} left" if state.phase == "running" and left is not None else speed


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

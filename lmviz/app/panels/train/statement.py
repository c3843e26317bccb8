"""What pressing Train will do, beside the button: what is trained on what, and how long that takes here."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.session import Session
from lmviz.app.session.training import PREPARING_TEXT
from lmviz.app.widgets.base.building import column, named, row
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.base.durations import in_words

WORTH_SAYING = 1.15  # times as fast: a smaller gain is not worth less exact products


class TrainingStatement(QWidget):
    """`TrainingStatement(session)`: the button that begins a new run, and two lines about it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setObjectName("training_statement")
        self._button = named(
            QPushButton("Train"), "new_run_button", "train a new run as planned", role="primary"
        )
        self._button.setToolTip("Train a new run as planned below")
        self._button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._button.clicked.connect(session.training.start)
        self._what = Label(name="training_subject", wraps=True)
        self._how_long = named(MutedLine(), "training_duration")
        lane = LinkButton("add_lane_button", "Add a lane", "make a lane of a race of what is planned")
        lane.setToolTip("Make a lane of a race of what is planned, beside others")
        lane.clicked.connect(lambda: session.race.offer())
        lines = column(self._what, self._how_long, gap=1)
        buttons = column(self._button, lane, gap=1)
        row(buttons, (lines, 1), on=self, gap=10, margins=(0, 0, 6, 0))
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    def show_plan(self) -> None:
        """Say what the training under way is, or what the next one will be."""
        training, plan = self._session.training, self._session.plan
        state = training.state
        self._button.setEnabled(not state.is_active)
        self._what.setText(
            f"training {state.subject or plan.in_words}" if state.is_active else f"will train {plan.in_words}"
        )
        self._how_long.set_text(self._duration())

    def _duration(self) -> str:
        training, plan, text = self._session.training, self._session.plan, self._session.text
        state, progress = training.state, training.state.progress
        if state.is_active:
            if progress is None:
                return state.doing
            if state.phase == "paused":
                return "paused"
            left = progress.seconds_left if plan.expected_seconds is not None else None
            return "measuring the time…" if left is None else f"{in_words(left)} left"
        if text.is_opening:
            return PREPARING_TEXT
        if text.corpus is None:
            return "no text open: see Corpus"
        if plan.problem:
            return plan.problem
        seconds, pace = plan.expected_seconds, plan.seconds_a_step
        if seconds is None or pace is None:
            return "measuring the time…" if plan.is_measuring else "time not measured yet"
        rate = f"{1 / pace:,.0f} steps/s" if pace < 0.4 else f"{pace:.1f} s a step"
        gain = plan.speed_in_bfloat16
        other = f"; {gain:.1f} × as fast in bfloat16" if gain is not None and gain >= WORTH_SAYING else ""
        return f"{in_words(seconds)}, at {rate}{other}"

    def _adopt_theme(self) -> None:
        theme = current_theme()
        self._what.setMinimumHeight(2 * self._what.fontMetrics().lineSpacing())  # one line more moves nothing
        self._button.setIcon(icon("transport/play", theme.on(theme.accent), theme.muted_text))

"""The controls of the race, in the place of those of a single training: all lanes pause, step and stop."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton

START, RESUME, PAUSE = "Start all", "Resume all", "Pause all"
LIMITED = QSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)


class RaceControls(QWidget):
    """`RaceControls(session)`: `toggle()` pauses all lanes, or lets them go on."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._race = session.race
        self._all = QuietButton("race_all_button", START, "primary", "train all lanes, or pause")
        self._step = QuietButton("race_step_button", "one step each", description="one step of each lane")
        self._stop = QuietButton("race_stop_button", "Stop all", description="stop all lanes")
        self._stop.setToolTip(paragraph("Stop all lanes; each can be resumed"))
        self._live = Label(name="race_live")
        self._where = named(MutedLine(), "race_where")
        for button in self._buttons:
            button.setSizePolicy(LIMITED)
        self._all.clicked.connect(self.toggle)
        self._step.clicked.connect(self._race.step)
        self._stop.clicked.connect(self._race.stop)
        row(*self._buttons, self._live, (self._where, 1), on=self, gap=12)
        self._race.changed.connect(self._show)
        session.text.changed.connect(self._show)
        session.work.ready_changed.connect(self._show)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self._show()

    def toggle(self) -> None:
        """Pause what runs; begin, or go on with, what waits."""
        if self._race.is_active and not self._race.is_paused:
            self._race.pause()
        else:
            self._race.go_on()

    @property
    def _buttons(self) -> tuple[QPushButton, ...]:
        return self._all, self._step, self._stop

    def _show(self) -> None:
        race = self._race
        runs = race.is_active and not race.is_paused
        has_begun = any(lane.folder is not None for lane in race.lanes)
        word = PAUSE if runs else RESUME if has_begun else START
        if word != self._all.text():
            self._all.setText(word)
            self._adopt_theme()
        self._all.setEnabled(runs or race.is_paused or (race.can_go_on and not race.obstacle))
        self._all.setToolTip(paragraph("" if self._all.isEnabled() else race.obstacle))
        self._step.setEnabled(race.is_active)
        self._stop.setEnabled(race.is_active)
        self._live.setText(self._count_in_words())
        self._where.set_text(self._steps_in_words())

    def _count_in_words(self) -> str:
        lanes = self._race.lanes
        live = sum(lane.is_active for lane in lanes)
        return f"{live} live" if live else f"{len(lanes)} lanes" if len(lanes) != 1 else "1 lane"

    def _steps_in_words(self) -> str:
        lanes = [lane for lane in self._race.lanes if lane.is_active] or list(self._race.lanes)
        if not lanes:
            return "none yet: make some in Lanes"
        steps, ends = {lane.step for lane in lanes}, {lane.planned.options.steps for lane in lanes}
        least, most, end = min(steps), max(steps), max(ends)
        if all(lane.phase == "waiting" for lane in lanes):
            return f"{end:,} steps each · not begun"
        if most - least <= 1:  # between two turns
            same = " · all at the same step" if len(lanes) > 1 else ""
            return f"step {least:,} of {end:,}{same}"
        return f"steps {least:,} to {most:,} of {end:,}"

    def _adopt_theme(self) -> None:
        theme = current_theme()
        name = "pause" if self._all.text() == PAUSE else "play"
        self._all.setIcon(icon(f"transport/{name}", theme.on(theme.accent), theme.muted_text))
        for quiet, name in ((self._step, "step"), (self._stop, "stop")):
            quiet.setIcon(icon(f"transport/{name}", theme.text, theme.faint_text))
        for button in self._buttons:
            button.setIconSize(QSize(round(14 * theme.scale), round(14 * theme.scale)))

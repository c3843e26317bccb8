"""Time: the slider over the snapshots, the film, and the way back to live."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import give_menu, named, row
from lmviz.app.widgets.base.plain import caption, paragraph
from lmviz.app.window.film import SECONDS, SPEEDS, Film
from lmviz.app.window.snapshot_slider import SnapshotSlider


class TimeControls(QWidget):
    """Chooses the session's moment: a snapshot, one after the other, or the newest."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.slider = named(SnapshotSlider(), "snapshot_slider")
        self.film_button = named(QToolButton(), "film_button", "play the training like a film", role="icon")
        self.film_button.setCheckable(True)
        self.film_button.setToolTip("Play the training like a film")
        self.film_button.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.film_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.live_button = named(QPushButton(), "live_button")
        self.live_button.setCheckable(True)
        self.live_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.live_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._is_wordy = True
        self._shown: tuple[object, ...] = ()
        self.film = Film(session, self)
        self.speed_button = named(
            QToolButton(), "film_speed_button", "speed of the film, and whether it begins again", role="link"
        )
        self.speed_button.setToolTip("Speed of the film, and whether it begins again")
        self.speed_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._speeds = give_menu(self.speed_button)
        row(self.film_button, self.speed_button, (self.slider, 1), self.live_button, on=self, gap=10)
        self._restyled = QTimer(
            self, singleShot=True, interval=0
        )  # until then buttons have their former type
        self._connect()
        self._show_film()
        self._show_model()

    def _connect(self) -> None:
        session = self._session
        self.slider.valueChanged.connect(self._choose)
        self.slider.sliderPressed.connect(lambda: self.film_button.setChecked(False))
        self.film_button.toggled.connect(self._run_film)
        self.live_button.clicked.connect(self._follow)
        self.film.changed.connect(self._show_film)
        self._restyled.timeout.connect(self._fit_type)
        menu = self._speeds
        menu.aboutToShow.connect(self._offer_speeds)
        self.film_button.customContextMenuRequested.connect(
            lambda place: menu.popup(self.film_button.mapToGlobal(place))
        )
        for changed in (
            session.library.models_changed,
            session.library.model_changed,
            session.training.changed,
        ):
            changed.connect(self._show_model)
        session.series_changed.connect(self._show_model)
        session.library.marks_changed.connect(self._show_marks)
        session.library.step_changed.connect(self._show_step)
        session.library.live_changed.connect(self._show_step)
        theme_switch().theme_changed.connect(self._restyled.start)

    def set_wordy(self, wordy: bool) -> None:
        """Whether there is room to say of how many steps, and whether the training is followed live."""
        if wordy != self._is_wordy:
            self._is_wordy = wordy
            self._show_step()

    def set_roomy(self, roomy: bool) -> None:
        """Whether there is room for the film's speed; elsewhere a right click on its button offers that."""
        self.speed_button.setVisible(roomy)

    def toggle_film(self) -> None:
        """Play, or pause."""
        if self.film_button.isEnabled():
            self.film_button.toggle()

    def _follow(self, wanted: bool) -> None:
        self._session.library.follow_live(wanted)
        self.live_button.setChecked(self._is_following)  # where nothing trains, it leads to the end

    @property
    def _grows(self) -> bool:
        """Whether the shown model is being trained, here or by another program that is watched."""
        followed = self._session.followed
        is_watched = followed is not None and followed.is_watching
        return self._session.training.trains_shown_model or is_watched

    @property
    def _is_following(self) -> bool:
        return self._session.library.live and self._grows

    def _choose(self, index: int) -> None:
        snapshots = self.slider.snapshots
        if index < len(snapshots):
            self._session.library.choose_step(snapshots[index])

    def _run_film(self, run: bool) -> None:
        if run != self.film.is_playing:
            (self.film.play if run else self.film.stop)()
        self._show_step()

    def _show_film(self) -> None:
        """Bring the buttons in line with the film, which may have come to its end."""
        self.film_button.setChecked(self.film.is_playing)
        said = f"{self.film.speed:g}×"
        self.speed_button.setText(f"{said} ↻" if self.film.loops else said)

    def _offer_speeds(self) -> None:
        menu, film = self._speeds, self.film
        menu.clear()
        for speed in SPEEDS:
            action = menu.addAction(caption(f"{speed:g}× · {SECONDS / speed:g} s"))
            action.setCheckable(True)
            action.setChecked(speed == film.speed)
            action.triggered.connect(lambda _=False, chosen=speed: film.set_speed(chosen))
        menu.addSeparator()
        loop = menu.addAction("Begin again at the end")
        loop.setCheckable(True)
        loop.setChecked(film.loops)
        loop.toggled.connect(film.set_loops)

    def _show_model(self) -> None:
        model = self._session.library.model
        training = None if model is None else self._session.training.training_of(model)
        progress = None if training is None else training.progress
        followed = self._session.followed
        planned = 0 if followed is None else followed.planned
        last_step = planned if progress is None else progress.steps
        gone = model.gone if model is not None else ()
        self.slider.set_snapshots(model.snapshots if model is not None else (), last_step, gone)
        has_film = model is not None and len(model.snapshots) > 1
        self.film_button.setEnabled(has_film)
        self.speed_button.setEnabled(has_film)
        self._show_marks()
        self._show_step()

    def _show_marks(self) -> None:
        self.slider.set_marks([*self._session.library.marks, *self._departures()])

    def _departures(self) -> list[tuple[int, str]]:
        """Where open forks have left the shown model, or where that has left another itself."""
        model, marks = self._session.library.model, set()
        if model is None:
            return []
        for other in self._session.library.models:
            origin = other.description.forked_from or {}
            if origin and (other == model or Path(str(origin.get("folder", ""))) == model.folder):
                step = int(origin.get("step", 0))
                marks.add((step, f"{other.name} was forked at step {step:,}"))
        return sorted(marks)

    def _fit_type(self) -> None:
        self._shown = ()
        self._show_step()

    def _show_step(self) -> None:
        session, theme, playing = self._session, current_theme(), self.film_button.isChecked()
        moment = (
            session.library.step,
            self.slider.last_step,
            self._grows,
            self._is_following,
        )
        shown = (session.library.model, moment, self._is_wordy, playing, theme)
        if shown == self._shown:
            return  # a training says many times a second that it goes on
        self._shown = shown
        self.slider.show_step(session.library.step)
        color = theme.value if self._is_following else theme.strong_line
        self.live_button.setIcon(icon("transport/live", color))
        self._say(*moment)
        self.film_button.setIcon(icon("transport/pause" if playing else "transport/play", theme.muted_text))
        self.film_button.setIconSize(QSize(round(16 * theme.scale), round(16 * theme.scale)))

    def _say(self, step: int, last: int, trains: bool, follows: bool) -> None:
        """Say which moment is shown, in a width that is the same for all moments of the training."""
        button = self.live_button
        model = self._session.library.model
        button.setVisible(model is not None and model.run.has_steps)
        button.setChecked(follows)
        possible = (self._words(last, last, *way) for way in ((True, True), (True, False), (False, False)))
        widths = {re.sub(r"\d", "8", words) for words in possible}
        button.setText(max(sorted(widths), key=button.fontMetrics().horizontalAdvance))
        button.setFixedWidth(button.sizeHint().width())
        button.setText(self._words(step, last, trains, follows))
        newest = "follow the training live" if trains else "go to its last step"
        button.setAccessibleName(f"step {step:,} of {last:,}; {newest}")
        button.setToolTip(paragraph(f"{newest[0].upper()}{newest[1:]}"))

    def _words(self, step: int, last: int, trains: bool, follows: bool) -> str:
        if not self._is_wordy:
            return f"{step:,}"
        if follows:
            return f"step {step:,} · live"
        return f"step {step:,} · last" if step == last and not trains else f"step {step:,} of {last:,}"

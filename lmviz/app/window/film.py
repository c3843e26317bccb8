"""A training as a film: the snapshots of the shown model, one after the other, in about ten seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.session import Session

SECONDS = 10.0  # of a film at speed 1, however many snapshots there are
TICK = 33  # milliseconds
END = 1.2  # seconds for which the last snapshot is seen before the film begins again
SPEEDS = (0.5, 1.0, 2.0)


class Film(QObject):
    """`play()`, `stop()`; `set_speed(speed)`, `set_loops(loops)`. Signal: `changed`.

    The time that has passed decides which snapshot is shown: where reading takes longer than a snapshot
    has, some are left out. `clock` gives seconds.
    """

    changed = Signal()

    def __init__(
        self, session: Session, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._session, self._clock = session, clock
        self._speed, self._loops = 1.0, False
        self._played = 0.0  # of the film's seconds at speed 1
        self._since = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(TICK)
        self._timer.timeout.connect(self.advance)

    @property
    def is_playing(self) -> bool:
        """Whether it runs."""
        return self._timer.isActive()

    @property
    def speed(self) -> float:
        """How many times faster than usual."""
        return self._speed

    @property
    def loops(self) -> bool:
        """Whether it begins again at its end."""
        return self._loops

    def set_speed(self, speed: float) -> None:
        """Play slower or faster, from where it is."""
        self._count_time()
        self._speed = speed
        self.changed.emit()

    def set_loops(self, loops: bool) -> None:
        """Begin again at the end, or stop there."""
        self._loops = loops
        self.changed.emit()

    def play(self) -> None:
        """Run from the snapshot that is shown, from the first where that is the last."""
        model = self._session.library.model
        if model is None or len(model.snapshots) < 2:
            return
        at = model.snapshots.index(model.nearest_snapshot(self._session.library.step))
        at = 0 if at == len(model.snapshots) - 1 else at
        self._session.library.choose_step(model.snapshots[at])
        self._played = SECONDS * at / len(model.snapshots)
        self._since = self._clock()
        self._timer.start()
        self.changed.emit()

    def stop(self) -> None:
        """Stay where it is."""
        if self.is_playing:
            self._timer.stop()
            self.changed.emit()

    def advance(self) -> None:
        """Show the snapshot whose time it is, once the panels have got the one before."""
        model = self._session.library.model
        if model is None or len(model.snapshots) < 2:
            self.stop()
            return
        self._count_time()
        if self._session.reading.is_busy:
            return
        steps = model.snapshots
        at = min(len(steps) - 1, int(self._played / SECONDS * len(steps)))
        if steps[at] != self._session.library.step:
            self._session.library.choose_step(steps[at])
        elif self._played >= SECONDS and not self._loops:
            self.stop()
        elif self._played >= SECONDS + END:
            self._played = 0.0

    def _count_time(self) -> None:
        now = self._clock()
        if self.is_playing:
            self._played += (now - self._since) * self._speed
        self._since = now

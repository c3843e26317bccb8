"""What is open is written down as it changes, so that even a session that was killed can be gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from lmviz.app.window.main_window import MainWindow

SOON = 2000  # milliseconds between a change and its being written down, with all that follow it


class Remembering(QObject):
    """Keeps where the session of a window stands in its settings."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._phase = window.session.training.phase
        self._soon = QTimer(self, singleShot=True, interval=SOON)
        self._soon.timeout.connect(self.write)
        session = window.session
        for changed in (
            session.corpus_changed,
            session.model_changed,
            session.live_changed,
            session.prefix_changed,
            window.rail.chosen,
        ):
            changed.connect(self._note)
        session.training_changed.connect(self._note_training)

    def write(self) -> None:
        """Write down where the session stands; what it only began with does not replace an earlier one."""
        self._soon.stop()
        window, settings = self._window, self._window.settings
        if window.beginning.is_untouched:
            settings.keep("last/perspective", window.perspective.name)
        else:
            settings.keep_session(window.session, window.perspective.name)
        settings.write()

    def _note(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _note_training(self) -> None:
        phase = self._window.session.training.phase
        if phase != self._phase:
            self._phase = phase
            self._note()

"""Saves what is open whenever it changes, so that even a killed session can be continued."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from lmviz.app.opening.beginning import Beginning
    from lmviz.app.opening.shell import Shell

SOON = 2000  # milliseconds from a change until it is saved, together with later ones


class Remembering(QObject):
    """Saves in the settings what a window's session has open."""

    def __init__(self, window: Shell, beginning: Beginning, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._beginning = window, beginning
        self._phase = window.session.training.state.phase
        self._soon = QTimer(self, singleShot=True, interval=SOON)
        self._soon.timeout.connect(self.write)
        session = window.session
        for changed in (
            session.text.changed,
            session.library.model_changed,
            session.library.live_changed,
            session.reading.prefix_changed,
            session.reading.source_changed,
            window.perspective_changed,
        ):
            changed.connect(self._note)
        session.training.changed.connect(self._note_training)

    def write(self) -> None:
        """Save what is open; an untouched first screen does not replace the saved session."""
        self._soon.stop()
        window, settings = self._window, self._window.settings
        if self._beginning.is_untouched:
            settings.keep("last/perspective", window.perspective_name)
        else:
            settings.keep_session(window.session, window.perspective_name)
        settings.write()

    def _note(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _note_training(self) -> None:
        phase = self._window.session.training.state.phase
        if phase != self._phase:
            self._phase = phase
            self._note()

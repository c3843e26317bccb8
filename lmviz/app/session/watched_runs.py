"""Notices what other programs, and other windows, do to the runs that are open."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

PATIENCE = 200
"""Milliseconds from a change to being told of it: a training changes its folder many times a second."""


class WatchedRuns(QObject):
    """Says of the folder of an open run that files in it have come, gone or been replaced.

    Where the operating system tells of no changes, as on some network drives, nothing is said.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._watcher: QFileSystemWatcher | None = None
        self._noted: set[Path] = set()
        self._waiting = QTimer(self, singleShot=True, interval=PATIENCE)
        self._waiting.timeout.connect(self._emit_changes)
        self._folders: set[Path] = set()

    def watch(self, folders: Iterable[Path]) -> None:
        """Watch these folders of runs, which have just answered, and no others."""
        self._folders = set(folders)
        wanted = {str(place) for folder in self._folders for place in (folder, folder / "snapshots")}
        watched = set(self._watcher.directories()) if self._watcher is not None else set()
        if self._watcher is not None and watched - wanted:
            self._watcher.removePaths(sorted(watched - wanted))
        there = sorted(place for place in wanted - watched if os.path.isdir(place))
        if there:
            self._made_watcher().addPaths(there)

    def close(self) -> None:
        """Watch nothing more, and say nothing of what has been noticed."""
        self._waiting.stop()
        self._folders = set()
        if self._watcher is not None:
            self._watcher.blockSignals(True)
            self._watcher.deleteLater()
            self._watcher = None

    def _made_watcher(self) -> QFileSystemWatcher:
        """What Qt watches with, made when there is something to watch.

        A system has few of them for all programs of a user (128 under Linux), and without one Qt looks once a
        second, to a millisecond.
        """
        if self._watcher is None:
            self._watcher = QFileSystemWatcher(self)
            self._watcher.directoryChanged.connect(self._note)
        return self._watcher

    def _note(self, place: str) -> None:
        self._noted |= {Path(place), Path(place).parent} & self._folders
        if not self._waiting.isActive():  # once in a while, also where changes never end
            self._waiting.start()

    def _emit_changes(self) -> None:
        noted, self._noted = self._noted, set()
        for folder in sorted(noted & self._folders):
            self.changed.emit(folder)

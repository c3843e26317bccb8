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
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._note)
        self._noted: set[Path] = set()
        self._waiting = QTimer(self, singleShot=True, interval=PATIENCE)
        self._waiting.timeout.connect(self._emit_changes)
        self._folders: set[Path] = set()

    def watch(self, folders: Iterable[Path]) -> None:
        """Watch these folders of runs, which have just answered, and no others."""
        self._folders = set(folders)
        wanted = {str(place) for folder in self._folders for place in (folder, folder / "snapshots")}
        watched = set(self._watcher.directories())
        if watched - wanted:
            self._watcher.removePaths(sorted(watched - wanted))
        there = sorted(place for place in wanted - watched if os.path.isdir(place))
        if there:
            self._watcher.addPaths(there)

    def close(self) -> None:
        """Watch nothing more, and say nothing of what has been noticed."""
        self._watcher.blockSignals(True)
        self._waiting.stop()
        self.watch(())

    def _note(self, place: str) -> None:
        self._noted |= {Path(place), Path(place).parent} & self._folders
        if not self._waiting.isActive():  # once in a while, also where changes never end
            self._waiting.start()

    def _emit_changes(self) -> None:
        noted, self._noted = self._noted, set()
        for folder in sorted(noted & self._folders):
            self.changed.emit(folder)

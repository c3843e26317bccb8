"""Files that are read again when they change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

SOON = 200  # milliseconds: many programs write a file in several steps, or put another in its place

State = tuple[int, int] | None
"""When a file was written, in nanoseconds, and its bytes; None where there is none."""


class FollowedFiles(QObject):
    """`follow(kind, paths, act)` calls `act(changed)` with those of the files that are others since.

    What was followed of the same kind before is followed no more. A file that is away for a moment, as while
    a program puts another in its place, has not changed.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._watcher: QFileSystemWatcher | None = None
        self._kinds: dict[str, tuple[dict[Path, State], Callable[[set[Path]], None]]] = {}
        self._soon = QTimer(self, singleShot=True, interval=SOON)
        self._soon.timeout.connect(self._look)

    def follow(self, kind: str, paths: Iterable[Path], act: Callable[[set[Path]], None]) -> None:
        """Follow other files of a kind."""
        self._kinds[kind] = ({path: _state(path) for path in paths}, act)
        self._watch()

    def leave(self, kind: str) -> None:
        """Follow the files of a kind no more."""
        if self._kinds.pop(kind, None) is not None:
            self._watch()

    def _watch(self) -> None:
        """Watch the files, and their folders: one that another takes the place of is lost otherwise."""
        paths = {path for known, _ in self._kinds.values() for path in known}
        folders = {
            str(path.parent) for path in paths if os.path.isdir(path.parent)
        }  # also where the file is away
        wanted = folders | {str(path) for path in paths if _state(path) is not None}
        if not wanted:  # a system has few watchers for all programs of a user (128 under Linux)
            if self._watcher is not None:
                self._watcher.deleteLater()
                self._watcher = None
            return
        watcher = self._watcher = self._watcher or self._made_watcher()
        watched = {*watcher.files(), *watcher.directories()}
        if watched - wanted:
            watcher.removePaths(list(watched - wanted))
        if wanted - watched:
            watcher.addPaths(list(wanted - watched))

    def _made_watcher(self) -> QFileSystemWatcher:
        watcher = QFileSystemWatcher(self)
        watcher.fileChanged.connect(lambda _: self._soon.start())
        watcher.directoryChanged.connect(lambda _: self._soon.start())
        return watcher

    def _look(self) -> None:
        """Tell of the files that are others now."""
        self._watch()
        for known, act in [*self._kinds.values()]:
            now = {path: _state(path) for path in known}
            changed = {path for path, state in now.items() if state not in (None, known[path])}
            known |= {path: now[path] for path in changed}
            if changed:
                act(changed)


def _state(path: Path) -> State:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size

"""The interface of the window that the commands use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lmviz.app.opening.beginning import Beginning
from lmviz.app.window.header import Header
from lmviz.app.window.lectures import Lectures, LectureWindow
from lmviz.app.window.student_files import StudentFiles
from lmviz.app.window.transport import Transport


class CommandedWindow(LectureWindow, Protocol):
    """The window, as far as menus and keys act on it."""

    header: Header
    transport: Transport
    beginning: Beginning
    lectures: Lectures
    student_files: StudentFiles

    def open_paths(self, paths: Sequence[str | Path]) -> None:
        """Open texts, runs or folders."""

    def open_race(self, folder: Path) -> None:
        """Open the runs in a folder as the lanes of a race."""

    def open_lesson(self, path: Path) -> None:
        """Open a lesson of one's own."""

    def open_lecture(self, path: Path) -> None:
        """Open a lecture."""

    def set_theme(self, choice: str) -> None:
        """Light, dark, or as the system has it."""

    def set_type_size(self, percent: int) -> None:
        """The size of type and lengths, in per cent of the usual one."""

    def set_projector(self, projector: bool) -> None:
        """Enlarge type and lengths."""

    def toggle_enlarged(self) -> None:
        """Let the panel under the pointer fill the window, or bring everything back."""

    def count_from_zero(self, zero: bool) -> None:
        """Count layers and heads from 0, or from 1."""

    def toggle_halo(self) -> None:
        """Show a ring around the pointer, or none."""

    def toggle_full_screen(self) -> None:
        """Fill the screen, or go back."""

    def toggle_panel_window(self) -> None:
        """Put the panel under the pointer into a window of its own, or bring it back."""

    def reset_arrangement(self) -> None:
        """Put the panels of this perspective where they belong."""

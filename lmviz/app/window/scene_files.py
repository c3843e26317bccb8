"""Asks for the files of scenes: one to put on, or one to write what the window shows into."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QWidget

from lmviz.app.opening.scenes import scene_of
from lmviz.app.widgets.base.toast import Toast
from lmviz.base.errors import LmvizError
from lmviz.desktop.scene import ENDING, save_scene

if TYPE_CHECKING:
    from lmviz.app.window.commanded_window import CommandedWindow

KINDS = f"Scenes (*{ENDING})"


def choose_scene(window: CommandedWindow, parent: QWidget) -> None:
    """Ask for a scene, and put it on."""
    name, _ = QFileDialog.getOpenFileName(parent, "Open a scene", "", KINDS)
    if name:
        window.open_paths([name])


def choose_scene_file(window: CommandedWindow, parent: QWidget) -> None:
    """Ask for a place, and write there what the window shows."""
    name, _ = QFileDialog.getSaveFileName(parent, "Save scene", f"scene{ENDING}", KINDS)
    if not name:
        return
    path = Path(name)
    if path.suffix.lower() != ENDING:
        path = path.with_name(path.name + ENDING)
    try:
        view = window.perspective
        save_scene(scene_of(window.session, view.name, path.parent, view.in_front), path)
    except LmvizError as sentence:
        window.session.say(str(sentence))
    else:
        Toast.show_over(parent, f"Saved {path.name} in {path.parent}.")

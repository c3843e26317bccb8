"""The export menu: a panel's picture, its numbers, the Python code that computes them, or a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu

from lmviz.app.board.panel_titles import file_name, title_of
from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.export import ARRAYS, PICTURES, fits_csv, picture_of, save_arrays
from lmviz.app.widgets.base.plain import caption
from lmviz.app.widgets.base.toast import Toast
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically


def choose_picture(panel: Panel) -> None:
    """Ask for a file, and write the panel as PNG or SVG."""
    _save(panel, PICTURES, ".png", lambda path: partial(write_atomically, path, picture_of(panel, path)))


def choose_numbers(panel: Panel) -> None:
    """Ask for a file, and write what the panel draws as CSV or NPZ."""
    panel.catch_up()
    arrays = panel.drawn_arrays()
    names = panel.exported_names()
    ending = ".csv" if fits_csv(arrays) else ".npz"
    _save(panel, ARRAYS, ending, lambda path: partial(save_arrays, arrays, path, names))


def copy_recipe(panel: Panel) -> None:
    """Put the lines of Python that give and print the same numbers on the clipboard."""
    from lmviz.inspection.recipes.printing import printing

    panel.catch_up()
    lines = printing(panel.drawn_recipe())
    QGuiApplication.clipboard().setText(lines)
    Toast.show_over(panel, f"Copied {len(lines.splitlines())} lines of Python.")


def choose_page(panel: Panel) -> None:
    """Ask for a file, and write what the panel shows as one HTML file."""
    from lmviz.app.board.page_export import export_page

    export_page([panel])


def _has_page(panel: Panel) -> bool:
    from lmviz.app.board.page_export import has_page

    return has_page(panel)


def _save(panel: Panel, kinds: str, ending: str, writing: Callable[[Path], Callable[[], object]]) -> None:
    """Ask for a file, and write it in a job, by what `writing` gives for it: that knows no panel."""
    name, _ = QFileDialog.getSaveFileName(panel, "Export", f"{file_name(title_of(panel))}{ending}", kinds)
    if not name:
        return

    def confirm(_: object) -> None:
        panel.complain("", "export")
        Toast.show_over(panel, f"Saved {path.name} in {path.parent}.")

    def fail(sentence: str) -> None:
        panel.complain(sentence, "export")

    path = Path(name)
    try:
        write = writing(path)
    except LmvizError as sentence:
        fail(str(sentence))
    else:
        panel.session.work.save_file(path, write, confirm, fail)


@dataclass(frozen=True)
class Export:
    """One thing that can be taken of a panel: what it is called, with the panel's title, and how."""

    words: str
    take: Callable[[Panel], None]
    is_there: Callable[[Panel], bool] = lambda panel: True


EXPORTS = {
    "Pictures": Export("Picture of “{}”…", choose_picture),
    "Tables of numbers": Export("Numbers of “{}”…", choose_numbers, lambda panel: bool(panel.drawn_arrays())),
    "Python code": Export("Copy “{}” as Python", copy_recipe, lambda panel: bool(panel.drawn_recipe())),
    "Pages": Export("“{}” as a page…", choose_page, _has_page),
}
"""By the title of the submenu in which they stand for all panels."""


def fill_export_menu(menu: QMenu, panel: Panel) -> None:
    """Add what can be exported of a panel, as it is drawn now."""
    panel.catch_up()
    for export in EXPORTS.values():
        _add(menu, export, panel).setEnabled(export.is_there(panel))


def fill_with_panels(menu: QMenu, kind: str, panels: Sequence[Panel]) -> None:
    """Add the panels of which a kind of export can be had now."""
    export = EXPORTS[kind]
    for panel in panels:
        panel.catch_up()
        if export.is_there(panel):
            action = _add(menu, export, panel)
            action.setData(action.text())  # what it is called where it stands in no submenu
            action.setText(caption(title_of(panel)) + ("…" if action.text().endswith("…") else ""))


def _add(menu: QMenu, export: Export, panel: Panel) -> QAction:
    action = menu.addAction(caption(export.words.format(title_of(panel))))
    action.triggered.connect(lambda _=False: export.take(panel))
    return action

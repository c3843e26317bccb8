"""The list from which runs and sample models are opened, and in which runs are renamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QPushButton, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.plain import window_title
from lmviz.app.widgets.controls.row_list import ListedRow, RowList
from lmviz.app.widgets.controls.search_field import SearchField
from lmviz.app.widgets.kit.pointing import CONFIRMING, DOWN
from lmviz.runs.run_list import ListedRun
from lmviz.runs.run_title import when

COLUMNS = ("Name", "Family", "Text", "Begun", "Steps")
SIZE = (760, 460)  # pixels at scale 1


class OpenModelDialog(QDialog):
    """`OpenModelDialog(runs, samples, parent)`: typing filters, ↑ ↓ choose, Return or a click opens.

    Signals: `chosen(Path)`, the folder of a run; `other_folder_wanted()`; `renamed(Path, str)`, where
    an empty name is none of one's own.
    """

    chosen = Signal(object)
    other_folder_wanted = Signal()
    renamed = Signal(object, str)

    def __init__(self, runs: Sequence[ListedRun], samples: Sequence[ListedRun], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("open_model_dialog")
        self.setWindowTitle("Open a run or a sample model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._edit = named(SearchField(self._press), description="filter the list")
        self._edit.setPlaceholderText("Type a name, a family or a text…")
        self._edit.textChanged.connect(self._filter)
        self._list = named(RowList(len(COLUMNS), COLUMNS), description="runs and sample models")
        self._list.activated.connect(self._open)
        self._list.current_changed.connect(self._allow)
        self._list.renamed.connect(self.renamed)
        self._lay_out()
        self.show_runs(runs, samples)
        width, height = (round(length * current_theme().scale) for length in SIZE)
        self.resize(min(width, parent.width()), min(height, parent.height()))
        self._edit.setFocus()

    def show_runs(self, runs: Sequence[ListedRun], samples: Sequence[ListedRun]) -> None:
        """Show these, what is typed still in force."""
        self._groups = (("Your runs", runs, True), ("Sample models", samples, False))
        self._filter()

    def _lay_out(self) -> None:
        self._open_button = _button("open_button", "Open", self._open)
        self._open_button.setProperty("role", "primary")
        self._rename_button = _button("rename_button", "Rename…", self._list.rename)
        self._rename_button.setToolTip("Rename the run (F2); its folder keeps its name")
        other = _button("other_folder_button", "Other folder…", self._choose_other)
        buttons = row(
            other,
            self._rename_button,
            STRETCH,
            _button("cancel_button", "Cancel", self.reject),
            self._open_button,
        )
        column(self._edit, (self._list, 1), buttons, on=self, gap=10, margins=(16, 16, 16, 14))

    def _filter(self) -> None:
        """List what holds every word that was typed, under the heading of its kind."""
        words, before = self._edit.text().casefold().split(), self._list.current
        rows: list[ListedRow] = []
        for title, entries, are_own in self._groups:
            found = [_row(entry, are_own) for entry in entries if _holds(entry, words)]
            rows += [ListedRow((title,)), *found] if found else []
        self._list.set_rows(rows)
        if before is not None:
            self._list.choose(before.value)
        if self._list.current is None:
            self._list.go(1)
        self._allow()

    def _allow(self) -> None:
        chosen = self._list.current
        self._open_button.setEnabled(chosen is not None)
        self._rename_button.setEnabled(chosen is not None and chosen.may_be_renamed)

    def _open(self) -> None:
        chosen = self._list.current
        if chosen is not None:
            self.accept()
            self.chosen.emit(chosen.value)

    def _choose_other(self) -> None:
        self.accept()
        self.other_folder_wanted.emit()

    def _press(self, event: QKeyEvent) -> bool:
        """Do what a key means for the list, and say whether it meant anything."""
        if event.key() in DOWN:
            self._list.go(DOWN[event.key()])
        elif event.key() in CONFIRMING:
            self._open()
        elif event.key() == Qt.Key.Key_F2 and self._rename_button.isEnabled():
            self._list.rename()
        else:
            return False
        return True


class RenameDialog(QDialog):
    """`RenameDialog(name, parent)`: asks for another name. Signal: `named(str)`."""

    named = Signal(str)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rename_dialog")
        self.setWindowTitle(window_title(f"Rename {name}"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._edit = named(QLineEdit(name), description="name of the run")
        self._edit.setMinimumWidth(round(320 * current_theme().scale))
        self._edit.selectAll()
        rename = _button("accept_button", "Rename", self._name_run)
        rename.setProperty("role", "primary")
        rename.setDefault(True)
        buttons = row(STRETCH, _button("cancel_button", "Cancel", self.reject), rename)
        column(self._edit, buttons, on=self, gap=10, margins=(16, 16, 16, 14))

    def _name_run(self) -> None:
        self.accept()
        self.named.emit(self._edit.text().strip())


def _row(entry: ListedRun, is_own: bool) -> ListedRow:
    name = f"{entry.title}, all lanes" if entry.has_lanes else entry.title
    begun = when(entry.begun) if entry.begun is not None and is_own else ""
    words = (name, entry.family, entry.text, begun, f"{entry.steps:,}")
    return ListedRow(words, entry.folder, str(entry.folder), is_own and not entry.has_lanes)


def _holds(entry: ListedRun, words: Sequence[str]) -> bool:
    """Whether every word occurs in what is known of a run."""
    known = " ".join((entry.title, entry.family, entry.text, Path(entry.folder).name)).casefold()
    return all(word in known for word in words)


def _button(name: str, text: str, act: Callable[[], object]) -> QPushButton:
    button = named(QPushButton(text), name)
    button.setAutoDefault(False)  # Return belongs to the list
    button.clicked.connect(lambda _=False: act())
    return button

"""The list from which runs and sample models are opened, and in which runs are renamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.plain import paragraph, window_title
from lmviz.app.widgets.controls.search_field import SearchField
from lmviz.app.widgets.kit.pointing import CONFIRMING, DOWN
from lmviz.base.plain_text import on_one_line
from lmviz.runs.run_list import ListedRun
from lmviz.runs.run_title import when

COLUMNS = ("Name", "Family", "Text", "Begun", "Steps")
SIZE = (760, 460)  # pixels at scale 1
ENTRY = Qt.ItemDataRole.UserRole
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
RENAMABLE = Qt.ItemDataRole.UserRole + 1


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
        self._groups = (("Your runs", runs, True), ("Sample models", samples, False))
        self._edit = named(SearchField(self._press), description="filter the list")
        self._edit.setPlaceholderText("Type a name, a family or a text…")
        self._edit.textChanged.connect(self._filter)
        self._list = _list()
        self._list.itemActivated.connect(self._open)
        self._list.currentItemChanged.connect(self._allow)
        self._list.itemChanged.connect(self._take_name)
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
        self._open_button = _button("open_button", "Open", lambda: self._open(self._list.currentItem()))
        self._open_button.setProperty("role", "primary")
        self._rename_button = _button("rename_button", "Rename…", self._rename)
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
        words = self._edit.text().casefold().split()
        before = _entry(self._list.currentItem())
        blocked = self._list.blockSignals(True)
        self._list.clear()
        for title, entries, renamable in self._groups:
            found = [entry for entry in entries if _holds(entry, words)]
            if found:
                _add_heading(self._list, title)
            for entry in found:
                item = _add_entry(self._list, entry, renamable)
                if before is not None and entry.folder == before.folder:
                    self._list.setCurrentItem(item)
        self._list.blockSignals(blocked)
        if self._list.currentItem() is None:
            self._go(1)
        self._allow()

    def _go(self, step: int) -> None:
        """To the next run in a direction, headings stepped over."""
        row = self._list.indexOfTopLevelItem(self._list.currentItem()) + step
        while 0 <= row < self._list.topLevelItemCount():
            item = self._list.topLevelItem(row)
            if item is not None and _entry(item) is not None:
                self._list.setCurrentItem(item)
                return
            row += step

    def _allow(self) -> None:
        item = self._list.currentItem()
        self._open_button.setEnabled(_entry(item) is not None)
        self._rename_button.setEnabled(item is not None and bool(item.data(0, RENAMABLE)))

    def _open(self, item: QTreeWidgetItem | None) -> None:
        entry = _entry(item)
        if entry is not None:
            self.accept()
            self.chosen.emit(entry.folder)

    def _choose_other(self) -> None:
        self.accept()
        self.other_folder_wanted.emit()

    def _rename(self) -> None:
        self._list.setFocus()
        self._list.editItem(self._list.currentItem(), 0)

    def _take_name(self, item: QTreeWidgetItem, column: int) -> None:
        entry = _entry(item)
        if entry is not None and column == 0 and item.text(0).strip() != entry.title:
            self.renamed.emit(entry.folder, item.text(0).strip())

    def _press(self, event: QKeyEvent) -> bool:
        """Do what a key means for the list, and say whether it meant anything."""
        if event.key() in DOWN:
            self._go(DOWN[event.key()])
        elif event.key() in CONFIRMING:
            self._open(self._list.currentItem())
        elif event.key() == Qt.Key.Key_F2 and self._rename_button.isEnabled():
            self._rename()
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


def _list() -> QTreeWidget:
    tree = named(QTreeWidget(), description="runs and sample models")
    tree.setHeaderLabels(list(COLUMNS))
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setEditTriggers(QTreeWidget.EditTrigger.EditKeyPressed)
    tree.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    tree.header().setStretchLastSection(False)
    tree.headerItem().setTextAlignment(len(COLUMNS) - 1, RIGHT)
    return tree


def _add_heading(tree: QTreeWidget, title: str) -> None:
    item = QTreeWidgetItem(tree, [title])
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setFirstColumnSpanned(True)
    item.setForeground(0, current_theme().muted_text)


def _add_entry(tree: QTreeWidget, entry: ListedRun, renamable: bool) -> QTreeWidgetItem:
    begun = when(entry.begun) if entry.begun is not None and renamable else ""
    words = (
        f"{entry.title}, all lanes" if entry.has_lanes else entry.title,
        entry.family,
        entry.text,
        begun,
        f"{entry.steps:,}",
    )
    item = QTreeWidgetItem(tree, list(map(on_one_line, words)))
    item.setData(0, ENTRY, entry)
    renamable = renamable and not entry.has_lanes
    item.setData(0, RENAMABLE, renamable)
    item.setToolTip(0, paragraph(str(entry.folder)))
    item.setTextAlignment(len(COLUMNS) - 1, RIGHT)
    if renamable:
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
    return item


def _entry(item: QTreeWidgetItem | None) -> ListedRun | None:
    return None if item is None else item.data(0, ENTRY)


def _holds(entry: ListedRun, words: Sequence[str]) -> bool:
    """Whether every word occurs in what is known of a run."""
    known = " ".join((entry.title, entry.family, entry.text, Path(entry.folder).name)).casefold()
    return all(word in known for word in words)


def _button(name: str, text: str, act: Callable[[], object]) -> QPushButton:
    button = named(QPushButton(text), name)
    button.setAutoDefault(False)  # Return belongs to the list
    button.clicked.connect(lambda _=False: act())
    return button

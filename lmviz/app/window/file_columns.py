"""Dialogs for files by Qt, where the system has none of its own: their columns show what stands in them."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QHeaderView, QListView, QSplitter, QTreeView

from lmviz.app.look.theme import current_theme

NAME = 230  # pixels at scale 1, at least
AROUND = 24  # pixels at scale 1 around the name of a place


def fit_file_dialog() -> None:
    """Fit the columns of the dialog for files that is open, if it is one of Qt's, and its width to them."""
    dialog = QApplication.activeModalWidget()
    tree = dialog.findChild(QTreeView, "treeView") if isinstance(dialog, QFileDialog) else None
    if not isinstance(dialog, QFileDialog) or tree is None:
        return
    header, sides = tree.header(), dialog.findChild(QSplitter, "splitter")
    header.setStretchLastSection(False)
    for column in range(1, header.count()):
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    header.sectionResized.connect(lambda *_: _widen(dialog, header))  # what is in a folder comes later
    places = None if sides is None else sides.widget(0)
    if isinstance(places, QListView):
        places.setMinimumWidth(round(places.sizeHintForColumn(0) + AROUND * current_theme().scale))
    _widen(dialog, header)


def _widen(dialog: QDialog, header: QHeaderView) -> None:
    taken = sum(header.sectionSize(column) for column in range(1, header.count()))
    missing = round(NAME * current_theme().scale) + taken - header.width()
    if missing > 0:
        most = dialog.screen().availableGeometry().width()
        dialog.resize(min(dialog.width() + missing, most), dialog.height())

"""The base of tables: a QTableView without a grid, with lines of equal height."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QHeaderView, QTableView

from lmviz.app.look.theme import current_theme, theme_switch

ROW = 24
Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class QuietTable(QTableView):
    """Subclasses set a model and a delegate, and override `adopt_theme` when they measure anything."""

    def __init__(self) -> None:
        super().__init__()
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        theme_switch().theme_changed.connect(self.adopt_theme)

    def adopt_theme(self) -> None:
        """Measure again, in the new theme."""
        self.verticalHeader().setDefaultSectionSize(round(ROW * current_theme().scale))

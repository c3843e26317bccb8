"""Tabs that stand closer together where their bar is too narrow for all of them."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QTabBar

from lmviz.app.look.stylesheet import TAB_PADDING
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.role import set_role

CROWDED = "crowded"


class CrowdedTabs(QObject):
    """`watch(bar)`: whenever it has another width, its tabs have the usual gaps, or smaller ones."""

    def watch(self, bar: QTabBar) -> None:
        """Look at a bar now and whenever its size changes."""
        bar.removeEventFilter(self)  # one that is installed twice would be asked twice
        bar.installEventFilter(self)
        _fit(bar)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QTabBar):
            _fit(watched)
        return False


def _fit(bar: QTabBar) -> None:
    gaps = 2 * round(TAB_PADDING * current_theme().scale) * bar.count()
    words = sum(bar.fontMetrics().horizontalAdvance(bar.tabText(tab)) for tab in range(bar.count()))
    is_crowded = words + gaps > bar.width()
    if is_crowded != bool(bar.property(CROWDED)):
        set_role(bar, is_crowded, CROWDED)
        QCoreApplication.sendEvent(bar, QEvent(QEvent.Type.StyleChange))  # or it keeps the widths of its tabs

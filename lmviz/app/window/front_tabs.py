"""Which of the panels that share a place stands in front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMainWindow, QWidget

from lmviz.app.look.theme import application
from lmviz.app.window.chosen_tabs import ChosenTabs
from lmviz.app.window.crowded_tabs import CrowdedTabs
from lmviz.app.window.panel_dock import PanelDock
from lmviz.app.window.tab_bars import show_tab_bars

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.opened_model import OpenedModel


class FrontTabs(QObject):
    """Brings a panel in front that has something to show, that has begun, or that the keyboard goes to."""

    def __init__(self, view: QMainWindow, reading: CurrentReading, docks: Mapping[str, PanelDock]) -> None:
        super().__init__(view)
        self._view, self._reading, self._docks = view, reading, docks
        self._fitted_for: OpenedModel | None = None  # the model for which the tabs in front were chosen
        self._chosen = ChosenTabs()
        self._crowded = CrowdedTabs(self)
        reading.changed.connect(self.raise_what_fits)
        application().focusChanged.connect(self._show_focused)

    @property
    def in_front(self) -> tuple[str, ...]:
        """The object names of the panels that stand in front."""
        return tuple(
            dock.panel.objectName()
            for dock in self._docks.values()
            if dock.has_panel and dock.panel.is_in_sight and self._view.tabifiedDockWidgets(dock)
        )

    def show_bars(self) -> None:
        """Show the bars of tabs, and notice which tabs a person chooses."""
        for bar in show_tab_bars(self._view, self._docks.values()):
            self._chosen.watch(bar)
            self._crowded.watch(bar)

    def forget(self) -> None:
        """Nobody has chosen a tab: the panels stand where they stood at first."""
        self._chosen.forget()

    def raise_what_fits(self) -> None:
        """Where the tab in front has nothing to show of another model, bring one in front that has."""
        reading = self._reading.current
        if reading is None or reading.model == self._fitted_for or not self._view.isVisible():
            return
        self._fitted_for = reading.model
        for dock in self._docks.values():
            together = [dock, *self._view.tabifiedDockWidgets(dock)]
            is_in_sight = dock.has_panel and dock.panel.is_in_sight
            if not is_in_sight or not dock.panel.out_of_place(reading.model):
                continue
            fitting = [
                other
                for other in self._docks.values()
                if other in together and not other.panel.out_of_place(reading.model)
            ]
            for other in fitting[:1]:
                other.raise_()

    def raise_what_has_begun(self, dock: PanelDock) -> None:
        """Bring a panel in front of those that share its place, unless a person has chosen among them."""
        together = (dock, *self._view.tabifiedDockWidgets(dock))
        if not dock.isHidden() and not self._chosen.has_choice(each.windowTitle() for each in together):
            dock.raise_()

    def _show_focused(self, before: QWidget | None, focused: QWidget | None) -> None:
        """The keyboard can go to a panel behind another tab: bring it in front.

        Where a control is disabled or hidden that had the keyboard, Qt hands it on to the next, wherever that
        is. Nobody has asked for it, so what is in sight stays.
        """
        if focused is None or not self._view.isVisible():
            return
        if before is not None and not (before.isEnabled() and before.isVisible()):
            return
        for dock in self._docks.values():
            if dock.has_panel and not dock.panel.is_in_sight and dock.panel.isAncestorOf(focused):
                dock.raise_()

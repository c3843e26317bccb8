"""One perspective: its panels as docks that can be rearranged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QTabWidget, QWidget

from lmviz.app.look.stylesheet import SEPARATOR
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.panels.table import rows_of
from lmviz.app.window.arranging import arrange, stack
from lmviz.app.window.front_tabs import FrontTabs
from lmviz.app.window.kept_places import KeptPlaces
from lmviz.app.window.least_sizes import LeastSizes
from lmviz.app.window.panel_dock import PanelDock
from lmviz.app.window.shared_room import SharedRoom

if TYPE_CHECKING:
    from lmviz.app.panels.panel import Panel
    from lmviz.app.session.session import Session

TURNS = 3  # of the event loop, after which a view has the size that follows from its panels
SHARED, OWN = 0, 1  # versions of what is remembered: as the table has it, or as a person has


class PerspectiveView(QMainWindow):
    """The panels of one perspective, made when it is first shown, or one by one before.

    The docks show no title bars, since a card has its title: `set_rearranging(True)` brings them out, to be
    dragged, floated and closed. Until a person has moved something, the panels share the room anew whenever
    there is more or less of it. `arrangement` is for remembering.
    """

    def __init__(
        self,
        name: str,
        session: Session,
        arrangement: QByteArray | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Widget)
        self.name = name
        self.setObjectName(f"perspective_view_{name}")
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._session = session
        self._remembered = arrangement or QByteArray()
        self._rearranging = False
        self._docks: dict[str, PanelDock] = {}
        self._rows = rows_of(name)
        self._room = SharedRoom(self, self._rows, self._docks)
        self._is_arranged = False
        self._is_own = False  # whether a person has changed the arrangement
        self._shared = QSize()  # the room for which it was last shared out
        self._only: tuple[str, ...] = ()  # the panels that are left while the others are put away
        self._unneeded: set[str] = set()  # the panels that have nothing to show just now
        self._least = LeastSizes(self._rows, self._docks, self._room)
        self._is_other = False  # whether others are in sight than those that should be left
        self._offered = QSize()  # the room into which those that are left have to fit; empty while not known
        self._fitted = QSize()  # that for which they were last fitted together
        self._stacked: frozenset[str] = frozenset()  # the areas whose panels share the place of the first
        self._everything = QByteArray()  # the arrangement of all of them meanwhile
        self._kept: dict[tuple[str, ...], KeptPlaces] = {}  # of those left then, until they are there again
        self._fit_soon = QTimer(self, singleShot=True, interval=0)
        self._fit_soon.timeout.connect(self._fit)
        self._built_at: set[float] = set()  # the scales of type at which its panels were made
        self._tabs = FrontTabs(self, session.reading, self._docks)
        self._leaves_tabs = False  # whether panels behind others are left for later
        theme_switch().theme_changed.connect(self._adopt_theme)

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels that can be seen."""
        return tuple(dock.panel for dock in self._docks.values() if not dock.isHidden())

    @property
    def in_front(self) -> tuple[str, ...]:
        """The object names of the panels that stand in front of others, which share their place."""
        return self._tabs.in_front

    @property
    def toggle_actions(self) -> list[QAction]:
        """Actions that show and hide each panel."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def set_rearranging(self, rearranging: bool) -> None:
        """Show or hide the title bars by which panels are dragged."""
        self._rearranging = rearranging
        self._is_own = self._is_own or rearranging
        for dock in self._docks.values():
            dock.show_title_bar(rearranging)
            self._least.fix_height(dock, rearranging=self._rearranging)

    def show_only(self, *names: str) -> None:
        """Put all panels but these away, until it is called without names."""
        if names == self._only and not self._is_other:
            return
        if self._is_arranged and not (self._is_other or self._stacked):
            self._keep_places()
        self._only, self._is_other = names, False
        self._least.squeezed.clear()
        if self._is_arranged:
            self._put_away()

    def _keep_places(self) -> None:
        """Remember where the panels are that are left now, to bring them back there."""
        if len(self._only) != 1 and self.isVisible():
            state = self._saved(OWN if self._is_own else SHARED)
            self._kept[self._only] = KeptPlaces.of(self, self._docks, state, self._available)

    def fit_into(self, room: QSize) -> None:
        """Let the few panels that are left fit into this room, where they can only scroll otherwise."""
        self._offered = room
        if self._only and room != self._fitted:
            self._fit_soon.start()

    def bring_forward(self, name: str) -> None:
        """Bring the panel in sight that holds the control of this object name, or has it itself."""
        for found, dock in self._docks.items():
            if dock.panel.objectName() == name or dock.panel.findChild(QWidget, name) is not None:
                self._make_room(found)
                dock.show()
                dock.raise_()
                # Where the perspective has just been shown, Qt brings others forward at the end of the turn.
                QTimer.singleShot(0, dock, dock.raise_)
                return

    def _make_room(self, name: str) -> None:
        """While few panels are left, leave with this one those that fit beside it."""
        if not self._only or not self._is_arranged:
            return
        self._unstack()
        self._least.squeezed.clear()
        self._fix_least_sizes()
        left, around = [name], self.parentWidget()
        room = self.width() if around is None else around.width()
        for other in self._only:
            if other not in left and self._least.squeeze([other, *left], room):
                left.append(other)
        for each, dock in self._docks.items():
            dock.setVisible(each in left and (each == name or each not in self._unneeded))
        self._is_other = True  # also where one is narrower only
        self._fit_soon.start()
        QTimer.singleShot(0, self, self._tabs.show_bars)

    def _fit_together(self) -> None:
        """Set what is left beside and below one another, or as tabs in one place where there is no room."""
        self._fitted = self._offered
        if self._is_other or self._offered.isEmpty():
            return
        self._least.squeezed.clear()
        self._fix_least_sizes()
        left = [name for name in self._only if name not in self._unneeded]
        lacking = self._least.areas_without_room(left, self._offered)
        if lacking and not self._stacked:
            self._stack(lacking)
        elif lacking != self._stacked:
            self._unstack()

    def _stack(self, areas: frozenset[str]) -> None:
        """Have the panels of these areas share the place of the first one that is left, as tabs."""
        self._stacked = areas
        front = stack(self, [row for row in self._rows if row.name in self._only], self._docks, areas)
        QTimer.singleShot(0, front, front.raise_)
        QTimer.singleShot(0, self, self._tabs.show_bars)

    def _unstack(self) -> None:
        """Put the panels that are left side by side again."""
        if self._stacked:
            self._put_away()

    def name_at(self, place: QPoint) -> str:
        """The name in the table of the panel at a place of the screen; empty where there is none."""
        for name, dock in self._docks.items():
            panel = dock.panel
            if panel.is_in_sight and panel.rect().contains(panel.mapFromGlobal(place)):
                return name
        return ""

    def arrangement(self) -> QByteArray:
        """Where everything is; empty when the perspective was never shown."""
        if not self._everything.isEmpty():
            return self._everything
        return self._saved(OWN if self._is_own else SHARED) if self._is_arranged else self._remembered

    def _saved(self, version: int) -> QByteArray:
        """Where everything is, also what has nothing to show just now."""
        left_out = [self._docks[name] for name in self._unneeded]
        for dock in left_out:
            dock.show()
        state = self.saveState(version)
        for dock in left_out:
            dock.hide()
        return state

    def reset(self) -> None:
        """Arrange the panels as the table of panels says."""
        self._is_own, self._only, self._everything = False, (), QByteArray()
        self._kept.clear()
        self._stacked = frozenset()
        self._tabs.forget()
        for dock in self._docks.values():
            self.removeDockWidget(dock)
        self._arrange()
        self._unneeded.clear()
        self._leave_out_unneeded()
        QTimer.singleShot(0, self, self._tabs.show_bars)

    @property
    def missing(self) -> tuple[PanelRow, ...]:
        """The panels that have not been made yet."""
        return tuple(row for row in self._rows if row.name not in self._docks)

    def leave_tabs(self) -> None:
        """Leave the panels behind others for later, so that what is in sight is painted sooner."""
        self._leaves_tabs = True

    def make_tabs(self) -> None:
        """Make the panels that were left."""
        self._leaves_tabs = False
        if not all(dock.has_panel for dock in self._docks.values()):
            self._fix_least_sizes()
            self._fit_soon.start()

    def build_next(self) -> None:
        """Make the first panel that is missing; before the perspective is shown it belongs to no window."""
        row = self.missing[0]
        self._built_at.add(current_theme().scale)
        parent = self if self.isVisible() else None
        dock = self._docks[row.name] = PanelDock(row.name, row.title, lambda: self._make(row), parent)
        self.destroyed.connect(dock.deleteLater)  # which is no child of it before it is shown
        if not (row.tabbed and self._leaves_tabs):
            dock.make_panel()
        if not self.missing:
            self.set_rearranging(self._rearranging)
            self._fix_least_sizes()

    def _make_what_is_seen(self) -> None:
        """Make the panels that were left, and that stand in front where somebody has put them there."""
        lacking = [dock for dock in self._docks.values() if dock.lacks_panel]
        for dock in lacking:
            dock.make_panel()
        if lacking:
            self._fix_least_sizes()

    def _make(self, row: PanelRow) -> Panel:
        panel = row.build(self._session)
        panel.begun.connect(lambda: self._tabs.raise_what_has_begun(self._dock(row)))
        panel.need_changed.connect(self._leave_out_unneeded)
        return panel

    def _leave_out_unneeded(self) -> None:
        """Hide the panels that have nothing to show just now, and bring back those that have again."""
        made = [name for name, dock in self._docks.items() if dock.has_panel]
        unneeded = {name for name in made if not self._docks[name].panel.is_needed}
        changed, self._unneeded = unneeded ^ self._unneeded, unneeded
        if not self._is_arranged or not changed:
            return
        for name in changed:
            if not self._only or name in self._only:
                self._docks[name].setVisible(name not in unneeded)
        self._shared = QSize()
        self._fit_soon.start()
        QTimer.singleShot(0, self, self._tabs.show_bars)

    def _fix_least_sizes(self) -> None:
        few, leaves_tabs = bool(self._only), self._leaves_tabs
        self._least.fix(few=few, leaves_tabs=leaves_tabs, rearranging=self._rearranging)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        while self.missing:
            self.build_next()
        if not self._is_arranged:
            for dock in self._docks.values():
                if dock.parent() is None:
                    dock.setParent(self)
            self._is_arranged = True
            if self._built_at != {current_theme().scale}:
                # Qt gives fonts that were set before the first showing back as they were when it was built.
                QTimer.singleShot(0, self, theme_switch().theme_changed.emit)
            self._is_own = self._restore(OWN)
            if not self._is_own and not self._restore(SHARED):
                self._arrange()
            self._unneeded.clear()
            self._leave_out_unneeded()
            if self._only:
                self._put_away()
            QTimer.singleShot(0, self, self._tabs.show_bars)
            QTimer.singleShot(0, self, self._make_what_is_seen)
        elif self._shared.isEmpty():
            self._fit_soon.start()  # type has changed meanwhile
        QTimer.singleShot(0, self, self._tabs.raise_what_fits)

    def _put_away(self) -> None:
        """Hide what is not wanted now, or bring everything back to where it was."""
        version = OWN if self._is_own else SHARED
        self._stacked, self._fitted = frozenset(), QSize()
        if self._everything.isEmpty():
            self._everything = self._saved(version)
        else:
            self.restoreState(self._everything, version)
        if self._only:
            for name, dock in self._docks.items():
                dock.setVisible(name in self._only and name not in self._unneeded)
        else:
            self._everything = QByteArray()
            for name in self._unneeded:
                self._docks[name].hide()
        self._fix_least_sizes()
        self._shared = QSize()
        self._fit_soon.start()
        QTimer.singleShot(0, self, self._tabs.show_bars)

    def _restore(self, version: int) -> bool:
        return not self._remembered.isEmpty() and self.restoreState(self._remembered, version)

    def event(self, event: QEvent) -> bool:
        taken = super().event(event)
        if event.type() == QEvent.Type.MouseButtonPress and event.isAccepted():
            self._is_own = True  # what takes the button here is the line between two panels
        return taken

    def minimumSizeHint(self) -> QSize:
        """Qt's own forgets the line between the columns and the row below them."""
        least, has_bottom = super().minimumSizeHint(), any(row.area == "bottom" for row in self._rows)
        return least + QSize(0, round(SEPARATOR * current_theme().scale) if has_bottom else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_arranged and self._shared != event.size():
            self._fit_soon.start()

    def _adopt_theme(self) -> None:
        if not self.missing:
            self._fix_least_sizes()
            self._shared = QSize()
            self._fit_soon.start()  # once type and lengths have changed everywhere

    def _fit(self) -> None:
        """Give every panel its part of the room there is now, once it can be seen: type changes only then."""
        if not self.isVisible():
            self._shared = QSize()
            return
        if self._comes_back():
            return
        if self._shared.isEmpty():
            self._fix_least_sizes()
        if self._only and (self._shared.isEmpty() or self._offered != self._fitted):
            self._fit_together()
        if not self._is_own or self._only:
            self._share_room()

    def _comes_back(self) -> bool:
        """Put all panels where they were, to the pixel; whether they have the room that they had then."""
        kept = self._kept.pop(self._only, None)
        if kept is None or not kept.fit(self._available):
            return False
        self._shared, self._fitted = self.size(), self._offered
        kept.set_least_sizes(self._docks)
        for dock in self._docks.values():
            self._least.fix_height(dock, rearranging=self._rearranging)
        only = self._only
        QTimer.singleShot(0, self, lambda: self._put_back(kept, only, TURNS))
        return True

    def _put_back(self, kept: KeptPlaces, only: tuple[str, ...], turns: int) -> None:
        """Again in the next turns: the size follows from the panels, and a scroll bar from the size."""
        if self._only != only or self._is_other:
            return
        self._fit_soon.stop()
        self._shared = self.size()
        kept.put_back(self, self._docks, OWN if self._is_own else SHARED)
        for name in self._unneeded:
            self._docks[name].hide()
        again = self._tabs.show_bars if turns <= 1 else lambda: self._put_back(kept, only, turns - 1)
        QTimer.singleShot(0, self, again)

    @property
    def _available(self) -> QSize:
        """The room there is without scrolling."""
        around = self.parentWidget()
        return self.size() if around is None else around.size()

    def _arrange(self) -> None:
        arrange(self, self._rows, self._docks, self._room.columns())
        self._share_room()
        self._fit_soon.start()  # in the size it has by then

    def _share_room(self) -> None:
        self._shared = self.size()
        self._room.share(self._stacked)

    def _dock(self, row: PanelRow) -> PanelDock:
        return self._docks[row.name]

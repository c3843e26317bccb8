"""A place of the board: one page, or several that share it, with a tab each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QTabBar, QTabWidget, QToolButton, QWidget

from lmviz.app.board.page import PanelPage
from lmviz.app.look.stylesheet import TAB_PADDING
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import beside_by_tab, leave_keys
from lmviz.app.widgets.base.plain import caption, paragraph
from lmviz.app.widgets.base.role import set_role

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStyleOptionTab


class Place(QTabWidget):
    """`show_pages(pages, front, out_of_place)`. Signal: `left`, when the pointer leaves the tabs."""

    left = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.has_choice = False  # whether a person has chosen a tab, so that none comes forward by itself
        self._bar = _Tabs()
        self._bar.setAccessibleName("panels that share this place")
        self._bar.tabBarClicked.connect(self._choose)
        self._bar.left.connect(self.left)
        self.currentChanged.connect(
            lambda _: leave_keys(self.currentWidget())
        )  # Qt gives them to its first field
        self.currentChanged.connect(lambda _: self._lead_to_front())
        self.setTabBar(self._bar)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys go to its tabs, which have a name:
        self.setFocusProxy(cast(QWidget, None))  # none: for its proxy Qt would pass them over
        self._bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setDocumentMode(True)
        self.setTabBarAutoHide(True)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideNone)  # where there are too many they scroll

    @property
    def pages(self) -> list[PanelPage]:
        """The pages, in the order of their tabs."""
        held = [self.widget(at) for at in range(self.count())]
        return [page for page in held if isinstance(page, PanelPage)]

    @property
    def front(self) -> PanelPage | None:
        """The page that can be seen."""
        page = self.currentWidget()
        return page if isinstance(page, PanelPage) else None

    def show_pages(
        self, pages: Sequence[PanelPage], front: PanelPage | None, out_of_place: Mapping[PanelPage, str]
    ) -> None:
        """Show other pages, in the order given; those that say nothing of the model last, and muted.

        Under the pointer no tab changes its place: it does when the pointer has gone.
        """
        ordered = sorted(pages, key=lambda page: page in out_of_place)
        held = self.pages
        if self._bar.underMouse() and set(held) == set(pages):
            ordered = held
        was_blocked = self.blockSignals(True)
        if ordered != held:
            for page in held:
                if page not in ordered:
                    self.removeTab(self.indexOf(page))
            for at, page in enumerate(ordered):
                if self.indexOf(page) < 0:
                    self.insertTab(at, page, caption(page.title))
                elif self.indexOf(page) != at:
                    self._bar.moveTab(self.indexOf(page), at)
        if ordered:
            front = front if front in ordered else ordered[0]
            _ = front.panel
            if front is not self.currentWidget():
                leave_keys(self.currentWidget())
            self.setCurrentWidget(front)
            self._lead_to_front()
        self.blockSignals(was_blocked)
        for at, page in enumerate(ordered):
            why = out_of_place.get(page, "")
            if self.tabText(at) != caption(page.title):
                self.setTabText(at, caption(page.title))
            self.setTabToolTip(at, paragraph(page.title, *([why] if why else [])))
        self._bar.set_muted({at for at, page in enumerate(ordered) if page in out_of_place})
        self._be_as_large_as_needed()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = self._bar.tabAt(self._bar.mapFromGlobal(event.globalPos()))
        if at >= 0:
            self.pages[at].menu_wanted.emit(event.globalPos())

    def _lead_to_front(self) -> None:
        """Have Tab reach the tabs right before what the page in front shows, not before all pages."""
        if self.front is None or self.window() is self:
            return
        panel = self.front.panel
        before = beside_by_tab(panel, forward=False)
        while before is not None and before.focusPolicy() == Qt.FocusPolicy.NoFocus:
            before = None if before is panel else beside_by_tab(before, forward=False)
        if before is not None and before is not self._bar:
            self.setTabOrder(before, self._bar)

    def _be_as_large_as_needed(self) -> None:
        """Set and not computed: layouts ask for it again and again, and Qt's own has room for a frame."""
        least = QSize(0, 0)
        for page in self.pages:
            least = least.expandedTo(page.minimumSize())
        self.setMinimumSize(least + QSize(0, self._bar.sizeHint().height() if self.count() > 1 else 0))

    def _choose(self, at: int) -> None:
        self.has_choice = self.has_choice or at >= 0


class _Tabs(QTabBar):
    """Tabs that move closer together where there is too little room, some of them in fainter ink."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._muted: set[int] = set()
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._fit)
        for arrow in self.findChildren(QToolButton):  # by which the pointer scrolls
            arrow.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def set_muted(self, muted: set[int]) -> None:
        """Write other tabs in fainter ink."""
        if muted != self._muted:
            self._muted = muted
            self.update()

    def initStyleOption(self, option: QStyleOptionTab, tab: int) -> None:
        super().initStyleOption(option, tab)
        if tab in self._muted:  # the style sheet has a colour for what is disabled
            from PySide6.QtWidgets import QStyle  # not before the first paint: it has 400 names

            option.state &= ~QStyle.StateFlag.State_Enabled

    def tabInserted(self, index: int) -> None:
        super().tabInserted(index)
        self._soon.start()

    def tabRemoved(self, index: int) -> None:
        super().tabRemoved(index)
        self._soon.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._soon.start()

    def _fit(self) -> None:
        """Once the tabs have the room that they keep: to be styled anew takes longer than to be laid out."""
        if self.isHidden():
            return
        gaps = 2 * round(TAB_PADDING * current_theme().scale) * self.count()
        words = sum(self.fontMetrics().horizontalAdvance(self.tabText(tab)) for tab in range(self.count()))
        is_crowded = words + gaps > self.width()
        if is_crowded != bool(self.property("crowded")):
            set_role(self, is_crowded, "crowded")
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.StyleChange))  # or it keeps the widths

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()

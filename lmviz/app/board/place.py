"""A place of the board: one page, or several that share it, with a tab each.

Each title is read whole: on its tab or, where there are too many, in the menu that names the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QTabBar, QTabWidget, QWidget

from lmviz.app.board.page import PanelPage
from lmviz.app.look.stylesheet import TAB_PADDING
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import beside_by_tab, give_menu, leave_keys
from lmviz.app.widgets.base.plain import caption, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton
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
        self._bar.laid_out.connect(self._fit_tabs)
        self._sign: QuietButton | None = None  # names the tabs for which there is no room
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
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)  # where there are too many, a menu names the others

    def holds(self, place: str) -> bool:
        """Whether it is the place of this name, as a split says it of those that stand in it."""
        return place == self.name

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
            if front.isHidden():  # in front before, but put away meanwhile
                front.show()
            self._lead_to_front()
        self.blockSignals(was_blocked)
        for at, page in enumerate(ordered):
            why = out_of_place.get(page, "")
            if self.tabText(at) != caption(page.title):
                self.setTabText(at, caption(page.title))
            self.setTabToolTip(at, paragraph(page.title, *([why] if why else [])))
        self._bar.set_muted({at for at, page in enumerate(ordered) if page in out_of_place})

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = self._bar.tabAt(self._bar.mapFromGlobal(event.globalPos()))
        if at >= 0:
            self.pages[at].menu_wanted.emit(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._bar.laid_out_soon()

    def _fit_tabs(self) -> None:
        """Show the tabs for which there is room, and a sign with the number of the others."""
        sign = 0 if self._sign is None else self._sign.sizeHint().width()
        self._bar.fit(self.width(), sign)
        away = [self.pages[tab].title for tab in self._bar.put_away]
        if away and self._sign is None:
            self._sign = self._made_sign()
        if self._sign is None:
            return
        if away:
            self._sign.setText(f"{len(away)} more")
            said = f"There is no room for the tabs of: {', '.join(away)}."
            self._sign.setAccessibleDescription(said)
            self._sign.setToolTip(paragraph(said))
        self._sign.setVisible(bool(away))
        if self._sign.sizeHint().width() != sign:
            self._bar.laid_out_soon()

    def _made_sign(self) -> QuietButton:
        sign = QuietButton("tabs_put_away", "", "link", "more panels that share this place")
        sign.setProperty("menu", True)
        menu = give_menu(sign)
        menu.aboutToShow.connect(lambda: self._fill(menu))
        self.setCornerWidget(sign)
        return sign

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        for tab in self._bar.put_away:
            action = menu.addAction(caption(self.pages[tab].title))
            action.triggered.connect(lambda _=False, page=self.pages[tab]: self._choose_page(page))

    def _choose_page(self, page: PanelPage) -> None:
        self.has_choice = True
        self.setCurrentWidget(page)

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

    def be_as_large_as_needed(self) -> None:
        """Have room for the largest of its pages.

        Set and not computed: layouts ask for it again and again, and Qt's own has room for a frame.
        """
        least = QSize(0, 0)
        for page in self.pages:
            least = least.expandedTo(page.minimumSize())
        self.setMinimumSize(least + QSize(0, self._bar.sizeHint().height() if self.count() > 1 else 0))

    def _choose(self, at: int) -> None:
        self.has_choice = self.has_choice or at >= 0


class _Tabs(QTabBar):
    """`fit(room, sign)`: tabs that move closer together where there is too little room, some in fainter ink.

    Those that have no room even so are put away, never the one in front; `put_away` says which. Signals:
    `laid_out` when their lengths or the one in front may have changed, `left` when the pointer leaves.
    """

    laid_out = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._muted: set[int] = set()
        self._had: tuple[int, list[str]] = (0, [])  # the room and the titles for which they were chosen last
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.laid_out)
        self.currentChanged.connect(lambda _: self.laid_out_soon())

    @property
    def put_away(self) -> list[int]:
        """The tabs for which there is no room."""
        return [tab for tab in range(self.count()) if not self.isTabVisible(tab)]

    def set_muted(self, muted: set[int]) -> None:
        """Write other tabs in fainter ink."""
        if muted != self._muted:
            self._muted = muted
            self.update()

    def laid_out_soon(self) -> None:
        """Say that they are laid out, once all around them has the room that it keeps."""
        self._soon.start()

    def fit(self, room: int, sign: int) -> None:
        """Put away the last tabs that do not fit into a room, in pixels, beside a sign as wide as this."""
        if self.isHidden():
            return
        gaps = 2 * round(TAB_PADDING * current_theme().scale) * self.count()
        words = sum(self.fontMetrics().horizontalAdvance(self.tabText(tab)) for tab in range(self.count()))
        is_crowded = words + gaps > room
        if is_crowded != bool(self.property("crowded")):
            set_role(self, is_crowded, "crowded")  # which takes longer than to lay them out
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.StyleChange))  # or it keeps the widths
        widths = [self.tabSizeHint(tab).width() for tab in range(self.count())]
        shown = self._shown_in(room, sign, widths)
        for tab in sorted(range(self.count()), key=lambda tab: tab not in shown):  # the one in front stays
            if self.isTabVisible(tab) != (tab in shown):
                self.setTabVisible(tab, tab in shown)
        if shown and self.tabRect(min(shown)).left() < 0:  # Qt had scrolled to the one in front
            self.setElideMode(self.elideMode())  # which has it look anew whether it must

    def _shown_in(self, room: int, sign: int, widths: list[int]) -> set[int]:
        """The tabs with room; what is shown already stays where only another one has come to the front."""
        every = set(range(len(widths)))
        if sum(widths) <= room:
            return every
        room -= sign
        had, self._had = self._had, (room, [self.tabText(tab) for tab in sorted(every)])
        before = every - set(self.put_away)
        is_enough = self.currentIndex() in before and sum(widths[tab] for tab in before) <= room
        if had == self._had and is_enough and before != every:
            return before
        shown = {self.currentIndex()} & every
        for tab in sorted(every - shown):
            if sum(widths[each] for each in shown) + widths[tab] > room:
                break
            shown.add(tab)
        return shown

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())  # what does not fit is put away

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows lead to the tabs that are put away as well, which come in sight."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        tab = self.currentIndex() + steps.get(Qt.Key(event.key()), 0)
        if tab in self.put_away:
            self.setTabVisible(tab, True)
            self.setCurrentIndex(tab)
        else:
            super().keyPressEvent(event)

    def initStyleOption(self, option: QStyleOptionTab, tab: int) -> None:
        super().initStyleOption(option, tab)
        if tab in self._muted:  # the style sheet has a colour for what is disabled
            from PySide6.QtWidgets import QStyle  # not before the first paint: it has 400 names

            option.state &= ~QStyle.StateFlag.State_Enabled

    def tabLayoutChange(self) -> None:
        super().tabLayoutChange()
        self.laid_out_soon()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()

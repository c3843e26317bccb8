"""The panels of one perspective: places in splitters, whose lengths follow from the room and the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from PySide6.QtCore import QPoint, QRect, QSignalBlocker, QSize, QTimer
from PySide6.QtGui import QAction, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from lmviz.app.board.arrangement import Choices, KeptBoard
from lmviz.app.board.lengths import Lengths
from lmviz.app.board.page import PanelPage
from lmviz.app.board.panel_maker import PanelMaker
from lmviz.app.board.panel_places import PanelPlaces, RoomForPanels
from lmviz.app.board.panel_windows import PanelWindows
from lmviz.app.board.place import Place
from lmviz.app.board.splits import HORIZONTAL, Split, Splits
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.panels.table import rows_of
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column
from lmviz.app.widgets.base.plain import caption
from lmviz.text.tokenizer import of_units


class Board(QWidget):
    """`Board(name, session, arrangement)`: the panels of a perspective, made when it is first shown.

    Where everything stands is computed anew, from the table, the room and what a person has chosen,
    whenever one of them changes: nothing can drift. While a lesson is open, or few panels are left, a person
    chooses for that time only. `arrangement` is for remembering.
    """

    def __init__(
        self, name: str, session: Session, arrangement: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.name = name
        self.setObjectName(f"board_{name}")
        self._rows = rows_of(name)
        self._splits = Splits(self)
        self._column = column(self._splits.whole, on=self)
        self._session = session
        self._lengths = Lengths(self._rows)
        self._maker = PanelMaker(self._rows, self._build_panel, self)
        self._pages = self._maker.pages
        self._places: dict[str, Place] = {}  # by the name of the first row of each
        self._homes: dict[str, str] = {}  # the place of each panel
        for row in self._rows:
            shares = row.tabbed and bool(self._homes)
            self._homes[row.name] = next(reversed(self._homes.values())) if shares else row.name
        self._kept = KeptBoard.from_text(arrangement, self._homes)
        self._only: tuple[str, ...] = ()  # the panels that are left while the others are put away
        self._beside: tuple[str, ...] = ()  # those that a lesson has left in their place
        self._in_lesson = False
        self._views = {self._mode: self._kept.view}
        self._windows = PanelWindows(self)
        self._scale = current_theme().scale  # of the type in which they are
        self._offered = QSize()  # the room into which those that are left have to fit
        self._panel_places = PanelPlaces(
            self._rows, self._homes, self._pages, self._lengths, lambda: self._room_for_panels
        )
        self._was_joined: dict[str, str] = {}  # what stood with others when it was settled last
        self._has_stood = False  # whether it has been shown
        self._changes_under_way, self._is_unsettled = 0, False  # it is settled after the last of them
        self._to_keep: list[str] = []  # the panels that are brought forward by these, for good
        self._toggles: dict[str, QAction] = {}
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._adopt_type)
        self._maker.page_made.connect(self._adopt_page)
        self._maker.caught_up.connect(self._catch_up)
        self._splits.moved.connect(self._note_lengths)
        self._windows.closed.connect(self._take_back)
        theme_switch().theme_changed.connect(self._adopt_theme)
        session.reading.changed.connect(self._show_what_fits)

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels that stand somewhere, behind others or not."""
        held = {page for place in self._places.values() for page in place.pages}
        found = [page for name, page in self._pages.items() if page in held or name in self._windows]
        return tuple(page.panel for page in found)

    @property
    def in_front(self) -> tuple[str, ...]:
        """The object names of the panels that stand in front of others, which share their place."""
        shared = [place.front for place in self._places.values() if place.count() > 1]
        return tuple(page.panel.objectName() for page in shared if page is not None)

    @property
    def toggle_actions(self) -> list[QAction]:
        """Actions that show and hide each panel."""
        for name, page in self._pages.items():
            if name not in self._toggles:
                action = self._toggles[name] = QAction(caption(page.row.title), self, checkable=True)
                action.triggered.connect(lambda shown, name=name: self._toggle(name, shown))
            self._toggles[name].setText(caption(of_units(page.row.title, self._session.reading.noun)))
            self._toggles[name].setChecked(name in self._wanted or name in self._windows)
        return list(self._toggles.values())

    @property
    def missing(self) -> tuple[PanelRow, ...]:
        """The panels that have not been made yet."""
        return self._maker.missing

    # What is left, and where

    def show_only(self, *names: str) -> None:
        """Put all panels but these away, until it is called without names."""
        if names != self._only or self._beside:
            self._change(names, self._in_lesson)

    def hide_all_but(self, *names: str) -> None:
        """Hide the panels that `show_only` will put away: no change of type has to reach them."""
        self.setUpdatesEnabled(False)  # until those that are left are in their new places
        for name, page in self._pages.items():
            if name not in names and name not in self._windows:
                page.hide()

    def set_in_lesson(self, in_lesson: bool) -> None:
        """While a lesson is open, what a person arranges is for that time."""
        if in_lesson != self._in_lesson or self._beside:
            self._change(self._only, in_lesson)

    @contextmanager
    def settled_once(self) -> Iterator[None]:
        """Several changes of what is left in it, after which everything is put where it belongs once."""
        self._changes_under_way += 1
        try:
            yield
        finally:
            self._changes_under_way -= 1
            if self._is_unsettled and not self._changes_under_way:
                self._settle_what_fits()
            if not self._changes_under_way:
                self._to_keep.clear()

    def fit_into(self, room: QSize) -> None:
        """Let the few panels that are left fit into this room, where they can only scroll otherwise."""
        self._offered = room
        if self._only or current_theme().scale > 1:
            self._soon.start()

    def bring_forward(self, name: str) -> None:
        """Bring the panel in sight that holds the control of this object name, or has it itself."""
        for page in self._pages.values():
            if page.panel.objectName() == name or page.panel.findChild(QWidget, name) is not None:
                self._bring(page)
                return

    def holding(self, names: AbstractSet[str]) -> tuple[str, ...]:
        """The names in the table of panels that have one of these object names, or hold a control that has.

        In the order of the table.
        """

        def holds(panel: Panel) -> bool:
            return panel.objectName() in names or any(panel.findChild(QWidget, name) for name in names)

        return tuple(name for name, page in self._pages.items() if holds(page.panel))

    def keep_in_front(self, panel: str) -> None:
        """Let no tab come by itself in front of the panel of this object name."""
        for name, page in self._pages.items():
            if page.panel.objectName() == panel:
                if self._changes_under_way:
                    self._to_keep.append(name)
                elif (place := self._place_of(page)) is not None:
                    place.has_choice = True

    def forget_fronts(self) -> None:
        """Let what is in front be what the table of panels says, whatever was brought forward before."""
        self._view.fronts.clear()
        self._view.fitted_for, self._view.brought = None, ""
        self._beside = ()
        for place in self._places.values():
            place.has_choice = False
        self._settle_what_fits()

    def is_apart(self, name: str) -> bool:
        """Whether a panel stands in a window of its own."""
        return name in self._windows

    def name_at(self, place: QPoint) -> str:
        """The name in the table of the panel at a place of the screen; empty where there is none."""
        there = [
            name
            for name, page in self._pages.items()
            if page.isVisible() and page.rect().contains(page.mapFromGlobal(place))
        ]
        in_front = QApplication.topLevelAt(place)  # the window of a panel may lie over other panels
        return next((name for name in there if self._pages[name].window() is in_front), "".join(there[:1]))

    def toggle_window(self, name: str) -> None:
        """Put a panel into a window of its own, or bring it back."""
        if name in self._windows:
            self._windows.close(name)
            return
        page, place = self._pages[name], QRect(self.mapToGlobal(QPoint()), QSize(640, 480))
        if page.isVisible():
            place = QRect(page.mapToGlobal(QPoint()), page.size())
        self._kept.windows[name] = ""
        self._settle()
        self._windows.open_at(page, place)

    def arrangement(self) -> str:
        """Where everything is, as a person has left it."""
        self._kept.windows.update(self._windows.geometries)
        return self._kept.to_text()

    def close_windows(self) -> None:
        """Take the windows of panels away: the program ends."""
        self._windows.hide_all()

    def reset(self) -> None:
        """Arrange the panels as the table of panels says."""
        self._windows.close_all()
        self._kept = KeptBoard()
        self._only, self._beside = (), ()
        self._views = {self._mode: self._kept.view.copy(), (False, ()): self._kept.view}
        for place in self._places.values():
            place.has_choice = False
        self._settle()

    @property
    def _mode(self) -> tuple[bool, tuple[str, ...]]:
        return self._in_lesson, self._only

    @property
    def _view(self) -> Choices:
        return self._views[self._mode]

    def _change(self, only: tuple[str, ...], in_lesson: bool) -> None:
        """Go over to what was chosen for this time, or for always where neither is given."""
        old, before = self._mode, self._view
        self._only, self._beside, self._in_lesson = only, (), in_lesson
        if self._mode not in self._views:
            view = self._views[self._mode] = (before if only else self._kept.view).copy()
            if only != old[1] and only:
                view.lengths.clear()
        kept = {(False, ()), (in_lesson, ()), (False, only), self._mode, *([old] if len(only) == 1 else [])}
        self._views = {mode: view for mode, view in self._views.items() if mode in kept}
        self._settle_what_fits()

    def _toggle(self, name: str, shown: bool) -> None:
        if shown:
            self._bring(self._pages[name])
        elif self._only:
            self._beside = tuple(other for other in self._wanted if other != name)
        elif name in self._windows:
            self._windows.close(name)
        else:
            self._kept.hidden.add(name)
        self._settle()

    def _bring(self, page: PanelPage) -> None:
        name = page.row.name
        if name in self._windows:
            if not self._changes_under_way:
                self._windows.raise_(name)
            return
        before = self._wanted, self._beside
        self._kept.hidden.discard(name)
        if self._only and name not in self._wanted:
            self._beside = (name,)
            for other in self._only:
                if self._panel_places.fits_beside((*self._beside, other)):
                    self._beside += (other,)
        elif name in self._only and not set(self._beside) <= set(self._only):
            self._beside = ()  # what a lesson has left in their place has had its turn
        for home, front in [*self._view.fronts.items()]:
            if front in self._pages and self._pages[front].row.clears == page.row.area:
                del self._view.fronts[home]  # what has taken its room gives it back
        self._choose_front(self._panel_places.places.get(name, self._homes[name]), name)
        self._view.brought = name
        if page.isVisible() and (self._wanted, self._beside) == before:
            return  # it is in front already, and all else stays where it is
        self._settle()
        place = self._place_of(page)
        if place is not None and not self._changes_under_way:
            place.setCurrentWidget(page)

    @property
    def _wanted(self) -> set[str]:
        """The panels that stand somewhere in the board now."""
        left = [name for name in self._beside or self._only if name not in self._kept.windows]
        named = left or [name for name in self._homes if name not in self._kept.hidden]
        cleared = () if left else self._cleared
        return {
            name
            for name in named
            if name not in self._kept.windows
            and (
                name not in self._pages
                or (self._pages[name].is_needed and self._pages[name].row.area not in cleared)
            )
        }

    @property
    def _cleared(self) -> set[str]:
        """The areas whose room is that of a panel in front elsewhere, which has something to show."""
        away, model = self._kept.windows.keys() | set(self._kept.hidden), self._model
        fronts = [self._pages[name] for name in self._view.fronts.values() if name in self._pages]
        return {
            page.row.clears
            for page in fronts
            if page.row.clears and page.row.name not in away and page.has_panel
            if model is not None and not page.panel.out_of_place(model)
        }

    @property
    def _stands(self) -> bool:
        """Whether it is seen, with all of its panels made."""
        return bool(self._places) and not self.missing and self.isVisible()

    def _settle(self) -> None:
        """Put every page where it belongs, and give every place its room."""
        if self._changes_under_way:
            self._is_unsettled = True
        if self._changes_under_way or not self._stands:
            return
        self._is_unsettled = False
        if self._scale != current_theme().scale:
            self._soon.start()
            return
        wanted, model = self._wanted, self._model
        joined = self._was_joined = self._panel_places.joined
        out_of_place = {
            page: page.panel.refusal_of(model)
            for page in self._pages.values()
            if page.has_panel and model is not None and page.panel.out_of_place(model)
        }
        needs_none, needs_width = set[str](), set[str]()
        fitting = {self._homes[name] for name, page in self._pages.items() if page not in out_of_place}
        for name, page in self._pages.items():
            page.title = of_units(page.row.title, self._session.reading.noun)
            if page.has_panel:
                has_room = name in wanted or name in self._kept.windows
                page.panel.set_put_away(None if has_room else self)
                stands_behind = page.row.tabbed or self._homes[name] in fitting
                if (page in out_of_place and stands_behind) or name in joined:
                    needs_none.add(name)  # but that of the others in its place
                elif model is None and page.row.tabbed:
                    needs_width.add(name)  # for its controls: below them stands one sentence

        def least_of(name: str) -> QSize:
            if name in needs_none:
                return QSize(0, 0)
            least = self._panel_places.least(name)
            return QSize(least.width(), 0) if name in needs_width else least

        self._panel_places.find_places(wanted, joined, least_of)
        standing = self._panel_places.places
        for brought in (*self._to_keep, self._view.brought):
            if brought in standing:
                self._view.fronts[standing[brought]] = brought
        held: dict[str, list[PanelPage]] = {name: [] for name in self._places}
        for row in sorted(self._rows, key=lambda row: standing.get(row.name) != self._homes[row.name]):
            if row.name in wanted:
                held[standing[row.name]].append(self._pages[row.name])
        for name, page in self._pages.items():
            place = self._place_of(page)
            if place is not None and page not in held[place.name]:
                with QSignalBlocker(place):  # what is in front then was chosen by nobody
                    place.removeTab(place.indexOf(page))
            if name not in wanted and name not in self._windows:
                page.hide()  # where it is: Qt would style it anew in another parent, and again on its return
        for name, place in self._places.items():
            chosen = self._pages.get(self._view.fronts.get(name, ""))
            place.show_pages(held[name], chosen, out_of_place)
        for name, page in self._pages.items():  # where they stand, or they would be styled twice
            if page.has_panel:
                page.set_least(least_of(name))
        for place in self._places.values():
            place.be_as_large_as_needed()
        self._splits.whole.hide_empty()
        self._share_room()

    @property
    def _room_for_panels(self) -> RoomForPanels:
        return RoomForPanels(
            size=self.size(),
            room=self._room,
            scale=self._scale,
            few=bool(self._only),
            beside=bool(self._beside),
            in_lesson=self._in_lesson,
        )

    @property
    def _room(self) -> QSize:
        return self.size() if self._offered.isEmpty() else self._offered

    def _follow_growth(self, name: str) -> None:
        if self._panel_places.note_growth(name):
            self._soon.start()

    def _share_room(self) -> None:
        self._column.activate()
        self._splits.whole.share(self._lengths_of)

    def _lengths_of(self, split: Split, shown: Sequence[Place | Split]) -> list[int]:
        """The lengths of what is shown in a split: those that a person has drawn, or else the usual ones."""
        usual = self._lengths.share(split.name, [part.name for part in shown], split.size(), self.size())
        if not self._panel_places.main:
            own = self._view.lengths.get(split.name, {})
            return [own.get(part.name, round(length)) for part, length in zip(shown, usual, strict=True)]
        main = next((at for at, part in enumerate(shown) if part.holds(self._panel_places.main)), None)
        if main is not None:
            from lmviz.app.board.crowding import with_main_share  # loaded already where it is crowded

            is_across, gaps = split.orientation() == HORIZONTAL, split.handleWidth() * (len(shown) - 1)
            length, room = (
                (split.width(), self._room.width()) if is_across else (split.height(), self._room.height())
            )
            usual = with_main_share(usual, main, length - gaps, room)
        return [round(length) for length in usual]

    # Which page is in front

    @property
    def _model(self) -> OpenedModel | None:
        reading = self._session.reading.current
        return None if reading is None else reading.model

    def _show_what_fits(self) -> None:
        """Show another model: what has nothing to show of it gives way, and its tabs are muted."""
        if self._choose_what_fits() is not None or self._changes_under_way:
            self._settle()

    def _settle_what_fits(self) -> None:
        """Settle, and once more only where something else is to be in front for the model that is shown."""
        self._settle()
        for place in map(self._place_of, (self._pages[name] for name in self._to_keep)):
            if place is not None:
                place.has_choice = True
        if self._choose_what_fits():
            self._settle()

    def _choose_what_fits(self) -> bool | None:
        """Where the tab in front has nothing to show of another model, choose one that has; whether any was.

        None where there is no other model, or nothing is seen.
        """
        model = self._model
        if model is None or model == self._view.fitted_for or not self._stands or self._changes_under_way:
            return None
        self._view.fitted_for = model
        is_chosen = False
        for place in self._places.values():
            if place.front is None or place.front.row.name in self._to_keep:
                continue
            has_nothing = bool(place.front.panel.out_of_place(model))
            first = [page for page in place.pages if page.row.is_first_for(model)]
            if first and (has_nothing or not place.has_choice):
                self._choose_front(place.name, first[0].row.name)
                is_chosen = True
            elif has_nothing:
                fitting = (page for page in place.pages if not page.panel.out_of_place(model))
                self._choose_front(place.name, next(fitting, place.front).row.name)
                is_chosen = True
        return is_chosen

    def _show_what_has_begun(self, page: PanelPage) -> None:
        """Bring a panel in front of those that share its place, unless a person has chosen among them."""
        place = self._place_of(page)
        if place is not None and not place.has_choice:
            self._bring(page)

    def _place_of(self, page: PanelPage) -> Place | None:
        return next((place for place in self._places.values() if place.indexOf(page) >= 0), None)

    def _choose_front(self, place: str, name: str) -> None:
        """Have a page in front of its place, instead of the one that was brought forward there."""
        self._view.fronts[place] = name
        if name != self._view.brought and self._panel_places.places.get(self._view.brought) == place:
            self._view.brought = ""

    def _note_front(self, place: Place) -> None:
        before = self._cleared
        if place.front is not None:
            self._choose_front(place.name, place.front.row.name)
        if self._cleared != before:
            self._soon.start()

    def _note_lengths(self, split: Split) -> None:
        self._view.lengths[split.name] = {**self._view.lengths.get(split.name, {}), **split.lengths}
        self._share_room()

    # How it comes to be

    def leave_tabs(self) -> None:
        """Leave the panels behind others for later, so that what is in sight is painted sooner."""
        self._maker.leave_tabs()

    def build_next(self) -> None:
        """Make the first panel that is missing; before the perspective is shown it belongs to no window."""
        self._maker.make_next()

    def make_ready(self) -> bool:
        """Do one more part of what its first showing would do; whether anything is left to be done.

        First its panels are made, then each is put into its place, where Qt styles it.
        """
        if self.missing:
            self.build_next()
            return True
        if self._has_stood or not self._maker.is_in_type:
            return False
        if not self._places:
            self._build_places()
            return True
        return self._place_next()

    def _place_next(self) -> bool:
        """Put one more page into its place in the table; whether there was one."""
        for name, place in self._places.items():
            homed = [self._pages[row.name] for row in self._rows if self._homes[row.name] == name]
            held = [page for page in homed if page.row.name in self._wanted]
            if len(place.pages) < len(held):
                place.show_pages(held[: len(place.pages) + 1], None, {})
                return True
        return False

    def _adopt_page(self, page: PanelPage) -> None:
        page.wanted.connect(lambda: self._bring(page))
        page.rearranged.connect(lambda: self._follow_growth(page.row.name))
        page.menu_wanted.connect(lambda at: self._show_menu(page, at))

    def _build_panel(self, row: PanelRow) -> Panel:
        panel = row.build(self._session)
        panel.begun.connect(lambda: self._show_what_has_begun(self._pages[row.name]))
        panel.need_changed.connect(self._soon.start)
        return panel

    def _catch_up(self) -> None:
        """Go on where all panels have been made that were left."""
        self._open_windows()
        self._settle()

    def _build_places(self) -> None:
        for row in self._rows:
            if self._homes[row.name] == row.name:
                place = self._places[row.name] = Place(row.name)
                place.currentChanged.connect(lambda _at, place=place: self._note_front(place))
                place.left.connect(self._soon.start)
        self._splits.hold(self._rows, self._places)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._maker.go_on_after_paint()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_stood:
            self._has_stood = True
            if not self._places:
                self._build_places()  # before the panels: what Tab leads from to the tabs is then in it
            while self.missing:
                self.build_next()
            self._scale = current_theme().scale
            if not self._maker.is_in_type:
                QTimer.singleShot(0, self, self._renew_type)
            if not self._maker.leaves_tabs:
                QTimer.singleShot(0, self, self._open_windows)
        self._settle_what_fits()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()
        if self._panel_places.joined != self._was_joined:
            self._soon.start()

    def _adopt_theme(self) -> None:
        self._splits.fit_lines()
        if self.isVisible() and self._scale != current_theme().scale:
            self.setUpdatesEnabled(False)  # to be drawn once, with everything in its new place
        self._soon.start()  # once type and lengths have changed everywhere

    def _renew_type(self) -> None:
        """Qt gives fonts that were set before the first showing back as they were when it was built."""
        self._panel_places.measure_anew()
        theme_switch().theme_changed.emit()

    def _adopt_type(self) -> None:
        """Type changes only where it can be seen: what panels need is asked then."""
        if self.isVisible():
            self._scale = current_theme().scale
            self._settle()
        self.setUpdatesEnabled(True)

    # Windows of their own

    def _open_windows(self) -> None:
        for name, geometry in self._kept.windows.items():
            if name not in self._windows:
                self._windows.open_where_it_was(self._pages[name], geometry)

    def _take_back(self, page: PanelPage) -> None:
        del self._kept.windows[page.row.name]
        self._bring(page)

    def _show_menu(self, page: PanelPage, at: QPoint) -> None:
        from lmviz.app.board.exporting import fill_export_menu  # not needed for the first paint

        menu = QMenu(self)
        fill_export_menu(menu, page.panel)
        menu.addSeparator()
        words = "Back into its place" if page.row.name in self._windows else "In a window of its own"
        menu.addAction(caption(words)).triggered.connect(lambda: self.toggle_window(page.row.name))
        menu.exec(at)
        menu.deleteLater()

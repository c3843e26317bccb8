"""The main window: header, prefix, perspectives and transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QEventLoop, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import (
    QCloseEvent,
    QCursor,
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from shiboken6 import isValid

from lmviz.app.board.board import Board
from lmviz.app.board.enlarging import Enlarging
from lmviz.app.look.icons import application_icon
from lmviz.app.look.theme import CHOICES, SYSTEM_SIZE, theme_switch
from lmviz.app.look.typefaces import TYPE_SIZES
from lmviz.app.opening.beginning import Beginning
from lmviz.app.opening.remembering import Remembering
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.table import has_prefix, shown_perspectives
from lmviz.app.session.library import count_layers_from
from lmviz.app.session.session import FINDING, Session
from lmviz.app.widgets.base.building import next_by_tab, screen_of
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.spoken_role import install_roles
from lmviz.app.window.commands import Commands
from lmviz.app.window.frame import LEAST, USUAL, Frame, Messages, Perspectives, first_place, least_size
from lmviz.app.window.header import Header
from lmviz.app.window.job_strip import JobStrip
from lmviz.app.window.keys import PLAIN, ArrowKeys, ShiftKey
from lmviz.app.window.lectures import Lectures
from lmviz.app.window.lessons import Lessons
from lmviz.app.window.notice import Notice
from lmviz.app.window.opened_paths import OpenedPaths
from lmviz.app.window.perspective_rail import PerspectiveRail
from lmviz.app.window.prefix_bar import PrefixBar
from lmviz.app.window.student_files import StudentFiles
from lmviz.app.window.transport import Transport
from lmviz.app.workers.faults import place_of
from lmviz.base.counting import count_from

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.opening.scenes import Scenes
    from lmviz.app.widgets.base.pointer_halo import PointerHalo
    from lmviz.app.window.control_state import Presses

RESIZED = 150  # milliseconds after which a window keeps its size: type is made anew for another one
ROUNDS = 3
"""Turns of the event loop after which panels have been given their sizes, then their tabs, then drawn."""


class MainWindow(QMainWindow):
    """Shows a session. It owns it: closing the window closes the session.

    `painted` is emitted once, after the first paint: what is slow to load waits for it. `scene_shown` follows
    a scene that stands.
    """

    painted = Signal()
    scene_shown = Signal()

    def __init__(self, session: Session, settings: Settings) -> None:
        _restore_look(settings)  # first: it sets type and colours, which no widget before it would follow
        install_roles()  # before any widget: a reader keeps what it was told first
        super().__init__()
        self.session = session
        self.settings = settings
        session.text.folder = next((str(path.parent) for path in settings.recent), "")
        session.text.offer_changed.connect(self._show_offer)
        self._is_painted = False
        self._fit_type = QTimer(self, singleShot=True, interval=RESIZED)
        self._fit_type.timeout.connect(lambda: theme_switch().fit_projector(self.size()))
        self._left: QWidget | None = None  # what had the keyboard until it could not be used
        self._chosen_tokens = ""  # what was said of those by which the open text is read
        self._faults: set[str] = set()  # the places in the code of which it was said
        self._scenes: Scenes | None = None
        self._halo: PointerHalo | None = None
        self.setWindowTitle("lmviz")
        self.setWindowIcon(application_icon())
        self.setAcceptDrops(True)
        self.header = Header(session)
        self.notice = Notice()
        self.beginning = Beginning(self, self)
        self.prefix_bar = PrefixBar(session)
        self.jobs = JobStrip(session)
        self.transport = Transport(session)
        self.rail = PerspectiveRail(shown_perspectives())
        self._perspectives = Perspectives([row.name for row in shown_perspectives()], self._board)
        self.lessons = Lessons(self, self)
        self.lectures = Lectures(self, (self.header, self.rail, self.transport), self)
        self.student_files = StudentFiles(self, self.lectures, self)
        around = (
            self.header,
            self.beginning.strip,
            self.prefix_bar,
            self.rail,
            self.transport,
            self.lessons.side,
        )
        self._enlarging = Enlarging(lambda: self._perspectives.boards, around, self)
        self._perspectives.made.connect(self._enlarging.adopt)
        self._lay_out()
        self._restore()
        self.commands = Commands(self, self)
        self._arrow_keys = ArrowKeys(session, self, lambda: self.perspective.name == "inside")
        self._shift_key = ShiftKey(session, self)
        self._remembering = Remembering(self, self.beginning, self)
        self._opened_paths = OpenedPaths(self, self)
        self._connect()

    @property
    def perspective(self) -> Board:
        """The perspective that is shown."""
        return self._perspectives.shown

    @property
    def perspective_name(self) -> str:
        """The name of the perspective that is shown."""
        return self.perspective.name

    @property
    def perspective_changed(self) -> SignalInstance:
        """Emitted with its name when a person has chosen a perspective."""
        return self.rail.chosen

    @property
    def scenes(self) -> Scenes:
        """Puts scenes on."""
        from lmviz.app.opening.scenes import Scenes  # not needed for the first paint

        if self._scenes is None:
            self._scenes = Scenes(self, self)
            self._scenes.shown.connect(self.scene_shown)
        return self._scenes

    def choose_text(self) -> None:
        """Let a person choose a text to open."""
        self.commands.choosing.open_texts()

    def open_public_model(self, name: str) -> None:
        """Open a public model by its name on the hub, downloaded first where it is not here."""
        self.commands.choosing.open_public(name)

    def offer(self, sentence: str, word: str, action: Callable[[], None]) -> None:
        """Show a sentence with a button that does something."""
        self.notice.offer(sentence, word, action)

    def withdraw(self, sentence: str) -> None:
        """Take an offer away."""
        self.notice.withdraw(sentence)

    def find_control(self, name: str) -> QWidget | None:
        """The control of this object name that can be seen; None while there is none.

        One that has been put away, as there was no room for it beside others, stands there from now on.
        """
        found = self.findChildren(QWidget, name)
        if not any(widget.isVisible() for widget in found):
            for widget in found:
                row = widget.parentWidget()
                if isinstance(row, FittingRow) and row.isVisible():
                    row.keep(widget)
        return next((widget for widget in found if widget.isVisible()), None)

    def bring_forward(self, name: str) -> None:
        """Bring the control of this object name in sight, where it stands in a panel behind another."""
        control = self.find_control(name)
        if control is None or self.perspective.isAncestorOf(control):
            self.perspective.bring_forward(name)

    def bring_in_front(self, panel: str) -> None:
        """Bring a panel of the perspective in front of those that share its place, unless it is in sight."""
        if panel not in {each.objectName() for each in self.perspective.panels if each.is_in_sight}:
            self.perspective.bring_forward(panel)
        self.perspective.keep_in_front(panel)

    def show_step(self, perspective: str, names: AbstractSet[str]) -> None:
        """Show a perspective, or with "" stay, and leave of it the panels that hold these controls; where
        none does, or none is named, all of them."""
        name = perspective or self.perspective_name
        with self._perspectives.board(name).settled_once():
            if perspective:
                self.show_perspective(perspective)
            self._enlarging.show_step(self.perspective, self.perspective.holding(names) if names else ())

    def control_state(self, name: str) -> str | float | None:
        """What is typed, chosen or set in the control of this object name that can be seen."""
        from lmviz.app.window.control_state import state_of  # only lessons ask

        control = self.find_control(name)
        return None if control is None else state_of(control)

    def presses(self, name: str) -> int | None:
        """How often the visible button of this object name was pressed since this was first asked."""
        return self._presses.of(self.find_control(name))

    @cached_property
    def _presses(self) -> Presses:
        from lmviz.app.window.control_state import Presses  # as above

        return Presses()

    def drawn(self, panel: str) -> Mapping[str, np.ndarray]:
        """The numbers that a panel in sight draws, by name; none while a newer answer is awaited."""
        found = next((each for each in self.perspective.panels if each.objectName() == panel), None)
        is_so = found is not None and found.is_in_sight and not found.is_behind
        return found.drawn_arrays() if found is not None and is_so else {}

    def show_settled(self) -> None:
        """Show the window, but nothing of it before every panel has its place and has drawn."""
        self._fit_screen()
        for board in self._perspectives.boards:
            board.leave_tabs()
        self._perspectives.made.connect(Board.leave_tabs)
        self.setUpdatesEnabled(False)
        self.show()
        for _ in range(ROUNDS):
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        self.setUpdatesEnabled(True)

    def _fit_screen(self) -> None:
        """Stand within the screen, title bar and all, unless one is put back where one was."""
        available = screen_of(self).availableGeometry()
        self.setMinimumSize(least_size(available))
        if self.settings.arrangement("view/geometry").isEmpty():
            self.setGeometry(first_place(available))

    def build_ahead(self) -> None:
        """Build the perspectives that have not been shown yet while the user is idle."""
        from lmviz.app.window.building_ahead import BuildingAhead  # not needed for the first paint

        BuildingAhead(self.session, self._perspectives, self)

    def make_ready(self, perspective: str) -> bool:
        """Do one more part of what a perspective's first showing would do; whether anything is left of it."""
        known = self._perspectives.names
        return perspective in known and self._perspectives.board(perspective).make_ready()

    def show_perspective(self, name: str) -> None:
        """Show a perspective."""
        if self._perspectives.boards and name != self.perspective.name:
            self._enlarging.end()
        self.rail.choose(name)
        self._perspectives.show_board(name)
        if self._left is not None:
            self._left = self.perspective  # Tab begins with what is shown now
        if not self._enlarging.is_enlarged:
            self.prefix_bar.setVisible(has_prefix(name))
        self.transport.follow_perspective(name)
        self.beginning.reading_order.follow_perspective()

    def show_afresh(self, name: str, fronts: Sequence[str] = ()) -> None:
        """Show a perspective with these panels in front of those that share their places, and in other places
        those that it begins with, whatever was brought forward before."""
        board = self._perspectives.board(name)
        with board.settled_once():
            board.forget_fronts()
            if name != self.perspective_name:
                self.show_perspective(name)
            for panel in fronts:
                board.bring_forward(panel)
                board.keep_in_front(panel)

    def leave_for(self, name: str) -> None:
        """Let what is shown vanish, where another perspective follows, until that is shown afresh."""
        board = self._perspectives.board(name)
        if board is not self.perspective:
            self.hide_perspective()
        board.forget_fronts()

    def _show_wanted(self, perspective: str, panel: str) -> None:
        """Show a perspective, and in front of the others a panel of it, or a form."""
        self.show_perspective(perspective)
        if panel == FINDING:
            self.commands.choosing.find_features()
        elif panel:
            self.perspective.bring_forward(f"{panel}_view")

    def hide_perspective(self) -> None:
        """Let what is shown vanish until another perspective is: it is not arranged anew meanwhile."""
        self._perspectives.currentWidget().hide()

    def open_paths(self, paths: Sequence[str | Path]) -> None:
        """Open texts, runs, folders, lessons, lectures, bundles, polls, networks, questions or scenes."""
        self._opened_paths.open(paths)

    def open_race(self, folder: Path) -> None:
        """Open the runs in a folder as the lanes of a race."""
        self._opened_paths.open_race(folder)

    def open_lesson(self, path: Path) -> None:
        """Open a lesson of one's own; the notice says what is wrong with it."""
        self._opened_paths.open_lesson(path)

    def open_lecture(self, path: Path) -> None:
        """Open a lecture; the notice says what is wrong with it."""
        self._opened_paths.open_lecture(path)

    def _show_offer(self) -> None:
        """A file waits to be read: where one sees how it would be."""
        if self.session.text.offer is not None:
            self.show_perspective("corpus")

    def _show_plan(self) -> None:
        """Where one sees what would be trained, and how long it takes; Return begins it."""
        self.show_perspective("train")
        begin = self.find_control("new_run_button")
        if begin is not None:
            begin.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_theme(self, choice: str) -> None:
        """Light, dark, or as the system has it."""
        theme_switch().set_choice(choice)
        self.settings.keep("view/theme", choice)

    def set_type_size(self, percent: int) -> None:
        """The size of type and lengths: one of TYPE_SIZES, or SYSTEM_SIZE."""
        theme_switch().set_type_size(percent)
        self.settings.keep("view/type_size", percent)

    def set_projector(self, projector: bool) -> None:
        """Enlarge type and lengths, and leave the one or two panels of each perspective that matter most."""
        theme_switch().set_projector(projector, self.size())
        self.settings.keep("view/projector", projector)

    def count_from_zero(self, zero: bool) -> None:
        """Count layers and heads from 0, as papers and programs do, or from 1."""
        count_layers_from(self.session.library, 0 if zero else 1)
        theme_switch().draw_anew()  # numbers that widgets paint
        self.settings.keep("view/counts_from_zero", zero)

    def toggle_halo(self) -> None:
        """Show a ring around the pointer, or none."""
        from lmviz.app.widgets.base.pointer_halo import PointerHalo  # as below: not before the first paint

        if self._halo is None:
            self._halo = PointerHalo(self)
        self._halo.set_on(not self._halo.is_on)

    def toggle_full_screen(self) -> None:
        """Fill the screen, or go back."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def toggle_enlarged(self) -> None:
        """Let the panel under the pointer fill the window, or bring everything back."""
        self._enlarging.toggle(self.perspective)

    def toggle_panel_window(self) -> None:
        """Put the panel under the pointer into a window of its own, or bring it back."""
        name = self.perspective.name_at(QCursor.pos())
        if name:
            self.perspective.toggle_window(name)

    def reset_arrangement(self) -> None:
        """Put the panels of this perspective where they belong."""
        self.settings.forget(f"arrangement/{self.perspective.name}")
        self.perspective.reset()

    def show_fault(self, report: str) -> None:
        """Say that something unexpected was raised, once for each place in the code that does."""
        place = place_of(report)
        if place not in self._faults:
            self._faults.add(place)
            raised = report.rstrip().splitlines()[-1]
            sentence = (
                f"Something unexpected failed, and lmviz goes on; what is open is as it was ({raised})."
            )
            self.notice.offer(sentence, "Show the report", lambda: self._show_report(report))

    def _show_report(self, report: str) -> None:
        from lmviz.app.window.dialogs import (
            FaultReport,  # hardly ever needed, and never before the first paint
        )

        FaultReport(report, self).show()

    def _board(self, name: str) -> Board:
        return Board(name, self.session, self.settings.text(f"arrangement/{name}"))

    def _lay_out(self) -> None:
        beside = (self.prefix_bar, self._perspectives, self.jobs, self.lessons.side)
        frame = Frame(self.header, self.rail, *beside, self.transport, self.lectures.edge)
        self.setCentralWidget(frame)
        self._messages = Messages(
            (self.beginning.strip, self.notice, self.transport.notice), self._perspectives, frame
        )
        self.setMinimumSize(LEAST)

    def _connect(self) -> None:
        self.rail.chosen.connect(self.show_perspective)
        for notice in (self.notice, self.transport.notice):
            self.rail.chosen.connect(notice.make_room)
        self.rail.lessons_wanted.connect(self.lessons.toggle)
        self.lessons.shown_changed.connect(self.rail.lessons.setChecked)
        self.lessons.shown_changed.connect(self._follow_lessons)
        self.session.lesson.left.connect(self._enlarging.end_step)
        self.beginning.welcome_over.connect(self._leave_welcome)
        self.lessons.lecture_wanted.connect(self.open_lecture)
        self.beginning.tour_wanted.connect(self.lessons.start_tour)
        self.header.palette_wanted.connect(self.commands.show_palette)
        self._opened_paths.runs_found.connect(lambda folder: self.commands.choosing.open_run_in(folder))
        self._opened_paths.set_found.connect(self._offer_corpus)
        self.header.open_model_wanted.connect(lambda: self.commands.choosing.open_run())
        self.header.rename_wanted.connect(lambda model: self.commands.choosing.rename_model(model))
        session, students = self.session, self.student_files
        session.plan.offered.connect(lambda: self.show_perspective("train"))
        self.transport.plan_wanted.connect(self._show_plan)
        session.wanted.connect(self._show_wanted)
        library = session.library
        say = self.notice.show_failures
        for part in (session.reading, session.chat, session.text, students):
            say(part.failed, part.begun)
        say(session.work.failed, session.work.ready_changed)
        say(session.made_way, session.lesson.step_begun)
        for failed in (library.failed, library.warned, session.fitting.failed):
            say(failed, old_after=[library.model_changed])
        say(library.size_failed, old_after=[library.models_changed])
        say(session.said, old_after=[library.model_changed, session.lesson.changed, self.scene_shown])
        library.base_wanted.connect(self._offer_base)
        session.text.changed.connect(self._offer_other_tokens)
        session.permission.asked.connect(
            lambda sentence, agree: self.notice.offer(sentence, "Read it", agree)
        )

    def _follow_lessons(self, shown: bool) -> None:
        """The lessons have come or gone, for good also where a panel fills the window."""
        self._leave_welcome()
        if not shown:
            self._enlarging.keep_away(self.lessons.side)
        self._enlarging.follow_lesson(shown)

    def _leave_welcome(self) -> None:
        self._enlarging.keep_away(self.beginning.strip)

    def _offer_base(self, sentence: str, adapter: Path) -> None:
        """Let a person choose the model that an adapter is added to."""
        choose = lambda: self.commands.choosing.open_with_base(adapter)  # noqa: E731
        self.notice.offer(sentence, "Choose its base…", choose)

    def _offer_other_tokens(self) -> None:
        """Say by which tokens the text was read, where that was chosen for it, and offer the others."""
        self.notice.withdraw(self._chosen_tokens)
        choice = self.session.text.first_reading
        self._chosen_tokens = ""
        if choice is not None and not choice.is_usual:
            self._chosen_tokens = choice.sentence
            word = f"Read by {choice.other}"
            self.notice.offer(choice.sentence, word, lambda: self.session.text.read_by(choice.other))

    def _restore(self) -> None:
        self.resize(USUAL)
        self.restoreGeometry(self.settings.arrangement("view/geometry"))
        theme_switch().fit_projector(self.size())  # before it is seen: type that grows a moment later jumps
        last = self.settings.last_session.perspective
        self.show_perspective(last if last in self._perspectives.names else self._perspectives.names[0])
        self.prefix_bar.edit.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            QTimer.singleShot(0, self.painted.emit)  # once the children are painted too

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.prefix_bar.fit_window(self.height())
        super().resizeEvent(event)
        if theme_switch().projector:
            self._fit_type.start()

    def changeEvent(self, event: QEvent) -> None:
        """A dialog that comes in front may be one for files."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and QApplication.activeModalWidget() is not None:
            from lmviz.app.window.dialogs import fit_file_dialog

            fit_file_dialog()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Qt asks for the next control also where the one with the focus is hidden, or can no longer be used.

        It could be a field, which keys would then change without having been asked for: nothing has it. Tab
        goes back to what had it, as soon as that can be used again, and else on from there.
        """
        left = self.focusWidget()
        if left is not None and left is not self and not (left.isVisible() and left.isEnabled()):
            self.take_keys_from(left)
            return True
        before, self._left = self._left, None
        found = (
            next_by_tab(before, forward) if left is self and before is not None and isValid(before) else None
        )
        if found is None:
            return super().focusNextPrevChild(forward)
        found.setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def take_keys_from(self, left: QWidget) -> None:
        """Have the keys, in the place of what is hidden or can no longer be used."""
        self._left = left
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that what has the focus had no use for."""
        acts: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Space: self._toggle_play,
            Qt.Key.Key_Escape: self._let_go,
        }
        if event.modifiers() in PLAIN and event.key() in acts:
            acts[event.key()]()
        elif not any(keys.handle(event) for keys in (self._arrow_keys, self._shift_key, self.lectures)):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self._shift_key.handle(event):
            super().keyReleaseEvent(event)

    def _let_go(self) -> None:
        """Leave a text that is still being read; bring back what an enlarged panel hides; or unpin."""
        if self.session.reading.can_go_back:
            self.session.reading.go_back()
            return
        if self._enlarging.is_enlarged:
            self._enlarging.end()
            return
        self.session.focus.release()
        self.session.network_focus.release()

    def _toggle_play(self) -> None:
        """What can be played where one is: a panel's own play, the training under way, or its film."""
        player = next((panel for panel in self.perspective.panels if panel.can_play), None)
        if player is not None:
            player.toggle_play()
        elif self.session.training.is_taken or self.perspective.name == "race":
            self.transport.toggle_training()
        else:
            self.transport.time.toggle_film()

    def _offer_corpus(self, path: Path) -> None:
        """Say that a file is open as a set of texts, and offer to open it as one to learn from."""

        def learn() -> None:
            self.session.text.open(path)
            self.show_perspective("corpus")

        self.notice.offer(
            f"{path.name} is open as a set of texts that are asked one question.", "Open as a corpus", learn
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.open_paths([url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()])
        event.acceptProposedAction()

    def closeEvent(self, event: QCloseEvent) -> None:
        for board in self._perspectives.boards:
            self.settings.keep(f"arrangement/{board.name}", board.arrangement())
            board.close_windows()
        self.settings.keep("view/geometry", self.saveGeometry())
        self._remembering.write()
        self.transport.time.film.stop()
        self.lectures.close()
        self.student_files.close()
        if self._halo is not None:
            self._halo.set_on(False)
        self.hide()  # at once: threads may be waited for
        self.session.close()
        super().closeEvent(event)


def _restore_look(settings: Settings) -> None:
    """The theme, the type and the way of counting that were chosen last."""
    switch = theme_switch()
    choice, percent = settings.text("view/theme", "system"), settings.number("view/type_size", SYSTEM_SIZE)
    switch.set_choice(choice if choice in CHOICES else "system")
    switch.set_type_size(percent if percent in (SYSTEM_SIZE, *TYPE_SIZES) else SYSTEM_SIZE)
    switch.set_projector(settings.is_on("view/projector"))
    count_from(0 if settings.is_on("view/counts_from_zero") else 1)

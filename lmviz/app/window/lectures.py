"""A lecture in the window: its items one after the other, the next one prepared while one is shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.opening.shell import Shell
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.widgets.base.building import screen_of
from lmviz.app.widgets.base.plain import window_title
from lmviz.app.widgets.base.toast import Toast
from lmviz.app.window.hall import Hall, LectureEdge
from lmviz.app.window.lessons import Lessons, perspective_names
from lmviz.base.plain_text import on_one_line

if TYPE_CHECKING:
    from lmviz.app.board.board import Board
    from lmviz.app.opening.scenes import Scenes
    from lmviz.app.window.presenter import BlackScreen, PresenterWindow
    from lmviz.desktop.scene import Scene
    from lmviz.lectures.lecture import Lecture, LectureItem, Shown

KINDS, OPENED = "Lectures (*.lecture)", "Lectures and bundles (*.lecture *.lmvizbundle)"
LONGEST_TITLE = 60  # characters of the title that a saved scene is given
SOON = 300  # milliseconds from an item until the next one is prepared, which is not to delay this one
LATEST = 10  # so many times it waits as long for what is still being drawn
BETWEEN = 60  # milliseconds from one panel that is made ahead to the next
BLACK_KEYS = (Qt.Key.Key_B, Qt.Key.Key_Period)  # the second is what many clickers send


class LectureWindow(Shell, Protocol):
    """The window, as far as a lecture needs it."""

    lessons: Lessons

    @property
    def perspective(self) -> Board:
        """The perspective that is shown."""

    @property
    def scenes(self) -> Scenes:
        """Puts scenes on."""

    def leave_for(self, name: str) -> None:
        """Let what is shown vanish, where another perspective follows, until that is shown afresh."""

    def hide_perspective(self) -> None:
        """Let what is shown vanish until another perspective is."""

    def make_ready(self, perspective: str) -> bool:
        """Do one more part of what a perspective's first showing would do; whether anything is left of it."""


class Lectures(QObject):
    """Opens a lecture, goes through its items, and gives it in front of a room.

    `around` are the header, the rail and the transport, which leave while it is given; `edge` says then where
    one is. `changed` follows another lecture, another item, and whether it is given.
    """

    changed = Signal()

    def __init__(self, window: LectureWindow, around: Sequence[QWidget], parent: QWidget) -> None:
        super().__init__(parent)
        self.edge = LectureEdge()
        self._hall = Hall(around, self.edge)
        self._window, self._parent = window, parent
        self._lecture: Lecture | None = None
        self._number = 0
        self._began: float | None = None  # seconds, when it was begun to be given
        self._before = (False, Qt.WindowState.WindowNoState)  # projector's type, and the window
        self._presenter: PresenterWindow | None = None
        self._black: BlackScreen | None = None
        self._offered = ""
        self._prepare_soon = QTimer(self, singleShot=True, interval=SOON)
        self._prepare_soon.timeout.connect(self._prepare_next)
        self._waits = 0  # how often it may still wait
        self._make_soon = QTimer(self, interval=BETWEEN)
        self._make_soon.timeout.connect(self._make_panel)

    @property
    def lecture(self) -> Lecture | None:
        """The lecture that is open."""
        return self._lecture

    @property
    def number(self) -> int:
        """Which of its items is shown, from 0."""
        return self._number

    @property
    def is_given(self) -> bool:
        """Whether it is given to a room: in the projector's type, on the whole screen, with the clock."""
        return self._began is not None

    @property
    def elapsed(self) -> float | None:
        """Seconds since it was begun; None where it was not."""
        return None if self._began is None else time.monotonic() - self._began

    @property
    def pace(self) -> str:
        """How far behind or ahead of its minutes it is, in words; empty where that is not known."""
        from lmviz.lectures.pace import minutes_behind, pace_in_words

        if self._lecture is None or self.elapsed is None:
            return ""
        return pace_in_words(minutes_behind(self._lecture.items, self._number, self.elapsed / 60))

    @property
    def is_black(self) -> bool:
        """Whether the screen is black."""
        return self._black is not None and self._black.is_on

    def open(self, lecture: Lecture, number: int = 0) -> None:
        """Open a lecture and show one of its items."""
        self._lecture = lecture
        self._go_to(min(number, len(lecture.items) - 1))
        title, count = lecture.title, len(lecture.items)
        self._offered = f"{title}: Page Down and Page Up go through its {count} items, F5 gives it."
        self._window.offer(self._offered, "Give it", self.give)

    def renew(self, lecture: Lecture, changed: AbstractSet[Path]) -> None:
        """Take over a lecture that was read again, with the same item shown, by its title or its number.

        The item is put on again where it shows something else than before: files have `changed`.
        """
        before = self._lecture
        if before is None:
            return
        item, number = before.items[self._number], min(self._number, len(lecture.items) - 1)
        titled = [at for at, each in enumerate(lecture.items) if each.title == item.title]
        number = min(titled, key=lambda at: abs(at - self._number), default=number)
        now = lecture.items[number]
        self._lecture = lecture
        self._number = number
        shown = {each.path for each in now.layers}
        if _names_of(now) != _names_of(item) or shown & changed:
            self._go_to(number)
        else:
            self._prepare_no_more()  # of what was the next item, where there is another now, or none
            self._prepare_soon.start()
            self._tell()
        Toast.show_over(self._parent, f"{lecture.path.name} was read again.")

    def leave(self) -> None:
        """Close the lecture; what is shown stays, and what its scenes have set out of sight is given back."""
        if self._lecture is not None:
            self._end()
            self._window.scenes.leave()
            self._prepare_no_more()
            self._lecture = None
            if self._presenter is not None:
                self._presenter.hide()
            self._parent.setWindowTitle("lmviz")
            self.changed.emit()

    def go_on(self) -> None:
        """Show the next item; where the screen is black, what was shown."""
        self._move(1)

    def go_back(self) -> None:
        """Show the item before; where the screen is black, what was shown."""
        self._move(-1)

    def go_to(self, number: int) -> None:
        """Show an item by its number, from 0."""
        if self._lecture is not None and 0 <= number < len(self._lecture.items):
            self._go_to(number)

    def put_on(self, item: LectureItem) -> None:
        """Show an item, of this lecture or of another."""
        from lmviz.lectures.lecture import ShownScene, ShownStep

        shown, window = item.shown, self._window
        if window.lessons.is_shown and not isinstance(shown, ShownStep):
            self._leave_lesson(shown.perspective)
        if isinstance(shown, ShownScene):
            window.scenes.open(shown.path)
            return
        window.scenes.forget_next()
        window.scenes.leave()
        if item.scene is None:
            self._put_on_scene(item)
            return
        if shown.perspective:
            window.show_perspective(shown.perspective)
        window.scenes.open(item.scene.path, is_seen=False, then=partial(self._put_on_scene, item))

    def _leave_lesson(self, perspective: str) -> None:
        """Close the lesson of the item before; where another perspective follows, the one that is left does
        not bring back its panels first, which takes as long as all the rest."""
        window = self._window
        is_left = perspective in {row.name for row in shown_perspectives()} - {window.perspective.name}
        if is_left:
            window.hide_perspective()
        window.lessons.close()
        if is_left:
            window.show_perspective(perspective)

    def _put_on_scene(self, item: LectureItem) -> None:
        """Show a step or a poll, on what its scene has put on."""
        from lmviz.lectures.lecture import ShownPoll, ShownStep

        shown, window = item.shown, self._window
        given = frozenset() if item.scene is None else item.scene.pins
        match shown:
            case ShownStep(lesson, number):
                if shown.perspective:
                    window.leave_for(shown.perspective)  # which the step shows, once all is known of it
                window.lessons.open(lesson, number, given)
            case ShownPoll(poll):
                window.show_afresh(shown.perspective)
                window.session.polls.pose(poll)

    def toggle_given(self) -> None:
        """Give the lecture to a room, or stop giving it."""
        self._end() if self.is_given else self.give()

    def give(self) -> None:
        """Begin: the projector's type, the whole screen, the clock, and the notes on a second screen."""
        if self._lecture is None or self.is_given:
            return
        switch = theme_switch()
        self._before = (switch.projector, self._parent.windowState())
        self._began = time.monotonic()
        screen = screen_of(self._parent)
        switch.set_projector(True, screen.size())
        self._parent.setWindowState(self._before[1] | Qt.WindowState.WindowFullScreen)
        if len(QGuiApplication.screens()) > 1:
            self.show_notes()
        self._window.withdraw(self._offered)
        self._tell()

    def toggle_black(self) -> None:
        """Make the screen black, or show again what was shown."""
        from lmviz.app.window.presenter import BlackScreen

        if self._lecture is None:
            return
        if self._black is None:
            self._black = BlackScreen(self._parent)
        self._black.set_on(not self._black.is_on)

    def show_notes(self) -> None:
        """Show the notes in a window of their own: on a second screen, where there is one."""
        from lmviz.app.window.presenter import PresenterWindow

        if self._lecture is None:
            return
        if self._presenter is None:
            self._presenter = PresenterWindow(
                lambda: self.elapsed, lambda: self.pace, self.handle, self._parent
            )
            self._presenter.back_button.clicked.connect(self.go_back)
            self._presenter.forward_button.clicked.connect(self.go_on)
            self._presenter.black_button.clicked.connect(self.toggle_black)
        shown_on = screen_of(self._parent)
        others = [screen for screen in QGuiApplication.screens() if screen is not shown_on]
        if others:
            self._presenter.move(others[0].availableGeometry().topLeft())
        self._tell()
        self._presenter.show()

    def handle(self, event: QKeyEvent) -> bool:
        """Do what a key means in a lecture that nothing else had a use for; whether it was such a key."""
        if self._lecture is None or event.key() not in BLACK_KEYS:
            return False
        self.toggle_black()
        return True

    def save_scene(self) -> None:
        """Add what the window shows to the lecture after the item shown; begin one where none is open that is
        one's own."""
        from PySide6.QtWidgets import QFileDialog  # not needed for the first paint

        from lmviz.app.opening.scenes import scene_of
        from lmviz.lectures.reading import ENDING, is_shipped

        own = self._lecture is not None and not is_shipped(self._lecture.path)
        if self._lecture is not None and own:
            path = self._lecture.path
        else:
            name, _ = QFileDialog.getSaveFileName(self._parent, "Begin a lecture", f"my{ENDING}", KINDS)
            if not name:
                return
            path = Path(name) if name.endswith(ENDING) else Path(name + ENDING)

        def go_on(lecture: Lecture) -> None:
            if self._lecture is not before:  # another was opened, or this one left, while it was written
                return
            self._prepare_no_more()
            self._lecture = lecture
            last = len(lecture.items) - 1
            self._number = min(self._number + 1, last) if own else last
            self._tell()
            self._prepare_soon.start()
            Toast.show_over(self._parent, f"Saved as item {self._number + 1} of {path.name}.")

        session, view, before = self._window.session, self._window.perspective, self._lecture
        scene = scene_of(session, view.name, view.in_front)
        title, names, number = self._title_now(), perspective_names(), self._number if own else None
        session.work.save_file(
            path, lambda: _with_scene(path, title, scene, number, names), go_on, session.say
        )

    def close(self) -> None:
        """Take away what stands beside the window, and prepare no more."""
        self._prepare_no_more()
        if self._presenter is not None:
            self._presenter.hide()

    def _move(self, by: int) -> None:
        lecture = self._lecture
        if lecture is None:
            return
        if self.is_black:
            self.toggle_black()
        elif 0 <= self._number + by < len(lecture.items):
            self._go_to(self._number + by)
        else:
            Toast.show_over(self._parent, f"This is the {'last' if by > 0 else 'first'} item.")

    def _go_to(self, number: int) -> None:
        assert self._lecture is not None, "no lecture is open"
        self._prepare_no_more()
        self._number = number
        self._window.withdraw(self._offered)
        self.put_on(self._lecture.items[number])
        self._parent.setFocus()  # a key of the clicker is not to be typed into a field
        self._tell()
        self._waits = LATEST
        self._prepare_soon.start()

    def _prepare_no_more(self) -> None:
        self._prepare_soon.stop()
        self._make_soon.stop()

    def _prepare_next(self) -> None:
        """Have the models and the text of the next item read, its panels made, and equations at hand."""
        from lmviz.app.widgets.text import typesetting  # not needed for the first paint

        lecture, number = self._lecture, self._number + 1
        if lecture is None or number >= len(lecture.items):
            return
        if self._waits and self._is_being_drawn:
            self._waits -= 1
            self._prepare_soon.start()
            return
        typesetting.load_in_background()
        for shown in lecture.items[number].layers:
            self._prepare(shown)
        self._make_soon.start()

    @property
    def _is_being_drawn(self) -> bool:
        """Whether the item that is shown is not yet drawn whole."""
        seen = [panel for panel in self._window.perspective.panels if panel.is_in_sight]
        return not self._window.session.work.is_at_rest or not all(panel.is_up_to_date for panel in seen)

    def _prepare(self, shown: Shown) -> None:
        from lmviz.app.opening.lesson_openings import prepare_all
        from lmviz.lectures.lecture import ShownScene, ShownStep

        match shown:
            case ShownScene(path, scene):
                self._window.scenes.prepare(scene, path)
            case ShownStep(lesson, step):
                self._window.lessons.make()
                prepare_all(self._window.session, lesson.openings_before(step), lesson.folder)

    def _make_panel(self) -> None:
        """Make one more panel of the next item, or put one into its place."""
        assert self._lecture is not None, "nothing is prepared without one"
        shown = self._lecture.items[self._number + 1].shown
        if not self._window.make_ready(shown.perspective):
            self._make_soon.stop()

    def _end(self) -> None:
        """Stop giving: the window as it was before."""
        if self._black is not None:
            self._black.set_on(False)
        if self.is_given:
            self._began = None
            projector, state = self._before
            theme_switch().set_projector(projector)
            self._parent.setWindowState(state)
            self._hall.leave()
            self._tell()

    def _title_now(self) -> str:
        """What an item is called that is saved now: what is shown, and of which text."""
        prefix = on_one_line(self._window.session.reading.prefix).strip()
        title = next(row.title for row in shown_perspectives() if row.name == self._window.perspective.name)
        said = f"{title}: {prefix}" if prefix else title
        return said if len(said) <= LONGEST_TITLE else f"{said[: LONGEST_TITLE - 1]}…"

    def _tell(self) -> None:
        """Say where one is: in the title of the window, and in the notes."""
        lecture = self._lecture
        if lecture is None:
            return
        place = f"{self._number + 1} of {len(lecture.items)}"
        self._parent.setWindowTitle(window_title(f"{lecture.title}, {place} – lmviz"))
        if self.is_given:
            self._hall.show(lecture.items[self._number], place)
        if self._presenter is not None:
            item, following = lecture.items[self._number], lecture.items[self._number + 1 :]
            after = f"Next: {following[0].title}" if following else "This is the last item."
            planned = "" if item.minutes is None else f" · {item.minutes:g} min"
            self._presenter.show_page(lecture.title, item.title, place + planned, item.notes, after)
        self.changed.emit()


def _names_of(item: LectureItem) -> list[object]:
    """What an item shows, by files and numbers."""
    from lmviz.lectures.lecture import ShownPoll, ShownStep

    named: list[object] = []
    for shown in item.layers:
        step = (shown.lesson.name, shown.number) if isinstance(shown, ShownStep) else None
        named.append((shown.path, step, shown.poll.title if isinstance(shown, ShownPoll) else ""))
    return named


def _with_scene(path: Path, title: str, scene: Scene, number: int | None, names: Sequence[str]) -> Lecture:
    """Add a scene to the lecture of a file after an item of this number, or at its end; the lecture.

    It is added to the file as it is now, which may have been written to meanwhile.
    """
    from lmviz.lectures.reading import add_scene, open_lecture

    following = () if number is None else open_lecture(path, names).items[number + 1 :]
    add_scene(path, title, scene.beside(path.parent), following[0].line if following else None)
    return open_lecture(path, names)

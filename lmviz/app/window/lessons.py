"""Lessons in the window: the panel at the right, the ring around a control, and what is remembered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.opening.situation import WindowSituation
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.lesson import LessonProgress
from lmviz.app.widgets.base.building import column, handle_of
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.opening.shell import Shell
    from lmviz.app.panels.shared.lesson import LessonPanel
    from lmviz.app.widgets.controls.ring import Ring
    from lmviz.lessons.lesson import Lesson, Opening
    from lmviz.lessons.results import Results

WIDTH, NARROW, PROJECTED = 330, 280, 242  # pixels at scale 1, in a window that is wide or narrow
WIDE_WINDOW = 1400
KEPT = "lessons"
STUDENT = "lessons/student"
OWN, MOST_OWN = "own_lessons", 20


class LessonSide(QWidget):
    """The place of the panel, at the right of all perspectives; empty and hidden until it is wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = column(on=self, margins=(0, 12, 12, 12))
        self.hide()
        theme_switch().theme_changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        width = WIDTH if self.window().width() >= WIDE_WINDOW * current_theme().scale else NARROW
        width = PROJECTED if theme_switch().projector else width
        return QSize(round(width * current_theme().scale), 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width(), 0)


class Lessons(QObject):
    """Opens lessons and their list. `side` is to be placed in the window."""

    shown_changed = Signal(bool)
    lecture_wanted = Signal(object)
    """The file of one that was chosen from the list."""

    def __init__(self, window: Shell, parent: QWidget) -> None:
        super().__init__(parent)
        self._window, self._parent = window, parent
        self._session = window.session
        self._panel: LessonPanel | None = None
        self._ring: Ring | None = None
        self._outlined = ""  # the name of the control that the ring is to be around
        self._lessons: tuple[Lesson, ...] = ()
        self.side = LessonSide()
        lesson = self._session.lesson
        lesson.stand_in(WindowSituation(window), self._open_all)
        lesson.step_begun.connect(self._begin_step)
        lesson.changed.connect(self._follow)
        lesson.progress_changed.connect(self._keep)

    @property
    def is_shown(self) -> bool:
        """Whether the panel stands in the window."""
        return not self.side.isHidden()

    @property
    def control(self) -> QWidget | None:
        """The control that is outlined."""
        return self._ring.control if self._ring is not None else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice that the control that is outlined is used: a choice that is made already looks the same."""
        control, used = self.control, None
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            used = self._parent.window().childAt(event.position().toPoint())
        elif event.type() == QEvent.Type.KeyPress:
            used = self._parent.window().focusWidget()
        if control is not None and used is not None and (used is control or control.isAncestorOf(used)):
            QTimer.singleShot(0, self._session.lesson, self._session.lesson.note_use)  # once it has been
        return False

    def toggle(self, *, by_keys: bool = False) -> None:
        """Show the list of lessons, or the lesson one is in, and give it the keys; or send the panel away."""
        if self.is_shown:
            self.close()
            return
        self._show()
        if by_keys and self._panel is not None:
            self._panel.take_keys()

    def close(self) -> None:
        """Send the panel away, and leave the lesson."""
        self._session.lesson.leave()
        self.side.hide()
        self.shown_changed.emit(False)

    def start_tour(self) -> None:
        """Begin the lesson that leads through the window."""
        from lmviz.lessons.shipped import TOUR

        self._show()
        self._session.lesson.open(next(lesson for lesson in self._lessons if lesson.name == TOUR), 0)

    def open_own(self, lesson: Lesson, path: Path) -> None:
        """Open a lesson of one's own, which was read from a file."""
        others = [known for known in self._window.settings.lines(OWN) if known != str(path)]
        self._window.settings.keep(OWN, [str(path), *others][:MOST_OWN])
        self._show()
        if self._panel is not None:
            self._restore((lesson,))
            self._panel.add_lesson(lesson)
        self.open(lesson)

    def renew(self, lesson: Lesson, number: int) -> None:
        """Go on at a step of a lesson whose file was written to since."""
        if self._panel is not None:
            self._panel.add_lesson(lesson)
        self._session.lesson.open(lesson, number)

    def open(self, lesson: Lesson, number: int | None = None, given: AbstractSet[str] = frozenset()) -> None:
        """Open a lesson at a step, from 0; by default where one was. `given` is as in the session."""
        self._show()
        self._session.lesson.open(lesson, number, given)

    @property
    def has_results(self) -> bool:
        """Whether anything is known to have been done or answered, which the panel asks for."""
        return self._panel is not None and bool(self._session.lesson_results.results.lessons)

    def save_results(self) -> None:
        """Show what was done and answered, and what was wrong at first; to be saved under a name."""
        from lmviz.app.window.results_dialog import ResultsDialog  # as below: not before the first paint

        results = self._session.lesson_results.results
        ResultsDialog(results, self._window.settings.text(STUDENT), self._write_results, self._parent).show()

    def _write_results(self, student: str) -> None:
        """Ask for a file, and write the results there, with the name, which is kept, and with checksums."""
        from PySide6.QtWidgets import QFileDialog

        from lmviz.app.widgets.base.toast import Toast
        from lmviz.base.files import write_atomically

        self._window.settings.keep(STUDENT, student)
        usual = f"results-{_plain_name(student)}.json" if student else "results.json"
        name, _ = QFileDialog.getSaveFileName(self._parent, "Save my results", usual, "Results (*.json)")
        if not name:
            return
        path, results = Path(name).with_suffix(".json"), self._session.lesson_results.results

        def write() -> Path:
            return write_atomically(path, _signed(results, student).to_bytes())

        def confirm(path: Path) -> None:
            Toast.show_over(self._parent, f"Saved {path.name} in {path.parent}: send it as it is.")

        self._session.work.save_file(path, write, confirm, self._session.say)

    def make(self) -> None:
        """Make the panel, unless it is there: it is shown sooner then."""
        if self._panel is None:
            self._build()

    def _open_all(self, openings: tuple[Opening, ...], folder: Path | None) -> None:
        from lmviz.app.opening.lesson_openings import open_all  # not needed for the first paint

        open_all(self._session, openings, folder)

    def _show(self) -> None:
        self.make()
        self.side.show()
        self.shown_changed.emit(True)

    def _build(self) -> None:
        from lmviz.app.panels.shared.lesson import LessonPanel
        from lmviz.app.widgets.controls.lesson_list import ListedLesson
        from lmviz.app.widgets.controls.ring import Ring
        from lmviz.lectures.reading import open_lecture, shipped_lectures
        from lmviz.lessons.shipped import shipped_lessons

        self._lessons = shipped_lessons(perspective_names())
        self._restore(self._lessons)
        self._ring = Ring(self._parent)
        lectures = [open_lecture(path, perspective_names()) for path in shipped_lectures()]
        listed = [
            ListedLesson(f"Lecture · {each.title}", each.about, None, len(each.items)) for each in lectures
        ]
        self._panel = LessonPanel(self._session, self._lessons, listed)
        self._panel.lecture_chosen.connect(lambda number: self.lecture_wanted.emit(lectures[number].path))
        self._panel.closed.connect(self.close)
        self._panel.results_wanted.connect(self.save_results)
        self.side.column.addWidget(self._panel)
        own, names = [Path(path) for path in self._window.settings.lines(OWN)], perspective_names()
        if own:
            self._session.work.open_file(
                own[0], lambda: _read_own(own, names), self._list_own, lambda _: None
            )

    def _list_own(self, own: Sequence[Lesson]) -> None:
        """List one's own lessons that were opened before, the last one first, as far as they can be read."""
        current = self._session.lesson.lesson
        own = [lesson for lesson in own if current is None or lesson.name != current.name]
        if self._panel is not None:
            self._restore(own)
            for lesson in own:
                self._panel.add_lesson(lesson)

    def _restore(self, lessons: Iterable[Lesson]) -> None:
        """Take over how far one has come in these."""
        kept = {each.name: self._window.settings.text(f"{KEPT}/{each.name}") for each in lessons}
        self._session.lesson.restore(
            {name: LessonProgress.from_text(text) for name, text in kept.items() if text}
        )

    @property
    def _control_now(self) -> str:
        """The object name of the control to be outlined; empty where there is none."""
        lesson = self._session.lesson
        return "" if lesson.step is None else lesson.step.control_at(lesson.tasks_done)

    def _begin_step(self) -> None:
        """Go where the step takes place, and outline its control once that is there."""
        current = self._session.lesson
        if current.lesson is None:
            return
        perspective = current.lesson.perspective_at(current.number)
        self._window.show_step(perspective, frozenset() if current.step is None else current.step.needs)
        QTimer.singleShot(0, self, self._outline)

    def _outline(self) -> None:
        self._outlined = name = self._control_now
        if self._ring is None or not name:
            self._follow()
            return
        step = self._session.lesson.step
        if step is not None and step.control and not theme_switch().projector:  # which has room for one
            self._window.bring_forward(step.control)  # the panel that is spoken of, before it is its turn
        self._window.bring_forward(name)
        if (handle := handle_of(self._parent.window())) is not None:
            handle.installEventFilter(self)
        self._ring.surround(lambda: self._window.find_control(name))
        if self._ring.control is not None:
            _scroll_to(self._ring.control)
            if step is not None and (wanted := step.network_name_at(self._session.lesson.tasks_done)):
                _show_definition(self._ring.control, wanted)

    def _follow(self) -> None:
        """Outline what the next task is done with, or nothing."""
        name = self._control_now
        if self._ring is not None and not name:
            self._ring.stop()
        elif name != self._outlined:
            QTimer.singleShot(0, self, self._outline)

    def _keep(self, name: str) -> None:
        self._window.settings.keep(f"{KEPT}/{name}", self._session.lesson.progress[name].to_text())


def _read_own(paths: Iterable[Path], perspectives: Sequence[str]) -> list[Lesson]:
    """The lessons in some files, as far as they can be read."""
    from lmviz.lessons.reading import open_lesson

    found = []
    for path in paths:
        with suppress(LmvizError):
            found.append(open_lesson(path, perspectives))
    return found


def _signed(results: Results, student: str) -> Results:
    """Results as they are handed in today."""
    from lmviz import __version__
    from lmviz.lectures.bundle import known_keys
    from lmviz.lessons.results import key_hash

    keys = {key_hash(key): key for key in known_keys()}
    return results.signed(student, date.today().isoformat(), __version__, keys.get)


def _plain_name(words: str) -> str:
    """A name as part of that of a file."""
    return re.sub(r"[^\w-]+", "-", words).strip("-")[:60] or "mine"


def perspective_names() -> tuple[str, ...]:
    """The perspectives that a lesson may name."""
    return tuple(row.name for row in shown_perspectives())


def _show_definition(control: QWidget, name: str) -> None:
    """Where the network is changed as text, the line that is to be changed is in sight."""
    from lmviz.app.widgets.text.network_editor import NetworkEditor  # not needed for the first paint

    if isinstance(control, NetworkEditor):
        control.show_definition(name)


def _scroll_to(control: QWidget) -> None:
    """Bring a control into sight, in a window that is too small for all of its panels."""
    around = control.parentWidget()
    while around is not None:
        if (
            isinstance(around, QScrollArea) and around.widget() is not control
        ):  # which chooses what is in sight
            around.ensureWidgetVisible(control)
        around = around.parentWidget()

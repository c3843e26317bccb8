"""The panel of lessons: the list of them, or one sentence after the other of the one that is open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet, stack
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.lesson_list import LessonList, ListedLesson
from lmviz.app.widgets.controls.progress_dots import ProgressDots
from lmviz.app.widgets.controls.question_card import QuestionCard
from lmviz.app.widgets.controls.task_list import TaskList
from lmviz.app.widgets.text.markdown_label import MarkdownLabel
from lmviz.lessons.lesson import Lesson

MOST_BELOW = 0.55  # of the panel's height, for the question that stands below what scrolls


class LessonPanel(Panel):
    """Shows `session.lesson`; without one the list of `lessons`, and of `lectures` below them.

    Signals: `closed` when a person sends it away, `lecture_chosen` with the number of one, `results_wanted`.
    """

    closed = Signal()
    lecture_chosen = Signal(int)
    results_wanted = Signal()

    def __init__(
        self, session: Session, lessons: Sequence[Lesson], lectures: Sequence[ListedLesson] = ()
    ) -> None:
        super().__init__(session)
        self.setObjectName("lesson_panel")
        self._lessons, self._lectures = tuple(lessons), tuple(lectures)
        self._drawn: tuple[Lesson | None, int] = (None, -1)
        self._last: Lesson | None = None  # the one that was shown last
        self._title = Label(role="lesson", wraps=True)
        self._dots = ProgressDots()
        self._step_title = Label(name="lesson_step", role="muted", wraps=True)
        self._sentences = MarkdownLabel("lesson_sentence")
        self._tasks, self._question = TaskList(), QuestionCard()
        self._back = QuietButton("lesson_back", "Back")
        self._next = QuietButton("lesson_next", "Next")
        self._leave = QuietButton("lesson_leave", "leave", "link")
        self._where = QuietButton("lesson_where", "show where", "link")
        self._prepare = QuietButton("lesson_prepare", "set up again", "link")
        self._offer_words, self._offer = Label(role="muted"), QuietButton("lesson_offer", "", "primary")
        self._offer_words.hide()
        self._offer.hide()
        self._list = LessonList()
        self._list_close = QuietButton("lesson_list_close", "close", "link")
        self._save = QuietButton("lesson_results_save", "my results…", "link")
        self._results = session.lesson_results
        self._pages = stack()
        self._lay_out()
        lesson = session.lesson
        self._dots.clicked.connect(lesson.go_to)
        self._back.clicked.connect(lambda: lesson.go_to(lesson.number - 1))
        self._next.clicked.connect(lesson.go_on)
        self._leave.clicked.connect(lesson.leave)
        self._where.clicked.connect(lesson.show_where)
        self._prepare.clicked.connect(lesson.prepare)
        self._question.answered.connect(lesson.answer)
        self._question.hint_wanted.connect(lesson.show_hint)
        for area in (self._area, self._below):
            area.verticalScrollBar().rangeChanged.connect(self._show_said)
        self._list.chosen.connect(self._choose)
        self._offer.clicked.connect(self._open_offered)
        self._list_close.clicked.connect(self.closed)
        self._save.clicked.connect(self.results_wanted)
        self.show_failures(self._results)
        self.follow(lesson.changed)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    def add_lesson(self, lesson: Lesson) -> None:
        """List one more, or another state of one that is listed."""
        self._lessons = (*(each for each in self._lessons if each.name != lesson.name), lesson)
        self.refresh_soon()

    def refresh(self) -> None:
        """Draw the step one is at, or the list."""
        lesson, focused = self.session.lesson.lesson, self.window().focusWidget()
        has_keys = focused is not None and self.isAncestorOf(focused)
        is_turned = self._pages.currentIndex() != (0 if lesson is None else 1)
        self._pages.setCurrentIndex(0 if lesson is None else 1)
        if lesson is None:
            self._drawn = (None, -1)
            self._draw_list()
        else:
            self._draw_step(lesson)
        if has_keys and is_turned:
            self.take_keys()

    def take_keys(self) -> None:
        """Have the keys where one goes on: at “Next”, or in the list at the lesson that is offered first."""
        self.catch_up()
        first = self._offer if self._offered is not None else self._list.first
        goes_on = self._next if self.session.lesson.lesson is not None else first
        if goes_on is not None:
            goes_on.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _draw_list(self) -> None:
        progress = self.session.lesson.progress
        self._save.setEnabled(bool(self._results.results.lessons))
        done = [len(progress[each.name].done) if each.name in progress else 0 for each in self._lessons]
        self._list.set_lessons(
            [
                ListedLesson(_numbered(each), each.about, min(count, len(each.steps)), len(each.steps))
                for each, count in zip(self._lessons, done, strict=True)
            ]
            + list(self._lectures)
        )
        offered = self._offered
        self._offer_words.setVisible(offered is not None)
        self._offer.setVisible(offered is not None)
        if offered is not None:
            is_begun = offered.name in progress
            self._offer_words.setText("where you were" if is_begun else "the next one")
            self._offer.setText(_numbered(offered))

    @property
    def _offered(self) -> Lesson | None:
        """The lesson that was shown last, or the one furthest on; where it is over, what comes after it."""
        begun = [lesson for lesson in self._lessons if lesson.name in self.session.lesson.progress]
        if not begun:
            return None
        last = self._last if self._last in begun else begun[-1]
        after = self._lessons[self._lessons.index(last) :]
        return next((lesson for lesson in after if not self._is_over(lesson)), None)

    def _is_over(self, lesson: Lesson) -> bool:
        """Whether all of it was done, or one has come to its end."""
        found = self.session.lesson.progress.get(lesson.name)
        return found is not None and len(lesson.steps) in (len(found.done), found.step + 1)

    def _open_offered(self) -> None:
        if self._offered is not None:
            self.session.lesson.open(self._offered)

    def _choose(self, number: int) -> None:
        """Begin a lesson of the list, or ask for a lecture."""
        if number < len(self._lessons):
            self.session.lesson.open(self._lessons[number])
        else:
            self.lecture_chosen.emit(number - len(self._lessons))

    def _draw_step(self, lesson: Lesson) -> None:
        current, self._last = self.session.lesson, lesson
        step = lesson.steps[current.number]
        question = step.question
        if self._drawn != (lesson, current.number):
            focused = self.focusWidget()
            if focused is not None and self._question.isAncestorOf(focused):
                self._next.setFocus()  # else Qt gives the focus to “Back”, and scrolls to it
            self._drawn = (lesson, current.number)
            self._title.setText(_numbered(lesson))
            self._step_title.setText(step.title)
            self._sentences.set_folder(lesson.folder)
            self._sentences.setText(step.sentences)
            self._area.verticalScrollBar().setValue(0)  # what is to be done stands above the question
            if question is not None:
                self._question.set_question(question.words, question.choices, question.hint)
        self._dots.set_dots(len(lesson.steps), current.progress[lesson.name].done, current.number)
        self._tasks.set_tasks([task.words for task in step.tasks], current.tasks_done)
        self._question.setVisible(question is not None)
        if question is not None:
            said = current.answered.sentence
            if current.answered.verdict:
                said = f"**{said}** {question.explanation}".strip()
            self._question.allow(current.may_answer)
            self._question.tell(current.answered.verdict, said, is_hint_shown=current.is_hint_shown)
            if current.may_answer:  # in a low window it would lie below
                QTimer.singleShot(0, self, self._show_question)
        self._back.setEnabled(current.number > 0)
        self._next.setText("Finish" if current.number + 1 == len(lesson.steps) else "Next")
        self._where.setVisible(bool(lesson.perspective_at(current.number) or step.control))
        self._prepare.setVisible(bool(lesson.openings_before(current.number)))
        self._fit_below()
        set_role(self._next, "primary" if current.is_step_done else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_below()

    def _adopt_theme(self) -> None:
        """In front of a room the question stands below what scrolls, where everybody sees it."""
        is_below = theme_switch().projector
        self._links.setVisible(not is_below)
        if is_below == self._below.isHidden():
            if is_below:  # before its room is shown, which would be that of nothing
                self._below_column.addWidget(self._question)
            else:
                self._column.insertWidget(2, self._question)
            self._below.setHidden(not is_below)
        self._fit_below()

    def _fit_below(self) -> None:
        """Give the question the height that it needs, up to a share of the panel; beyond that it scrolls."""
        if self._below.isHidden():
            return
        is_asked = self._question.isVisibleTo(self._below)
        wanted = self._below_column.totalHeightForWidth(self._below.viewport().width()) if is_asked else 0
        self._below.setFixedHeight(min(wanted, round(MOST_BELOW * self.height())))

    def _show_question(self) -> None:
        """Scroll to the question, and to the end of what is said about an answer to it."""
        self._column.activate()  # with the height of what has just been said
        self._fit_below()
        if self._below.isHidden():
            self._area.ensureWidgetVisible(self._question, 0, 0)
        self._show_said()

    def _show_said(self) -> None:
        """Scroll to the end of what is said: longer words make the page longer only a turn later."""
        if self._question.isVisibleTo(self) and self._question.said:
            area = self._area if self._below.isHidden() else self._below
            area.ensureVisible(0, self._question.geometry().bottom(), 0, 0)

    def _lay_out(self) -> None:
        place = row((self._step_title, 1), (self._dots, 0, Qt.AlignmentFlag.AlignTop))
        self._column = column(self._sentences, self._tasks, self._question, STRETCH, gap=12)
        self._area = scrolling(sheet(self._column))
        self._below_column = column()
        self._below = scrolling(sheet(self._below_column))
        self._below.hide()
        self._links = sheet(row(self._leave, STRETCH, self._where, self._prepare, gap=2))
        buttons = row(self._back, STRETCH, self._next)
        closing = row(self._list_close, STRETCH, self._save)
        offered = column(self._offer_words, self._offer, gap=4)
        title = Label("Lessons", role="lesson")
        overview = column(title, offered, scrolling(self._list), closing, gap=12)
        step = column(self._title, place, (self._area, 1), self._below, buttons, self._links, gap=12)
        for page in (overview, step):
            self._pages.addWidget(sheet(page))
        frame = named(QFrame(), "lesson_frame")
        column(self._pages, on=frame, margins=(16, 14, 16, 12))
        self.column.addWidget(frame)


def _numbered(lesson: Lesson) -> str:
    return f"{lesson.number} · {lesson.title}" if lesson.number else lesson.title

"""Makes a handout: shows each item of a lecture, or each step of a lesson, and takes what it draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QLabel, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.toast import Toast
from lmviz.app.widgets.text.printed import OWN_LANGUAGE, Printed, PrintedDrawing, PrintedPart
from lmviz.app.widgets.text.printed_files import writing_of
from lmviz.base.errors import LmvizError
from lmviz.lectures.lecture import LectureItem, ShownPoll, ShownScene, ShownStep

if TYPE_CHECKING:
    from lmviz.app.panels.panel import Panel
    from lmviz.app.window.lectures import LectureWindow

LOOK_EVERY = 150  # milliseconds between two looks at whether the window rests
AT_REST = 3  # looks in a row
PATIENCE = 100  # looks after which what is there is taken
NOTES, ANSWER = 4, 3  # lines to write on, below a scene and below a question


class HandoutMaker(QObject):
    """`HandoutMaker(window, parent, show)`; `make(…)` begins. `show(item)` puts an item on in the window.

    `finished` follows the end, whether or not a file was written. Drawings are light, and in the projector's
    type, since they are made smaller on paper.
    """

    finished = Signal()

    def __init__(self, window: LectureWindow, parent: QWidget, show: Callable[[LectureItem], None]) -> None:
        super().__init__(parent)
        self._window, self._parent, self._show = window, parent, show
        self._items: tuple[LectureItem, ...] = ()
        self._parts: list[PrintedPart] = []
        self._title = self._about = self._language = ""
        self._path = Path()
        self._before = ("system", False)
        self._looks = self._rests = 0
        self._is_forward = (
            False  # whether what a step is about is in front, and not what its task is done with
        )
        self._look = QTimer(self, interval=LOOK_EVERY)
        self._look.timeout.connect(self._take_if_at_rest)

    def make(self, title: str, about: str, items: Sequence[LectureItem], path: Path, language: str) -> None:
        """Show one item after the other, and write the file; its ending says which kind.

        `language` is that of the title, of what it is about, and of the titles of the items.
        """
        switch = theme_switch()
        self._before = (switch.choice, switch.projector)
        switch.set_choice("light")
        switch.set_projector(True)
        self._title, self._about, self._items, self._path = title, about, tuple(items), path
        self._language = language
        self._next()

    def stop(self) -> None:
        """Leave it, without a file."""
        if self._look.isActive():
            self._look.stop()
            self._look_as_before()
            self.finished.emit()

    def _next(self) -> None:
        if len(self._parts) == len(self._items):
            self._write()
            return
        number = len(self._parts)
        Toast.show_over(self._parent, f"Handout: {number + 1} of {len(self._items)}…")
        self._show(self._items[number])
        self._looks, self._rests, self._is_forward = 0, 0, False
        self._look.start()

    def _take_if_at_rest(self) -> None:
        self._looks += 1
        self._rests = self._rests + 1 if self._is_at_rest() else 0
        if self._rests >= AT_REST and not self._is_forward:
            self._bring_forward()
        elif self._rests >= AT_REST or self._looks >= PATIENCE:
            self._look.stop()
            item = self._items[len(self._parts)]
            part = printed_part(item, self._drawings(), self._caption())
            self._parts.append(replace(part, live=self._live(item)))
            self._next()

    def _bring_forward(self) -> None:
        """Bring in front what the step is about: the ring has brought what its first task is done with."""
        self._is_forward, shown = True, self._items[len(self._parts)].shown
        if isinstance(shown, ShownStep) and shown.step.control:
            self._window.perspective.bring_forward(shown.step.control)
            self._rests = 0

    def _is_at_rest(self) -> bool:
        session = self._window.session
        busy = session.reading.is_busy or session.text.is_opening or session.chat.is_writing
        busy = busy or not session.work.is_ready
        return (
            not busy
            and not session.work.jobs
            and all(panel.is_up_to_date and not panel.is_behind for panel in self._panels())
        )

    def _panels(self) -> list[Panel]:
        """The panels in sight: those that matter most, for it is the projector's mode."""
        return [panel for panel in self._window.perspective.panels if panel.is_in_sight]

    def _drawings(self) -> tuple[PrintedDrawing, ...]:
        shown = (panel for panel in self._panels() if not _is_empty(panel))
        return tuple(PrintedDrawing.of(panel, _in_words(panel)) for panel in shown)

    def _live(self, item: LectureItem) -> str:
        """What is shown as a page, for a handout that is read on a screen; "" where no page shows it."""
        if self._path.suffix.lower() != ".html" or isinstance(item.shown, ShownPoll):
            return ""
        from lmviz.app.board.page_export import page_of  # not needed for the first paint

        page = page_of([panel for panel in self._panels() if not _is_empty(panel)], item.title)
        return "" if page is None else page.html

    def _caption(self) -> str:
        """Which model is shown, and what it reads."""
        session = self._window.session
        model, prefix = session.library.model, session.reading.prefix
        if model is None or self._window.perspective.name in ("corpus", "autodiff", "scale", "polls"):
            return ""
        when = model.when(session.library.step)
        return f"{model.name}{when and f', {when}'}: “{prefix}”"

    def _write(self) -> None:
        self._look_as_before()
        printed = Printed(self._title, self._about, tuple(self._parts), self._language)
        save_printed(printed, self._path, self._window, self._parent, self.finished.emit)

    def _look_as_before(self) -> None:
        choice, projector = self._before
        theme_switch().set_choice(choice)
        theme_switch().set_projector(projector)


def save_printed(
    printed: Printed,
    path: Path,
    window: LectureWindow,
    parent: QWidget,
    ended: Callable[[], object] = lambda: None,
) -> None:
    """Have it written beside the window, which says when it is, or why it is not; `ended` follows either."""

    def confirm(lacking: str) -> None:
        Toast.show_over(parent, " ".join(filter(None, (f"Saved {path.name} in {path.parent}.", lacking))))
        ended()

    def fail(sentence: str) -> None:
        window.session.say(sentence)
        ended()

    try:
        window.session.work.save_file(path, writing_of(printed, path), confirm, fail)
    except LmvizError as sentence:
        fail(str(sentence))


def _is_empty(panel: Panel) -> bool:
    """Whether a panel only says what would be seen in it."""
    said = (*panel.findChildren(EmptyText), *panel.findChildren(Invitation))
    return any(each.isVisible() for each in said)


def _in_words(panel: Panel) -> str:
    """The titles in a panel, each with what stands beside it, and what screen readers say of its drawings."""
    said = []
    for title in panel.findChildren(QLabel):
        if title.property("role") == "title" and title.isVisible() and title.text():
            card = title.parentWidget()
            aside = card.aside if isinstance(card, Card) else ""
            said.append(f"{title.text()} ({aside})" if aside else title.text())
    drawn = (each for each in panel.findChildren(QWidget) if isinstance(each, Canvas) and each.isVisible())
    said += [each.accessibleDescription() for each in drawn]
    return "; ".join(filter(None, dict.fromkeys(said)))


def printed_part(item: LectureItem, drawings: tuple[PrintedDrawing, ...], caption: str) -> PrintedPart:
    """What stands on paper of an item; the presenter's notes do not."""
    match item.shown:
        case ShownScene():
            return PrintedPart(item.title, "", drawings, caption, lines=NOTES)
        case ShownStep(lesson, number):
            step = lesson.steps[number]
            question = step.question
            return PrintedPart(
                item.title,
                step.sentences,
                drawings,
                caption,
                tuple(task.words for task in step.tasks),
                "" if question is None else question.words,
                () if question is None else question.choices,
                ANSWER if question is not None and not question.choices else 0,
                lesson.language,
            )
        case ShownPoll(poll, path):
            choices = tuple(f"{choice.letter}: {choice.text}" for choice in poll.filled)
            language = "" if path is not None else OWN_LANGUAGE
            return PrintedPart(
                item.title, question=poll.question, choices=choices, lines=ANSWER, language=language
            )


def printed_answers(title: str, items: Sequence[LectureItem], language: str) -> Printed:
    """The answers to what all items ask, on a sheet for the one who gives the lecture."""
    from lmviz.lectures.answer_sheet import answer_sheet

    parts = [
        PrintedPart(
            f"{each.number}. {each.title}",
            question=each.question,
            answer=each.answer,
            because=each.explanation,
            language=each.language,
        )
        for each in answer_sheet(items)
    ]
    return Printed(f"{title}: answers", "", tuple(parts), language)

"""Shows changed files in a window, one after the other: whatever is raised there is a fault."""

from __future__ import annotations

import functools
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from lmviz.app.window.main_window import MainWindow

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # at night there is no screen

ROOM = 500, 900  # pixels in which words are shown
LONGEST = 20.0  # seconds until a window has nothing left to do
QUIET = 3  # rounds without work after which it has nothing left to do


class Raised(Exception):
    """What the window would have said that it did not expect."""


@functools.cache
def _window() -> tuple[MainWindow, list[str]]:
    """The window of this process, and what was raised in it. Each process that reads files makes its own."""
    from lmviz.app.look.theme import make_application
    from lmviz.app.opening.settings import Settings
    from lmviz.app.session.session import Session
    from lmviz.app.window.main_window import MainWindow
    from lmviz.app.workers.faults import Faults
    from lmviz.app.workers.overrides import guard_overrides
    from lmviz.app.workers.threads import prepare_interpreter

    prepare_interpreter()
    guard_overrides()
    application = make_application()
    faults, raised = Faults(application), list[str]()
    faults.happened.connect(raised.append)
    faults.install()
    home = Path(tempfile.mkdtemp())
    window = MainWindow(Session(home / "runs"), Settings(home / "settings.json"))
    window.resize(1440, 900)
    window.painted.connect(window.session.start)
    window.show()
    settle(window)
    return window, raised


def show(path: Path) -> bool:
    """Open a file in the window, and draw all that comes of it; whether a model is open then.

    Raised with what was raised meanwhile.
    """
    window, raised = _window()
    raised.clear()
    window.notice.clear()
    window.open_paths([path])
    settle(window)
    window.grab()
    session = window.session
    has_model = session.library.model is not None
    session.lesson.leave()
    for model in session.library.models:
        session.library.close(model)
    settle(window)
    if raised:
        raise Raised(raised[0][-3000:])
    return has_model


@functools.cache
def _places() -> tuple[QWidget, Callable[[str], object]]:
    """A widget with every place in which Markdown of a stranger is shown, and what says a text in all."""
    from PySide6.QtCore import QRect
    from PySide6.QtWidgets import QVBoxLayout, QWidget

    from lmviz.app.widgets.base.plain import Label, caption, paragraph, window_title
    from lmviz.app.widgets.controls.question_card import QuestionCard
    from lmviz.app.widgets.controls.task_list import TaskList
    from lmviz.app.widgets.text.markdown_label import MarkdownLabel
    from lmviz.app.widgets.text.printed import Printed, PrintedPart
    from lmviz.app.widgets.text.printed_files import write_printed
    from lmviz.app.window.presenter import PresenterWindow

    _window()
    whole, label, plain = QWidget(), MarkdownLabel("words"), Label(wraps=True)
    card, tasks = QuestionCard(), TaskList()
    notes = PresenterWindow(lambda: None, str, lambda key: False, whole)
    column = QVBoxLayout(whole)
    for part in (label, plain, card, tasks):
        column.addWidget(part)
    handout = Path(tempfile.mkdtemp())

    def say(words: str) -> None:
        for window in (whole, notes):
            window.resize(*ROOM)  # a long word of the text before has made it as wide
        label.setText(words)
        plain.setText(words)
        plain.setToolTip(paragraph(words))
        whole.setWindowTitle(window_title(words))
        card.set_question(words, (words, caption(words)), words)
        card.tell(False, f"**{words}** {words}", is_hint_shown=True)
        tasks.set_tasks([words, words], 1)
        notes.show_page(words, words, words, words, words)
        notes.grab(QRect(0, 0, *ROOM))
        part = PrintedPart(words, words, (), words, (words,), words, (words,), 1)
        for ending in (".html", ".pdf") if len(words) % 10 == 0 else (".html",):  # fonts take a while
            write_printed(Printed(words, words, (part,)), handout / f"handout{ending}")
        assert "<img" not in (handout / "handout.html").read_text("utf-8"), "a browser would load it"

    return whole, say


def show_words(path: Path) -> bool:
    """Show the words of a file in every place in which a stranger's Markdown stands, and print them.

    Raised with what was raised meanwhile. What names a FIFO that somebody opens does not come back.
    """
    from PySide6.QtCore import QEvent, QRect
    from PySide6.QtWidgets import QApplication

    whole, say = _places()
    raised = _window()[1]
    raised.clear()
    say(path.read_text("utf-8", "replace"))
    whole.grab(QRect(0, 0, *ROOM))
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # no event loop runs that would do it
    if raised:
        raise Raised(raised[0][-3000:])
    return True


def settle(window: MainWindow, longest: float = LONGEST) -> None:
    """Until nothing is read, computed or waiting to be drawn."""
    from PySide6.QtWidgets import QApplication

    work, quiet, answered = window.session.work, 0, [True]
    until = time.monotonic() + longest
    while quiet < QUIET:
        if time.monotonic() > until:
            raise TimeoutError("the window has not done")
        QApplication.processEvents()
        if work.jobs or not answered[0] or not work.is_ready:
            time.sleep(0.002)
            continue
        panels = [panel for panel in window.perspective.panels if panel.is_in_sight]
        # What reads in vain has said so, and leaves those waiting that draw what it reads.
        drawn = all(panel.is_up_to_date or panel.awaits_answer for panel in panels)
        if window.session.reading.is_busy or window.session.chat.is_writing or not drawn:
            time.sleep(0.002)
            continue
        quiet += 1
        answered[0] = False  # the reading thread comes to this once all is answered that was asked before
        work.ask("soak", lambda: True, lambda done: answered.__setitem__(0, done), _ignore)


def _ignore(sentence: str) -> None:
    """It does not fail."""

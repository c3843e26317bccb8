"""Words of strangers in every name, label, token, title, path and error of the window.

Each is shown as it is written, nothing reads the file that they name, and nothing is turned round by them.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest
from covering import others_slow
from PySide6.QtCore import QAbstractListModel, QEvent
from PySide6.QtGui import QAction, QHelpEvent, QPainter, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QMenu,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot
from traps import Trap

from lmviz.api.training import train
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.text.markdown_label import MarkdownLabel
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus import load_corpus

IN_A_PATH = "<img src='fifo'> a &amp; b & c \u202ed"
STRANGE = "<img src='fifo'> <a href='x'>y</a> a &amp; b & c \u202ed"
TOKEN = "<b>t</b>&amp;\u202et"
SEEN = STRANGE.replace("\u202e", "⟨U+202E⟩")
EVERYWHERE = tuple(row.name for row in shown_perspectives())
NAMING_MODELS, NAMING_OTHERS = ("inside", "attention", "compare"), ("corpus", "autodiff", "polls")
OURS = re.compile(r"</?p>|<br>")
"""The tags of tooltips."""

LESSON = f"""# {STRANGE}
number: 1
about: {STRANGE}

## {STRANGE}
perspective: corpus
do: {STRANGE}
until: position = 2
question: {STRANGE}
choice: {STRANGE}
choice: b
answer: b
hint: {STRANGE}

{STRANGE}
"""
POLL = f"# {STRANGE}\nquestion: {STRANGE}\nA: {STRANGE}\nB: b\nbecause: {STRANGE}\nright: A\n"
NETWORK = f"# {STRANGE}\nx = [1; 2]\nW = [0.5 -0.25]\nJ = linear(W, x)\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A classifier whose classes and two models whose tokens are strange, and texts of such names."""
    folder = tmp_path_factory.mktemp("strange")
    labelled, plain = folder / f"{IN_A_PATH}.tsv", folder / f"words {IN_A_PATH}.txt"
    labelled.write_text(f"{STRANGE}\tthe film is good {TOKEN}\nb\tthe film is bad\n" * 8, encoding="utf-8")
    plain.write_text(f"the cows {TOKEN} eat grass and {TOKEN} sees\n" * 20, encoding="utf-8")
    classes = load_corpus(labelled, tokenizer="spaces")
    words = load_corpus(plain, tokenizer="spaces", documents="line")
    small = {"steps": 2, "batch": 2, "width": 8, "validate_every": 0}
    train("gru", classes, folder / "classes", **small)
    train("transformer", words, folder / "words", heads=2, layers=1, context=8, **small)
    train("ngram", words, folder / "counts", order=2)
    return {
        "labelled": labelled,
        "plain": plain,
        **{name: folder / name for name in ("classes", "words", "counts")},
    }


@pytest.fixture
def fifo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """The file that the words name, in the folder in which the program runs."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    trap = Trap(Path("fifo").absolute())
    yield trap
    trap.close()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The texts that were drawn by painters."""
    texts: set[str] = set()
    draw = QPainter.drawText

    def note(painter: QPainter, *given: object) -> object:
        texts.update(each for each in given if isinstance(each, str))
        return draw(painter, *given)

    monkeypatch.setattr(QPainter, "drawText", note)
    return texts


class Look:
    """What was shown so far."""

    def __init__(self, window: MainWindow, drawn: set[str]) -> None:
        self.window, self._drawn = window, drawn
        self.texts: set[str] = set()

    def around(self) -> None:
        """At all that there is now, with every tooltip and menu shown."""
        for top in QApplication.topLevelWidgets():
            if top.isVisible():
                top.grab()
            for widget in [top, *top.findChildren(QWidget)]:
                self.texts.update(shown_by(widget))
            for action in top.findChildren(QAction):
                self.texts.add(in_a_menu(action.text()))
                if action.toolTip() != in_a_menu(action.text()):  # Qt shows only one of its own
                    check_tip(action.toolTip())
        self.texts |= self._drawn
        wrong = [text for text in self.texts if "\u202e" in text]
        assert not wrong, wrong


def shown_by(widget: QWidget) -> Iterator[str]:
    check_tip(widget.toolTip())
    if widget.toolTip() and widget.isVisible():
        place = widget.rect().center()
        QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place)))
    if widget.isWindow() or isinstance(widget, QDialog):
        yield widget.windowTitle()
    if isinstance(widget, MarkdownLabel):
        yield widget.shown
    elif isinstance(widget, InkedLabel):
        yield widget.accessibleName() if "\u202e" not in widget.text() else widget.text()
    elif isinstance(widget, QLabel):
        if type(widget).__name__ != "QTipLabel" and type(widget) is not QLabel:
            assert widget.textFormat() == Qt.TextFormat.PlainText, widget.text()
        yield widget.text()
    elif isinstance(widget, QAbstractButton):
        assert widget.shortcut().isEmpty() or not widget.text(), widget.text()
        yield in_a_menu(widget.text())
    elif isinstance(widget, QComboBox):
        yield from (widget.itemText(at) for at in range(widget.count()))
    elif isinstance(widget, QTabBar):
        yield from (in_a_menu(widget.tabText(at)) for at in range(widget.count()))
    elif isinstance(widget, QMenu):
        widget.aboutToShow.emit()
        yield in_a_menu(widget.title())
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        model = widget.model()
        for row in range(min(model.rowCount(), 40)):
            for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount()):
                index = model.index(row, column)
                yield str(index.data() or "")
                check_tip(str(index.data(Qt.ItemDataRole.ToolTipRole) or ""))


def in_a_menu(text: str) -> str:
    """What stands on a button or in a menu: a doubled & is one, a single one marks a key."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def check_tip(tip: str) -> None:
    """A tooltip has no tags but those in which we put a text."""
    assert "\u202e" not in tip
    if Qt.mightBeRichText(tip):
        assert "<" not in OURS.sub("", tip), tip


@pytest.fixture
def look(window: MainWindow, drawn: set[str]) -> Look:
    return Look(window, drawn)


def go_round(look: Look, names: Iterable[str], qtbot: QtBot) -> None:
    """Look at these perspectives, each panel in front, and at every command."""
    window, reading = look.window, look.window.session.reading
    for name in names:
        window.show_perspective(name)
        for panel in window.perspective.panels:
            panel.parentWidget().raise_()
            panel.catch_up()
        qtbot.waitUntil(lambda: not reading.is_busy)
        QApplication.processEvents()
        for panel in window.perspective.panels:
            panel.parentWidget().raise_()
            panel.catch_up()
        QApplication.processEvents()
        list(window.commands.all())
        look.around()


@pytest.mark.slow
@pytest.mark.parametrize("names", others_slow([EVERYWHERE, NAMING_MODELS], NAMING_MODELS), ids=len)
def test_a_text_and_models_with_strange_names(
    look: Look, session: Session, runs: dict[str, Path], fifo: Trap, names: tuple[str, ...], qtbot: QtBot
) -> None:
    for name in ("words", "counts"):
        shutil.copytree(runs[name], session.training.runs_folder / name)
        session.library.rename(session.training.runs_folder / name, STRANGE)
        session.library.open(session.training.runs_folder / name)
        qtbot.waitUntil(lambda name=name: any(model.folder.name == name for model in session.library.models))
    look.window.open_paths([runs["plain"]])
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.comparison.choose([(model, model.snapshots[-1]) for model in session.library.models])
    session.reading.set_prefix(f"the cows {TOKEN} <i>new</i>\u202e {TOKEN}")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    go_round(look, names, qtbot)
    assert any(SEEN in text for text in look.texts)
    assert any(TOKEN.replace("\u202e", "⟨U+202E⟩") in text for text in look.texts)
    assert not fifo.was_read


@pytest.mark.slow
@pytest.mark.parametrize("names", others_slow([EVERYWHERE, NAMING_OTHERS], NAMING_OTHERS), ids=len)
def test_labels_lessons_polls_and_networks_with_strange_words(
    look: Look,
    session: Session,
    runs: dict[str, Path],
    fifo: Trap,
    names: tuple[str, ...],
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    folder = tmp_path / f"folder {IN_A_PATH}"
    folder.mkdir()
    for name, content in (("lesson.md", LESSON), ("own.poll", POLL), (f"{IN_A_PATH}.net", NETWORK)):
        (folder / name).write_text(content, encoding="utf-8")
    session.library.open(runs["classes"])
    qtbot.waitUntil(lambda: session.library.model is not None)
    look.window.open_paths([runs["labelled"]])
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.reading.set_prefix(f"the film {TOKEN}")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    look.window.open_paths([folder / "own.poll"])
    assert session.polls.current.title == STRANGE
    look.window.open_paths([folder / f"{IN_A_PATH}.net"])
    look.window.open_lesson(folder / "lesson.md")
    qtbot.waitUntil(lambda: look.window.find_control("lesson_hint") is not None)
    look.window.find_control("lesson_hint").click()
    for label in ("lesson_sentence", "lesson_task", "lesson_question_words", "lesson_hint_words"):
        shown = look.window.findChild(MarkdownLabel, label).shown
        assert shown == SEEN.replace("&amp;", "&"), label  # which Markdown has as HTML has it
    go_round(look, names, qtbot)
    session.lesson.leave()
    QApplication.processEvents()
    look.around()
    assert {SEEN, f"1 · {SEEN}"} <= look.texts
    assert not fifo.was_read


@pytest.mark.parametrize("ending", others_slow([".txt", "\nx.lmviz", "\nx.poll", ".md"], "\nx.poll"))
def test_what_is_wrong_with_strange_words_is_one_sentence(
    look: Look, fifo: Trap, ending: str, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / f"{IN_A_PATH}{ending}"
    lines = f"# {STRANGE}\nperspective: {STRANGE}\nA: {STRANGE}\n"
    path.write_bytes(b"\xff\xfe\x00" if ending in (".txt", "\nx.lmviz") else lines.encode())

    def said() -> list[str]:
        labels = look.window.findChildren(QLabel)
        return [label.text() for label in labels if label.isVisible() and "fifo" in label.text()]

    look.window.open_paths([path])
    qtbot.waitUntil(lambda: bool(said()))
    look.around()
    assert not any("\n" in sentence for sentence in said())
    assert all("<img src='fifo'>" in sentence for sentence in said())
    assert not fifo.was_read


def test_dialogs_with_strange_words(
    look: Look, session: Session, runs: dict[str, Path], fifo: Trap, qtbot: QtBot
) -> None:
    shutil.copytree(runs["counts"], session.training.runs_folder / "counts")
    session.library.rename(session.training.runs_folder / "counts", STRANGE)
    session.library.open(session.training.runs_folder / "counts")
    qtbot.waitUntil(lambda: session.library.model is not None)
    commands, model = look.window.commands, session.library.model
    for show in (
        commands.choosing.open_run, partial(commands.choosing.rename_model, model),
        commands.show_keyboard_map, commands.show_palette,
    ):  # fmt: skip
        show()
        QApplication.processEvents()
        look.around()
        for dialog in look.window.findChildren(QDialog):
            dialog.close()
    assert SEEN in look.texts
    assert f"Rename {SEEN}" in look.texts
    assert f"Close {SEEN}" in look.texts
    assert not fifo.was_read

"""A picture that a text names is opened by nobody but our own checked reader, wherever the text is shown."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from traps import Traps

from lmviz.app.session.session import Session
from lmviz.app.widgets.text.markdown_label import MarkdownLabel
from lmviz.app.widgets.text.printed import Printed, PrintedPart
from lmviz.app.widgets.text.printed_files import write_printed
from lmviz.app.window.main_window import MainWindow

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")

WAYS = {
    "inline": "![x]({})",
    "in brackets": "![x[1]]({})",
    "with a title": '![x](<{}> "said")',
    "of a link": "[![x]({})](b)",
    "a URL": "![x](file://{})",
    "referred to": "![x][r]\n\n[r]: {}",
    "collapsed": "![r][]\n\n[r]: {}",
    "short": "![r]\n\n[r]: {}",
    "in a heading": "# ![x]({})",
    "in a list": "- a\n  - ![x]({})",
    "in a quote": "> > ![x]({})",
    "in a table": "|a|b|\n|-|-|\n|![x]({})|c|",
    "stressed": "***![x]({})***",
    "as alternative words": "![![x]({})](b)",
}
"""How Markdown names a picture."""

PLACES = (
    *("lesson", "about", "step", "task", "sentences", "question", "choice", "hint", "reply", "explanation"),
    *("lecture", "item", "notes", "next", "poll", "asked", "option"),
)
"""Where a text of a stranger is shown."""

LESSON = """# Own {lesson}
number: 1
about: {about}

## First
question: How many?
answer: 1

Plain words.

## {step}
do: {task}
until: position = 1
question: {question}
choice: 1 {choice}
choice: 2
answer: 2
wrong: 1 {choice}
reply: {reply}
hint: {hint}
explanation: {explanation}

{sentences}

- {sentences}
"""
POLL = "# {poll}\nquestion: {asked}\nA: {option}\nB: b\nright: B\n"
LECTURE = """# {lecture}
## Plain
step: ./own.md 1

Plain notes.
## {item}
step: ./own.md 2

{notes}
## {next}
poll: ./own.poll
"""


@pytest.fixture
def traps(tmp_path: Path) -> Iterator[Traps]:
    folder = tmp_path / "traps"
    folder.mkdir()
    traps = Traps(folder, PLACES)
    yield traps
    traps.close()


@pytest.fixture
def lecture(tmp_path: Path, traps: Traps) -> Path:
    """A lecture whose every word names pictures."""
    folder = tmp_path / "lecture"
    folder.mkdir()
    ways = WAYS["inline"] + WAYS["in brackets"]
    named = {place: ways.format(traps[place], traps[place]) for place in PLACES}
    for name, text in {"own.md": LESSON, "own.poll": POLL, "own.lecture": LECTURE}.items():
        (folder / name).write_text(text.format(**named), encoding="utf-8")
    return folder / "own.lecture"


def look_at_all() -> None:
    """Draw all windows, and show every tooltip."""
    QApplication.processEvents()
    for top in QApplication.topLevelWidgets():
        if top.isVisible():
            top.grab()
        for widget in top.findChildren(QWidget):
            if widget.toolTip() and widget.isVisible():
                place = widget.rect().center()
                QApplication.sendEvent(
                    widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place))
                )


@pytest.mark.slow
def test_no_place_of_a_lecture_opens_what_its_words_name(
    window: MainWindow,
    session: Session,
    lecture: Path,
    traps: Traps,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    window.open_paths([lecture])
    actions = {action.text(): action for action in window.commands.all()}
    actions["Notes and clock"].trigger()
    session.lesson.answer("1")
    look_at_all()
    window.lectures.go_to(1)
    assert session.lesson.number == 1, window.notice.sentence
    session.lesson.show_hint()
    for answer in (session.lesson.step.question.choices[0], "2"):
        session.lesson.answer(answer)
        look_at_all()
    notes = window.findChild(MarkdownLabel, "presenter_notes")
    qtbot.waitUntil(lambda: "is not shown" in notes.shown)
    window.lectures.go_to(2)
    look_at_all()
    monkeypatch.setattr("lmviz.app.window.handout.LOOK_EVERY", 10)
    for ending in (".html", ".pdf"):
        path = tmp_path / f"handout{ending}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path: (str(path), ""))
        actions["Save a handout…"].trigger()
        qtbot.waitUntil(lambda: window.student_files.can_make_handout)
        assert path.exists()
    session.lesson.leave()
    window.lessons.toggle()
    look_at_all()
    assert traps.read == []


@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_naming_a_picture_opens_it(way: str, traps: Traps, tmp_path: Path, qtbot: QtBot) -> None:
    text = WAYS[way].format(traps["sentences"])
    label = MarkdownLabel("words")
    qtbot.addWidget(label)
    label.setText("Words that were laid out before.")
    label.resize(300, 200)
    label.grab()
    label.setText(text)
    label.grab()
    if way != "as alternative words":  # which Qt leaves out, with the picture that they name
        qtbot.waitUntil(lambda: "it is not in the folder" in label.shown)
    printed = Printed("A title", "", (PrintedPart("One", f"Before.\n\n{text}\n\nAfter."),))
    for ending in (".html", ".pdf"):
        write_printed(printed, tmp_path / f"a{ending}")
    said = (tmp_path / "a.html").read_text("utf-8")
    assert "After." in said
    assert "<img" not in said, "which a browser would load"
    assert str(traps["sentences"]) not in said
    assert traps.read == []


LOOKS = """
import os
import sys
from PySide6.QtWidgets import QApplication
application = QApplication([])
from lmviz.app.widgets.text.markdown_label import MarkdownLabel
label = MarkdownLabel("words")
label.resize(300, 200)
for text in ("before", sys.argv[1]):
    label.setText(text)
    label.grab()
assert label.devicePixelRatio() == 2
os._exit(0)  # as the program ends: a thread may still be reading a picture
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="strace watches programs on Linux")
def test_on_a_sharp_screen_nothing_is_even_looked_for(tmp_path: Path) -> None:
    """On Windows, to look for `//server/x@2x.png` would send that server who is logged in."""
    strace = next((p for p in os.environ["PATH"].split(":") if os.access(f"{p}/strace", os.X_OK)), None)
    if strace is None:
        pytest.skip("there is no strace here")
    notes = tmp_path / "notes"
    text = " ".join(way.format("/nowhere/at-all.png") for way in WAYS.values() if "\n" not in way)
    done = subprocess.run(
        [f"{strace}/strace", "-f", "-e", "trace=%file", "-o", str(notes), sys.executable, "-c", LOOKS, text],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "Operation not permitted" in done.stderr:
        pytest.skip("no program may be watched here")
    assert done.returncode == 0, done.stderr
    seen = [line for line in notes.read_text("utf-8", "replace").splitlines() if "at-all" in line]
    assert [line for line in seen if "execve" not in line] == []

"""Broken lessons, polls and scenes dropped onto the window: each kind is said in a sentence with its line."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from covering import parametrize_few
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.tracing import trace
from tests.desktop.test_scene import BROKEN_SCENES
from tests.lessons.test_reading import BROKEN, WHOLE
from tests.polls.test_poll_file import BROKEN_POLLS


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), copy, data, left, none))


def test_a_broken_lesson_of_each_kind(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    for number, (before, after, line, words) in enumerate(BROKEN.values()):
        folder = tmp_path / f"lesson {number}"
        folder.mkdir()
        (folder / "lesson.md").write_text(WHOLE.replace(before, after), encoding="utf-8")
        drop(window, folder)
        said = window.notice.sentence
        assert f"Line {line}:" in said, (before, said)
        assert words in said
        assert window.session.lesson.lesson is None


def test_a_broken_poll_of_each_kind(
    window: MainWindow, drawn: Callable[[], None], tmp_path: Path, qtbot: QtBot
) -> None:
    window.show_perspective("polls")
    drawn()
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == "poll_view")
    asked = window.session.polls.current
    for number, (text, line, words) in enumerate(BROKEN_POLLS):
        path = tmp_path / f"own {number}.poll"
        path.write_text(text, encoding="utf-8")
        drop(window, path)
        assert path.name in panel.complaint
        assert words in panel.complaint, text
        assert not line or f"Line {line}:" in panel.complaint
        assert window.session.polls.current is asked


def test_a_broken_scene_of_each_kind(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    for number, (content, reason) in enumerate(BROKEN_SCENES):
        path = tmp_path / f"night {number}.lmviz"
        path.write_bytes(content)
        drop(window, path)
        assert window.notice.sentence.startswith(f"{path.name} is not a scene")
        assert reason in window.notice.sentence


def complaint(window: MainWindow) -> str:
    """What the panels in sight say is wrong."""
    return " ".join(panel.complaint for panel in window.perspective.panels if panel.is_in_sight)


@parametrize_few("name", ["bad.poll", "bad.net"])
def test_what_fails_before_its_panel_stands_is_said_there(
    session: Session, settings: Settings, tmp_path: Path, name: str, qtbot: QtBot
) -> None:
    path = tmp_path / name
    path.write_bytes(b"\xff\xfe no text")
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    window.painted.connect(lambda: window.open_paths([path]))  # as at the start of the program
    window.show()
    qtbot.waitUntil(lambda: f"{path} is not a text" in complaint(window))


@pytest.mark.slow
def test_a_network_is_opened_as_one(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "n1.net"
    path.write_text("x = 2\ny = square(x)\n", encoding="utf-8")
    drop(window, path)
    assert window.perspective_name == "autodiff"
    assert window.session.network.title == "n1"
    assert not window.session.text.is_opening


@pytest.mark.slow
def test_a_trace_is_told_from_a_text(
    window: MainWindow, transformer_run: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    trace(lmviz.open_model(transformer_run), "the cows").save(tmp_path / "trace.npz")
    drop(window, tmp_path / "trace.npz")
    qtbot.waitUntil(lambda: "is not a text but a trace" in window.notice.sentence)
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        archive.writestr("a.txt", "a text")
        archive.writestr("b.txt", "another text")  # of one alone it would be read
    drop(window, tmp_path / "texts.zip")
    qtbot.waitUntil(lambda: "one text is read from an archive" in window.notice.sentence)

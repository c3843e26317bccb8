"""Broken lessons, polls and scenes dropped onto the window: each kind is said in a sentence with its line."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from lmviz.app.window.main_window import MainWindow
from tests.lessons.test_reading import BROKEN, WHOLE
from tests.polls.test_poll_file import BROKEN_POLLS
from tests.test_scene import BROKEN_SCENES


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
        assert window.notice.sentence.startswith(f"{path.name} is no scene")
        assert reason in window.notice.sentence

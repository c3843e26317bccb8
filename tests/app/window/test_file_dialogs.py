"""What is chosen in a dialog for files is opened, and nothing where it was left."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton, QToolButton, QTreeView
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


@pytest.fixture
def choose(window: MainWindow) -> Callable[[str], None]:
    """Choose a command of the menus."""

    def trigger(name: str) -> None:
        [action] = [action for action in window.commands.all() if action.text() == name]
        action.trigger()

    return trigger


def answer(monkeypatch: pytest.MonkeyPatch, dialog: str, *answered: object) -> list[tuple[object, ...]]:
    """Have a dialog answered at once; what it was asked with."""
    asked: list[tuple[object, ...]] = []

    def choose(*arguments: object) -> object:
        asked.append(arguments)
        return answered[0] if len(answered) == 1 else answered

    monkeypatch.setattr(QFileDialog, dialog, choose)
    return asked


def test_a_text(
    session: Session,
    settings: object,
    choose: Callable[[str], None],
    text_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    answer(monkeypatch, "getOpenFileNames", [str(text_file)], "")
    with qtbot.waitSignal(session.text.changed):
        choose("Open text…")
    assert session.text.corpus.name == "farm"
    assert settings.recent == [text_file]


@pytest.mark.slow
def test_the_buttons_of_a_dialog_have_their_pictures(window: MainWindow, qtbot: QtBot) -> None:
    dialog = QFileDialog(window)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    for button in dialog.findChildren(QToolButton):
        picture = button.grab().toImage()
        middle = {
            picture.pixel(x, y) for x in range(8, picture.width() - 8) for y in range(8, picture.height() - 8)
        }
        assert len(middle) > 3, button.objectName()


def test_the_columns_of_a_dialog_show_what_stands_in_them(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "notes.md").write_text("What is in it.", encoding="utf-8")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    dialog = QFileDialog(window, "Open text", str(tmp_path))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.open()
    tree = dialog.findChild(QTreeView, "treeView")
    model = tree.model()
    qtbot.waitUntil(lambda: model.rowCount(tree.rootIndex()) > 0)

    def is_whole(column: int) -> bool:
        return tree.columnWidth(column) >= tree.sizeHintForColumn(column)

    qtbot.waitUntil(lambda: all(map(is_whole, range(model.columnCount()))))
    dialog.reject()


@pytest.mark.slow
def test_several_texts_are_one_corpus(
    session: Session,
    choose: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    names = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for name in names:
        name.write_text(f"{name.stem} two three\n" * 20, encoding="utf-8")
    answer(monkeypatch, "getOpenFileNames", [str(name) for name in names], "")
    with qtbot.waitSignal(session.text.changed):
        choose("Open text…")
    assert session.text.corpus.sources == tuple(map(str, names))


@pytest.mark.slow
def test_a_folder_of_texts(
    session: Session,
    choose: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "one.txt").write_text("one two three\n" * 20, encoding="utf-8")
    answer(monkeypatch, "getExistingDirectory", str(folder))
    with qtbot.waitSignal(session.text.changed):
        choose("Open folder of texts…")
    assert session.text.corpus.name == "letters"


@pytest.mark.slow
def test_the_button_of_the_corpus_perspective(
    window: MainWindow, session: Session, text_file: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    answer(monkeypatch, "getOpenFileNames", [str(text_file)], "")
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed):
        qtbot.mouseClick(window.findChild(QPushButton, "corpus_open_button"), Qt.MouseButton.LeftButton)
    assert session.text.corpus.name == "farm"


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_outside")
@pytest.mark.parametrize("name", ["Open text…", "Open folder of texts…"])
def test_a_dialog_that_is_left_opens_nothing(
    session: Session, settings: object, choose: Callable[[str], None], name: str
) -> None:
    choose(name)
    assert not session.text.is_opening
    assert not session.work.jobs
    assert settings.recent == []


def test_a_file_that_cannot_be_read_is_a_sentence(
    window: MainWindow,
    choose: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    gone = tmp_path / "gone.txt"
    answer(monkeypatch, "getOpenFileNames", [str(gone)], "")
    choose("Open text…")
    qtbot.waitUntil(lambda: "gone.txt" in window.notice.sentence)


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), [("attention", "corpus"), ("train", "train")])
def test_a_text_that_was_chosen_is_seen_at_once(
    window: MainWindow,
    session: Session,
    choose: Callable[[str], None],
    text_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
    before: str,
    after: str,
) -> None:
    answer(monkeypatch, "getOpenFileNames", [str(text_file)], "")
    window.show_perspective(before)
    with qtbot.waitSignal(session.text.changed):
        choose("Open text…")
    assert window.perspective_name == after

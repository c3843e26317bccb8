"""Runs and sample models are chosen from a list, by typing or by the keys, and can be renamed there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.row_list import RowList
from lmviz.app.window.main_window import MainWindow
from lmviz.training.run import Run

LONG = 30_000


@pytest.fixture
def runs(session: Session, make_run: Callable[..., Path]) -> dict[str, Path]:
    """Two runs in the folder of runs, one of them named by the clock."""
    folder = session.training.runs_folder
    folder.mkdir()
    named = {"gru": "2020-01-02-033511-gru-farm", "rnn": "by hand"}
    for family, name in named.items():
        made = make_run(family, 2, width=8).rename(folder / name)
        Run.open(made).rename(name)
    return {family: folder / name for family, name in named.items()}


@pytest.fixture
def dialog(window: MainWindow, runs: dict[str, Path], qtbot: QtBot) -> QDialog:
    """The list, opened."""
    window.header.open_model_wanted.emit()
    return opened_dialog(window, qtbot)


def opened_dialog(window: MainWindow, qtbot: QtBot) -> QDialog:
    """The list, once its folder has answered."""
    qtbot.waitUntil(lambda: window.findChild(QDialog, "open_model_dialog") is not None, timeout=LONG)
    found = window.findChild(QDialog, "open_model_dialog")
    qtbot.waitUntil(found.isVisible)
    return found


def shown(dialog: QDialog) -> list[str]:
    model = dialog.findChild(RowList).model()
    places = [model.index(row, 0) for row in range(model.rowCount())]
    return [place.data() for place in places if place.flags() & Qt.ItemFlag.ItemIsEnabled]


def choose(dialog: QDialog, name: str) -> list[str]:
    """Choose the row whose name begins so, and give its words."""
    tree = dialog.findChild(RowList)
    [place] = tree.model().match(tree.model().index(0, 0), Qt.ItemDataRole.DisplayRole, name, 2)
    tree.setCurrentIndex(place)
    return [place.siblingAtColumn(column).data() for column in range(5)]


def test_runs_and_sample_models_are_listed_with_what_they_are(dialog: QDialog) -> None:
    assert shown(dialog)[:2] in (
        ["GRU on farm, 2 Jan 2020, 03:35", "by hand"],
        ["by hand", "GRU on farm, 2 Jan 2020, 03:35"],
    )
    assert "stories-transformer" in shown(dialog)
    _, family, text, begun, steps = choose(dialog, "GRU on farm")
    assert [family, text, steps] == ["GRU", "farm", "2"]
    assert begun


def test_typing_filters_and_return_opens_what_is_marked(
    dialog: QDialog, window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    edit = dialog.findChild(QLineEdit)
    qtbot.keyClicks(edit, "farm gru")
    assert shown(dialog) == ["GRU on farm, 2 Jan 2020, 03:35"]
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert session.library.model.folder == runs["gru"].resolve()
    assert session.library.model.name == "GRU on farm, 2 Jan 2020, 03:35"
    assert window.findChild(QDialog, "open_model_dialog") is None


@pytest.mark.slow
def test_the_keys_walk_the_list_from_the_field(dialog: QDialog, session: Session, qtbot: QtBot) -> None:
    edit, tree = dialog.findChild(QLineEdit), dialog.findChild(RowList)
    first = tree.currentIndex().data()
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    assert tree.currentIndex().data() == shown(dialog)[1] != first
    for _ in range(3):
        qtbot.keyClick(edit, Qt.Key.Key_Down)
    marked = tree.currentIndex().data()
    assert marked == shown(dialog)[4], "a heading is stepped over"
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert session.library.model.name == marked


def test_a_run_is_renamed_in_the_list_and_everywhere(
    dialog: QDialog, window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    session.library.open(runs["gru"])
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    choose(dialog, "GRU on farm")
    qtbot.mouseClick(dialog.findChild(QPushButton, "rename_button"), Qt.MouseButton.LeftButton)
    editor = dialog.findChild(RowList).findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, "my best model")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.library.model.name == "my best model")
    assert Run.open(runs["gru"]).description.name == "my best model"
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: "my best model" in shown(dialog), timeout=LONG)


@pytest.mark.slow
def test_a_sample_model_keeps_its_name(dialog: QDialog) -> None:
    button = dialog.findChild(QPushButton, "rename_button")
    assert button.isEnabled()
    choose(dialog, "stories-transformer")
    assert not button.isEnabled()


@pytest.mark.slow
def test_another_folder_can_be_chosen(
    dialog: QDialog, session: Session, lstm_run: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *a, **k: str(lstm_run))
    qtbot.mouseClick(dialog.findChild(QPushButton, "other_folder_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert session.library.model.folder == lstm_run.resolve()


@pytest.mark.slow
def test_the_header_offers_to_rename_the_model_that_is_shown(
    window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    session.library.open(runs["rnn"])
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    menu = window.header.model_button.menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == "Rename by hand…").trigger()
    dialog = window.findChild(QDialog, "rename_dialog")
    qtbot.waitUntil(dialog.isVisible)
    edit = dialog.findChild(QLineEdit)
    assert edit.text() == "by hand"
    edit.setText("another")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.library.model.name == "another")
    assert Run.open(runs["rnn"]).description.name == "another"


@pytest.mark.slow
def test_a_folder_of_runs_offers_those_in_it(
    window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    folder = session.training.runs_folder
    window.open_paths([folder])
    found = opened_dialog(window, qtbot)
    assert found.windowTitle() == f"Choose one of the runs in {folder.name}"
    assert shown(found) == ["by hand", "GRU on farm, 2 Jan 2020, 03:35", f"{folder.name}, all lanes"]
    assert session.text.corpus is None
    choose(found, "by hand")
    with qtbot.waitSignal(session.library.model_changed):
        found.findChild(QPushButton, "open_button").click()
    assert session.library.model.folder == runs["rnn"]


@pytest.mark.slow
def test_all_runs_of_a_folder_can_be_opened_as_a_race(
    window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    folder = session.training.runs_folder
    window.open_paths([folder])
    found = opened_dialog(window, qtbot)
    choose(found, shown(found)[-1])
    with qtbot.waitSignal(session.race.offered):
        found.findChild(QPushButton, "open_button").click()
    assert window.perspective_name == "race"
    assert len(session.race.lanes) == 2

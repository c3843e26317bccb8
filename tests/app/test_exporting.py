"""Whatever a panel shows can leave the window: picture, numbers, and Python that gives the same numbers."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from lmviz.app.exporting import choose_numbers, choose_picture, copy_recipe, fill_export_menu
from lmviz.app.main_window import MainWindow
from lmviz.app.session import Session

LONG = 30_000


@pytest.fixture
def panels(window: MainWindow, read: Session, qtbot: QtBot) -> dict[str, object]:
    """The panels of Inside on a small LSTM, a stage and a cell chosen."""
    window.show_perspective("inside")
    read.choose_stage(2)
    read.choose_cell(("layers/0/input", (1, 3)))
    found = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: found["why_view"].shown is not None, timeout=LONG)
    qtbot.waitUntil(lambda: found["state_view"].view.address == "layers/0/input", timeout=LONG)
    return found


def choose(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))


def test_a_picture_of_a_panel(panels: dict[str, object], tmp_path: Path, monkeypatch) -> None:
    choose(tmp_path / "state.png", monkeypatch)
    choose_picture(panels["state_view"])
    image = QImage(str(tmp_path / "state.png"))
    assert (image.width(), image.height()) == (
        2 * panels["state_view"].width(),
        2 * panels["state_view"].height(),
    )


def test_the_numbers_of_a_panel(
    panels: dict[str, object], read: Session, tmp_path: Path, monkeypatch
) -> None:
    choose(tmp_path / "state.csv", monkeypatch)
    choose_numbers(panels["state_view"])
    table = np.loadtxt(tmp_path / "state.csv", delimiter=",", ndmin=2)
    np.testing.assert_allclose(table, read.reading.trace["layers/0/input"].array.T, rtol=1e-6)


@pytest.mark.parametrize(("name", "bound"), [("state_view", "values"), ("why_view", "equation")])
def test_the_python_of_a_panel_gives_what_it_shows(
    panels: dict[str, object], read: Session, name: str, bound: str
) -> None:
    copy_recipe(panels[name])
    scope: dict[str, object] = {}
    exec(QGuiApplication.clipboard().text(), scope)
    if bound == "values":
        expected = read.reading.trace["layers/0/input"].array
        np.testing.assert_allclose(scope["values"], expected, rtol=1e-5)
    else:
        value = read.reading.trace["layers/0/input"].array[1, 3]
        assert f"{value:.2f}".lstrip("0") in scope["equation"]


def test_what_cannot_be_written_is_a_sentence(
    panels: dict[str, object], read: Session, tmp_path: Path, monkeypatch, qtbot: QtBot
) -> None:
    choose(tmp_path / "state.bmp", monkeypatch)
    with qtbot.waitSignal(read.failed) as failure:
        choose_picture(panels["state_view"])
    assert failure.args[0] == "export"


def test_the_menu_offers_only_what_there_is(panels: dict[str, object]) -> None:
    menu = QMenu()
    fill_export_menu(menu, panels["picture_view"])
    assert [action.isEnabled() for action in menu.actions()] == [True, False, False]

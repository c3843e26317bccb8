"""Whatever panel fails while it is made, ahead, with its perspective or after it: a sentence stands in its
place, and all else goes on."""

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.board.board import Board
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.panels.table import rows_of, shown_perspectives
from lmviz.app.window.frame import Perspectives
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import SMALLEST

QUICK = "race"
OTHERS = [row.name for row in shown_perspectives() if row.name not in (QUICK, SMALLEST)]


@pytest.mark.parametrize("way", ["with it", "after it", "ahead"])
@pytest.mark.parametrize("name", [QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_a_sentence_stands_in_its_place(
    window: MainWindow, name: str, way: str, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    rows = rows_of(name)
    failing = {row.name for row in rows[::2]}
    load = PanelRow.load

    def fail(row: PanelRow) -> type[Panel]:
        if row.name in failing:
            raise KeyError(row.name)
        return load(row)

    monkeypatch.setattr(PanelRow, "load", fail)
    if way == "after it":
        window.findChild(Perspectives).made.connect(Board.leave_tabs)  # as from the first paint on
    with qtbot.captureExceptions() as raised:
        while way == "ahead" and window.make_ready(name):
            pass
        window.show_perspective(name)
        board = window.perspective
        qtbot.waitUntil(lambda: len(board.findChildren(QLabel, "unmade_sentence")) == len(failing))
        for row in rows:
            board.bring_forward(f"{row.name}_view")
        window.show_perspective(SMALLEST)
        window.show_perspective(name)
    assert sorted(str(fault) for _, fault, _ in raised) == sorted(f"'{name}'" for name in failing)
    said = [label.text() for label in board.findChildren(QLabel, "unmade_sentence")]
    assert all(sentence.startswith("Making this panel failed for a reason") for sentence in said)
    assert not board.missing
    assert window.find_control("unmade_sentence") is not None

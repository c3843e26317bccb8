"""The editor of a small network: the line that is spoken of is in sight."""

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.text.network_editor import NetworkEditor

TEXT = "\n".join([*(f"a{number} = {number}" for number in range(80)), "parameter U = 1", "x = [1; 2]"])


@pytest.fixture
def editor(qtbot: QtBot) -> NetworkEditor:
    editor = NetworkEditor()
    qtbot.addWidget(editor)
    editor.resize(240, 160)
    editor.show()
    return editor


def lines_in_sight(editor: NetworkEditor) -> list[str]:
    view = editor.viewport().rect()
    first = editor.cursorForPosition(view.topLeft()).blockNumber()
    last = editor.cursorForPosition(QPoint(0, view.bottom())).blockNumber()
    return TEXT.split("\n")[first : last + 1]


@pytest.mark.parametrize("is_late", [False, True], ids=["with its text", "before its text"])
def test_the_line_of_a_name_is_brought_into_sight(editor: NetworkEditor, is_late: bool) -> None:
    if not is_late:
        editor.set_text(TEXT)
        assert "parameter U = 1" not in lines_in_sight(editor)
    editor.show_definition("U")
    if is_late:
        editor.set_text(TEXT)
    assert "parameter U = 1" in lines_in_sight(editor)
    assert editor.textCursor().block().text() == "parameter U = 1"
    editor.show_definition("a1")
    assert editor.textCursor().block().text() == "a1 = 1", "not a10"
    editor.show_definition("nothing")
    assert editor.textCursor().block().text() == "a1 = 1"

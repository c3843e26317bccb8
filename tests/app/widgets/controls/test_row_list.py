"""A list of rows: headings are stepped over, a name is asked for, other rows may come at any time."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.controls.row_list import ListedRow, RowList

ROWS = (
    ListedRow(("Yours",)),
    ListedRow(("by\nhand", "GRU"), "first", may_be_renamed=True),
    ListedRow(("farm", "LSTM"), "second", "where it lies"),
    ListedRow(("Samples",)),
    ListedRow(("stories", "Transformer"), "third"),
)


@pytest.fixture
def shown(qtbot: QtBot) -> RowList:
    """A list of three rows below two headings."""
    found = RowList(2, ("Name", "Family"))
    qtbot.addWidget(found)
    found.set_rows(ROWS)
    found.resize(300, 200)
    found.show()
    return found


def chosen(rows: RowList) -> object:
    return None if rows.current is None else rows.current.value


def test_headings_are_stepped_over_and_cannot_be_chosen(shown: RowList) -> None:
    shown.set_rows(ROWS)  # whoever has the focus has Qt choose a first row
    assert chosen(shown) is None
    for step, expected in ((1, "first"), (1, "second"), (1, "third"), (1, "third"), (-1, "second")):
        shown.go(step)
        assert chosen(shown) == expected
    heading = shown.model().index(3, 0)
    assert not heading.flags() & (Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
    assert shown.isFirstColumnSpanned(3, heading.parent())
    assert not shown.isFirstColumnSpanned(2, heading.parent())


def test_a_row_is_chosen_by_what_it_stands_for(shown: RowList, qtbot: QtBot) -> None:
    with qtbot.waitSignal(shown.current_changed):
        shown.choose("third")
    shown.choose("nothing of the kind")
    assert chosen(shown) == "third"
    shown.set_rows(ROWS[2:])
    assert chosen(shown) is None, "other rows, and none of them is chosen"


def test_a_name_is_asked_for_and_stays_until_other_rows_are_shown(shown: RowList, qtbot: QtBot) -> None:
    asked: list[tuple[object, str]] = []
    shown.renamed.connect(lambda value, name: asked.append((value, name)))
    shown.choose("first")
    for typed in ("by hand", " another "):
        shown.rename()
        editor = shown.findChild(QLineEdit)
        editor.selectAll()
        qtbot.keyClicks(editor, typed)
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: shown.findChild(QLineEdit) is None)
    assert asked == [("first", "another")], "the name that it has is not asked for"
    assert shown.currentIndex().data() == "by hand"
    for value in ("second", "third"):
        shown.choose(value)
        assert not shown.currentIndex().flags() & Qt.ItemFlag.ItemIsEditable


def test_the_last_column_stands_at_the_right_and_a_tip_is_said(shown: RowList) -> None:
    role, right = Qt.ItemDataRole.TextAlignmentRole, Qt.AlignmentFlag.AlignRight
    assert [bool((shown.model().index(2, column).data(role) or 0) & right) for column in (0, 1)] == [0, 1]
    assert "where it lies" in shown.model().index(2, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert shown.model().index(4, 0).data(Qt.ItemDataRole.ToolTipRole) is None
    plain = RowList(2)
    assert plain.isHeaderHidden()
    assert not shown.isHeaderHidden()

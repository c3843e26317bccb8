"""Tables: sorting and filtering keep saying which row is meant."""

import time

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.tables.columns_model import Column
from lmviz.app.widgets.tables.table_view import TableView

WORDS = ["night", "King", "queen", "kind"]


def columns(counts=(3, 9, 1, 9)):
    times = Column("count", np.array(counts), lambda number: f"{number} times", bar=True)
    return [Column("token", WORDS, tokens=True), times]


@pytest.fixture
def table(shown):
    table = TableView()
    table.set_columns(columns())
    return shown(table, 300, 200)


def cell(table, line, column):
    return table.model().index(line, column).data()


def click(table, line):
    place = table.visualRect(table.model().index(line, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_cells_are_written_in_their_own_order_at_first(table):
    assert [cell(table, line, 0) for line in range(4)] == WORDS
    assert cell(table, 0, 1) == "3 times"


def test_sorting_by_number_and_by_text(table):
    table.sort_by(1, descending=True)
    assert [cell(table, line, 1) for line in range(4)] == ["9 times", "9 times", "3 times", "1 times"]
    table.sort_by(0)
    assert [cell(table, line, 0) for line in range(4)] == ["kind", "King", "night", "queen"]
    table.sort_by(-1)
    assert table.rows_shown == (0, 1, 2, 3)


def test_a_click_says_the_row_not_the_line(table, qtbot):
    table.sort_by(1)
    with qtbot.waitSignal(table.row_clicked) as signal:
        click(table, 0)
    assert signal.args == [2]
    assert table.current == 2


def test_the_filter_ignores_case_and_keeps_the_choice(table):
    table.set_current(3)
    table.set_filter("KIN")
    assert table.rows_shown == (1, 3)
    assert table.current == 3
    table.set_filter("queen")
    assert table.current == -1


def test_new_values_keep_sorting_filter_and_choice(table):
    table.sort_by(1)
    table.set_current(1)
    table.set_columns(columns((5, 0, 7, 6)))
    assert table.rows_shown == (1, 0, 3, 2)
    assert table.current == 1


def test_keys_and_hover(table, qtbot):
    table.set_current(0)
    with qtbot.waitSignal(table.row_clicked) as signal:
        QTest.keyClick(table, Qt.Key.Key_Down)
        QTest.keyClick(table, Qt.Key.Key_Return)
    assert signal.args == [1]
    with qtbot.waitSignal(table.row_hovered) as signal:
        QTest.mouseMove(table.viewport(), table.visualRect(table.model().index(2, 0)).center())
    assert signal.args == [2]


def test_no_rows_and_no_columns(table):
    table.set_columns([Column("token", []), Column("count", np.zeros(0))])
    table.sort_by(1)
    table.grab()
    table.set_columns([])
    table.grab()
    assert table.current == -1


def test_a_hundred_thousand_rows_sort_and_filter_within_a_blink(table):
    generator = np.random.default_rng(0)
    tokens = [f"token {number}" for number in generator.integers(0, 10**9, 100_000)]
    table.set_columns([Column("token", tokens), Column("count", generator.integers(0, 1000, 100_000))])
    start = time.perf_counter()
    table.sort_by(1, descending=True)
    table.set_filter("77")
    table.grab()
    assert time.perf_counter() - start < 0.5
    assert 0 < table.model().rowCount() < 100_000


def test_where_the_figures_alone_do_not_fit_words_are_not_squeezed_as_well(shown):
    table = TableView()
    figures = [Column(f"figure {n}", np.arange(3) * 1_000_000) for n in range(4)]
    table.set_columns([Column("word", ["barrel", "a", "the"], tokens=True), *figures])
    shown(table, width=900)
    room = table.viewport().width()
    assert table.horizontalHeader().length() == room
    table.resize(200, 200)
    assert table.columnWidth(0) >= table.sizeHintForColumn(0)
    assert table.horizontalScrollBar().maximum() > 0

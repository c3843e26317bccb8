"""Tables: sorting and filtering keep saying which row is meant."""

from itertools import product

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolTip
from quickest import quickest

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.looks.columns import Column

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


def words(table):
    return [cell(table, line, 0) for line in range(table.model().rowCount())]


def put_away(table):
    hidden = filter(table.isColumnHidden, range(table.model().columnCount()))
    return tuple(heading(table, column).replace("\n", " ") for column in hidden)


def click(table, line):
    place = table.visualRect(table.model().index(line, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_cells_are_written_in_their_own_order_at_first(table):
    assert [cell(table, line, 0) for line in range(4)] == WORDS
    assert cell(table, 0, 1) == "3 times"


def test_sorting_by_number_and_by_text(table):
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert [cell(table, line, 1) for line in range(4)] == ["9 times", "9 times", "3 times", "1 times"]
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert [cell(table, line, 0) for line in range(4)] == ["kind", "King", "night", "queen"]
    table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert [cell(table, line, 0) for line in range(4)] == WORDS


def test_a_click_says_the_row_not_the_line(table, qtbot):
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    with qtbot.waitSignal(table.row_clicked) as signal:
        click(table, 0)
    assert signal.args == [2]
    assert table.current == 2


def test_the_filter_ignores_case_and_keeps_the_choice(table):
    table.set_current(3)
    table.set_filter("KIN")
    assert words(table) == ["King", "kind"]
    assert table.current == 3
    table.set_filter("queen")
    assert table.current == -1


def test_new_values_keep_sorting_filter_and_choice(table):
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    table.set_current(1)
    table.set_columns(columns((5, 0, 7, 6)))
    assert words(table) == ["King", "night", "kind", "queen"]
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
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    table.grab()
    table.set_columns([])
    table.grab()
    assert table.current == -1


def test_columns_left_out_may_go_together_with_the_scroll_bar(table):
    many = [Column(f"column {at}", np.arange(100), spare=at > 1) for at in range(8)]
    table.resize(150, 200)
    table.show()
    table.set_columns(many)
    table.grab()
    table.set_columns([])
    table.grab()
    assert table.model().columnCount() == 0


def test_a_hundred_thousand_rows_sort_and_filter_within_a_blink(table):
    generator = np.random.default_rng(0)
    tokens = [f"token {number}" for number in generator.integers(0, 10**9, 100_000)]
    columns = [Column("token", tokens), Column("count", generator.integers(0, 1000, 100_000))]

    def begin_again():
        table.set_filter("")
        table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        table.set_columns(columns)

    def sort_and_filter():
        table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
        table.set_filter("77")
        table.grab()

    assert quickest(sort_and_filter, 0.5, before=begin_again) < 0.5
    assert 0 < table.model().rowCount() < 100_000


def scores(spare=()):
    figures = [("bits per character", 1.84), ("perplexity per token", 12345.67), ("unknown", 0.5)]
    return [
        Column("model", ["stories-transformer, a long name", "counts"]),
        Column("learned from", ["stories", "farm"], spare="learned from" in spare),
        *(Column(title, np.array([value, value]), spare=title in spare) for title, value in figures),
    ]


def heading(table, column):
    return table.model().headerData(column, Qt.Orientation.Horizontal)


def test_headings_break_before_anything_else_gives_way(shown):
    table = TableView()
    table.set_columns(scores(spare=("unknown",)))
    shown(table, width=900)
    header = table.horizontalHeader()
    assert heading(table, 3) == "perplexity per token"
    assert header.length() == table.viewport().width()
    height, whole = header.height(), sum(table.columnWidth(at) for at in range(1, 5))
    table.resize(whole + table.sizeHintForColumn(0) - 20, 200)
    assert heading(table, 3) == "perplexity\nper token"
    assert header.height() > height
    assert header.length() == table.viewport().width()
    assert put_away(table) == ()
    table.resize(900, 200)
    assert heading(table, 3) == "perplexity per token"
    assert header.height() == height


def test_in_a_narrow_table_texts_are_cut_short_and_no_heading_is(shown):
    table = TableView()
    table.set_columns(scores())
    shown(table, width=430)
    header = table.horizontalHeader()
    assert header.length() <= table.viewport().width()
    assert table.columnWidth(0) < table.sizeHintForColumn(0)
    assert table.columnWidth(3) >= table.sizeHintForColumn(3), "a figure cut short is another number"
    for column in range(5):
        lines = heading(table, column).split("\n")
        assert table.columnWidth(column) >= max(map(metrics(12).horizontalAdvance, lines)) + 18


def hint_at(table, line, column, qtbot):
    place = table.visualRect(table.model().index(line, column)).center()
    event = QHelpEvent(QEvent.Type.ToolTip, place, table.viewport().mapToGlobal(place))
    QApplication.sendEvent(table.viewport(), event)
    return QToolTip.text()


def test_spare_columns_are_put_away_into_the_tooltip_where_it_is_too_narrow(shown, qtbot):
    table = TableView()
    table.set_columns(scores(spare=("learned from", "unknown")))
    shown(table, width=900)
    stages = [put_away(table)]
    for width in range(900, 150, -5):  # which widths they are, depends on the font
        table.resize(width, 200)
        if put_away(table) != stages[-1]:
            stages.append(put_away(table))
            assert table.horizontalScrollBar().maximum() == 0
        if len(stages) == 3:
            break
    assert stages == [(), ("unknown",), ("learned from", "unknown")]
    said = hint_at(table, 1, 0, qtbot)
    assert "learned from: farm" in said
    assert "unknown: 0.5" in said
    assert "counts" not in said, "which is not cut"
    assert "&lt;" not in said, "no marks that are read as text"
    table.resize(150, 200)
    assert "stories-transformer, a long name" in hint_at(table, 0, 0, qtbot)
    table.resize(900, 200)
    assert put_away(table) == ()


def test_sorting_moves_no_column(shown):
    table = TableView()
    shares = np.array([0.9, *[0.1] * 500, 0.12345678])
    columns = [Column("word", ["a"] * 502), Column("share", shares, str, spare=True), Column("n", shares * 0)]
    table.set_columns(columns)
    shown(table, 230, 200)
    before = [table.columnWidth(at) for at in range(3)]
    for column, order in product((1, 0), Qt.SortOrder):
        table.sortByColumn(column, order)
        assert [table.columnWidth(at) for at in range(3)] == before
    assert before[1] >= table.sizeHintForColumn(1)


def test_other_rows_are_measured_anew(shown):
    table = TableView()
    table.set_columns([Column("word", ["a"]), Column("count", np.array([1]))])
    shown(table, width=200)
    before = table.columnWidth(1)
    table.set_columns([Column("word", ["a"]), Column("count", np.array([10**12]))])
    assert table.columnWidth(1) > before
    assert table.columnWidth(1) >= table.sizeHintForColumn(1)


def test_figures_that_cannot_fit_are_not_cut(shown):
    table = TableView()
    figures = [Column(f"figure {n}", np.arange(3) * 1_000_000) for n in range(4)]
    table.set_columns([Column("word", ["barrel", "a", "the"], tokens=True), *figures])
    shown(table, width=900)
    assert table.horizontalHeader().length() == table.viewport().width()
    table.resize(200, 200)
    for column in range(1, 5):
        assert table.columnWidth(column) >= table.sizeHintForColumn(column)
    assert table.horizontalScrollBar().maximum() > 0


def test_columns_without_room_are_counted_beside_the_headings_and_names_stay_readable(shown):
    table = TableView()
    names = ["Transformer · 4 layers", "Transformer · 2 layers"]
    shares = [Column(f"LABEL{n}", np.array([0.5, 0.25]), str, spare=True) for n in range(17)]
    table.set_columns([Column("model", names), *shares])
    shown(table, 500, 100)
    away = put_away(table)
    more = table.findChild(QLabel, "columns_left_out")
    assert more.isVisible()
    assert more.text() == f"+{len(away)} …"
    assert all(name in more.toolTip() for name in away)
    assert more.mapTo(table, more.rect().topRight()).x() <= table.width()
    last = max(at for at in range(18) if not table.isColumnHidden(at))
    edge = table.columnViewportPosition(last) + table.columnWidth(last)
    assert edge <= more.mapTo(table.viewport(), more.rect().topLeft()).x()
    assert table.columnWidth(0) >= metrics(13).horizontalAdvance(names[0])
    table.resize(3000, 100)
    assert put_away(table) == ()
    assert not more.isVisible()

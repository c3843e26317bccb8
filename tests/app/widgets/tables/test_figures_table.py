"""A table of figures asks only for what can be seen, and says what the pointer is on."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.tables.figure_columns import FigureColumn, FigureLine, place_columns
from lmviz.app.widgets.tables.figures_table import FiguresTable

COLUMNS = [
    FigureColumn("word", "word", "token", 80),
    FigureColumn("value", "value", "figure", 60),
    FigureColumn("off", "off", "mark", 60, spare=True, quiet=True),
    FigureColumn("sum", "sum", "figure", 60, spare=True, sources=("value",), runs=True),
]


@pytest.fixture
def asked():
    return []


@pytest.fixture
def table(qtbot, asked):
    view = FiguresTable()
    qtbot.addWidget(view)
    view.resize(400, 260)

    def line(number):
        asked.append(number)
        return FigureLine([f"w{number}", str(number), "", ""])

    view.set_columns(COLUMNS)
    view.set_lines(50_000, line)
    view.show()
    return view


def test_only_lines_in_sight_are_asked_for(table, asked, qtbot):
    qtbot.waitUntil(lambda: len(asked) > 0)
    assert len(set(asked)) < 15
    asked.clear()
    table.set_marked(30_000)
    table.viewport().repaint()
    assert 30_000 in asked
    assert len(set(asked)) < 15


def test_a_click_says_the_line_and_a_title_its_column(table, qtbot):
    lines, titles = [], []
    table.line_clicked.connect(lines.append)
    table.title_clicked.connect(titles.append)
    line, title = table.line_rectangle(3).center(), table.cell_rectangle(0, "value").center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=line.toPoint())
    titles_shown = table.horizontalHeader().viewport()
    qtbot.mouseClick(titles_shown, Qt.MouseButton.LeftButton, pos=QPoint(round(title.x()), 5))
    assert (lines, titles) == ([3], ["value"])


def test_arrow_keys_walk_and_enter_clicks(table, qtbot):
    clicked = []
    table.line_clicked.connect(clicked.append)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        qtbot.keyClick(table, key)
    assert clicked == [1]


@pytest.mark.parametrize(
    ("room", "kept"),
    [(400, ["word", "value", "off", "sum"]), (210, ["word", "value", "sum"]), (140, ["word", "value"])],
)
def test_quiet_columns_give_way_first(room, kept):
    places = place_columns(COLUMNS, room, 1.0)
    assert [place.column.name for place in places] == kept
    assert places[-1].left + places[-1].width == pytest.approx(room)


def test_too_little_room_squeezes_what_must_stay():
    assert sum(place.width for place in place_columns(COLUMNS, 70, 1.0)) == pytest.approx(70)


def test_figures_keep_their_width_as_long_as_words_and_marks_can_give_way():
    columns = [*COLUMNS[:2], FigureColumn("kept", "kept", "mark", 74)]
    widths = {place.column.name: place.width for place in place_columns(columns, 140, 1.0)}
    assert widths["value"] == 60
    assert sum(widths.values()) == pytest.approx(140)
    assert widths["word"] < 80
    assert widths["kept"] < 74


def test_a_line_is_told_once_however_the_pointer_moves_in_it(table):
    told = []
    table.line_hovered.connect(told.append)
    for name in ("word", "value"):
        QTest.mouseMove(table.viewport(), table.cell_rectangle(2, name).center().toPoint())
    assert told == [2]


def test_the_wheel_brings_another_line_under_the_pointer(table):
    told, middle = [], table.line_rectangle(2).center()
    QTest.mouseMove(table.viewport(), middle.toPoint())
    table.line_hovered.connect(told.append)
    down, none = QPoint(0, -120), Qt.MouseButton.NoButton
    wheel = QWheelEvent(
        QPointF(middle),
        table.viewport().mapToGlobal(QPointF(middle)),
        down,
        down,
        none,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(table.viewport(), wheel)
    assert table.lines_shown[0] > 0
    assert told == [table.lines_shown[0] + 2]


def test_only_the_left_button_clicks_a_line(table, qtbot):
    clicked = []
    table.line_clicked.connect(clicked.append)
    qtbot.mouseClick(
        table.viewport(), Qt.MouseButton.RightButton, pos=table.line_rectangle(3).center().toPoint()
    )
    assert clicked == []


def test_walking_brings_a_line_into_sight_and_leaves_nothing_lit_behind(table, qtbot):
    told = []
    table.line_hovered.connect(told.append)
    table.setFocus()
    for _ in range(3):
        qtbot.keyClick(table, Qt.Key.Key_PageDown)
    assert told[-1] > 20
    assert told[-1] in table.lines_shown
    table.clearFocus()
    assert told[-1] == -1


def test_a_line_can_be_marked_without_going_there(table):
    before = table.lines_shown
    table.set_marked(30_000, in_sight=False)
    assert table.lines_shown == before


def test_a_running_sum_lights_what_it_sums_and_no_more(table):
    QTest.mouseMove(table.viewport(), table.cell_rectangle(2, "sum").center().toPoint())
    picture = table.viewport().grab().toImage()
    lit = [
        picture.pixelColor((table.cell_rectangle(line, "value").topLeft() + QPointF(8, 12)).toPoint())
        == current_theme().accent_wash
        for line in range(5)
    ]
    assert lit == [True, True, True, False, False]


def test_each_cell_can_be_read_from_the_model(table):
    titles = [table.model().headerData(n, Qt.Orientation.Horizontal) for n in range(4)]
    assert titles == ["word", "value", "off", "sum"]
    assert [table.model().index(30_000, n).data() for n in range(2)] == ["w30000", "30000"]
    assert not table.model().index(50_000, 0).isValid()


@pytest.mark.parametrize("count", [50_000, 9])
def test_other_lines_are_asked_for_anew_whether_as_many_or_not(table, count):
    table.grab()
    table.set_lines(count, lambda n: FigureLine([f"v{n}", "", "", ""]))
    assert table.model().index(0, 0).data() == "v0"
    assert table.lines_shown.stop <= count


def test_without_lines_the_placeholder_is_said(table):
    table.set_lines(0, lambda n: FigureLine(()), "")
    empty = table.grab().toImage()
    table.set_lines(0, lambda n: FigureLine(()), "nothing is found")
    assert table.lines_shown == range(0)
    assert table.grab().toImage() != empty


def test_the_keyboards_ring_is_drawn_where_keys_brought_the_focus(table):
    def ring():
        picture = table.viewport().grab().toImage()
        return picture.pixelColor(0, picture.height() // 2) == current_theme().accent

    table.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not ring()
    table.clearFocus()
    table.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring()


def test_a_table_that_stays_empty_is_no_complaint(shown, qtlog):
    table = shown(FiguresTable())
    for columns in ((), COLUMNS):
        table.set_columns(columns)
        table.set_lines(0, lambda n: FigureLine(()))
    table.grab()
    assert [record.message for record in qtlog.records if "Changed" in record.message] == []


def test_the_card_explains_the_number_that_is_there_now(table, qtbot):
    figures = {"value": 1.0}
    table.set_explanation(lambda line, name: (f"{line} {name}", [f"{figures['value']}"]))
    qtbot.mouseMove(table.viewport(), table.cell_rectangle(2, "value").center().toPoint())
    card = table.window().findChild(HoverCard)
    assert (card.title, card.lines) == ("2 value", ("1.0",))
    figures["value"] = 2.0
    table.set_lines(50_000, lambda n: FigureLine([f"w{n}", str(n), "", ""]))
    assert (card.title, card.lines) == ("2 value", ("2.0",))
    table.set_lines(2, lambda n: FigureLine([f"w{n}", str(n), "", ""]))
    assert not card.isVisible()

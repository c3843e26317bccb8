"""Rows, columns, stacks and pickers: where their widgets stand, and what they are called."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row, sheet, stack
from lmviz.app.widgets.base.plain import Label


def shown(widget: QWidget, qtbot: QtBot, width: int = 300, height: int = 200) -> QWidget:
    qtbot.addWidget(widget)
    widget.resize(width, height)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def test_a_row_shares_its_room_between_its_items_and_leaves_gaps(qtbot: QtBot) -> None:
    first, second, last = QWidget(), QWidget(), QWidget()
    inner = column((last, 1))
    page = shown(sheet(row((first, 1), (second, 3), 20, (inner, 1), gap=0)), qtbot, 320)
    lefts = [(each.x(), each.width()) for each in (first, second, last)]
    assert lefts == [(0, 60), (60, 180), (260, 60)]
    assert last.parentWidget() is page
    assert first.height() == page.height()


def test_what_is_left_over_goes_to_a_stretch(qtbot: QtBot) -> None:
    top, bottom = QPushButton("top"), QPushButton("bottom")
    page = QWidget()
    laid = column(top, STRETCH, (bottom, 0, Qt.AlignmentFlag.AlignRight), on=page, margins=(1, 2, 3, 4))
    shown(page, qtbot)
    assert page.layout() is laid
    assert (top.x(), top.y()) == (1, 2)
    assert bottom.geometry().bottom() == 200 - 4 - 1
    assert bottom.geometry().right() == 300 - 3 - 1
    assert bottom.width() == bottom.sizeHint().width()


def test_a_stack_shows_its_first_page(qtbot: QtBot) -> None:
    pages = stack(Label("first"), Label("second"))
    qtbot.addWidget(pages)
    assert (pages.count(), pages.currentIndex()) == (2, 0)


def test_widgets_get_their_names_and_roles(qtbot: QtBot) -> None:
    button = named(QPushButton("go"), "go_button", "go on", role="primary")
    label = Label("text", name="a_label", role="muted", wraps=True)
    wide, narrow = (picker("a_picker", "choose", ["one", "two " * 20], least=least) for least in (0, 3))
    for each in (button, label, wide, narrow):
        qtbot.addWidget(each)
    assert (button.objectName(), button.accessibleName(), button.property("role")) == (
        "go_button",
        "go on",
        "primary",
    )
    assert (label.objectName(), label.property("role"), label.wordWrap()) == ("a_label", "muted", True)
    assert [wide.itemText(at) for at in range(wide.count())] == ["one", "two " * 20]
    assert narrow.sizeHint().width() < wide.sizeHint().width()

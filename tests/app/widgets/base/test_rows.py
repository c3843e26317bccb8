"""Rows whose widgets come and go, and the wrappers that they do not make."""

from owners import can_be_told, items_known
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.building import empty, fill, stand_first
from lmviz.app.widgets.base.flow import FlowLayout


def words(page: QWidget) -> list[str]:
    """What stands in the layout of a page, in its order."""
    layout = page.layout()
    labels = [label for label in page.findChildren(QLabel) if layout.indexOf(label) >= 0]
    return [label.text() for label in sorted(labels, key=layout.indexOf)]


def test_widgets_stand_first_in_the_order_they_are_given(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    row = QHBoxLayout(page)
    one, two, last = QLabel("one"), QLabel("two"), QLabel("last")
    row.addWidget(last)
    stand_first(row, (one, two))
    assert words(page) == ["one", "two", "last"]
    stand_first(row, (two, one))
    assert words(page) == ["two", "one", "last"]
    two.setParent(None)
    stand_first(row, (one,))
    assert words(page) == ["one", "last"]
    assert not can_be_told() or items_known() == []


def test_a_row_has_as_many_widgets_as_it_should(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    row, shown = QHBoxLayout(page), list[QLabel]()
    row.addStretch(1)
    for count in (3, 1, 2):
        fill(row, shown, count, lambda place: QLabel(str(place)))
        assert words(page) == [str(place) for place in range(count)]
    assert not can_be_told() or items_known() == []


def test_all_is_taken_away_but_what_stands_in_another_layout(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    row, inner = QHBoxLayout(page), FlowLayout()
    row.addLayout(inner)
    row.addWidget(QLabel("other"))
    for _ in range(2):
        for word in ("one", "two"):
            inner.addWidget(QLabel(word))
        assert inner.count() == 2
        empty(inner)
        assert (inner.count(), words(page)) == (0, ["other"])
    empty(row)
    assert words(page) == []
    assert not can_be_told() or items_known() == []

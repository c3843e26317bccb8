"""A card draws a look: what it has, nothing that it has not, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.looks.look_card import LookCard
from lmviz.app.widgets.looks.part_drawing import DRAWN_BY
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.looks import parts
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import (
    Bars,
    Button,
    Curves,
    LookPart,
    Matrix,
    Picker,
    SideBySide,
    Space,
    Stacked,
    Table,
    Words,
)


@pytest.fixture
def card(shown: Callable[..., QWidget]) -> LookCard:
    card = LookCard("Usual", lambda: "word")
    shown(card, 600, 400)
    return card


def test_every_kind_of_part_can_be_drawn(card: LookCard) -> None:
    kinds = {kind for kind in vars(parts).values() if isinstance(kind, type) and issubclass(kind, LookPart)}
    assert {kind.__name__ for kind in kinds - {LookPart}} == set(DRAWN_BY)
    card.show_look(
        Look(
            (
                SideBySide(first=Words(text="one"), second=Stacked(parts=(Space(), Words(text="two")))),
                Matrix(values=np.eye(2)),
                Curves(curves=[PlotCurve("loss", [0, 1], [2, 1])]),
                Table(columns=[Column("word", ["cow"])]),
                Bars(labels=["cow"], values=[0.5]),
            ),
            title="All",
            aside="of them",
            head=(Picker("choice", choices=("a", "b"), chosen=1), Button("press", text="Press")),
        )
    )
    for kind in (HeatmapView, LinePlot, TableView, BarsView, QComboBox):
        assert card.findChild(kind).isVisible(), kind
    assert card.widget_of("press").isVisible()
    said = {label.text() for label in card.findChildren(InkedLabel) if label.isVisible()}
    assert said == {"one", "two"}
    assert (card.title, card.aside) == ("All", "of them")
    assert card.findChild(QComboBox).currentText() == "b"


def test_what_a_look_has_no_more_is_not_seen_and_what_comes_again_is_the_same_widget(card: LookCard) -> None:
    first = Look((Words("first", text="1"), Words("second", text="2")), title="Both")
    card.show_look(first)
    label = card.widget_of("first")
    card.show_look(Look((Words("second", text="2"),)))
    assert not label.isVisible()
    assert card.title == "Usual"
    card.show_look(Look(instead="Open a model."))
    assert card.placeholder == "Open a model."
    assert not card.widget_of("second").isVisible()
    card.show_look(first)
    assert card.widget_of("first") is label
    assert label.isVisible()
    assert not card.placeholder
    assert label.y() < card.widget_of("second").y()


def test_a_part_without_a_name_is_known_as_one_of_its_kind_wherever_it_stands(card: LookCard) -> None:
    card.show_look(Look((Button("first", text="1"), Bars(labels=["cow"], values=[1.0]))))
    card.show_look(Look((Bars(labels=["hen"], values=[1.0]),)))
    [bars] = card.findChildren(BarsView)
    assert bars.isVisible()


def test_parts_that_come_to_stand_elsewhere_are_moved(card: LookCard) -> None:
    card.show_look(Look((SideBySide(first=Words(text="1"), second=Words(text="2")),)))
    above = Words(text="above")
    card.show_look(Look((above, SideBySide(first=Words(text="1"), second=Words(text="2")))))
    said = [label for label in card.findChildren(InkedLabel) if label.isVisible()]
    assert sorted(label.text() for label in said) == ["1", "2", "above"]
    assert not [label for label in said if label.isWindow()]


def test_parts_stand_in_the_order_of_the_look(card: LookCard) -> None:
    below = Words("below", text="below")
    card.show_look(Look((below,)))
    card.show_look(Look((Words("above", text="above"), below)))
    card.layout().activate()
    card.body.layout().activate()
    assert card.widget_of("above").y() < card.widget_of("below").y()


def test_a_mark_that_moves_does_not_set_the_matrix_again(
    card: LookCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[object] = []
    monkeypatch.setattr(HeatmapView, "set_matrix", lambda self, *values, **words: times.append(values))
    grid = Matrix("grid", values=np.eye(3), words=[["a"] * 3] * 3, clicked=print)
    card.show_look(Look((grid,)))
    card.show_look(Look((replace(grid, values=np.eye(3), column=1, clicked=len),)))
    assert len(times) == 1
    card.show_look(Look((replace(grid, values=np.eye(2)),)))
    assert len(times) == 2


def test_a_look_is_said_of_what_its_tokens_are_called_when_it_is_drawn(shown: Callable[..., QWidget]) -> None:
    noun = "word"
    card = LookCard("Words", lambda: noun)
    shown(card, 400, 200)
    look = Look((Words("said", text="a word"),))
    said = card.widget_of
    card.show_look(look)
    assert (card.title, said("said").text()) == ("Words", "a word")
    noun = "character"
    card.show_look(look)
    assert (card.title, said("said").text()) == ("Characters", "a character")
    theme_switch().set_choice("dark")
    assert said("said").text() == "a character"


def test_a_click_does_what_the_newest_look_says(card: LookCard) -> None:
    done: list[str] = []
    button = Button("go", text="Go", clicked=lambda: done.append("old"))
    card.show_look(Look(head=(button,)))
    card.show_look(Look(head=(replace(button, clicked=lambda: done.append("new")),)))
    card.findChild(QPushButton, "go").click()
    assert done == ["new"]


def test_another_theme_has_its_own_inks(card: LookCard) -> None:
    card.show_look(Look((Words("said", text=[Inked("cow", ink="accent")]),)))
    before = card.findChild(InkedLabel, "said").text()
    theme_switch().set_choice("dark")
    assert card.findChild(InkedLabel, "said").text() != before


KEEP, FIRST, SECOND = (
    Button("keep", text="Keep what it writes"),
    Picker("first", says="which head", choices=["head 1.1", "head 1.2"]),
    Picker("second", says="which matrix", choices=["what it moves", "what it looks for"]),
)


def narrow(card: LookCard, qtbot: QtBot) -> QPushButton:
    """So narrow that only one control has room; the sign for the others."""
    card.show_look(Look(head=(KEEP, FIRST, SECOND)))
    card.resize(260, 400)
    qtbot.waitUntil(lambda: card.widget_of("keep").isHidden())
    return card.findChild(QPushButton, "controls_put_away")


def test_a_head_gives_way_where_there_is_little_room(card: LookCard, qtbot: QtBot) -> None:
    sign = narrow(card, qtbot)
    assert sign.text() == "+2"
    assert not card.widget_of("first").isHidden(), "the first of what is chosen stays"
    card.show_look(Look(head=(KEEP, replace(FIRST, chosen=1), SECOND)))
    assert card.widget_of("keep").isHidden(), "another look brings nothing back"
    card.show_look(Look(head=(FIRST, replace(SECOND, shown=False))))
    qtbot.waitUntil(sign.isHidden)
    assert not card.widget_of("first").isHidden()
    assert card.widget_of("second").isHidden()
    card.show_look(Look(head=(KEEP, FIRST, SECOND)))
    card.resize(900, 400)
    controls = [card.widget_of(part.name) for part in (KEEP, FIRST, SECOND)]
    qtbot.waitUntil(lambda: all(control.isVisible() for control in controls))
    places = [control.mapTo(card, QPoint()).x() for control in controls]
    assert places == sorted(places)


def test_a_control_of_the_head_that_is_not_shown_yet_is_the_cards(card: LookCard, qtbot: QtBot) -> None:
    """A step of a lesson leaves the panels that have what it needs, also where that is shown later."""
    card.show_look(Look(head=(replace(KEEP, shown=False),)))
    (keep,) = card.findChildren(QPushButton, "keep")
    assert not keep.isVisible()
    card.show_look(Look(head=(KEEP,)))
    qtbot.waitUntil(keep.isVisible)


def test_what_gave_way_stays_below_the_sign_while_the_same_is_shown(card: LookCard, qtbot: QtBot) -> None:
    narrow(card, qtbot).click()
    second = card.widget_of("second")
    assert second.isVisible()
    card.show_look(Look(head=(KEEP, FIRST, replace(SECOND, chosen=1))))
    assert second.isVisible()
    card.show_look(Look(head=(FIRST,)))
    assert QApplication.activePopupWidget() is None
    assert second.isHidden()

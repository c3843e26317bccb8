"""Curves over words: what is under the pointer is said, and what the keys choose is told."""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot
from lmviz.looks.word_curve import WordCurve


def plot_of(qtbot: QtBot) -> SurprisalPlot:
    plot = SurprisalPlot()
    qtbot.addWidget(plot)
    plot.resize(400, 200)
    curves = [
        WordCurve("counts", "#FF0000", np.array([np.nan, 3.5, np.inf])),
        WordCurve("LSTM", "#0000FF", np.array([2.0, 7.25, 1.0]), turn=1),
    ]
    plot.set_words(["the", "bat", "made"], curves, np.array([0.5, 0.125, np.nan]))
    plot.show()
    return plot


def test_a_word_says_its_bits_and_the_disagreement_after_it(qtbot: QtBot) -> None:
    plot = plot_of(qtbot)
    place = QPoint(round(plot.column(1).center().x()), 50)
    with qtbot.waitSignal(plot.part_hovered) as told:
        qtbot.mouseMove(plot, place)
    assert told.args == [1]
    card = plot.findChild(HoverCard)
    assert card.title == "bat"
    assert card.lines[:2] == ("counts  3.50 bits", "LSTM  7.25 bits")
    assert "0.125 bits" in card.lines[2]


def test_the_scale_reaches_beyond_the_largest_finite_value(qtbot: QtBot) -> None:
    plot = plot_of(qtbot)
    assert plot.largest == 8
    assert not plot.grab().isNull()  # an infinite value interrupts the curve


def test_clicks_and_arrows_choose_words(qtbot: QtBot) -> None:
    plot = plot_of(qtbot)
    chosen: list[int] = []
    plot.part_clicked.connect(chosen.append)
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=QPoint(round(plot.column(1).center().x()), 50))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        qtbot.keyClick(plot, key)
    assert chosen == [1, 2, 2, 1]


def long_plot_of(qtbot: QtBot) -> SurprisalPlot:
    plot = plot_of(qtbot)
    plot.set_words(["word"] * 50, [WordCurve("LSTM", "#0000FF", np.ones(50))])
    plot.part_clicked.connect(plot.set_current)
    return plot


def test_long_texts_ask_for_no_more_room_than_short_ones(qtbot: QtBot) -> None:
    plot = long_plot_of(qtbot)
    assert plot.minimumSizeHint().width() <= 150
    assert plot.in_sight.stop == 50
    assert 1 < len(plot.in_sight) < 50


def test_the_chosen_word_of_a_long_text_is_in_sight_however_it_is_chosen(qtbot: QtBot) -> None:
    plot = long_plot_of(qtbot)
    plot.set_current(20)
    assert 20 in plot.in_sight
    for _ in range(15):
        qtbot.keyClick(plot, Qt.Key.Key_Left)
    assert 5 in plot.in_sight
    plot.resize(3000, 200)
    assert plot.in_sight == range(50)


def test_dots_at_either_end_lead_to_the_words_beyond(qtbot: QtBot) -> None:
    plot = long_plot_of(qtbot)
    plot.set_current(0)
    first = plot.in_sight
    assert first.start == 0
    right, left = QPoint(plot.width() - 5, 100), QPoint(20, plot.height() - 30)
    qtbot.mouseMove(plot, right)
    assert plot.findChild(HoverCard).title == f"{50 - first.stop} more"
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=right)
    assert plot.in_sight == range(first.stop, 2 * first.stop)
    qtbot.mouseMove(plot, left)
    assert plot.findChild(HoverCard).title == f"{first.stop} more"
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=left)
    assert plot.in_sight == first


def test_the_card_says_what_the_curves_say_now(qtbot: QtBot) -> None:
    plot = plot_of(qtbot)
    for word in (0, 1):
        qtbot.mouseMove(plot, QPoint(round(plot.column(word).center().x()), 50))
    card = plot.findChild(HoverCard)
    curves = [WordCurve("counts", "#FF0000", np.array([np.nan, 1.0, 2.0]))]
    plot.set_words(["the", "hen", "made"], curves)
    assert (card.title, card.lines) == ("hen", ("counts  1.00 bits",))
    plot.set_words([], [])
    assert not card.isVisible()

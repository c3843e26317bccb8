"""What shows as much as before has the same room: nothing around it is laid out anew."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.widgets.matrix.strips import Strip, StripList
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs
from lmviz.models.arithmetic import Arithmetic, Factor, Terms


class Layouts(QObject):
    """Counts how often a widget is asked to lay out what it holds."""

    def __init__(self, around: QWidget) -> None:
        super().__init__(around)
        self.count = 0
        around.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def bars(view: BarsView, count: int, seed: int) -> None:
    view.set_bars([f"{seed} word {at}" for at in range(count)], [seed / (at + 9) for at in range(count)])


def strips(view: StripList, count: int, seed: int) -> None:
    view.set_strips([Strip(f"{seed} q", np.full(6, float(seed)), "signed")] * count)


def heads(view: HeadMosaic, count: int, seed: int) -> None:
    view.set_heads(np.full((count, 2, 4, 4), seed / 9), [["", "first"]] * count)


def lines(view: ArithmeticCard, count: int, seed: int) -> None:
    places = np.stack([np.full(count, 4), np.arange(count)], axis=1)
    terms = Terms("state", (Factor("hidden", places, np.full(count, float(seed))),))
    view.set_arithmetic(Arithmetic("sum", (4,), float(seed * count), "sum", "sum", (terms,), ""))


def steps(view: Breadcrumbs, count: int, seed: int) -> None:
    view.set_steps([f"step {at}" for at in range(count)])


KINDS = [
    pytest.param(BarsView, bars, id="bars"),
    pytest.param(StripList, strips, id="strips"),
    pytest.param(HeadMosaic, heads, id="heads"),
    pytest.param(ArithmeticCard, lines, id="lines"),
    pytest.param(Breadcrumbs, steps, id="steps"),
]


@pytest.mark.parametrize(("kind", "fill"), KINDS)
def test_as_much_as_before_asks_for_no_layout_and_more_does(
    kind: type[QWidget], fill: Callable[[QWidget, int, int], None], qtbot: QtBot, qapp: QApplication
) -> None:
    around, view = QWidget(), kind()
    QVBoxLayout(around).addWidget(view)
    qtbot.addWidget(around)
    fill(view, 3, 1)
    around.resize(400, 400)
    around.show()
    qtbot.waitExposed(around)
    around.grab()  # with which all is laid out
    qapp.processEvents()
    layouts = Layouts(around)
    fill(view, 3, 2)
    qapp.processEvents()
    assert layouts.count == 0
    fill(view, 4, 2)
    qapp.processEvents()
    assert layouts.count > 0

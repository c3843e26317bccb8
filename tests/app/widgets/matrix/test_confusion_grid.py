"""The counts of a grid of confusion stay readable in small cells."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.matrix.confusion_grid import STYLES, ConfusionGrid

LABELS = ("NOUN", "DET", "VERB", "ADJ")


@pytest.fixture
def grid(qtbot: QtBot) -> ConfusionGrid:
    found = ConfusionGrid()
    qtbot.addWidget(found)
    found.set_counts(np.diag([1014, 911, 688, 244]), LABELS)
    return found


def test_large_counts_are_written_small_enough_for_their_cell(grid: ConfusionGrid) -> None:
    grid.resize(600, 600)
    assert grid.style_of_counts == STYLES[0]
    found = []
    for width in range(300, 150, -5):
        grid.resize(width, 300)
        size, between = grid.style_of_counts
        found.append(STYLES.index((size, between)))
        room = grid.cell_rectangle(0, 0).width() - 3
        written = metrics(size, token=True).horizontalAdvance(format(1014, between))
        assert written <= room or grid.style_of_counts == STYLES[-1]
    assert found == sorted(found)
    assert len(set(found)) > 2


@pytest.mark.parametrize("width", [120, 200, 300, 600])
def test_it_is_as_high_as_its_cells(grid: ConfusionGrid, width: int) -> None:
    height = grid.heightForWidth(width)
    grid.resize(width, height)
    assert grid.cell_rectangle(3, 3).bottom() == pytest.approx(height, abs=1)
    grid.resize(width, height + 200)
    assert grid.cell_rectangle(3, 3).bottom() <= height + 1  # more height would stay empty


def test_an_empty_grid_has_a_style(qtbot: QtBot) -> None:
    empty = ConfusionGrid()
    qtbot.addWidget(empty)
    assert empty.style_of_counts == STYLES[0]

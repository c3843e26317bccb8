"""The head of the edges into a hidden layer: its three parts never run into one another."""

import numpy as np
import pytest
from layout_faults import faults_of
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.diagrams.layer_graph import HEAD, LayerGraphView

EDGES = np.array([[0, 1], [1, 2]])
SPACE = 8  # pixels, more than between two words of one part


@pytest.fixture
def window(shown):
    return shown(QWidget(), 600, 160)


@pytest.fixture
def view(window):
    view = LayerGraphView("accent", window)
    view.resize(600, 160)
    view.set_graph("attention", "28 edges = T(T + 1) / 2", "1 step", EDGES, EDGES, ("1", "2", "3"))
    view.show()
    return view


def parts(view: LayerGraphView) -> list[str]:
    """The runs of columns with words in the head, with less than SPACE between them."""
    image = view.grab(QRect(0, 0, view.width(), HEAD)).toImage().convertToFormat(QImage.Format.Format_RGB32)
    ground = image.pixel(0, 0)
    rows = range(image.height())
    columns = [any(image.pixel(x, y) != ground for y in rows) for x in range(image.width())]
    return "".join("x" if inked else " " for inked in columns).strip().split(" " * SPACE)


@pytest.mark.parametrize("width", [190, 252, 280, 330, 600])
def test_the_parts_of_the_head_stand_apart(view, width):
    view.resize(width, 160)
    assert len([part for part in parts(view) if part.strip()]) == 3


def test_where_there_is_no_room_the_formula_gives_way(view):
    whole = sum(map(len, parts(view)))
    view.resize(190, 160)
    assert sum(map(len, parts(view))) < 0.8 * whole
    assert "T(T + 1) / 2" in view.accessibleDescription()


def test_it_asks_for_no_more_room_than_the_smallest_head_needs(window, view):
    view.resize(view.minimumSizeHint())
    assert view.width() < 190
    assert faults_of(window) == []

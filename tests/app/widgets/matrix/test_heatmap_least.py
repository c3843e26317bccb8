"""In large type, the lowest heatmap has room for the names of its columns, whole and beside nothing else."""

import numpy as np
import pytest
from layout_faults import faults_of
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.matrix.heatmap import HeatmapView

NAMES = ["forget of input", "forget of previous", "candidate of input", "output of previous"] * 2


@pytest.mark.parametrize("percent", [150, 200])
@pytest.mark.parametrize("style", [{}, {"labels_below": True}, {"few_columns": True}], ids=str)
def test_names_have_room_in_the_lowest_heatmap(shown, style, percent):
    theme_switch().set_type_size(percent)
    window = shown(QWidget(), 1100, 500)
    view = HeatmapView(window)
    view.set_style(**style)
    view.set_matrix(np.full((1, len(NAMES)), 0.006), scale="share", limit=0.006, columns=NAMES)
    view.show()
    for width in (500, 1000):
        view.resize(width, view.minimumSizeHint().height())
        assert faults_of(window) == []

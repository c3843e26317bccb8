"""What the legend of colours says at its ends, and that both are read however narrow the picture is."""

import numpy as np
import pytest
from layout_faults import faults_of
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.matrix.color_scale import scale_ends
from lmviz.app.widgets.matrix.heatmap import HeatmapView


@pytest.mark.parametrize(
    ("scale", "limit", "floor", "ends"),
    [
        ("share", 1.0, 0.0, ("0", "1")),
        ("signed", 1.25, 0.0, ("−1.25", "1.25")),
        ("count", 40.0, 0.0, ("0", "40")),
        ("share", 1.0, 1e-4, ("≤ 0.01 %", "100 %, log")),
    ],
)
def test_the_ends_are_written_and_a_logarithmic_scale_says_so(scale, limit, floor, ends):
    assert scale_ends(scale, limit, floor) == ends


@pytest.mark.parametrize("percent", [100, 200])
@pytest.mark.parametrize(
    "said",
    [
        {"scale": "share", "limit": 1.0, "floor": 1e-5},
        {"scale": "signed", "limit": 1234.56},
        {"scale": "signed", "by_row": True},
    ],
    ids=str,
)
def test_both_ends_have_room_in_the_narrowest_picture(shown, said, percent):
    theme_switch().set_type_size(percent)
    window = shown(QWidget(), 900, 300)
    view = HeatmapView(window)
    view.show()
    view.set_matrix(np.eye(3), **said)
    for width in (view.minimumSizeHint().width(), 300, 400, 900):
        view.resize(width, 300)
        assert faults_of(window) == []

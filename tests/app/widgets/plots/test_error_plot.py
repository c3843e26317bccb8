"""The error of a slope over ε: names stand beside their curves, inside the plot."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.plots.error_plot import ErrorPlot

EPSILONS = 10.0 ** -np.arange(1, 13)
FALLS_LATE = np.where(np.arange(12) < 9, 1e-3, 1e-9)
FALLS_AT_ONCE = np.where(np.arange(12) < 2, 1e-1, 1e-9)


@pytest.mark.parametrize("width", [150, 190, 260, 500])
def test_every_name_is_read_whole_inside_the_plot(qtbot: QtBot, width: int) -> None:
    plot = ErrorPlot()
    qtbot.addWidget(plot)
    plot.resize(width, 120)
    curves = {"float64, worst cell": FALLS_AT_ONCE, "float32, worst cell": FALLS_LATE}
    plot.set_curves({name: np.stack([EPSILONS[::-1], errors], axis=1) for name, errors in curves.items()})
    names = plot.name_places()
    for name, place in names.items():
        assert plot.rect().contains(place.toRect()), name
        assert place.width() >= plot.fontMetrics().horizontalAdvance("float32") * 0.8
    wanted = set(curves) if width == 500 else {name.partition(",")[0] for name in curves}
    assert {name.partition(",")[0] for name in names} == {name.partition(",")[0] for name in wanted}
    if width == 500:
        assert set(names) == wanted

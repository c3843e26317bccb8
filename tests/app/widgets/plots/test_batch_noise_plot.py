"""Norms over batch sizes: both axes are logarithmic, so that noise alone is a straight line."""

from itertools import pairwise

import numpy as np
import pytest

from lmviz.app.widgets.plots.batch_noise_plot import BatchNoisePlot

SIZES = 2 ** np.arange(7)


@pytest.fixture
def plot(shown):
    plot = BatchNoisePlot()
    noise = 2 / np.sqrt(SIZES)
    plot.set_norms(SIZES, np.sqrt(0.5 + noise**2), np.sqrt(0.5 + noise**2), noise)
    return shown(plot, 360, 200)


def test_noise_alone_falls_along_a_straight_line(plot):
    places = [plot.place_of(size, 2 / np.sqrt(size)) for size in SIZES]
    slopes = [(b.y() - a.y()) / (b.x() - a.x()) for a, b in pairwise(places)]
    assert np.ptp(slopes) < 1e-6
    assert slopes[0] > 0
    assert plot.place_of(64, np.sqrt(0.5)).y() < places[-1].y(), "what is measured lies above"


def test_it_says_its_numbers(plot):
    assert plot.accessibleDescription().startswith("1: 2.121; 2: 1.581")
    assert plot.points.shape == (7, 2)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points_can_be_drawn(plot, count):
    sizes, norms = SIZES[:count], np.full(count, 0.3)
    plot.set_norms(sizes, norms, norms, norms)
    plot.set_scale(1.0)
    assert not plot.grab().isNull()

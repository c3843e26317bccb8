"""Units of loss against their definitions, smoothing against the recurrence it stands for."""

import math

import numpy as np
import pytest

from lmviz.training.units import convert_loss, smooth


def test_units_follow_their_definitions():
    assert convert_loss(2.0, "nats", 4.0) == 2.0
    assert convert_loss(2.0, "perplexity", 4.0) == pytest.approx(math.exp(2))
    assert convert_loss(math.log(2) * 3, "bits per character", 1.5) == pytest.approx(2.0)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.9, 0.99])
@pytest.mark.parametrize("points", [0, 1, 63, 64, 65, 1000])
def test_smoothing_is_the_corrected_recurrence(weight, points):
    values = np.random.default_rng(0).normal(size=points)
    expected, average = [], 0.0
    for n, value in enumerate(values, start=1):
        average = weight * average + (1 - weight) * value
        expected.append(average / (1 - weight**n))
    np.testing.assert_allclose(smooth(values, weight), expected, rtol=1e-9, atol=1e-9)


def test_whole_numbers_are_smoothed_as_any_others():
    whole = np.arange(5)
    np.testing.assert_array_equal(smooth(whole, 0.5), smooth(whole.astype(float), 0.5))

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.inspection.firing_units import firing_units, usual_threshold
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.inspection.tracing import trace

ADDRESS = "layers/0/hidden"


def traced(values):
    values = np.array(values, dtype=np.float32)
    count = len(values)
    arrays = {ADDRESS: TracedArray(values, ("position", "unit"), "signed")}
    return Trace(("x",) * count, np.arange(count), "", ((0, 0),) * count, "rnn", (), arrays)


def test_units_that_fire_all_along_the_stretch_are_found_the_most_specific_first():
    values = np.zeros((6, 5))
    values[2:4, 0] = 0.8  # only in the stretch
    values[1:6, 1] = 0.9  # there and elsewhere
    values[2, 2] = 0.9  # only in part of it
    values[2:4, 3] = -0.7  # there, negative
    values[2:4, 4] = (0.9, 0.55)  # there, strong and weak
    found = firing_units(traced(values), ADDRESS, (2, 4), 0.5)
    assert [(match.unit, match.sign, match.elsewhere) for match in found] == [
        (0, 1, 0),
        (3, -1, 0),
        (4, 1, 0),
        (1, 1, 3),
    ]
    assert found[2].lowest == pytest.approx(0.55)
    assert firing_units(traced(values), ADDRESS, (2, 4), 0.95) == ()


def test_a_stretch_needs_a_word_and_a_tap_with_units(a, text):
    with pytest.raises(LmvizError, match="empty"):
        firing_units(traced(np.zeros((3, 2))), ADDRESS, (2, 2), 0.5)
    with pytest.raises(LmvizError, match="units"):
        firing_units(trace(a("transformer-none-pre"), text), "layers/0/attention/weights", (0, 1), 0.5)


@pytest.mark.parametrize("size", [1e-5, 0.013, 0.2, 1.0, 37.0, 5e4])
def test_a_usual_threshold_has_the_scale_of_the_tap_and_reads_well(size):
    values = size * np.random.default_rng(3).normal(size=(9, 40))
    threshold = usual_threshold(traced(values), ADDRESS)
    assert 0.1 < (np.abs(values) >= threshold).mean() < 0.35
    digits = f"{threshold:.1e}".partition("e")[0]
    assert digits[-1] in "05"
    assert threshold == float(f"{threshold:.1e}")


def test_a_usual_threshold_leaves_aside_what_is_silent():
    values = np.zeros((5, 20))
    values[:, 3] = (1, 2, 3, 4, np.inf)
    assert usual_threshold(traced(values), ADDRESS) == 3.0
    assert usual_threshold(traced(np.zeros((2, 3))), ADDRESS) > 0

import numpy as np
import pytest

from lmviz.errors import LmvizError
from lmviz.inspection.firing_units import firing_units
from lmviz.inspection.trace import Trace, TracedArray, trace

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

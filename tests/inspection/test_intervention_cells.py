"""Which cells an intervention means, and what is said where they or their values do not fit."""

import dataclasses

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import (
    replace,
    scale,
    scale_head,
    zero,
)
from lmviz.inspection.tracing import trace


def test_values_for_many_cells_are_arrays(a, text):
    values = np.arange(6).reshape(3, 2)
    change = replace("layers/0/hidden", values, position=(1, 3, 5), unit=slice(2, 4))
    found = trace(a("rnn"), text, interventions=[change])["layers/0/hidden"].array
    assert np.array_equal(found[np.ix_([1, 3, 5], [2, 3])], values)
    by_unit = trace(a("rnn"), text, interventions=[replace("layers/0/hidden", range(6), position=-1)])
    assert by_unit["layers/0/hidden"].array[-1].tolist() == [0, 1, 2, 3, 4, 5]


def passing_over(change):
    """The same, for texts that may lack its positions."""
    return dataclasses.replace(change, required=False)


@pytest.mark.parametrize("far", [50, 10**30, -(10**30)])
def test_positions_that_are_not_required_are_passed_over(a, text, far):
    change = replace("layers/0/hidden", [[1.0], [2.0]], position=(2, far), unit=(1,))
    found = trace(a("rnn"), text, interventions=[passing_over(change)])["layers/0/hidden"].array
    assert found[2, 1] == 1.0
    beyond = passing_over(replace("layers/0/hidden", 1.0, position=far))
    untouched = trace(a("rnn"), text, interventions=[beyond])
    assert np.array_equal(untouched["logits"].array, trace(a("rnn"), text)["logits"].array)


@pytest.mark.parametrize(
    "where",
    [
        {"position": 6},
        {"position": -7},
        {"position": (0, 6)},
        {"position": slice(6, 9)},
        {"unit": 6},
        {"unit": -7},
        {"unit": slice(6, 9)},
        {"position": 0, "unit": (0, 6)},
    ],
)
@pytest.mark.parametrize("address", ["layers/0/hidden", "logits"])
def test_cells_that_are_not_there_are_said(a, text, address, where):
    if address == "logits":
        where = {"token" if axis == "unit" else axis: place for axis, place in where.items()}
        where = {axis: _shifted(place, 600) if axis == "token" else place for axis, place in where.items()}
    with pytest.raises(LmvizError, match=r"There is no (position|unit|token)"):
        trace(a("rnn"), text, interventions=[replace(address, 0.5, **where)])


def _shifted(place, by):
    """A place farther from the middle."""
    if isinstance(place, slice):
        return slice(place.start + by, place.stop + by)
    if isinstance(place, tuple):
        return tuple(_shifted(at, by) for at in place)
    return place + by if place > 0 else place - by


@pytest.mark.parametrize("address", ["layers/0/hidden", "logits"])
def test_negative_indices_count_from_the_end(a, text, address):
    model = a("rnn")
    last = "unit" if address == "layers/0/hidden" else "token"
    size = trace(model, text)[address].array.shape[-1]
    negative = trace(model, text, interventions=[replace(address, 0.5, **{"position": -2, last: -1})])
    positive = trace(model, text, interventions=[replace(address, 0.5, **{"position": 4, last: size - 1})])
    assert np.array_equal(negative[address].array, positive[address].array)
    assert negative[address].array[-2, -1] == 0.5


def test_layers_are_never_negative():
    with pytest.raises(LmvizError, match="Layers are counted from 0"):
        scale_head(-1, 0)


@pytest.mark.parametrize("value", [float("nan"), [0.0, float("nan")], lambda cells: cells * float("nan")])
def test_what_is_no_number_is_said(a, text, value):
    with pytest.raises(LmvizError, match="NaN"):
        trace(a("rnn"), text, interventions=[replace("layers/0/hidden", value, unit=(1, 2))])


def test_numbers_that_turn_into_none_are_said(a, text):
    with pytest.raises(LmvizError, match="NaN"):
        trace(a("transformer-learned-pre"), text, interventions=[scale("layers/0/attention/scores", 0.0)])


def test_a_pattern_means_parts_of_addresses(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text, taps=["layers/*/feedforward/hidden"])
    assert len(found.arrays) == 2
    with pytest.raises(LmvizError, match="No tap matches"):
        trace(model, text, taps=["layers/*/hidden"])
    with pytest.raises(LmvizError, match="No tap is called"):
        trace(model, text, interventions=[zero("layers/*/hidden")])
    for pattern in ("**/hidden", "*/hidden", "layers/**/hidden"):
        assert trace(model, text, taps=[pattern]).arrays.keys() == found.arrays.keys()
    for pattern in ("**", "*"):
        assert len(trace(model, text, taps=[pattern]).arrays) == len(model.taps())
    assert set(trace(model, text, taps=["lo*"]).arrays) == {"logits"}


@pytest.mark.parametrize(
    "change",
    [
        replace("layers/9/hidden", 0.0),
        replace("layers/0/hidden", 0.0, unit=99),
        replace("layers/0/hidden", 0.0, head=0),
        replace("layers/0/hidden", [1.0, 2.0, 3.0], unit=(0, 1)),
        replace("layers/0/hidden", [1.0, 2.0], position=0, unit=0),
        Intervention("logits", "bypass"),
        replace("tokens", 999, position=0),
    ],
)
def test_what_does_not_fit_is_said(a, text, change):
    with pytest.raises(LmvizError):
        trace(a("rnn"), text, interventions=[change])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (replace("layers/0/hidden", [1.0, 2.0, 3.0], unit=(0, 1)), r"takes 6 × 2, but .* shape \(3,\)"),
        (replace("layers/0/hidden", [1.0, 2.0], position=0, unit=0), r"takes a single number, but .*\(2,\)"),
        (replace("layers/0/hidden", 0.0, head=0), "no axis 'head': its axes are position, unit"),
    ],
)
def test_what_does_not_fit_is_said_with_what_would(a, text, change, sentence):
    with pytest.raises(LmvizError, match=sentence):
        trace(a("rnn"), text, interventions=[change])

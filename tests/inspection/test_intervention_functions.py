"""Interventions whose value is a function of the cells."""

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.inspection.explain import explain
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import (
    add,
    replace,
    scale_head,
)
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace

PARTS = [
    ({}, (6, 6)),
    ({"position": 2}, (6,)),
    ({"unit": (1, 2)}, (6, 2)),
    ({"position": slice(1, 3), "unit": -1}, (2,)),
    ({"position": 0, "unit": 0}, ()),
]


@pytest.mark.parametrize("kind", ["replace", "scale", "add"])
@pytest.mark.parametrize(("where", "shape"), PARTS)
def test_a_function_is_given_the_cells_that_are_meant(a, text, kind, where, shape):
    """The embeddings of all positions are computed at once; there are five channels to six."""
    seen = []

    def twice(cells):
        seen.append(cells.copy())
        cells *= 2  # its own copy
        return cells

    model = a("rnn")
    where = {"channel" if axis == "unit" else axis: place for axis, place in where.items()}
    plain = trace(model, text)["embedding"].array
    found = trace(model, text, interventions=[Intervention("embedding", kind, twice, where)])
    [cells] = seen
    assert cells.shape == shape
    places = tuple(where.get(axis, slice(None)) for axis in ("position", "channel"))
    assert np.array_equal(cells, plain[places])
    expected = plain.copy()
    expected[places] = {"replace": cells * 2, "scale": cells * cells * 2, "add": cells * 3}[kind]
    assert found["embedding"].array == pytest.approx(expected)


def test_in_a_recurrence_a_function_is_called_once_a_position(a, text):
    model = a("rnn")
    seen = []

    def lowest(cells):
        seen.append(cells)
        return cells.min()

    found = trace(model, text, interventions=[replace("layers/0/hidden", lowest, unit=(1, 2, 3))])
    assert [cells.shape for cells in seen] == [(1, 3)] * 6
    hidden = found["layers/0/hidden"].array
    assert (hidden[:, 1] == hidden[:, 2]).all()
    [stated] = found.interventions
    again = trace(model, text, interventions=[stated])
    assert np.array_equal(again["logits"].array, found["logits"].array)
    assert stated.where["unit"] == (1, 2, 3)
    assert "position" not in stated.where


def test_a_trace_states_which_cells_a_function_was_given(a, text):
    """One by one where axes were named, so that the same cells are meant in a longer text."""

    def stated(address, **where):
        [change] = trace(
            a("rnn"), text, interventions=[replace(address, lambda cells: 0, **where)]
        ).interventions
        return change.where

    assert stated("embedding", position=slice(1, 3), channel=-1) == {"position": (1, 2), "channel": -1}
    assert stated("embedding", position=slice(-2, None)) == {"position": (4, 5)}
    assert stated("embedding") == {}
    assert stated("layers/0/hidden", position=(-1, 2), unit=slice(-2, None)) == {
        "position": (2, 5),
        "unit": (4, 5),
    }
    assert stated("layers/0/hidden") == {}


def test_a_trace_states_the_numbers_that_a_function_gave(a, text, tmp_path):
    """So that it can be explained, saved and done again."""
    model = a("transformer-learned-pre")
    changes = [
        scale_head(0, 1, lambda cells: cells.mean()),
        replace("layers/*/residual1", lambda cells: cells[::-1], position=(1, 3)),
        add("layers/1/norm2", 0.5),
    ]
    found = trace(model, text, interventions=changes)
    assert [item.address for item in found.interventions] == [
        "layers/0/attention/mixed",
        "layers/0/residual1",
        "layers/1/residual1",
        "layers/1/norm2",
    ]
    again = trace(model, text, interventions=found.interventions)
    assert again["logits"].array == pytest.approx(found["logits"].array, abs=1e-6)
    for address, index in (("layers/0/attention/mixed", (1, 2, 3)), ("layers/1/residual1", (3, 5))):
        arithmetic = explain(model, found, address, index)
        assert arithmetic.evaluate() == pytest.approx(found[address].array[index], abs=1e-5)
    found.save(tmp_path / "trace.npz")
    assert Trace.load(tmp_path / "trace.npz").interventions == found.interventions


def test_a_function_must_give_what_fits(a, text):
    with pytest.raises(LmvizError, match=r"shape \(3,\).*shape \(1, 6\)"):
        trace(a("rnn"), text, interventions=[replace("layers/0/preactivation", lambda cells: [1, 2, 3])])
    with pytest.raises(LmvizError, match="str"):
        trace(a("rnn"), text, interventions=[replace("logits", lambda cells: "much")])
    with pytest.raises(LmvizError, match="A file cannot hold a function"):
        replace("logits", lambda cells: cells).to_values()

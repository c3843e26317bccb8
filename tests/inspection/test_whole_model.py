"""What a picture of a whole model draws: the lens, and attention reduced without losing a weight."""

import numpy as np
import pytest

from lmviz.families import FAMILIES, build_model
from lmviz.inspection import whole_model as module
from lmviz.inspection.at_position import looked_at_most, mean_share
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.outline import OutlineBlock
from lmviz.inspection.tracing import trace
from lmviz.inspection.whole_model import squares_of, squares_of_gradient, whole_model
from lmviz.tasks import TASKS


def test_the_lens_is_that_of_the_position(a, text):
    model = a("transformer-learned-pre")
    traced = trace(model, text)
    found, expected = whole_model(model, traced, 2), logit_lens(model, traced, 5, [2])
    assert found.position == 2
    np.testing.assert_array_equal(found.lens.ids, expected.ids)
    np.testing.assert_array_equal(found.lens.probabilities, expected.probabilities)
    assert found.squares.keys() == {"layers/0/attention/weights", "layers/1/attention/weights"}


def test_squares_that_are_known_are_not_made_again(a, text):
    model = a("transformer-learned-pre")
    traced = trace(model, text)
    known = squares_of(traced)
    assert whole_model(model, traced, 1, known).squares is known
    assert squares_of(trace(a("lstm"), text)) == {}


@pytest.mark.parametrize("side", [2, 3, 64])
def test_a_cell_of_a_square_is_a_weight_of_the_trace(a, text, monkeypatch, side):
    monkeypatch.setattr(module, "SIDE", side)
    traced = trace(a("transformer-learned-pre"), text)
    array = traced["layers/0/attention/weights"].array
    square = squares_of(traced)["layers/0/attention/weights"]
    assert square.values.shape[-1] <= side
    for head, row, column in np.ndindex(*square.values.shape):
        index = square.source(array, head, row, column)
        assert array[index] == square.values[head, row, column]
        assert (index[1] // square.block, index[2] // square.block) == (row, column)


def test_where_heads_look_and_how_far_gates_are_open(a, text):
    traced = trace(a("transformer-learned-pre"), text)
    weights = traced["layers/1/attention/weights"].array
    for head, (key, share) in enumerate(looked_at_most(traced, "layers/1/attention/weights", 3)):
        assert share == weights[head, 3].max() == weights[head, 3, key]
    gates = trace(a("lstm"), text)
    assert mean_share(gates, "layers/0/forget", 1) == pytest.approx(gates["layers/0/forget"].array[1].mean())


@pytest.mark.parametrize(("task", "places"), [("tagging", ("layers/0/hidden",)), ("classification", None)])
def test_a_model_with_one_answer_for_the_text_has_no_lens_and_is_drawn_all_the_same(task, places):
    configuration = FAMILIES["gru"].configuration(width=5)
    model = build_model("gru", configuration, 7, 0, TASKS[task].predicts(("noun", "verb"))).eval()
    found = whole_model(model, trace(model, [1, 2, 3]), 1)
    assert (None if found.lens is None else found.lens.places) == places
    assert any(isinstance(part, OutlineBlock) for part in found.parts)


@pytest.mark.parametrize("side", [2, 3, 64])
def test_a_cell_of_a_gradients_square_is_the_strongest_of_its_cells(a, text, monkeypatch, side):
    monkeypatch.setattr(module, "SIDE", side)
    model = a("transformer-learned-pre")
    found = gradient(model, text)
    drawn = whole_model(model, found.trace, 2, gradient=found)
    assert drawn.gradient is found
    assert drawn.squares.keys() == squares_of(found.trace).keys()
    for address, square in squares_of_gradient(found).items():
        array = found[address].array
        np.testing.assert_array_equal(drawn.squares[address].values, square.values)
        for head, row, column in np.ndindex(*square.values.shape):
            index = square.source(array, head, row, column)
            np.testing.assert_equal(array[index], square.values[head, row, column])
            rows, columns = (slice(at * square.block, (at + 1) * square.block) for at in (row, column))
            cells = array[head, rows, columns]
            assert np.isnan(cells).all() or abs(array[index]) == np.nanmax(np.abs(cells))
    assert np.nanmin(drawn.squares["layers/0/attention/weights"].values) < 0

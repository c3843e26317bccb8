import numpy as np
import pytest

from lmviz.inspection.explain import explain
from lmviz.inspection.lighting import operand_cells
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant


def factor(source, *values):
    return Factor(source, np.arange(len(values))[:, None], np.array(values, dtype=float))


def test_cells_weigh_what_they_contribute():
    group = Terms("input", (factor("x", 1.0, -4.0, 0.0), factor("w.weight", 2.0, 1.0, 9.0)))
    bias = Terms("bias", (factor("w.bias", 1.0),))
    found = {
        cells.source: cells for cells in operand_cells(Arithmetic("y", (0,), -1.0, "", "sum", (group, bias)))
    }
    assert found["x"].strengths.tolist() == found["w.weight"].strengths.tolist() == [0.5, 1.0, 0.0]
    assert found["w.bias"].strengths.tolist() == [0.25]
    assert found["x"].indices.tolist() == [[0], [1], [2]]


def test_a_cell_that_is_named_twice_counts_once():
    twice = Factor("x", np.array([[3], [3]]), np.array([1.0, 4.0]))
    (cells,) = operand_cells(Arithmetic("y", (0,), 5.0, "", "sum", (Terms("", (twice,)),)))
    assert cells.indices.tolist() == [[3]]
    assert cells.strengths.tolist() == [1.0]


def test_constants_and_zeros_do_no_harm():
    nothing = Arithmetic("y", (0,), 0.0, "", "sum", (Terms("", (constant(0.0),)),))
    assert operand_cells(nothing) == ()
    (cells,) = operand_cells(Arithmetic("y", (0,), 0.0, "", "sum", (Terms("", (factor("x", 0.0),)),)))
    assert cells.strengths.tolist() == [1.0]


def test_every_cell_has_cells_behind_it_within_bounds(model, text):
    found = trace(model, text)
    for address, traced in found.arrays.items():
        index = tuple(np.array(traced.array.shape) // 2)
        for cells in operand_cells(explain(model, found, address, index)):
            assert len(np.unique(cells.indices, axis=0)) == len(cells.indices) == len(cells.strengths)
            assert ((cells.strengths >= 0) & (cells.strengths <= 1)).all()
            if cells.source in found:
                assert (cells.indices < found[cells.source].array.shape).all()


def test_attention_s_operands_are_the_row_of_scores(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    (cells,) = operand_cells(explain(model, found, "layers/0/attention/weights", (1, 3, 2)))
    scores = found["layers/0/attention/scores"].array[1, 3]
    assert cells.source == "layers/0/attention/scores"
    assert cells.strengths[2] == 1.0
    others = np.exp(scores - scores.max())
    assert cells.strengths[[0, 1, 3]] == pytest.approx(others[[0, 1, 3]], abs=1e-6)

import numpy as np

from lmviz.inspection.explain import explain
from lmviz.inspection.lighting import lights
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import matrix, strip


def test_a_weight_lights_its_row_of_scores_by_what_each_contributes(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    why = explain(model, found, "layers/0/attention/weights", (1, 3, 2))
    drawn = matrix(found, "layers/0/attention/scores", 1, 3, ())
    lit = lights(drawn, why)
    scores = drawn.values[3]
    shares = np.exp(scores - scores[:4].max())
    expected = np.where(shares >= 0.5, 3, np.where(shares >= 0.1, 2, 1))
    expected[2] = 3  # the cell's own score
    assert lit[3, :4].tolist() == expected[:4].tolist()
    assert not np.delete(lit, 3, axis=0).any()
    assert lights(matrix(found, "layers/0/attention/scores", 0, 3, ()), why) is None


def test_the_cell_its_row_and_column_and_the_state_before_it_light_up(a, text):
    model = a("rnn")
    found = trace(model, text)
    address = "layers/0/hidden"
    lit = lights(matrix(found, address, 0, 2, ()), explain(model, found, address, (2, 1)))
    assert lit[1, 2] == 3
    assert lit[1].tolist() == [2, 2, 3, *[2] * (lit.shape[1] - 3)]
    why = explain(model, found, "layers/0/preactivation", (2, 1))
    before = lights(matrix(found, address, 0, 2, ()), why)
    assert (before[:, 1] > 0).all()
    assert not np.delete(before, 1, axis=1).any()


def test_a_strip_lights_only_what_it_shows(a, text):
    model = a("rnn")
    found = trace(model, text)
    why = explain(model, found, "logits", (2, 4))
    assert lights(strip(found, "layers/1/hidden", 1, 0, ()), why) is None
    assert (lights(strip(found, "layers/1/hidden", 2, 0, ()), why) > 0).all()
    shown = strip(found, "logits", 2, 0, (5, 4, 0))
    assert lights(shown, why).tolist() == [[2, 3, 2]]

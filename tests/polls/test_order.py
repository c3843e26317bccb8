"""The position poll's experiment: every number of the lecture, and attention as Autodiff computes it."""

import numpy as np
import pytest

from lmviz import autodiff
from lmviz.base.errors import LmvizError
from lmviz.polls.order import OrderExperiment

VECTORS = np.diag([1.0, 1.0, 2.0, 1.0])
QUERY = np.array([-4.60517, -3.218876, -0.510826, -4.60517])


def experiment(**settings: object) -> OrderExperiment:
    return OrderExperiment(VECTORS, QUERY, **settings)


def test_the_last_word_is_the_same_after_the_exchange() -> None:
    found = experiment()
    assert found.before.last == pytest.approx([0.1, 0.2, 1.2, 0.1], abs=1e-6)
    assert found.after.last == pytest.approx([0.1, 0.2, 1.2, 0.1], abs=1e-6)
    assert found.is_unchanged


def test_the_weights_move_with_their_words() -> None:
    found = experiment()
    assert found.before.weights[0, 3] == pytest.approx([0.1, 0.2, 0.6, 0.1], abs=1e-6)
    assert found.after.weights[0, 3] == pytest.approx([0.1, 0.6, 0.2, 0.1], abs=1e-6)


def test_whoever_keeps_the_weights_answers_something_else() -> None:
    assert experiment().weights_kept == pytest.approx([0.1, 0.6, 0.4, 0.1], abs=1e-6)


def test_the_other_queries_are_zero() -> None:
    found = experiment().queries(VECTORS)
    assert found[3] == pytest.approx(QUERY)
    assert not found[:3].any()


def test_in_a_second_layer_the_mask_lets_order_through() -> None:
    found = experiment(layers=2)
    assert found.before.last == pytest.approx([0.3839, 0.4427, 2.0226, 0.1621], abs=5e-5)
    assert found.after.last == pytest.approx([0.4691, 0.2680, 2.2411, 0.1424], abs=5e-5)
    assert not found.is_unchanged


def test_without_the_mask_order_is_lost_in_any_layer() -> None:
    for layers in (1, 2):
        found = experiment(layers=layers, causal=False)
        assert found.is_unchanged
    assert found.after.last != pytest.approx(experiment(layers=2).after.last, abs=1e-3)


def test_no_weight_goes_to_a_later_word_under_the_mask() -> None:
    weights = experiment(layers=2).after.weights
    assert not np.triu(weights, 1).any()
    assert weights.sum(axis=-1) == pytest.approx(np.ones((2, 4)))


def test_attention_is_that_of_the_network_which_comes_with_lmviz() -> None:
    network = autodiff.read(autodiff.shipped_network("poll").text).forward()
    values = {name: network[name].numbers for name in ("weights", "x′")}
    assert experiment().before.weights[0, 3] == pytest.approx(values["weights"].ravel())
    assert experiment().before.last == pytest.approx(values["x′"].ravel())


@pytest.mark.parametrize("seed", range(4))
def test_with_any_vectors_one_layer_is_blind_to_order(seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors, query = random.normal(size=(5, 3)), random.normal(size=3)
    one = OrderExperiment(vectors, query, swapped=(0, 3))
    assert one.is_unchanged
    two = OrderExperiment(vectors, query, swapped=(0, 3), layers=2)
    assert not two.is_unchanged


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"swapped": (1, 1)}, "Places 2 and 2 cannot be exchanged"),
        ({"swapped": (1, 3)}, "choose two of 1 to 3"),
        ({"layers": 3}, "one layer or two, not 3"),
        ({"query": np.ones(3)}, "The query has 3 numbers and the vectors have 4"),
        ({"vectors": np.ones((2, 4))}, "3 to 6 vectors"),
        ({"vectors": np.diag([1.0, 1, 1, 0])}, "The last vector is 0"),
        ({"vectors": np.full((4, 4), np.inf)}, "finite numbers"),
    ],
)
def test_what_does_not_fit_is_said(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(LmvizError, match=sentence), np.errstate(invalid="ignore"):
        OrderExperiment(**{"vectors": VECTORS, "query": QUERY} | changed)

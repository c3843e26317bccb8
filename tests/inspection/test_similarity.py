import numpy as np
import pytest

from lmviz.inspection.similarity import similarity_order


def test_units_that_behave_alike_stand_together():
    time = np.linspace(0, 6, 40)
    shapes = [np.sin(time), np.cos(time), -np.sin(time)]
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 30)
    values = np.stack([shapes[kind] + rng.normal(scale=0.05, size=40) for kind in kinds], axis=1)
    order = similarity_order(values)
    assert sorted(order) == list(range(30))
    assert np.count_nonzero(np.diff(kinds[order])) == 2


@pytest.mark.parametrize("shape", [(1, 5), (4, 1), (4, 2), (2, 3), (6, 3)])
def test_any_shape_has_an_order(shape):
    assert sorted(similarity_order(np.ones(shape))) == list(range(shape[1]))


def test_numbers_that_are_none_do_not_keep_the_others_from_having_an_order():
    values = np.random.default_rng(0).normal(size=(6, 5))
    values[2, 1], values[:, 3], values[0, 4] = np.nan, np.inf, -np.inf
    assert sorted(similarity_order(values)) == list(range(5))


def test_how_strongly_a_unit_fires_does_not_move_it():
    values = np.random.default_rng(1).normal(size=(8, 6))
    stronger = values * [1, 64, 1, 1 / 64, 8, 1]
    assert similarity_order(stronger).tolist() == similarity_order(values).tolist()


def test_values_of_half_precision_have_an_order_too():
    values = np.random.default_rng(2).normal(size=(8, 6)).astype(np.float16)
    assert similarity_order(values).tolist() == similarity_order(values.astype(np.float64)).tolist()

"""Squares of a growing text lie within one another, and become one without copies on the way."""

import tracemalloc

import numpy as np

from lmviz.inspection.bordered_array import DEEPEST, BorderedArray
from lmviz.inspection.traced_array import TracedArray

AXES = ("head", "query", "key")


def grown(whole, first, last):
    """The squares of texts from `first` to `last` tokens, each the one before with a border."""
    squares = [TracedArray(whole[:, :first, :first].copy(), AXES, "signed")]
    for size in range(first + 1, last + 1):
        rows, columns = whole[:, size - 1 : size, :size], whole[:, : size - 1, size - 1 : size]
        squares.append(BorderedArray(squares[-1], rows.copy(), columns.copy()))
    return squares


def test_any_number_of_borders_is_the_whole():
    whole = np.random.default_rng(0).normal(size=(2, 3 * DEEPEST, 3 * DEEPEST)).astype(np.float32)
    squares = grown(whole, 4, 3 * DEEPEST)
    assert max(square.depth for square in squares) <= DEEPEST
    for square in (squares[-1], squares[DEEPEST // 2], squares[-5]):
        size = square.shape[-1]
        np.testing.assert_array_equal(square.array, whole[:, :size, :size])
        np.testing.assert_array_equal(square.array, whole[:, :size, :size])
    assert squares[-1].depth == 0


def test_assembling_takes_the_memory_of_one_square():
    whole = np.ones((4, 128, 128), np.float32)
    outermost = grown(whole, 100, 128)[-1]
    assert outermost.depth == 28
    tracemalloc.start()
    assert outermost.array.sum() == whole.size
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * whole.nbytes


def test_a_part_is_that_of_the_whole_and_of_the_newest_query_nothing_is_assembled():
    whole = np.random.default_rng(0).normal(size=(2, 9, 9)).astype(np.float32)
    newest = grown(whole, 4, 9)[-1]
    np.testing.assert_array_equal(newest.at(query=8), whole[:, 8])
    np.testing.assert_array_equal(newest.at(query=-1, head=1), whole[1, 8])
    np.testing.assert_array_equal(newest.at(query=8, key=3), whole[:, 8, 3])
    assert newest.depth > 0
    np.testing.assert_array_equal(newest.at(query=5), whole[:, 5])
    np.testing.assert_array_equal(newest.at(key=3), whole[:, :, 3])
    assert newest.depth == 0
    np.testing.assert_array_equal(newest.at(query=8), whole[:, 8])

"""A few cells of an array, and whether the numbers of an operand stand where it says."""

import numpy as np


def cells_of(array):
    """A few cells of an array: near its beginning, in the middle, and the last."""
    shape = np.array(array.shape)
    return [tuple(map(int, at)) for at in (np.minimum(1, shape - 1), shape // 2, shape - 1)]


def check_operand(model, found, factor):
    """The factor's numbers stand where it says that they stand."""
    if factor.source == "constant":
        assert factor.indices.shape == (len(factor.values), 0)
    elif factor.source in found:
        assert np.array_equal(found[factor.source].array[tuple(factor.indices.T)], factor.values)
    else:
        assert np.array_equal(model.operand(factor.source, factor.indices), factor.values)

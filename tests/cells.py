"""A few cells of an array, and whether the numbers of an operand stand where it says."""

from dataclasses import replace

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


def local_gradients(arithmetic, step=1e-6):
    """The derivative of a cell by each number it was made from, as small changes of the number show it.

    For each group of terms and each of its factors (term,). A cell that is not finite depends on none.
    """
    return [
        [
            np.array([_slope(arithmetic, group, place, term, step) for term in range(len(group))])
            for place in range(len(group.factors))
        ]
        for group in arithmetic.terms
    ]


def _slope(arithmetic, group, place, term, step):
    if not np.isfinite(arithmetic.value):
        return 0.0
    more, less = (_nudged(arithmetic, group, place, term, way * step) for way in (1, -1))
    return (more.evaluate() - less.evaluate()) / (2 * step)


def _nudged(arithmetic, group, place, term, by):
    """The arithmetic with one number of one factor changed."""
    factors = list(group.factors)
    values = factors[place].values.copy()
    values[term] += by
    factors[place] = replace(factors[place], values=values)
    changed = replace(group, factors=tuple(factors))
    return replace(arithmetic, terms=tuple(changed if one is group else one for one in arithmetic.terms))

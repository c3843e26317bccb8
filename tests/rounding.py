"""Whether two ways of computing the same in float32 agree, on any processor.

Processors and batches add up in different orders, so that the last digits of sums differ. How much they
differ goes with the largest numbers that were added, not with the sum.
"""

import numpy as np
from numpy.typing import ArrayLike


def assert_equal_but_for_rounding(found: ArrayLike, expected: ArrayLike, place: str = "") -> None:
    """Equal to 4 digits, or to a fifty-thousandth of the largest number of all, where that is above 1."""
    wanted = np.asarray(expected)
    largest = np.abs(wanted, where=np.isfinite(wanted), out=np.zeros(wanted.shape)).max(initial=1.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-5 * largest, err_msg=place)

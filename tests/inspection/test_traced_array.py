"""A tap's value in parts is the same as whole, whoever asks for what of it."""

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.inspection.traced_array import PartedArray, TracedArray
from lmviz.inspection.tracing import trace

AXES = ("head", "position", "unit")
WHOLE = np.arange(2 * 7 * 3, dtype=np.float32).reshape(2, 7, 3)


def parted(*lengths: int) -> PartedArray:
    """The whole array, cut along the positions."""
    return PartedArray(np.split(WHOLE.copy(), np.cumsum(lengths)[:-1], axis=1), AXES, "signed")


@pytest.mark.parametrize("lengths", [(7,), (3, 4), (1, 1, 5), (6, 0, 1)])
@pytest.mark.parametrize("joined", [False, True])
def test_parts_hold_what_the_whole_holds(lengths: tuple[int, ...], joined: bool) -> None:
    found, whole = parted(*lengths), TracedArray(WHOLE.copy(), AXES, "signed")
    if joined:
        np.testing.assert_array_equal(found.array, WHOLE)
    for position in range(-7, 7):
        np.testing.assert_array_equal(found.at(position=position), whole.at(position=position))
        np.testing.assert_array_equal(
            found.at(head=1, position=position), whole.at(head=1, position=position)
        )
    for positions in range(1, 8):
        np.testing.assert_array_equal(
            np.concatenate(found.beginning(positions), axis=1), WHOLE[:, :positions]
        )
    np.testing.assert_array_equal(found.at(unit=2), WHOLE[..., 2])


@pytest.mark.parametrize(
    ("indices", "sentence"),
    [
        ({"position": 7}, "There is no position 7: there are 7"),
        ({"position": -8}, "There is no position -8"),
        ({"head": 2, "position": 0}, "There is no head 2: there are 2"),
        ({"unit": 1.5}, "1.5 is no unit"),
        ({"key": 0}, "There is no axis 'key': the axes are head, position, unit"),
    ],
)
def test_a_place_that_is_not_there_is_named(indices: dict[str, int], sentence: str) -> None:
    for array in (parted(3, 4), TracedArray(WHOLE.copy(), AXES, "signed")):
        with pytest.raises(LmvizError, match=sentence):
            array.at(**indices)


def test_a_part_is_found_without_putting_the_rest_beside_it() -> None:
    found = parted(6, 1)
    last = found.at(position=6)
    assert "array" not in vars(found)
    assert last.base is not None, "a view, not a copy"
    assert np.shares_memory(found.at(position=0), found.beginning(6)[0])
    assert "array" not in vars(found)


def test_a_whole_takes_the_place_of_its_parts() -> None:
    found = parted(6, 1)
    whole = found.array
    assert np.shares_memory(found.at(position=2), whole)
    [beginning] = found.beginning(4)
    assert np.shares_memory(beginning, whole)


def test_nobody_changes_what_was_traced(a) -> None:
    model = a("transformer-learned-pre")
    found = trace(model, "the cows eat corn", earlier=trace(model, "the cows eat"))
    for traced in found.arrays.values():
        for numbers in (traced.at(position=3) if "position" in traced.axes else traced.array, traced.array):
            with pytest.raises(ValueError, match="read-only"):
                numbers[...] = 0

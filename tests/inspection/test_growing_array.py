"""Texts that go on from one another share the memory of what each new token reads whole."""

import numpy as np
import pytest

from lmviz.inspection.growing_array import LEAST_ROOM, GrowingArray
from lmviz.inspection.tracing import trace

AXES = ("head", "position", "channel")
WHOLE = np.arange(2 * 60 * 3, dtype=np.float32).reshape(2, 60, 3)
ROWS = -np.ones((2, 1, 3), dtype=np.float32)


def growing(positions: int = 6) -> GrowingArray:
    """The first positions of the whole, in two parts."""
    return GrowingArray.of_parts(np.split(WHOLE[:, :positions].copy(), [4], axis=1), AXES, "signed")


def test_rows_are_written_behind_what_stays_where_it_is():
    first = growing()
    second = first.grown(WHOLE[:, 6:8], 6)
    np.testing.assert_array_equal(second.array, WHOLE[:, :8])
    np.testing.assert_array_equal(second.tensor.numpy(), WHOLE[:, :8])
    np.testing.assert_array_equal(first.array, WHOLE[:, :6])
    assert np.shares_memory(first.array, second.array)


def test_of_two_texts_that_go_on_from_one_the_second_gets_memory_of_its_own():
    first = growing()
    second = first.grown(WHOLE[:, 6:7], 6)
    assert first.grown(ROWS, 6) is None
    assert second.grown(ROWS, 6) is None, "its last position would be another"
    np.testing.assert_array_equal(second.array, WHOLE[:, :7])


def test_there_is_room_for_so_many_and_no_more():
    found, count = growing(), 6
    while (more := found.grown(ROWS, count)) is not None:
        found, count = more, count + 1
    assert count == 6 + LEAST_ROOM
    np.testing.assert_array_equal(found.array[:, :6], WHOLE[:, :6])


def test_a_short_beginning_does_not_keep_the_memory():
    found = growing(60)
    [short], [long] = found.beginning(5), found.beginning(50)
    np.testing.assert_array_equal(short, WHOLE[:, :5])
    assert not np.shares_memory(short, found.array)
    assert np.shares_memory(long, found.array)


def test_nobody_writes_to_it():
    with pytest.raises(ValueError, match="read-only"):
        growing().array[...] = 0


@pytest.mark.parametrize("kind", ["transformer-rotary-pre", "transformer-learned-pre"])
def test_each_text_on_the_way_keeps_its_own_numbers(a, kind):
    model, words = a(kind), ["the", "cows", "eat", "the", "corn", "at", "night"]
    texts = [" ".join(words[:count]) for count in range(1, 8)]
    texts += ["the cows eat corn", "the cows eat corn at night", "the cows eat corn at", "the cows sleep"]
    traces = []
    for text in texts:
        traces.append(trace(model, text, earlier=traces[-1] if traces else None))
    branch = trace(model, "the cows eat bats", earlier=traces[2])
    for text, found in [*zip(texts, traces, strict=True), ("the cows eat bats", branch)]:
        for address, traced in trace(model, text).arrays.items():
            np.testing.assert_allclose(
                found[address].array, traced.array, atol=1e-4, rtol=1e-4, err_msg=address
            )
    [keys, later] = (found["layers/0/attention/value"] for found in traces[3:5])
    assert np.shares_memory(keys.array, later.array)

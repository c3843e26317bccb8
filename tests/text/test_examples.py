import numpy as np
import pytest

from lmviz.text.examples import Examples, Sequences


def test_sequences_lie_one_after_the_other():
    sequences = Sequences.of([[1, 2], [], [300]], largest=300)
    assert [part.tolist() for part in sequences] == [[1, 2], [], [300]]
    assert sequences.ids.dtype == np.uint16
    assert sequences.lengths.tolist() == [2, 0, 1]
    assert sequences[-1].tolist() == [300]
    assert [part.tolist() for part in sequences[:2]] == [[1, 2], []]
    with pytest.raises(IndexError):
        sequences[3]
    with pytest.raises(ValueError, match="read-only"):
        sequences.ids[0] = 1


@pytest.mark.parametrize("places", [np.array([2, 0]), np.array([True, False, True])])
def test_sequences_are_selected_by_number_or_mask(places):
    sequences = Sequences.of([[1, 2], [], [3]], largest=3).select(places)
    expected = [[3], [1, 2]] if places.dtype != bool else [[1, 2], [3]]
    assert [part.tolist() for part in sequences] == expected


def test_an_id_knows_its_sequence():
    sequences = Sequences.of([[1, 2], [], [3]], largest=3)
    assert [sequences.sequence_at(place) for place in range(3)] == [0, 0, 2]


def test_examples_are_counted_by_their_sources():
    examples = Examples(Sequences.of([[0, 1], [2]], 2), Sequences.of([[5], [6]], 6))
    assert len(examples) == 2
    assert "2 examples" in repr(examples)

"""A model that reads a source beside its text: taps, traces and changes along either."""

import numpy as np
import pytest
import torch
from two_sequences import build

from lmviz.base.errors import LmvizError
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace

TEXT, SOURCE = np.array([1, 4, 2, 2]), np.array([3, 0, 1])


@pytest.fixture(scope="module")
def model():
    return build()


@pytest.fixture
def found(model):
    return trace(model, TEXT, source=SOURCE)


def test_the_explicit_path_equals_the_fused_one_whatever_the_two_lengths(model):
    for text, source in ((TEXT, SOURCE), (SOURCE, TEXT % 4), (TEXT[:1], SOURCE)):
        tokens, beside = torch.from_numpy(text)[None], torch.from_numpy(source)[None]
        explicit = model.listen(tokens, lambda tap, value, position: value, source=beside)
        torch.testing.assert_close(explicit, model(tokens, beside))


def test_a_trace_knows_both_sequences_and_each_axis_is_as_long_as_its_own(found):
    assert {name: read.ids.tolist() for name, read in found.sequences.items()} == {
        "text": TEXT.tolist(),
        "source": SOURCE.tolist(),
    }
    assert found["encoder/hidden"].array.shape == (3, 3)
    assert found["hidden"].array.shape == (4, 3)
    assert found["context"].axes == ("unit",)


def test_every_cell_follows_from_its_operands(model, found):
    reader = TraceReader(model, found)
    for tap in model.taps():
        for index in np.ndindex(found[tap.address].array.shape):
            arithmetic = tap.operation.explain(reader, tap.address, index)
            assert arithmetic.evaluate() == pytest.approx(arithmetic.value, abs=1e-5)
            assert arithmetic.value == found[tap.address].array[index]


def test_a_longer_text_takes_over_what_was_made_of_the_source(model):
    whole = trace(model, TEXT, source=SOURCE)
    for known in range(1, len(TEXT)):
        earlier = trace(model, TEXT[:known], source=SOURCE)
        longer = trace(model, TEXT, source=SOURCE, earlier=earlier)
        assert longer["encoder/hidden"] is earlier["encoder/hidden"]
        for address, expected in whole.arrays.items():
            np.testing.assert_allclose(longer[address].array, expected.array, atol=1e-6, err_msg=address)


def test_what_was_made_of_the_whole_text_is_made_anew_when_that_is_cut(model):
    whole = trace(model, TEXT, source=SOURCE)
    shorter = trace(model, TEXT[:2], source=SOURCE, earlier=whole)
    expected = trace(model, TEXT[:2], source=SOURCE)
    for address in expected.arrays:
        np.testing.assert_allclose(shorter[address].array, expected[address].array, atol=1e-6)


def test_nothing_is_taken_over_from_another_source(model):
    earlier = trace(model, TEXT, source=SOURCE)
    found = trace(model, TEXT, source=SOURCE[::-1].copy(), earlier=earlier)
    np.testing.assert_array_equal(
        found["hidden"].array, trace(model, TEXT, source=SOURCE[::-1].copy())["hidden"].array
    )


def test_a_state_of_the_source_can_be_changed_at_its_own_position(model, found):
    change = Intervention("encoder/hidden", "replace", 0.5, where={"source": 1})
    changed = trace(model, TEXT, source=SOURCE, interventions=[change])
    assert (changed["encoder/hidden"].array[1] == 0.5).all()
    np.testing.assert_array_equal(changed["encoder/hidden"].array[2], found["encoder/hidden"].array[2])
    assert (changed["encoder/hidden"].array[0] != found["encoder/hidden"].array[0]).all()
    nowhere = Intervention("encoder/hidden", "replace", 0.5, where={"source": 3})
    with pytest.raises(LmvizError, match="no source 3"):
        trace(model, TEXT, source=SOURCE, interventions=[nowhere])


def test_a_function_may_change_every_step_of_a_scan_from_the_end(model, found):
    change = Intervention("encoder/hidden", "replace", lambda values: values * 2)
    changed = trace(model, TEXT, source=SOURCE, interventions=[change])
    again = trace(model, TEXT, source=SOURCE, interventions=changed.interventions)
    np.testing.assert_array_equal(again["hidden"].array, changed["hidden"].array)
    np.testing.assert_allclose(changed["encoder/hidden"].array[2], 2 * found["encoder/hidden"].array[2])


def test_a_trace_of_two_sequences_survives_a_file(found, tmp_path):
    found.save(tmp_path / "two.npz")
    again = Trace.load(tmp_path / "two.npz")
    assert again.sequences["source"].tokens == found.sequences["source"].tokens
    np.testing.assert_array_equal(again["encoder/hidden"].array, found["encoder/hidden"].array)


def test_what_is_missing_or_too_much_is_named(model):
    with pytest.raises(LmvizError, match="reads a source beside its text"):
        trace(model, TEXT)
    with pytest.raises(LmvizError, match="reads no picture"):
        trace(model, TEXT, source=SOURCE, picture=SOURCE)
    with pytest.raises(LmvizError, match="vocabulary of 4"):
        trace(model, TEXT, source=np.array([4]))

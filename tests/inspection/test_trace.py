import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.interventions import scale, zero
from lmviz.inspection.tracing import trace
from lmviz.models.prefix import read_prefix


def test_every_tap_is_recorded_once_with_its_axes(model, text):
    found = trace(model, text)
    taps = model.taps()
    assert list(found.arrays) == [tap.address for tap in taps]
    for tap in taps:
        traced = found[tap.address]
        assert (traced.axes, traced.scale) == (tap.axes, tap.scale)
        assert traced.array.ndim == len(tap.axes)
        positional = {"position", "query", "key"}
        assert all(
            size == len(found)
            for axis, size in zip(tap.axes, traced.array.shape, strict=True)
            if axis in positional
        )


def test_traced_logits_are_plain_logits(model, text):
    found = trace(model, text)
    with torch.no_grad():
        plain = model(torch.from_numpy(read_prefix(model, text).ids)[None])[0]
    assert found["logits"].array == pytest.approx(plain.numpy(), abs=1e-5)
    assert found["probabilities"].array == pytest.approx(plain.softmax(-1).numpy(), abs=1e-5)


def test_a_trace_says_what_was_read(model, text):
    found = trace(model, text)
    assert found.tokens == ("⟨start⟩", "the", "cows", "eat", "the", "corn")
    assert found.text == text
    assert [text[first:end] for first, end in found.offsets[1:]] == list(found.tokens[1:])
    assert (found.family, found.stages, found.name) == (model.family, model.stages(), model.name)
    assert found.dropped == 0


def test_patterns_choose_taps(a, text):
    found = trace(a("lstm"), text, taps=["layers/*/hidden", "logits"])
    assert list(found.arrays) == ["layers/0/hidden", "layers/1/hidden", "logits"]
    with pytest.raises(LmvizError, match=r"layers/\*/queries"):
        trace(a("lstm"), text, taps=["layers/*/queries"])


def test_what_was_not_recorded_is_said(a, text):
    found = trace(a("lstm"), text, taps=["layers/*/hidden"])
    assert "layers/0/hidden" in found
    assert "logits" not in found
    with pytest.raises(LmvizError, match="did you mean layers/0/hidden"):
        found["layers/0/hiden"]


def test_a_long_prefix_keeps_its_last_tokens_and_says_so(a):
    model = a("transformer-learned-pre")
    found = trace(model, "the cows eat " * 6)
    assert len(found) == model.context == 12
    assert found.dropped == 1 + 18 - 12
    assert found.tokens[-1] == "eat"
    assert found.text[slice(*found.offsets[0])] == found.tokens[0]


def test_ids_serve_as_well_as_text(a, text):
    model = a("gru")
    ids = read_prefix(model, text).ids
    assert np.array_equal(trace(model, ids)["logits"].array, trace(model, text)["logits"].array)


def test_nothing_to_read_is_said(a):
    with pytest.raises(LmvizError, match="give at least one"):
        trace(a("rnn"), [])


def test_parts_are_found_by_the_names_of_axes(a, text):
    weights = trace(a("transformer-learned-pre"), text)["layers/1/attention/weights"]
    assert np.array_equal(weights.at(query=3, head=1), weights.array[1, 3])
    with pytest.raises(LmvizError, match="axes are head, query, key"):
        weights.at(unit=3)
    with pytest.raises(LmvizError):
        weights.at(head=7)


def test_arrays_cannot_be_written_and_share_nothing_with_the_model(model, text):
    found = trace(model, text)
    before = {address: traced.array.copy() for address, traced in found.arrays.items()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    try:
        assert all(np.array_equal(before[address], found[address].array) for address in before)
    finally:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(1.0)
    for traced in found.arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            traced.array[...] = 0
    with pytest.raises(TypeError):
        found.arrays["logits"] = None


def test_a_trace_keeps_no_model_alive(a, text):
    from copy import deepcopy

    model = deepcopy(a("lstm"))
    gone = weakref.ref(model)
    found = trace(model, text)
    del model
    gc.collect()
    assert gone() is None
    assert len(found) == 6


def test_dropout_is_off_and_the_mode_is_left_as_it_was(a, text):
    model = a("lstm")
    model.train()
    try:
        trace(model, text)
        assert model.training
    finally:
        model.eval()


def test_threads_may_trace_the_same_model(a, text):
    model = a("lstm")
    expected = trace(model, text)["logits"].array
    changed = [zero("layers/0/hidden", unit=0)]
    found = []

    def run(interventions):
        for _ in range(5):
            found.append(
                (bool(interventions), trace(model, text, interventions=interventions)["logits"].array)
            )

    threads = [threading.Thread(target=run, args=(each,)) for each in ((), changed, ())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(logits, expected) for touched, logits in found if not touched)
    assert not any(np.array_equal(logits, expected) for touched, logits in found if touched)


def test_a_trace_can_be_pickled_and_hashed(model, text):
    found = trace(model, text, interventions=[scale("logits", 0.5)])
    longer = trace(model, text + " sleep", earlier=trace(model, text))  # held in parts
    for each in (found, longer):
        again = pickle.loads(pickle.dumps(each))
        assert again.tokens == each.tokens
        assert again.stages == each.stages
        assert again.interventions == each.interventions
        assert again.arrays.keys() == each.arrays.keys()
        for address, traced in again.arrays.items():
            assert np.array_equal(traced.array, each[address].array)
            assert traced.axes == each[address].axes
            assert not traced.array.flags.writeable
    assert found in {found}
    assert pickle.loads(pickle.dumps(found)) not in {found}


def test_a_trace_is_shown_in_a_short_table(model):
    found = trace(model, "the cows eat " * 20)
    assert len(repr(found).splitlines()) < 40
    assert "the cows eat" in repr(found)
    assert model.family in repr(found)
    assert len(repr(found["logits"])) < 100
    assert "position" in repr(found["logits"])

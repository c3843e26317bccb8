import gc
from copy import deepcopy
from weakref import ref

import numpy as np
import pytest
import torch
from covering import parametrize_few

from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import zero
from lmviz.inspection.tracing import trace
from lmviz.models.growth import ROWS, WHOLE
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.operations import Activation, CausalMask, DotProducts, Rotate, Scale, Sinusoids, Softmax
from lmviz.models.operations.inputs import Window
from lmviz.models.operations.ngram_lookup import ContextCounts, MatchedContext

BEGINNING, TEXT = "the cows eat", "the cows eat the corn at night"


def alike(found, expected):
    assert found.tokens == expected.tokens
    assert found.ids.tolist() == expected.ids.tolist()
    assert (found.text, found.offsets, found.dropped) == (expected.text, expected.offsets, expected.dropped)
    assert list(found.arrays) == list(expected.arrays)
    for address, traced in expected.arrays.items():
        assert found[address].array == pytest.approx(traced.array, abs=1e-4, rel=1e-4), address
        assert found[address].array.dtype == traced.array.dtype
        assert not found[address].array.flags.writeable


@parametrize_few(
    ("before", "after"),
    [
        (BEGINNING, TEXT),  # typed on
        (TEXT, BEGINNING),  # deleted
        (TEXT, TEXT),  # nothing changed
        (TEXT, "the cows sleep the corn at night"),  # changed in the middle
        ("bats sleep", TEXT),  # another text
    ],
    quick=3,
)
def test_going_on_gives_what_reading_anew_gives(model, before, after):
    alike(trace(model, after, earlier=trace(model, before)), trace(model, after))


@pytest.mark.parametrize("kind", ["transformer-rotary-pre", "lstm", "gru", "rnn"])
def test_word_by_word_errors_do_not_add_up(a, kind):
    model = a(kind)
    words, found = TEXT.split(), None
    for count in range(1, len(words) + 1):
        found = trace(model, " ".join(words[:count]), earlier=found)
    alike(found, trace(model, TEXT))


def test_what_a_new_token_computes_is_not_read_back_from_the_trace(a, monkeypatch):
    model = a("transformer-rotary-pre")
    before = trace(model, BEGINNING)
    made, plain = [], torch.from_numpy

    def noted(array):
        made.append(array)
        return plain(array)

    monkeypatch.setattr(torch, "from_numpy", noted)
    trace(model, f"{BEGINNING} the", earlier=before)
    assert len(made) < len(model.taps()) / 2, "the keys, the values, and the angles that they turn by"


@pytest.fixture
def counted(a, monkeypatch):
    """How many rows go through the weights of a Transformer."""
    from lmviz.models.operations import Affine

    rows = []
    plain = Affine.compute

    def compute(self, scope):
        value = plain(self, scope)
        rows.append(value.shape[1])
        return value

    monkeypatch.setattr(Affine, "compute", compute)
    return rows


def test_only_new_rows_go_through_the_weights(a, counted):
    model = a("transformer-learned-pre")
    earlier = trace(model, BEGINNING)
    counted.clear()
    trace(model, BEGINNING + " corn", earlier=earlier)
    assert set(counted) == {1}
    counted.clear()
    trace(model, "the cows", earlier=earlier)
    assert counted == []


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_a_recurrence_goes_on_from_its_last_states(a, kind, monkeypatch):
    from lmviz.models.operations import Affine

    positions = []
    plain = Affine.compute

    def compute(self, scope):
        positions.append(scope.position)
        return plain(self, scope)

    monkeypatch.setattr(Affine, "compute", compute)
    earlier = trace(a(kind), BEGINNING)
    positions.clear()
    found = trace(a(kind), TEXT, earlier=earlier)
    assert {at for at in positions if at is not None} == set(range(len(earlier), len(found)))


def test_an_earlier_trace_that_does_not_fit_is_left_aside(a, counted):
    model = a("transformer-learned-pre")
    earlier = trace(model, BEGINNING)
    unfit = [
        trace(a("transformer-learned-post"), BEGINNING),
        trace(model, BEGINNING, taps=["logits"]),
        trace(model, BEGINNING, interventions=[zero("layers/0/attention/mixed", head=0)]),
        trace(model, "the cows eat " * 6),
    ]
    expected = trace(model, TEXT)
    for other in unfit:
        counted.clear()
        alike(trace(model, TEXT, earlier=other), expected)
        assert min(counted) == len(expected)
    changes = [zero("layers/0/attention/mixed", head=0)]
    alike(
        trace(model, TEXT, earlier=earlier, interventions=changes),
        trace(model, TEXT, interventions=changes),
    )
    long = "the cows eat " * 6
    alike(trace(model, long, earlier=earlier), trace(model, long))


def test_a_model_that_has_learned_meanwhile_is_another(a):
    model = deepcopy(a("transformer-learned-pre")).requires_grad_(True)
    fused = torch.optim.AdamW(model.parameters(), 0.1, fused=True)  # which torch does not count as a write
    for learn in (fused.step, lambda: model.load_state(a("transformer-learned-pre").state())):
        earlier = trace(model, BEGINNING)
        model.loss(torch.tensor([[1, 2]]), torch.tensor([[2, 3]]))[0].backward()
        learn()
        alike(trace(model, TEXT, earlier=earlier), trace(model, TEXT))
        alike(trace(model, BEGINNING, earlier=earlier), trace(model, BEGINNING))


def test_counts_taken_anew_are_another_model(a):
    model = deepcopy(a("ngram"))
    earlier = trace(model, TEXT)
    model.fit(count_ngrams(np.arange(7), 3, model.vocabulary_size, start_id=0))
    alike(trace(model, BEGINNING, earlier=earlier), trace(model, BEGINNING))


@pytest.mark.parametrize("kind", ["ngram", "lstm", "transformer-learned-pre"])
def test_two_models_of_one_name_are_not_mixed_up(a, kind):
    model, namesake = a(kind), deepcopy(a(kind))
    if kind == "ngram":
        namesake.fit(count_ngrams(np.arange(7), 3, model.vocabulary_size, start_id=0))
    for parameter in namesake.parameters():
        parameter.copy_(-parameter)
    earlier = trace(model, BEGINNING)
    alike(trace(namesake, TEXT, earlier=earlier), trace(namesake, TEXT))


def test_a_changed_model_is_not_the_one_it_changes(a):
    model = a("transformer-learned-pre")
    changes = [zero("layers/0/attention/mixed", head=0)]
    changed = ChangedModel(model, changes)
    expected = trace(model, TEXT, interventions=changes)
    for earlier in (trace(model, BEGINNING), trace(changed, BEGINNING)):
        found = trace(changed, TEXT, earlier=earlier)
        alike(found, expected)
        assert found.interventions == tuple(changes), "the trace says what was done"
        alike(trace(model, TEXT, earlier=earlier), trace(model, TEXT))


def test_a_trace_does_not_keep_its_model_alive(a):
    model = deepcopy(a("lstm"))
    found, alive = trace(model, BEGINNING), ref(model)
    del model
    gc.collect()
    assert alive() is None
    alike(trace(a("lstm"), TEXT, earlier=found), trace(a("lstm"), TEXT))


@pytest.mark.parametrize("typed", [False, True])
def test_what_is_left_of_a_long_text_lets_the_rest_go(a, typed):
    model = a("transformer-none-pre")
    found, long = None, " ".join(["the cows eat corn"] * 2 + ["bats"])
    for count in range(1 if typed else 9, 10):
        found = trace(model, " ".join(long.split()[:count]), earlier=found)
    assert len(found) == 10  # with START
    short = trace(model, "the", earlier=found)
    for address, traced in short.arrays.items():
        for part in traced.beginning(len(short)):
            held = part if part.base is None or not isinstance(part.base, np.ndarray) else part.base
            assert held.nbytes <= 4 * traced.array.nbytes, address


def test_some_taps_can_be_asked_for(a):
    model = a("transformer-learned-pre")
    found = trace(model, TEXT, taps=["logits"], earlier=trace(model, BEGINNING))
    assert list(found.arrays) == ["logits"]
    assert np.allclose(found["logits"].array, trace(model, TEXT)["logits"].array, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "operation", "rows"),
    [
        ("ngram", ContextCounts, 4),
        ("ngram", MatchedContext, 8),  # it looks back, and says that it is computed whole
        ("transformer-rotary-pre", Rotate, 4),
        ("transformer-sinusoidal-pre", Sinusoids, 4),
        ("transformer-learned-pre", Activation, 4),
        ("transformer-alibi-pre", DotProducts, 4),
        ("transformer-alibi-pre", Scale, 4),
        ("transformer-alibi-pre", CausalMask, 4),
        ("transformer-learned-post", Softmax, 4),
    ],
)
def test_an_operation_computes_what_it_declares_to_be_new(a, kind, operation, rows, monkeypatch):
    model = a(kind)
    earlier, computed, plain = trace(model, BEGINNING), [], operation.compute

    def compute(self, scope):
        value = plain(self, scope)
        computed.append(value.shape[-2])  # positions or queries
        return value

    monkeypatch.setattr(operation, "compute", compute)
    assert len(trace(model, TEXT, earlier=earlier)) == 8  # of which START and three words are known
    assert set(computed) == {rows}


@pytest.mark.parametrize("growth", [ROWS, WHOLE])
def test_an_operation_that_declares_rows_wrongly_is_found_out(a, monkeypatch, growth):
    model = a("window")
    monkeypatch.setattr(Window, "growth", growth)
    found, expected = trace(model, TEXT, earlier=trace(model, BEGINNING)), trace(model, TEXT)
    same = np.allclose(found["hidden"].array, expected["hidden"].array, atol=1e-4)
    assert same == (growth == WHOLE)

"""Many texts at once: what each gives is what it gives alone, for every family and task."""

import copy

import numpy as np
import pytest
from family_cases import IDS, beside, one_of_each, trained, translates, untrained

from lmviz.base.errors import LmvizError
from lmviz.inspection.interventions import add, zero
from lmviz.inspection.many_traces import traces
from lmviz.inspection.tracing import trace
from lmviz.models.batches_of_texts import ANSWERS, POSITIONS, batches_of_texts
from lmviz.models.interruption import interruptible

TEXTS = [IDS, IDS[:3], IDS[::-1], IDS[:5], IDS[1:4], IDS[:1], IDS[2:]]


def sources(model):
    return [beside(model)["source"]] * len(TEXTS) if translates(model) else None


def assert_alike(model, found, **options):
    assert len(found) == len(TEXTS)
    for text, one in zip(TEXTS, found, strict=True):
        alone = trace(model, text, **beside(model), **options)
        assert list(one.arrays) == list(alone.arrays)
        assert (one.ids == alone.ids).all()
        assert one.tokens == alone.tokens
        for address, value in alone.arrays.items():
            assert one[address].axes == value.axes
            np.testing.assert_allclose(one[address].array, value.array, atol=1e-9, err_msg=address)


@one_of_each
def test_each_of_many_is_what_it_is_alone(family, options):
    model = trained(family, tuple(sorted(options.items())))
    found = traces(model, TEXTS, sources=sources(model))
    for text, one in zip(TEXTS, found, strict=True):
        alone = trace(model, text, **beside(model))
        np.testing.assert_allclose(one["probabilities"].array, alone["probabilities"].array, atol=1e-6)
    precise = copy.deepcopy(model).double()  # where rounding hides nothing
    assert_alike(precise, traces(precise, TEXTS, sources=sources(model)))


@pytest.mark.parametrize(
    "change",
    [
        zero("layers/0/residual1"),
        zero("layers/*/residual2", position=0),
        add("layers/0/attention/heads", 0.5, position=-1, head=1),
        add("layers/1/residual1", lambda cells: cells * 2, channel=slice(2)),
    ],
    ids=["everywhere", "first", "last", "function"],
)
def test_changes_stand_where_they_stand_in_each_text(change):
    model = copy.deepcopy(trained("transformer", ())).double()
    assert_alike(model, traces(model, TEXTS, interventions=[change]), interventions=[change])


def test_only_what_is_wanted_is_kept_and_computed():
    model = untrained("transformer", {})
    found = traces(model, TEXTS, taps=["layers/0/residual2"])
    assert all(list(one.arrays) == ["layers/0/residual2"] for one in found)


def test_every_text_is_checked_before_one_is_read():
    model = untrained("transformer", {})
    looked = []
    with interruptible(looked.append), pytest.raises(LmvizError, match="not in the model's vocabulary"):
        traces(model, [*TEXTS, [99]])
    assert not looked


def test_batches_are_bounded_and_hold_each_text_once():
    model = untrained("lstm", {})
    lengths = [{"text": 1 + number * 37 % 300} for number in range(500)]
    batches = list(batches_of_texts(model, lengths, answers=50_000))
    assert sorted(number for batch in batches for number in batch) == list(range(500))
    for batch in batches:
        longest = max(lengths[number]["text"] for number in batch)
        assert len(batch) == 1 or longest * len(batch) <= min(POSITIONS, ANSWERS // 50_000)
    assert len(batches) < 400

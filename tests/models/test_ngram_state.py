"""Counts as small tensors: there and back, and refused when damaged."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save

from lmviz.base.errors import LmvizError
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram

TOKENS = np.random.default_rng(0).integers(0, 9, 2000)
PREFIX = torch.tensor([[0, 3, 4, 5, 8, 1, 0, 2]])


def fitted(order=4, smoothing="kneser-ney", start_id=0, tokens=TOKENS) -> Ngram:
    model = Ngram(NgramConfiguration(order, smoothing), 9)
    model.fit(count_ngrams(tokens, order, 9, start_id))
    return model


@pytest.mark.parametrize("smoothing", ["kneser-ney", "add-k", "maximum-likelihood"])
@pytest.mark.parametrize("start_id", [0, None])
def test_a_model_comes_back_from_a_file_exactly(smoothing, start_id):
    model = fitted(4, smoothing, start_id)
    other = Ngram(NgramConfiguration(4, smoothing), 9)
    other.load_state(load(save(model.state())))
    assert torch.equal(other(PREFIX), model(PREFIX))
    assert other.tables.start_id == start_id


def test_nothing_counted_comes_back_too():
    other = fitted()
    other.load_state(fitted(tokens=TOKENS[:0]).state())
    assert other.parameter_count() == 0


def test_tensors_are_small():
    """Of each n-gram its last token, its count and its followers take a byte each."""
    state = fitted(3).state()
    largest = max(state.values(), key=torch.numel)
    assert largest.numel() > 500
    assert largest.dtype == torch.uint8


def test_large_counts_keep_their_digits():
    tokens = np.resize([1, 2], 200_001)
    state = fitted(2, "add-k", None, tokens).state()
    model = fitted(2, "add-k")
    model.load_state(state)
    assert model.operand("counts.2", np.array([[1, 2], [2, 1], [1, 1]])).tolist() == [100_000, 100_000, 0]


@pytest.mark.parametrize("other", [NgramConfiguration(3), NgramConfiguration(5)])
def test_counts_of_another_order_are_refused(other):
    with pytest.raises(LmvizError, match="snapshot of an n-gram"):
        Ngram(other, 9).load_state(fitted(4).state())


def test_counts_of_another_vocabulary_are_refused():
    with pytest.raises(LmvizError, match="snapshot of an n-gram"):
        Ngram(NgramConfiguration(4), 8).load_state(fitted(4).state())


def test_ngrams_out_of_order_are_refused():
    state = fitted(2).state()
    state["orders.2.words"] = state["orders.2.words"].flip(0)
    with pytest.raises(LmvizError, match="out of order"):
        Ngram(NgramConfiguration(2), 9).load_state(state)


@pytest.mark.parametrize("kind", [torch.float32, torch.complex64])
def test_counts_that_are_not_whole_numbers_are_refused(kind):
    state = fitted(2).state()
    state["orders.2.counts"] = state["orders.2.counts"].to(kind)
    with pytest.raises(LmvizError, match="another shape or type"):
        Ngram(NgramConfiguration(2), 9).load_state(state)


@given(data=st.data())
def test_damaged_counts_are_refused_or_make_a_model(data):
    state = fitted(3, tokens=TOKENS[:200]).state()
    name = data.draw(st.sampled_from(sorted(state)))
    kind = data.draw(st.sampled_from([torch.int64, torch.float32, torch.uint8, torch.bool]))
    numbers = data.draw(st.lists(st.integers(-300, 300), max_size=state[name].numel() + 2))
    damage = data.draw(st.sampled_from(["replace", "reshape", "overwrite", "drop"]))
    if damage == "replace":
        state[name] = torch.tensor(numbers).to(kind)
    elif damage == "reshape":
        state[name] = state[name][:, None]
    elif damage == "overwrite":
        changed = state[name].to(torch.int64).clone()
        count = min(len(numbers), changed.numel())
        changed[:count] = torch.tensor(numbers[:count], dtype=torch.int64)
        state[name] = changed
    else:
        del state[name]
    model = Ngram(NgramConfiguration(3), 9)
    try:
        model.load_state(state)
    except LmvizError:
        return
    assert torch.isfinite(model(PREFIX)[..., 1:]).all() or model.tables.start_id != 0

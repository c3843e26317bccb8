"""The n-gram as a model: its two paths, its taps and their arithmetic, its loss, its stages."""

import math
import re

import numpy as np
import pytest
import torch
from covering import covering

from lmviz.models.model import IGNORED
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram

START, END = 0, 1
VOCABULARY = 12
SMOOTHINGS = ("kneser-ney", "add-k", "maximum-likelihood")


def documents(seed: int, count: int = 40) -> np.ndarray:
    """START doc END START doc END …, (token,), in which a token's successor is mostly the next one."""
    chance = np.random.default_rng(seed)
    stream = []
    for _ in range(count):
        first, length = chance.integers(2, VOCABULARY), chance.integers(1, 9)
        steps = chance.choice([1, 2, 5], p=[0.7, 0.2, 0.1], size=length)
        stream += [START, *(2 + (first + np.cumsum(steps)) % (VOCABULARY - 2)), END]
    return np.array(stream)


def fitted(order=3, smoothing="kneser-ney", start_id=START) -> Ngram:
    model = Ngram(NgramConfiguration(order, smoothing, 0.1), VOCABULARY)
    model.fit(count_ngrams(documents(0), order, VOCABULARY, start_id))
    return model


def listened(model: Ngram, tokens: torch.Tensor, **replaced) -> dict[str, np.ndarray]:
    """All taps of a single row; values may be replaced on their way, with __ for / in addresses."""
    heard = {}

    def listener(tap, value, position):
        assert position is None
        change = replaced.get(tap.address.replace("/", "__"))
        heard[tap.address] = value if change is None else change(value)
        return heard[tap.address]

    model.listen(tokens, listener)
    return {address: value[0].numpy() for address, value in heard.items()}


class Written:
    """What `explain` reads from: the values that were listened to, and the tokens."""

    def __init__(self, arrays):
        self.arrays = arrays

    def array(self, address):
        return self.arrays[address]

    def ids(self):
        return PREFIX[0].numpy()


PREFIX = torch.tensor([[START, 4, 5, 6, 9, 10, 11, 2, END, START, 7, 8, 8, 8]])
CASES = [(order, smoothing) for smoothing in SMOOTHINGS for order in (1, 2, 4)]
each_order_and_smoothing = pytest.mark.parametrize(
    ("order", "smoothing"), covering([pytest.param(*case) for case in CASES], [set(case) for case in CASES])
)


@pytest.mark.parametrize(("order", "smoothing"), CASES)
@pytest.mark.parametrize("start_id", [START, None])
def test_both_paths_agree_and_every_tap_comes_once_with_its_axes(order, smoothing, start_id):
    model = fitted(order, smoothing, start_id)
    taps = model.taps()
    arrays = listened(model, PREFIX)
    torch.testing.assert_close(torch.from_numpy(arrays["logits"]), model(PREFIX)[0], rtol=1e-5, atol=1e-5)
    assert list(arrays) == [tap.address for tap in taps]
    assert len(set(arrays)) == len(taps)
    sizes = {"position": PREFIX.shape[1], "token": VOCABULARY, "order": max(order - 1, 1)}
    for tap in taps:
        assert arrays[tap.address].shape == tuple(sizes[axis] for axis in tap.axes)
    assert [tap.address for tap in taps[-2:]] == ["logits", "probabilities"]
    np.testing.assert_allclose(arrays["probabilities"], np.exp(arrays["logits"]), rtol=1e-4)


@each_order_and_smoothing
def test_every_cell_follows_from_its_stated_operands(order, smoothing):
    model = fitted(order, smoothing)
    arrays = listened(model, PREFIX)
    for tap in model.taps():
        for index in np.ndindex(arrays[tap.address].shape):
            arithmetic = tap.operation.explain(Written(arrays), tap.address, index)
            assert (arithmetic.address, arithmetic.index) == (tap.address, index)
            assert arithmetic.value == arrays[tap.address][index]
            assert arithmetic.evaluate() == pytest.approx(arithmetic.value, rel=1e-4, abs=1e-7)
            for factor in (factor for group in arithmetic.terms for factor in group.factors):
                if factor.source == "constant":
                    continue
                if "." in factor.source:
                    stated = model.operand(factor.source, factor.indices)
                else:
                    stated = arrays[factor.source][tuple(factor.indices.T)]
                np.testing.assert_array_equal(stated, factor.values)


def test_taps_show_the_match_and_what_followed_it():
    """Text: 2 3 4 2 3 5 2 3 4. After "2 3" came 4 twice and 5 once; after "9 3" nothing, it never was."""
    model = Ngram(NgramConfiguration(3, "maximum-likelihood"), VOCABULARY)
    model.fit(count_ngrams(np.array([2, 3, 4, 2, 3, 5, 2, 3, 4]), 3, VOCABULARY, None))
    arrays = listened(model, torch.tensor([[2, 3, 9, 3]]))
    np.testing.assert_array_equal(arrays["orders/3/context"], [[-1, -1], [2, 3], [-1, -1], [-1, -1]])
    np.testing.assert_array_equal(arrays["orders/2/context"], [[-1, 2], [-1, 3], [-1, -1], [-1, 3]])
    np.testing.assert_array_equal(arrays["orders/1/context"], [[-1, -1]] * 4)
    np.testing.assert_array_equal(arrays["orders/3/counts"][1, [4, 5]], [2, 1])
    np.testing.assert_array_equal(arrays["orders/3/total"], [0, 3, 0, 0])
    np.testing.assert_array_equal(arrays["orders/3/weight"], [0, 1, 0, 0])
    np.testing.assert_array_equal(arrays["orders/2/weight"], [1, 0, 0, 1])
    np.testing.assert_array_equal(arrays["orders/1/weight"], [0, 0, 1, 0])


def test_contexts_are_cut_at_START():
    arrays = listened(fitted(order=3), PREFIX)
    after_start = PREFIX[0].tolist().index(START, 1) + 1
    np.testing.assert_array_equal(arrays["orders/3/context"][after_start], [START, 7])
    np.testing.assert_array_equal(arrays["orders/3/context"][after_start - 1], [-1, -1])


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_weights_are_shares_of_the_probability(smoothing):
    """Each order's own distribution times its weight, and the rest uniform, is the probability."""
    arrays = listened(fitted(3, smoothing), PREFIX)
    weights = sum(arrays[f"orders/{order}/weight"] for order in (1, 2, 3))
    assert (weights <= 1 + 1e-6).all()
    if smoothing == "maximum-likelihood":
        np.testing.assert_allclose(weights, 1)


def test_a_silenced_order_leaves_everything_to_the_one_below():
    model = fitted(order=3)
    arrays = listened(model, PREFIX, orders__3__counts=torch.zeros_like)
    np.testing.assert_array_equal(arrays["orders/3/backoff"], 1)
    np.testing.assert_allclose(arrays["probabilities"], arrays["orders/2/probabilities"], rtol=1e-5)


def test_a_replaced_context_brings_the_counts_of_another():
    model = fitted(order=2)
    other = listened(model, PREFIX, orders__2__context=lambda context: torch.full_like(context, 5))
    plain = listened(model, torch.tensor([[5]]))
    np.testing.assert_array_equal(other["orders/2/counts"][3], plain["orders/2/counts"][0])
    np.testing.assert_allclose(other["logits"][3], plain["logits"][0], rtol=1e-5)


def test_no_position_looks_ahead():
    model = fitted(order=3)
    changed = PREFIX.clone()
    changed[0, 6:] = 3
    torch.testing.assert_close(model(PREFIX)[:, :6], model(changed)[:, :6])


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_single_log_probabilities_are_those_of_the_logits(smoothing):
    model = fitted(3, smoothing)
    tokens = torch.from_numpy(documents(1))[None]
    targets = tokens.roll(-1)
    targets[targets == START] = IGNORED
    dense = model(tokens).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    dense[targets == IGNORED] = 0
    torch.testing.assert_close(model.log_probabilities(tokens, targets), dense)


def test_the_last_tokens_are_carried_on():
    model = fitted(order=4)
    tokens = torch.from_numpy(documents(1)[:60])[None]
    pieces, state = [], None
    for begin in range(0, 60, 2):
        logits, state = model.advance(tokens[:, begin : begin + 2], state)
        pieces.append(logits)
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(tokens))


def test_maximum_likelihood_may_find_a_text_impossible():
    model = Ngram(NgramConfiguration(2, "maximum-likelihood"), VOCABULARY)
    model.fit(count_ngrams(np.array([2, 3, 2, 3, 4]), 2, VOCABULARY, None))
    loss, _ = model.loss(torch.tensor([[2, 3]]), torch.tensor([[3, 9]]))
    assert loss.item() == math.inf


def test_counting_learns():
    held_out = torch.from_numpy(documents(1))[None]
    targets = held_out[:, 1:].clone()
    targets[targets == START] = IGNORED
    untrained, unigram, bigram = (
        model.loss(held_out[:, :-1], targets)[0].item()
        for model in (Ngram(NgramConfiguration(2), VOCABULARY), fitted(1), fitted(2))
    )
    assert untrained == pytest.approx(math.log(VOCABULARY), rel=1e-5)
    assert bigram < unigram < untrained


@each_order_and_smoothing
def test_stages_walk_the_taps_with_equations_that_can_be_drawn(order, smoothing):
    ziamath = pytest.importorskip("ziamath")
    model = fitted(order, smoothing)
    known: set[str] = set()
    addresses = [tap.address for tap in model.taps()]
    for stage in model.stages():
        assert set(stage.operands) <= known
        known |= set(stage.results)
        assert "<svg" in ziamath.Latex(stage.equation).svg()
    assert known <= set(addresses)
    assert {"logits", "probabilities", *(a for a in addresses if a.endswith("counts"))} <= known


@pytest.mark.parametrize(
    ("smoothing", "titles"),
    [
        (
            "kneser-ney",
            [
                "Order 1, interpolated with uniform",
                "Order 2, interpolated with order 1",
                "Order 3, interpolated with order 2",
            ],
        ),
        ("add-k", ["Order 3, with k added"]),
    ],
)
def test_stages_of_probabilities_say_what_each_order_is_mixed_with(smoothing, titles):
    stages = Ngram(NgramConfiguration(3, smoothing), VOCABULARY).stages()
    probabilities = [stage for stage in stages if re.search(r"orders/\d/probabilities", stage.results[0])]
    assert [stage.title for stage in probabilities] == titles


def test_with_add_k_shorter_orders_weigh_nothing():
    model = fitted(3, "add-k")
    arrays = listened(model, PREFIX)
    equations = {stage.results: stage.equation for stage in model.stages()}
    for order in (1, 2):
        assert not arrays[f"orders/{order}/weight"].any()
        assert equations[(f"orders/{order}/weight",)] == rf"\lambda_{{{order}}} = 0"


@pytest.mark.parametrize(
    ("smoothing", "labels"),
    [
        ("kneser-ney", ["count", "discount D3", "lower order"]),
        ("add-k", ["count", "k", "total", "k for every token"]),
        ("maximum-likelihood", ["count", "lower order"]),
    ],
)
def test_a_share_is_explained_in_the_order_of_its_formula(smoothing, labels):
    model = fitted(2, smoothing)
    arrays = listened(model, PREFIX)
    index = 1, 5  # after 4 came 5, more than three times
    assert arrays["orders/2/counts"][index] > 3
    taps = {tap.address: tap.operation for tap in model.taps()}
    address = "orders/2/probabilities"
    found = taps[address].explain(Written(arrays), address, index)
    assert [group.label for group in found.terms] == labels


def test_the_number_of_ngrams_counts_as_parameters():
    model = Ngram(NgramConfiguration(2), VOCABULARY)
    assert model.parameter_count() == 0
    model.fit(count_ngrams(np.array([2, 3, 2, 3, 4]), 2, VOCABULARY, None))
    assert model.parameter_count() == 3 + 3  # 2, 3 and 4; 2 3, 3 2 and 3 4

"""Any change of any tap, of every family: each number is explained, and whoever reads on sees the same."""

import numpy as np
import pytest
import torch
from covering import others_slow, parametrize_few

from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.explain import explain
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.tracing import trace
from lmviz.models.ngram.backoff import BackoffNgram
from lmviz.models.ngram.backoff_tables import as_backoff
from lmviz.models.reading import evaluation, on_device

IDS = (0, 3, 4, 2, 3, 1)
SEEDS = range(6)


def random_place(random, size):
    """One index, from either end, several, a slice, or all; and how many values stand along it."""
    kind = random.integers(5)
    if kind == 0:
        return int(random.integers(-size, size)), None
    if kind == 1:
        chosen = random.permutation(size)[: random.integers(1, size + 1)]
        return tuple(chosen.tolist()), len(chosen)
    first = int(random.integers(size))
    return (slice(first, None), size - first) if kind == 2 else (None, size)


def random_change(random, found):
    """An intervention of any kind at any tap."""
    addresses = [address for address in found.arrays if found[address].scale != "token"]
    traced = found[address := addresses[random.integers(len(addresses))]]
    places = [random_place(random, size) for size in traced.array.shape]
    where = {axis: place for axis, (place, _) in zip(traced.axes, places, strict=True) if place is not None}
    amounts = random.normal(size=[size for _, size in places if size is not None]).round(2)
    value = amounts if random.integers(2) else round(float(random.normal()), 2)
    return Intervention(address, ("replace", "scale", "add")[random.integers(3)], value, where)


def largest(arithmetic):
    """The size of what is added up, against which float32 rounds."""
    with np.errstate(invalid="ignore"):
        return max([1.0, *(float(np.nansum(np.abs(group.products))) for group in arithmetic.terms)])


def check_explained(model, found, random):
    for address, traced in found.arrays.items():
        for _ in range(3):
            index = tuple(int(random.integers(size)) for size in traced.array.shape)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                arithmetic = explain(model, found, address, index)
                evaluated, value = arithmetic.evaluate(), float(traced.array[index])
            same = value == evaluated or (np.isnan(value) and np.isnan(evaluated))
            assert same or evaluated == pytest.approx(value, abs=3e-5 * largest(arithmetic), rel=3e-4), (
                address,
                index,
                found.interventions,
            )


def check(model, seed):
    random = np.random.default_rng(seed)
    ids = np.array(IDS) % model.vocabulary_size
    plain = trace(model, ids)
    check_explained(model, plain, random)
    changes = [random_change(random, plain) for _ in range(random.integers(1, 4))]
    found = trace(model, ids, interventions=changes)
    check_explained(model, found, random)
    changed = ChangedModel(model, changes)
    with evaluation(changed):
        predicted = changed.advance(on_device(changed, ids.copy()))[0][0].numpy()
    np.testing.assert_allclose(predicted, found["logits"].array, atol=1e-4)


@pytest.mark.parametrize("seed", others_slow(SEEDS, SEEDS[0]))
def test_every_family(model, seed):
    check(model, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_n_gram_that_lists_its_probabilities(a, seed):
    tables = as_backoff(a("ngram").tables)
    check(BackoffNgram(tables, tuple(map(str, range(a("ngram").vocabulary_size)))), seed)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("ngram", {"order": 1, "smoothing": "add-k"}),
        ("ngram", {"order": 5, "smoothing": "maximum-likelihood"}),
        ("window", {"window": 1, "width": 1, "embedding": 1, "activation": "relu"}),
        ("rnn", {"layers": 9, "width": 3, "activation": "sigmoid"}),
        ("lstm", {"layers": 6, "width": 1, "embedding": 2}),
        ("gru", {"layers": 6, "width": 2, "tied": True}),
        ("transformer", {"layers": 7, "heads": 3, "width": 6, "context": 2, "positions": "alibi"}),
        ("transformer", {"layers": 1, "heads": 1, "width": 2, "context": 1, "feedforward": 1}),
    ],
)
@parametrize_few("vocabulary_size", [1, 5])
def test_deep_ones_narrow_ones_and_a_single_token(family, settings, vocabulary_size):
    from lmviz.families import build_model, find_family

    configuration = find_family(family).configuration.from_values(settings)
    model = build_model(family, configuration, vocabulary_size, seed=3).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    ids = np.array(IDS)[: model.context] % vocabulary_size
    random = np.random.default_rng(0)
    plain = trace(model, ids)
    check_explained(model, plain, random)
    check_explained(model, trace(model, ids, interventions=[random_change(random, plain)]), random)


def test_a_changed_count_says_what_the_table_holds(a):
    model, text = a("ngram"), "the cows eat"
    token = int(model.tokenizer.encode("corn")[0])
    plain = trace(model, text)["orders/3/counts"].array[-1, token]
    assert plain > 0
    changes = [
        Intervention("orders/3/counts", "add", 5.0),
        Intervention("orders/1/context", "replace", 7.0),
    ]
    found = trace(model, text, interventions=changes)
    position = len(found) - 1
    arithmetic = explain(model, found, "orders/3/counts", (position, token))
    assert arithmetic.formula.value == plain
    assert arithmetic.evaluate() == arithmetic.value == plain + 5
    assert explain(model, found, "orders/1/context", (position, 0)).formula.value == -1


def test_what_kneser_ney_counts_is_said(a):
    model = a("ngram")
    found = trace(model, "the cows eat")
    position = len(found) - 1
    token = int(model.tokenizer.encode("corn")[0])
    said = {
        order: explain(model, found, f"orders/{order}/counts", (position, token)).operation
        for order in (1, 2, 3)
    }
    assert said[3] == "count in the training text"
    assert said[1] == said[2] == "how many different tokens it follows in the training text"

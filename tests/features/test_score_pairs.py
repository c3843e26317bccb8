"""A head's score as the sum over pairs of features, held against the states themselves."""

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import build_model
from lmviz.models.transformer_configuration import TransformerConfiguration
from tests.features.test_feature_bills import CLEAN, drawn

BEFORE = "layers/1/residual2"


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


def test_pairs_of_the_states_before_are_products_of_what_they_write(model):
    dictionary = drawn(model, BEFORE, 2)
    trace = lmviz.trace(model, CLEAN)
    pairs = lmviz.score_pairs(model, CLEAN, dictionary, 2, 1, key=5)
    query, key = len(trace.tokens) - 1, 5
    assert pairs.value == pytest.approx(trace["layers/2/attention/scaled"].array[1, query, key], abs=1e-5)
    assert pairs.total == pytest.approx(pairs.value, abs=1e-5)
    tensors = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    states = trace[BEFORE].array.astype(np.float64)
    width = states.shape[1] // model.configuration.heads
    maps = []
    for number, at in ((0, query), (1, key)):
        rows = slice(number * states.shape[1] + width, number * states.shape[1] + 2 * width)
        matrix = tensors["layers.2.attention.input.weight"][rows]
        spread = np.sqrt(states[at].var() + 1e-5)
        centred = np.eye(len(states[at])) - 1 / len(states[at])
        maps.append(matrix * tensors["layers.2.norm1.weight"] @ centred / spread)
    for pair in pairs.strongest(200):
        one, other = pairs.queries[pair.query], pairs.keys[pair.key]
        if one.kind == other.kind == "feature":
            q = maps[0] @ dictionary.decoder[one.feature] * one.activation
            k = maps[1] @ dictionary.decoder[other.feature] * other.activation
            assert pair.share == pytest.approx(q @ k / np.sqrt(width), abs=1e-6)
            break
    else:
        raise AssertionError("no pair of features")
    assert {part.position for part in pairs.queries} == {query}
    assert {part.kind for part in pairs.keys} == {"feature", "error", "rest"}
    assert sum(part.effect for part in pairs.keys) == pytest.approx(pairs.shares.sum())


@pytest.mark.parametrize(
    "settings",
    [
        {"positions": "rotary", "key_value_heads": 1, "norm_kind": "rms"},
        {"positions": "rotary", "rotary_pairs": "neighbours", "rotary_channels": 4},
        {"positions": "alibi"},
    ],
)
def test_pairs_add_up_with_turned_and_shared_keys(settings):
    small = {"layers": 2, "heads": 2, "width": 16, "context": 12} | settings
    model = build_model("transformer", TransformerConfiguration(**small), 9, seed=1).eval()
    ids = [1, 4, 2, 7, 3, 5]
    random = np.random.default_rng(0)
    encoder, decoder = (random.standard_normal((12, 16)).astype(np.float32) for _ in range(2))
    tap = "layers/0/residual2"
    dictionary = lmviz.Dictionary("topk", tap, encoder, encoder[:, 0], decoder, decoder[0], k=3)
    for head in (0, 1):
        pairs = lmviz.score_pairs(model, ids, dictionary, 1, head, 2)
        scaled = lmviz.trace(model, ids)["layers/1/attention/scaled"].array
        assert pairs.value == pytest.approx(scaled[head, -1, 2], abs=1e-5)
        assert pairs.total == pytest.approx(pairs.value, abs=1e-5)
        assert pairs.has_features
        rest = abs(pairs.shares[-1, -1])
        assert np.abs(pairs.shares).sum() > rest


def test_of_a_layer_before_the_dictionary_there_are_only_words(model):
    pairs = lmviz.score_pairs(model, CLEAN, drawn(model, BEFORE, 2), 0, 0, 3, 8)
    assert not pairs.has_features
    assert {part.kind for part in pairs.queries} == {"word", "rest"}
    assert pairs.total == pytest.approx(pairs.value, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"layer": 3}, "has no layer 3"),
        ({"head": 4}, "There is no head 4"),
        ({"key": 80}, "There is no position 80"),
        ({"key": 9, "query": 3}, "comes after"),
    ],
)
def test_what_is_not_there_is_refused_in_a_sentence(model, arguments, said):
    asked = {"layer": 2, "head": 1, "key": 3} | arguments
    with pytest.raises(LmvizError, match=said):
        lmviz.score_pairs(model, CLEAN, drawn(model, BEFORE, 2), **asked)

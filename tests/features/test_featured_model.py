"""A model with the features of a tap in it: the same model, and every cell of theirs explains itself."""

from __future__ import annotations

import numpy as np
import pytest
from cells import check_operand

import lmviz
from lmviz.features.dictionary import Dictionary
from lmviz.features.featured_model import FeaturedModel, feature_address

TEXT = "Maya owned a brown stone."
PLACES = {"stories-gru": "layers/0/hidden", "stories-transformer": "layers/1/residual2"}


def drawn(model, tap, kind="topk", written="", size=20):
    random = np.random.default_rng(3)
    states = lmviz.trace(model, TEXT)
    width, target = states[tap].shape[1], states[written or tap].shape[1]

    def some(*shape):
        return (random.standard_normal(shape) / 4).astype(np.float32)

    return Dictionary(
        kind=kind,
        tap=tap,
        written=written,
        encoder=some(size, width),
        encoder_bias=some(size),
        decoder=some(size, target),
        decoder_bias=some(target),
        k=4,
        threshold=np.abs(some(size)) if kind == "jumprelu" else None,
        skip=some(target, width) if written else None,
    )


CASES = [
    ("stories-transformer", "layers/1/residual2", "topk", ""),
    ("stories-gru", "layers/0/hidden", "jumprelu", ""),
    ("stories-transformer", "layers/1/norm2", "relu", "layers/1/feedforward/output"),
]


@pytest.mark.parametrize(("name", "tap", "kind", "written"), CASES)
def test_it_says_what_the_model_says_and_every_cell_explains_itself(name, tap, kind, written):
    model = lmviz.open_model(name)
    dictionary = drawn(model, tap, kind, written)
    featured = FeaturedModel(model, dictionary)
    plain, found = lmviz.trace(model, TEXT), lmviz.trace(featured, TEXT)
    np.testing.assert_allclose(found["logits"].array, plain["logits"].array, atol=2e-4)
    on = found[feature_address(dictionary, "activations")].array
    np.testing.assert_allclose(on, dictionary.encode(plain), atol=1e-4)
    for part in ("states", "scores", "activations", "reconstruction", "error"):
        address = feature_address(dictionary, part)
        array = found[address].array
        columns = (0, int(on[-1].argmax())) if array.shape == on.shape else (0, 7)
        for cell in ((1, columns[0]), (len(array) - 1, columns[1])):
            arithmetic = lmviz.explain(featured, found, address, cell)
            assert arithmetic.evaluate() == pytest.approx(float(array[cell]), abs=1e-5), (address, cell)
            for group in arithmetic.terms:
                for factor in group.factors:
                    check_operand(featured, found, factor)


def test_a_feature_that_is_switched_off_leaves_the_error_as_it_was():
    model = lmviz.open_model("stories-transformer")
    dictionary = drawn(model, "layers/1/residual2")
    featured = FeaturedModel(model, dictionary)
    before = lmviz.trace(featured, TEXT)
    address = feature_address(dictionary, "activations")
    feature = int(before[address].array[-1].argmax())
    off = lmviz.zero(address, feature=feature)
    after = lmviz.trace(featured, TEXT, interventions=[off])
    error = feature_address(dictionary, "error")
    np.testing.assert_array_equal(after[error].array, before[error].array)
    taken = before[address].array[:, feature, None] * dictionary.decoder[feature]
    expected = before["layers/1/residual2"].array - taken
    np.testing.assert_allclose(after["layers/1/residual2"].array, expected, atol=1e-5)


@pytest.mark.parametrize("name", PLACES)
def test_gradients_pass_through_features_as_small_changes_show(name):
    model = lmviz.open_model(name)
    dictionary = drawn(model, PLACES[name])
    featured = FeaturedModel(model, dictionary)
    gradient = lmviz.gradient(featured, TEXT)
    address = feature_address(dictionary, "activations")
    array = lmviz.trace(featured, TEXT)[address].array
    feature = int(array[3].argmax())

    def loss(by):
        change = lmviz.add(address, by, position=3, feature=feature)
        return lmviz.gradient(featured, TEXT, interventions=[change]).value

    slope = (loss(0.02) - loss(-0.02)) / 0.04
    assert gradient[address].array[3, feature] == pytest.approx(slope, abs=2e-3, rel=0.02)
    for part in ("scores", "activations", "states", "error"):
        place = feature_address(dictionary, part)
        cell = (3, feature if part in ("scores", "activations") else 5)
        explained = lmviz.explain(featured, gradient, place, cell)
        assert explained.evaluate() == pytest.approx(float(gradient[place].array[cell]), abs=1e-5)

"""The answer as a bill of features, held against sums by hand."""

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.base.places import shipped
from lmviz.features.dictionary import Dictionary

CLEAN = (
    "Maya owned a brown stone. She put it in the barrel. "
    "Later, Maya opened the barrel, and there lay the brown"
)
CHANGED = CLEAN.replace("stone", "bell")
LAST = "layers/2/residual2"


def drawn(model, tap, seed, size=32, k=4):
    """A dictionary with directions drawn at random: a bill must add up with any."""
    random = np.random.default_rng(seed)
    states = lmviz.trace(model, CLEAN)[tap].array
    encoder = (random.standard_normal((size, states.shape[1])) / 8).astype(np.float32)
    mean = states.mean(0)
    return Dictionary(
        "topk",
        tap,
        encoder,
        -encoder @ mean,
        random.standard_normal(encoder.shape).astype(np.float32),
        mean,
        k=k,
    )


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


@pytest.fixture(scope="module")
def contrast():
    return lmviz.contrast(CLEAN, CHANGED, measure="logit: stone- bell")


def test_a_bill_adds_up_and_each_share_is_the_dot_product_with_what_is_read_off(model, contrast):
    dictionary = drawn(model, LAST, 0)
    bill = lmviz.feature_bill(model, contrast, dictionary)
    state = lmviz.trace(model, CLEAN)[LAST].array[-1].astype(np.float64)
    tensors = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    words = [model.tokenizer.id_of(word) for word in ("stone", "bell")]
    read_off = tensors["embedding.weight"][words[0]] - tensors["embedding.weight"][words[1]]
    read_off = read_off * tensors["norm.weight"] / np.sqrt(state.var() + 1e-5)
    read_off = read_off - read_off.mean()
    active = dictionary.encode(state.astype(np.float32)).astype(np.float64)
    assert {row.feature for row in bill.features} == set(np.flatnonzero(active).tolist())
    for row in bill.features:
        expected = active[row.feature] * dictionary.decoder[row.feature].astype(np.float64) @ read_off
        assert row.share == pytest.approx(expected, rel=1e-5, abs=1e-5)
    error = state - active @ dictionary.decoder - dictionary.decoder_bias
    assert bill.errors[0] == pytest.approx(error @ read_off, rel=1e-5, abs=1e-5)
    assert bill.averages[0] == pytest.approx(dictionary.decoder_bias @ read_off, rel=1e-5, abs=1e-5)
    assert bill.total == pytest.approx(bill.value, abs=1e-9)
    assert abs(bill.attribution["rounding"].total) < 1e-5
    logits = lmviz.trace(model, CLEAN)["logits"].array[-1]
    assert bill.value == pytest.approx(float(logits[words[0]] - logits[words[1]]), abs=1e-5)


@pytest.mark.parametrize(
    "taps",
    [
        ("layers/1/residual2",),
        ("layers/0/feedforward/output", "layers/1/feedforward/output", "layers/2/feedforward/output"),
        ("layers/0/residual2", "layers/2/feedforward/output"),
        ("embedding/sum",),
    ],
)
def test_with_any_dictionaries_the_parts_add_up_to_the_measure(model, contrast, taps):
    dictionaries = [drawn(model, tap, seed) for seed, tap in enumerate(taps)]
    bill = lmviz.feature_bill(model, contrast, dictionaries)
    assert bill.total == pytest.approx(bill.value, abs=1e-9)
    assert abs(bill.attribution["rounding"].total) < 1e-5
    plain = lmviz.attribute(model, contrast)
    assert bill.value == plain.value
    for kind in ("head",):  # what is written after the states that are taken apart stays as it is
        later = bill.attribution[kind].array
        np.testing.assert_allclose(later, plain[kind].array[-len(later) :], atol=1e-9)


def test_of_a_recurrent_network_the_state_is_taken_apart():
    model = lmviz.open_model("stories-gru")
    contrast = lmviz.contrast(CLEAN, measure="logit: stone- bell")
    bill = lmviz.feature_bill(model, contrast, drawn(model, "layers/0/hidden", 3))
    assert bill.total == pytest.approx(bill.value, abs=1e-9)
    assert abs(bill.attribution["rounding"].total) < 1e-5
    assert bill.alone is None  # there is no other text


def test_errors_alone_and_features_alone_are_those_of_a_run_with_the_others_kept(model, contrast):
    tap = "layers/1/residual2"
    dictionary = drawn(model, tap, 5, size=200, k=12)
    bill = lmviz.feature_bill(model, contrast, dictionary)
    clean, changed = (lmviz.trace(model, text)[tap].array for text in (CLEAN, CHANGED))
    written = [dictionary.reconstruct(states) for states in (clean, changed)]
    words = [model.tokenizer.id_of(word) for word in ("stone", "bell")]

    def measured(text, *changes):
        logits = lmviz.trace(model, text, interventions=changes)["logits"].array[-1].astype(float)
        return logits[words[0]] - logits[words[1]]

    before, after = measured(CLEAN), measured(CHANGED)
    features = measured(CLEAN, lmviz.replace(tap, written[1] + clean - written[0]))
    errors = measured(CLEAN, lmviz.replace(tap, written[0] + changed - written[1]))
    assert bill.alone.features == pytest.approx((before - features) / (before - after), abs=1e-4)
    assert bill.alone.errors == pytest.approx((before - errors) / (before - after), abs=1e-4)


def test_what_is_no_part_of_the_sum_is_refused_in_a_sentence(model, contrast):
    width = model.configuration.width
    inside = drawn(model, "layers/1/norm2", 7)
    with pytest.raises(LmvizError, match="no part of the sum"):
        lmviz.feature_bill(model, contrast, inside)
    one = drawn(model, LAST, 8)
    with pytest.raises(LmvizError, match="each of other states"):
        lmviz.feature_bill(model, contrast, [one, one])
    with pytest.raises(LmvizError, match="are no features"):
        lmviz.feature_bill(model, contrast, [np.zeros(width)])


@pytest.mark.parametrize("name", ["stories-transformer", "stories-gru"])
def test_with_as_many_features_as_the_dictionary_has_the_curve_is_the_bill(name):
    model = lmviz.open_model(name)
    contrast = lmviz.contrast(CLEAN, f"{CLEAN.rpartition(' ')[0]} red", measure="logit: stone- bell")
    if name == "stories-transformer":
        dictionary = drawn(model, "layers/1/residual2", 5, size=200, k=12)
    else:  # one drawn at random would grow from word to word
        dictionary = lmviz.open_features(shipped("sample_models") / name / "features" / "state.safetensors")
    curve = lmviz.alone_by_size(model, contrast, dictionary, [50_000, 4, dictionary.k])
    assert curve.sizes == (4, dictionary.k, dictionary.size)
    bill = lmviz.feature_bill(model, contrast, dictionary)
    assert curve.features[1] == pytest.approx(bill.alone.features, abs=1e-3)
    assert curve.errors[1] == pytest.approx(bill.alone.errors, abs=1e-3)
    states = lmviz.trace(model, CLEAN)[dictionary.tap].array.astype(np.float64)[1:]
    error = states - dictionary.reconstruct(states.astype(np.float32))
    explained = 1 - (error**2).sum() / ((states - states.mean(0)) ** 2).sum()
    assert curve.explained[1] == pytest.approx(explained, abs=1e-5)
    assert curve.own == dictionary.k


def test_a_curve_needs_a_changed_text(model):
    one = drawn(model, "layers/1/residual2", 8)
    with pytest.raises(LmvizError, match="changed text"):
        lmviz.alone_by_size(model, lmviz.contrast(CLEAN, measure="logit: stone- bell"), one)

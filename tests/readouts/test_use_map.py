"""Where something is read and where it is used: planted in a network, and by plain interventions."""

import itertools

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.readouts.use_map import UseMap, discriminant, use_map

NAMES, THINGS, COLOURS = ("Maya", "Mira", "Nora"), ("stone", "key", "bell", "ring"), ("brown", "green", "red")


def forms(things=THINGS):
    return {
        thing: [
            f"{name} put the {colour} {thing} in the box. Later {name} found the {colour}"
            for name, colour in itertools.product(NAMES, COLOURS)
        ]
        for thing in things
    }


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


@pytest.fixture(scope="module")
def found(model):
    heard: list[float] = []
    made = lmviz.use_map("stories-transformer", forms(), progress=heard.append)
    assert heard == sorted(heard)
    return made


def test_the_thing_is_read_after_it_and_not_before(found: UseMap):
    at = [token.strip() for token in found.tokens].index("stone")
    assert found.varies[at]
    assert found.read[:, :at].max() <= found.shuffled.max() + 0.3
    assert found.read[:, at].min() == 1.0
    assert (found.used[:, :at] < 0.5).all()
    assert found.used[0, at] >= 0.5  # the word itself decides
    assert found.random.max() < 0.5
    assert found.fitted + found.tested == 36
    assert found.majority >= 0.25
    assert found.untrained is not None
    assert found.is_complete
    assert "It is used at" in found.sentence


def test_guessing_is_saying_the_commonest_answer(model):
    """Where nothing can be read, before the answer was said, no more is read than that."""
    texts = forms(THINGS[:2])
    texts[THINGS[1]] = texts[THINGS[1]][:3]
    found = lmviz.use_map(model, texts)
    assert found.majority > 0.5
    assert found.read[:, 0].max() <= found.majority


def test_moving_is_adding_the_difference_of_means_by_an_intervention(model, found: UseMap):
    """One cell of the map again, with a plain intervention for each text."""
    rows = [(text, label) for label, texts in enumerate(forms().values()) for text in texts]
    order = np.random.default_rng(0).permutation(len(rows))
    texts = [rows[at][0] for at in order]
    labels = np.array([rows[at][1] for at in order])
    held, place = found.tested, found.places[1]
    at = len(found.tokens) - 1
    states = np.stack([lmviz.trace(model, text, taps=[place])[place].array[at] for text in texts]).astype(
        float
    )
    means = [states[held:][labels[held:] == label].mean(0) for label in range(4)]
    ids = [model.tokenizer.id_of(f" {thing}") or model.tokenizer.id_of(thing) for thing in THINGS]
    wanted = (labels[:held] + 1) % 4
    follows = []
    for text, own, other in zip(texts[:held], labels[:held], wanted, strict=True):
        move = (means[other] - means[own]).astype(np.float32)
        shares = lmviz.next_token(
            model, text, interventions=[lmviz.add(place, move, position=at)]
        ).probabilities
        follows.append(int(np.argmax(shares[ids])) == other)
    assert found.used[1, at] == pytest.approx(np.mean(follows))


def test_the_discriminant_is_that_of_numpy_alone():
    """Two clouds with one covariance: the border is where the log densities are equal."""
    draw = np.random.default_rng(2)
    rows = np.concatenate([draw.normal(0, 1, (40, 3)), draw.normal(1.5, 1, (60, 3))])
    labels = np.repeat([0, 1], [40, 60])
    told = discriminant(rows, labels, 2)(rows)
    means = [rows[labels == each].mean(0) for each in (0, 1)]
    spread = sum(
        (rows[labels == each] - means[each]).T @ (rows[labels == each] - means[each]) for each in (0, 1)
    )
    inverse = np.linalg.inv(spread / 100)
    densities = [
        -0.5 * np.einsum("ij,jk,ik->i", rows - mean, inverse, rows - mean) + np.log(share)
        for mean, share in zip(means, (0.4, 0.6), strict=True)
    ]
    assert (told == np.argmax(densities, axis=0)).mean() > 0.98  # all but the ridge


def test_what_cannot_be_mapped_is_said(model):
    with pytest.raises(LmvizError, match="as many in each"):
        list(use_map(model, {"stone": ["Maya put"] * 20, "bell": ["Maya put the"] * 20}))
    with pytest.raises(LmvizError, match="not one token"):
        list(use_map(model, {"stone": ["Maya put"] * 20, "qqxyz": ["Maya put"] * 20}))
    with pytest.raises(LmvizError, match="too few"):
        list(use_map(model, {"stone": ["Maya put"] * 2, "bell": ["Maya put"] * 2}))
    with pytest.raises(LmvizError, match="neither a wanted word"):
        lmviz.use_map(model, lmviz.text_set(["Maya put", "Maya took"]))
    for other, sentence in (
        ("twin-transformer", "reads a source beside its text"),
        ("ambiguous-gru-both", "continues no text"),
    ):
        with pytest.raises(LmvizError, match=sentence):
            lmviz.use_map(other, forms())


def test_of_texts_longer_than_the_context_the_end_is_read(model, monkeypatch):
    short = {thing: [f"Maya put {thing} {name}" for name in NAMES] * 4 for thing in ("stone", "bell")}
    *_, whole = use_map(model, short)
    monkeypatch.setattr(model, "context", len(whole.tokens))
    *_, cut = use_map(model, {thing: [f"Later {text}" for text in texts] for thing, texts in short.items()})
    assert len(cut.tokens) == len(whole.tokens)
    assert cut.tokens[1:] == whole.tokens[1:]  # one more word stands before, and START no more


def test_only_the_same_network_is_one_before_its_training(model):
    texts = ["Maya put the stone in the box", "Mira took the bell out"] * 4
    for ask, given in ((lmviz.probe_number, (texts,)), (lmviz.use_map, (forms(),))):
        with pytest.raises(LmvizError, match="before its training"):
            ask(model, *given, untrained="stories-lstm")

"""Numbers read off states, and labels of marked words: against plain computations, and what they claim."""

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.inspection.tracing import trace
from lmviz.readouts.labelled import OTHERS, read_marked
from lmviz.readouts.number_probe import fit_ridge
from lmviz.readouts.numbered import read_numbered

NAMES, THINGS = ("Maya", "Nora", "Leo", "Felix"), ("stone", "key", "bell", "coin", "drum")
TEXTS = [
    f"{name} put the {thing} in the box. Then {name} went home and ate the bread."
    for name in NAMES
    for thing in THINGS
]


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


def test_the_ridge_is_where_the_objective_has_its_minimum():
    draw = np.random.default_rng(0)
    states = draw.normal(size=(60, 4)) * [1, 3, 0.1, 1] + 4
    numbers = states @ [1.0, 0, -5, 2] + draw.normal(size=60)
    weights, bias = fit_ridge(states, numbers, strength=0.2)
    deviation = states.std(0)
    rows = (states - states.mean(0)) / deviation
    left = states @ weights + bias - numbers
    assert rows.T @ left + weights * deviation / 0.2 == pytest.approx(np.zeros(4), abs=1e-8)
    assert left.sum() == pytest.approx(0, abs=1e-8)


def test_the_position_is_read_and_the_untrained_network_has_it_too(model):
    found = lmviz.probe_number("stories-transformer", TEXTS, "position", strength=10)
    assert found.addresses[0] == "embedding/sum"
    assert found.explained[0] > 0.95
    assert found.untrained[0] > 0.9
    assert found.position is None
    assert (found.low <= found.explained).all()
    assert (found.explained <= found.high).all()
    along = found.direction("layers/0/residual2")
    states = trace(model, TEXTS[0])["layers/0/residual2"].array
    read = found.weights[found.addresses.index("layers/0/residual2")]
    moved = (states + along.length * along.vector) @ read - states @ read
    assert moved == pytest.approx(np.ones(len(states)), abs=1e-3)  # by 1 each


def test_the_explained_share_is_that_of_texts_held_out(model):
    """R² by hand: the probe fitted to the places of three quarters of the texts, as they were drawn."""
    numbered = read_numbered(model, TEXTS, "count: the", seed=3)
    from lmviz.readouts.number_probe import probe_number

    found = probe_number(model, numbered, ["layers/1/residual2"], seed=3)
    order = np.random.default_rng(3).permutation(len(TEXTS))
    held = [numbered.texts[at] for at in order[:5]]
    states = np.concatenate([trace(model, text.ids)["layers/1/residual2"].array for text in held])
    wanted = np.concatenate([text.numbers for text in held])
    rest = [numbered.texts[at] for at in order[5:]]
    known = np.concatenate([trace(model, text.ids)["layers/1/residual2"].array for text in rest])
    weights, bias = fit_ridge(known.astype(np.float64), np.concatenate([text.numbers for text in rest]))
    left = wanted - states @ weights - bias
    assert found.explained[0] == pytest.approx(
        1 - (left**2).sum() / ((wanted - wanted.mean()) ** 2).sum(), abs=1e-4
    )
    assert found.position > 0.5  # the count rises with the position
    assert found.words < found.position + 0.5
    assert "control" in found.sentence


def test_numbers_are_counted_as_they_are_read(model):
    [text] = read_numbered(model, ["the dog saw the cat"], "count: the").texts
    said = dict(zip(text.words, text.numbers, strict=True))
    assert (said["dog"], said["cat"]) == (1, 2)
    gru = lmviz.open_model("stories-gru")
    deep = read_numbered(gru, ["( ( dog ) cat )"], lambda tokens: [len(token) for token in tokens])
    assert deep.what == "<lambda>"
    with pytest.raises(LmvizError, match="number for each"):
        read_numbered(model, TEXTS, lambda tokens: [1.0])
    with pytest.raises(LmvizError, match="same at all"):
        read_numbered(model, TEXTS, "depth")
    with pytest.raises(LmvizError, match="no number"):
        read_numbered(model, TEXTS, "colour")


def test_the_depth_of_brackets_rises_and_falls(monkeypatch):
    from lmviz.readouts.numbered import _numbers

    assert _numbers("depth", ["(", "(a", ")", " ]", "x"]).tolist() == [1, 2, 1, 0, 0]


def test_marked_words_are_read_at_their_ends_beside_as_many_others(model):
    found = read_marked(model, TEXTS, ["the box", "bread"])
    assert found.names == ("the box", "bread", OTHERS)
    for text in found.texts:
        own = {text.words[at] for at in np.flatnonzero(text.labels < 2)}
        assert own == {"box", "bread"}
        assert (text.labels == 2).sum() == 2
    before = read_marked(model, TEXTS, ["bread"], side="before")
    assert {text.words[at] for text in before.texts for at in np.flatnonzero(text.labels == 0)} == {"the"}
    probes = lmviz.probe(model, TEXTS, ["embedding/sum"], marked=["bread"])
    assert probes.accuracy.max() == 1.0  # a word says itself, in an untrained network too
    assert probes.sentence.startswith("Nothing is read here")
    for wrong in ({"marked": ["zebra"]}, {"marked": []}, {"marked": ["box"], "side": "near"}):
        with pytest.raises(LmvizError):
            lmviz.probe(model, TEXTS, **wrong)

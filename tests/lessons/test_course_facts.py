"""What lessons say of the sample models and no value of the lesson language can check."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import lmviz
from lmviz.autodiff import read, shipped_network
from lmviz.base.places import shipped
from lmviz.inspection.class_readings import read_beginnings
from lmviz.inspection.held_words import held_words
from lmviz.inspection.reach import reach, state_address
from lmviz.lessons.faults import NotKnown
from lmviz.lessons.values import look_up
from lmviz.models.prefix import read_prefix

PAGE = Path(__file__).parents[2] / "docs" / "quality-by-length.md"
LESSONS = Path(__file__).parents[2] / "resources" / "lessons"

HIDDEN_STONE = (
    "Maya put the brown stone in the barrel. Later, Maya opened the barrel, and there lay the brown"
)

CONTAINERS = (
    *("drawer", "box", "basket", "chest", "cupboard", "jar", "bag", "trunk", "sack", "tin", "barrel"),
    *("suitcase", "desk", "wardrobe"),
)
COLOURS = ("red", "blue", "green", "brown", "golden", "violet", "white", "black", "silver", "purple", "grey")

LSTM_AND_RNN = {"LSTM": 0.9, "RNN": 0.7}


def settled(**members):
    """A situation with these members, in which nothing is on its way."""
    return SimpleNamespace(coming=lambda source: "", **members)


@pytest.mark.parametrize(
    ("factors", "furthest"),
    [(LSTM_AND_RNN, "LSTM"), ({"LSTM": 0.7, "RNN": 0.9}, "RNN"), ({**LSTM_AND_RNN, "GRU": np.nan}, "LSTM")],
)
def test_which_gradient_reaches_furthest_is_asked_of_the_models(factors, furthest):
    now = settled(gradient_factors=factors)
    assert look_up(now, "furthest_reaching", []) == furthest
    assert look_up(now, "gradient_factor", ["rnn"]) == factors["RNN"]


@pytest.mark.parametrize(
    ("name", "arguments", "factors", "words"),
    [
        ("furthest_reaching", [], {}, "No gradient has gone back"),
        ("furthest_reaching", [], {"LSTM": 0.9}, "compare it with another"),
        ("gradient_factor", ["GRU"], LSTM_AND_RNN, "there are LSTM, RNN"),
    ],
)
def test_no_gradient_is_answered_where_none_was_taken(name, arguments, factors, words):
    with pytest.raises(NotKnown, match=words):
        look_up(settled(gradient_factors=factors), name, arguments)


def test_the_gradient_reaches_further_along_the_cell_of_an_lstm():
    factors = {}
    for name in ("stories-lstm", "stories-rnn"):
        model = lmviz.open_model(name)
        found = lmviz.gradient(model, HIDDEN_STONE, "loss@-1")
        factors[name] = reach(found, state_address(model)).factor
    assert factors["stories-rnn"] < factors["stories-lstm"] < 1


def test_an_early_word_has_passed_many_gates():
    trace = lmviz.trace(
        lmviz.open_model("stories-lstm"), "One day, she put the brown stone in the barrel under the bed."
    )
    shares = dict(zip(trace.tokens, held_words(trace).shares, strict=True))
    assert shares["One"] < max(shares.values())


def test_where_the_review_turns():
    model = lmviz.open_model("reviews-lstm")
    read = read_prefix(model, "the film was good but the story was bad END")
    good = read_beginnings(model, read.ids)[:, model.predicts.names.index("good")]
    falls = dict(zip(read.tokens[1:], np.diff(good), strict=True))
    assert min(falls, key=falls.get) == "bad"
    assert good[-3] > 0.5 > good[-2] > good[-1]  # at “was”, “bad” and END


def test_another_source_of_lesson_11_has_another_translation():
    lesson = (LESSONS / "11-two-sequences.md").read_text("utf-8")
    first, second = (re.search(begin + r"(this [a-z ]+)", lesson)[1] for begin in ("open: source ", "type “"))
    model = lmviz.open_model("twin-gru-long")
    likeliest = [lmviz.next_token(model, "cette souris", source=text).best for text in (first, second)]
    assert likeliest[0] != likeliest[1]


def test_where_every_gradient_starts_at_1_that_of_beta_is_off_by_z_plus_1():
    """Lesson 7: the rows of the Jacobian of softmax sum to 0, but b and β themselves begin at 1, too."""
    net = read(shipped_network("lecture").text).backward()
    y_hat, y, z = (np.asarray(net[name].value).ravel() for name in ("ŷ", "y", "z"))
    of_y_hat = 1 - y / y_hat
    of_b = 1 + (np.diag(y_hat) - np.outer(y_hat, y_hat)) @ of_y_hat
    off = 1 + np.outer(of_b, z) - net["β"].gradient
    assert np.allclose(off, z + 1)
    step = next(
        step for step in (LESSONS / "07-autodiff.md").read_text("utf-8").split("## ") if "slide" in step
    )
    assert re.search(r"^answer: .* off by z \+ 1$", step, re.MULTILINE)


def test_what_a_panel_draws_is_told_once_it_is_there():
    shares = np.array([[0.1, -0.9, 0.2], [0.4, np.nan, 0.0]])
    now = settled(drawn=lambda panel: {"share": shares} if panel == "patching_view" else {})
    assert look_up(now, "drawn", ["patching_view", "share", 0.0, 2.0]) == 0.2
    assert look_up(now, "drawn", ["patching_view", "share", -1.0, 0.0]) == 0.4
    assert look_up(now, "strongest", ["patching_view", "share", 0.0]) == 1
    for name, arguments, words in (
        ("drawn", ["circuit_view", "share", 0.0, 0.0], "draws no 'share'"),
        ("drawn", ["patching_view", "estimate", 0.0, 0.0], "draws no 'estimate'"),
        ("drawn", ["patching_view", "share", 0.0], "has 2 axes: give 2"),
        ("drawn", ["patching_view", "share", 2.0, 0.0], "no such number"),
        ("drawn", ["patching_view", "share", 1.0, 1.0], "has not measured all"),
        ("strongest", ["patching_view", "share", 1.0], "has not measured all"),
        ("strongest", ["patching_view", "share", "map"], "give 1"),
    ):
        with pytest.raises(NotKnown, match=words):
            look_up(now, name, arguments)


def test_a_circuit_of_two_heads_repeats_and_attention_alone_does_not_say_which():
    """Lesson 15: head 1·4 looks at the word before more clearly, and 1·2 tells what stood there."""
    lesson = (LESSONS / "15-which-part.md").read_text("utf-8")
    text = re.search(r"until: prefix is (.+ queen)\n", lesson)[1]
    hat, lamp = (re.search(f"until: .* is (chair .*{word}.*)\n", lesson)[1] for word in (" hat", " lamp"))
    heads = "layers/*/attention/heads"
    for changed, found in ((hat, {(1, 2)}), (lamp, {(0, 1), (1, 2)})):
        shares = lmviz.patch("echo-transformer", lmviz.contrast(text, changed), heads).array
        assert {tuple(at) for at in np.argwhere(np.abs(shares) > 0.5).tolist()} == found
        assert shares[1, 2] > 0.8
    circuit = lmviz.circuit("echo-transformer", lmviz.contrast(text, lamp), keep=2)
    assert {(part.layer, part.number, part.position) for part in circuit.parts} == {(0, 1, 4), (1, 2, 9)}
    assert circuit.kept > 0.9
    weights = lmviz.trace("echo-transformer", text)["layers/0/attention/weights"].array[:, 4, 3]
    assert weights[3] > 0.9 > 0.5 > weights[1]


@pytest.mark.parametrize("words", [5, 15, 25])
def test_the_quality_that_lesson_11_states_is_that_of_the_page(words):
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    means = [float(cell.split()[0]) for cell in dict(rows)[str(words)].split("|")]
    stated = {5: [99, 100], 15: [33, 96], 25: [16, 47, 18, 100]}[words]
    assert [round(mean) for mean in means[: len(stated)]] == stated


@pytest.mark.slow
def test_the_feature_of_lesson_18_is_that_of_its_task_and_raises_the_containers_alone():
    """Its task asks for one by its number, which the student finds by its words."""
    lesson = (LESSONS / "18-features.md").read_text("utf-8")
    feature = int(re.search(r"until: feature = (\d+)", lesson)[1])
    text = re.search(r"until: prefix is (.+ opened the)\n", lesson)[1]
    kept = shipped("sample_models") / "stories-transformer" / "features"
    model, dictionary = (
        lmviz.open_model("stories-transformer"),
        lmviz.open_features(kept / "after-layer-2.safetensors"),
    )
    on = np.flatnonzero(dictionary.encode(lmviz.trace(model, text))[-1])
    assert feature in on
    assert len(on) == int(re.search(r"wrong: (\d+)\nreply: So many features are on", lesson)[1])
    reading = lmviz.read_features(model, dictionary, lmviz.load_corpus("stories"), tokens=8000)
    written = lmviz.written_words(model, reading, feature)
    assert {word for word, _ in written.top(written.group)} == {*CONTAINERS}
    likeliest = lmviz.turn_feature(model, dictionary, feature, text, [0]).probabilities[0].argmax()
    assert model.tokenizer.token(int(likeliest)) in COLOURS


def test_another_seed_finds_few_of_the_features_of_lesson_18_again():
    kept = shipped("sample_models") / "stories-transformer" / "features"
    one, other = (
        lmviz.open_features(kept / f"{name}.safetensors")
        for name in ("after-layer-2", "second-seed-after-layer-2")
    )
    assert (one.tap, one.size, one.k, one.tokens) == (other.tap, other.size, other.k, other.tokens)
    assert one.seed != other.seed
    assert other.worth.variance_explained == pytest.approx(one.worth.variance_explained, abs=0.02)
    matched = lmviz.match_features(one, other)
    assert 0 < matched.share(0.9) < 0.1
    assert matched.cosines[443] >= 0.9  # one of the few, as its explanation says

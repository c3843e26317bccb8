"""Probes with their controls, and directions: what they claim, and what they do to a model."""

import itertools

import numpy as np
import pytest
import torch
from small_models import shaken

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.tracing import trace
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.labelled import LabelledText, LabelledTexts, read_labelled
from lmviz.readouts.linear_probe import fit_probe
from lmviz.readouts.probing import probe
from lmviz.text.corpus import text_corpus

THINGS = ("stone", "key", "button", "coin", "bell", "ring", "needle", "drum")
BOXES = ("barrel", "drawer", "box", "basket", "chest", "cupboard")


def stories(first: str, second: str) -> dict[str, list[str]]:
    """Stories that differ in a colour, and end alike."""
    return {
        colour: [
            f"{name} put the {colour} {thing} in the {box}."
            for name, thing, box in itertools.product(("Maya", "Nora"), THINGS, BOXES)
        ]
        for colour in (first, second)
    }


def test_a_probe_is_where_the_objective_has_its_minimum():
    """The gradient of the sum of losses and the ridge, by numpy, over standardised states; it is convex."""
    draw = np.random.default_rng(0)
    states = draw.normal(size=(80, 5)) * [1, 3, 0.1, 1, 2] + 4
    labels = (states @ draw.normal(size=(5, 3))).argmax(1)
    found = fit_probe(states, labels, 3, strength=0.5)
    deviation = states.std(0)
    rows = (states - states.mean(0)) / deviation
    weights = found.weights * deviation
    scores = states @ found.weights.T + found.biases
    shares = np.exp(scores - scores.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    missed = shares - np.eye(3)[labels]
    assert missed.T @ rows + weights / 0.5 == pytest.approx(np.zeros((3, 5)), abs=1e-3)
    assert missed.sum(0) == pytest.approx(np.zeros(3), abs=1e-3)
    assert np.array_equal(found.answers(states), shares.argmax(1))


def test_what_only_another_word_has_is_read_after_attention_and_not_before():
    found = lmviz.probe("stories-transformer", stories("brown", "green"))
    first, *later = found.accuracy
    assert found.addresses[0] == "embedding/sum"
    assert first < 0.65  # the last word is a full stop in all of them
    assert min(later) > 0.9
    assert found.words == 1.0  # a bag of words has the colour as well
    assert found.gap.max() <= 0

    told = lmviz.trace("stories-transformer", "Maya put the brown key in the box.")
    read = found.read(told, [-1])
    assert read.positions == (len(told) - 1,)
    assert read.shares.sum(-1) == pytest.approx(np.ones((len(found.addresses), 1)))
    assert [found.names[label] for label in read.likeliest[1:, 0]] == ["brown"] * (len(found.addresses) - 1)
    with pytest.raises(LmvizError, match="no position 99"):
        found.read(told, [99])
    with pytest.raises(LmvizError, match="channels of embedding/sum"):
        found.read(lmviz.trace("shakespeare-transformer", "Maya"))
    assert found.sentence.startswith("Nothing is read here that a control does not read as well")
    assert (found.low <= found.accuracy).all()
    assert (found.accuracy <= found.high).all()
    assert found.shuffled.mean() < 0.75
    assert found.untrained is not None


def planted(place: int, read: int, count: int = 240) -> LabelledTexts:
    """Texts of five tokens; their label is a bit that the token at one place has, to be read at another."""
    draw, texts = np.random.default_rng(4), []
    for number in range(count):
        ids, bit = draw.integers(3, 7, 5), int(draw.integers(2))
        ids[place] = 1 + bit
        texts.append(LabelledText(ids, np.array([read]), np.array([bit]), (f"text {number}",)))
    return LabelledTexts(tuple(texts), ("no", "yes"), of_texts=True)


def test_a_bit_that_one_layer_writes_is_found_there_and_not_before():
    """The bit is in the first word, and it is read at the last: only the second layer carries it there."""
    model = shaken("transformer", layers=3, width=16)
    with torch.no_grad():
        model.tensors()["layers.0.attention.output.weight"].zero_()
        model.tensors()["layers.1.attention.input.weight"][:32].zero_()  # it looks at all words alike
    found = probe(model, planted(0, 4))
    read = dict(zip(found.addresses, zip(found.low, found.accuracy, found.high, strict=True), strict=True))
    for before in ("embedding/sum", "layers/0/residual2"):
        assert read[before][0] < 0.5 < read[before][2]  # chance is within its band
    for after in ("layers/1/residual2", "layers/2/residual2"):
        assert read[after][1] > 0.9
    band = 2 * np.sqrt(0.25 / found.tested)
    assert found.shuffled == pytest.approx(np.full(4, 0.5), abs=band)
    assert place_in_words("layers/1/residual2") in found.sentence


def test_each_side_of_a_two_way_network_has_what_it_has_read():
    """A bit of a later word: only the side that has come from the end knows it."""
    model = shaken("gru", layers=1, direction="both")
    found = probe(model, planted(4, 2), ["layers/0/*/hidden", "layers/0/joined"])
    read = dict(zip(found.addresses, found.accuracy, strict=True))
    assert read["layers/0/backward/hidden"] > 0.9
    assert read["layers/0/joined"] > 0.9
    assert read["layers/0/forward/hidden"] < 0.65


def test_tags_are_read_word_by_word_and_random_labels_by_word_type():
    text = "the\tD\ndog\tN\nruns\tV\n\na\tD\ncat\tN\nsees\tV\nthe\tD\ndog\tN\n\n" * 20
    tagged = text_corpus(text, task="tagging")
    model = lmviz.open_model("stories-transformer")
    labelled = read_labelled(model, tagged)
    assert not labelled.of_texts
    assert set(labelled.names) == {"D", "N", "V"}
    assert {word for one in labelled.texts for word in one.words} == {
        "the",
        "dog",
        "runs",
        "a",
        "cat",
        "sees",
    }
    found = probe(model, labelled)
    assert found.words == 1.0
    assert found.seen == 1.0
    assert found.accuracy[0] == 1.0


def test_a_direction_adds_what_it_says_and_removing_leaves_nothing_along_it():
    model = lmviz.open_model("stories-transformer")
    texts = stories("brown", "green")
    tap = "layers/1/residual2"
    found = lmviz.direction(model, texts["brown"][:20], texts["green"][:20], tap)
    assert np.linalg.norm(found.vector) == pytest.approx(1, abs=1e-6)
    means = [
        np.mean([trace(model, text)[tap].array[-1] for text in texts[colour][:20]], axis=0)
        for colour in ("brown", "green")
    ]
    assert found.length * found.vector == pytest.approx(means[0] - means[1], abs=1e-4)

    text = texts["green"][30]
    before = trace(model, text)[tap].array
    after = trace(model, text, interventions=[found.add(0.5, position=-1)])[tap].array
    assert after[-1] - before[-1] == pytest.approx(0.5 * found.length * found.vector, abs=1e-5)
    assert after[:-1] == pytest.approx(before[:-1], abs=1e-6)
    removed = trace(model, text, interventions=[found.remove()])[tap].array
    assert found.along(removed) == pytest.approx(np.zeros(len(removed)), abs=1e-5)
    other = found.random_like(3)
    swapped = trace(model, text, interventions=[found.swap(other)])[tap].array
    pair = np.stack([found.vector, other.vector])
    inverse = np.linalg.pinv(pair)
    assert swapped @ inverse == pytest.approx((before @ inverse)[:, ::-1], abs=1e-4)
    assert abs(found.cosine(other)) < 0.5


@pytest.mark.parametrize("name", ["stories-gru", "stories-lstm", "stories-transformer"])
def test_a_word_s_own_direction_raises_that_word_in_every_family(name):
    """Against a plain reading: the output layer applied to the direction."""
    model = lmviz.open_model(name)
    last = lmviz.trace(model, "Maya put")
    tap = "norm" if "norm" in last.arrays else "layers/0/hidden"
    token = model.tokenizer.id_of("barrel")
    matrix = model.tensors().get("output.weight", model.tensors()["embedding.weight"]).numpy()
    found = StateDirection.of(tap, matrix[token], "unembedding of barrel")
    (word, rise), *_ = found.words(model, 3)
    assert word.strip() == "barrel"
    assert rise == pytest.approx(np.linalg.norm(matrix[token]), rel=1e-5)
    changed = lmviz.trace(model, "Maya put", interventions=[found.add(1.0, position=-1)])
    moved = changed["logits"].array[-1, token] - last["logits"].array[-1, token]
    assert moved == pytest.approx(float(matrix[token] @ matrix[token]), rel=1e-3)


def test_a_probe_gives_the_direction_that_it_reads():
    model = lmviz.open_model("stories-transformer")
    texts = stories("brown", "green")
    found = lmviz.probe(model, texts, ["layers/1/residual2"])
    along = found.direction("layers/1/residual2", "brown")
    read = {
        colour: np.mean(
            [along.along(trace(model, text)["layers/1/residual2"].array[-1]) for text in some[:20]]
        )
        for colour, some in texts.items()
    }
    assert read["brown"] > read["green"]
    with pytest.raises(LmvizError, match="no label 'red'"):
        found.direction("layers/1/residual2", "red")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"one": ["The dog."] * 8}, "same label"),
        ({"one": ["The dog."], "two": ["The cat."]}, "too few"),
        ("stories", "has no labels"),
    ],
)
def test_what_cannot_be_probed_says_so(given, said):
    with pytest.raises(LmvizError, match=said):
        lmviz.probe("stories-transformer", given)


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: lmviz.probe(model, {"one": ["the cows eat"] * 8, "two": ["the hens eat"] * 8}),
        lambda model: lmviz.probe_number(model, ["the cows eat", "the hens eat"] * 8),
        lambda model: lmviz.use_map(model, {"hay": ["the cows eat"] * 8, "corn": ["the hens eat"] * 8}),
        lambda model: lmviz.head_words(model, 1, 0),
        lambda model: lmviz.compositions(model),
    ],
)
def test_of_weights_that_are_no_numbers_nothing_is_fitted(farm_run, ask):
    model = lmviz.open_model(farm_run.folder)
    with torch.no_grad():
        dict(model.named_parameters())["layers.1.attention.input.weight"].fill_(float("nan"))
    with pytest.raises(LmvizError, match=r"NaN or infinity in layers\.1\.attention\.input\.weight"):
        ask(model)

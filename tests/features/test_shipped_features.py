"""The features that come with the Transformer of stories, and what is told of them."""

import re

import pytest

import lmviz
from lmviz.base.places import shipped

FOLDER = shipped("sample_models") / "stories-transformer" / "features"
TEXT = "Maya owned a brown stone. She put it in the barrel. Later, Maya opened the"
CONTAINERS = [
    "drawer",
    "box",
    "basket",
    "chest",
    "cupboard",
    "jar",
    "bag",
    "trunk",
    "sack",
    "tin",
    "barrel",
    "suitcase",
    "desk",
    "wardrobe",
]


@pytest.fixture(scope="module")
def dictionary():
    return lmviz.open_features(FOLDER / "after-layer-2.safetensors")


@pytest.mark.parametrize("name", ["after-layer-2", "feed-forward-1", "feed-forward-2", "feed-forward-3"])
def test_the_card_says_what_the_files_say(name):
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    [row] = [line for line in card.splitlines() if line.startswith(f"| `{name}`")]
    explained, reconstructed, mean = (float(number) for number in re.findall(r"\b\d+\.\d+", row))
    worth = lmviz.open_features(FOLDER / f"{name}.safetensors").worth
    assert explained == pytest.approx(100 * worth.variance_explained, abs=0.05)
    assert reconstructed == pytest.approx(worth.loss_reconstructed, abs=5e-4)
    assert mean == pytest.approx(worth.loss_mean, abs=5e-4)
    assert worth.loss == pytest.approx(0.853, abs=5e-4)
    assert worth.silent == 0


def test_they_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4_000_000


def test_the_errors_of_the_feed_forward_layers_carry_more_of_the_answer_than_their_features():
    """What the card says, and why no bill is without its errors."""
    model = lmviz.open_model("stories-transformer")
    dictionaries = [lmviz.open_features(FOLDER / f"feed-forward-{layer}.safetensors") for layer in (1, 2, 3)]
    story = f"{TEXT} barrel, and there lay the brown"
    contrast = lmviz.contrast(story, story.replace("stone", "bell"), measure="logit: stone- bell")
    bill = lmviz.feature_bill(model, contrast, dictionaries)
    assert bill.total == pytest.approx(bill.value, abs=1e-9)
    assert abs(bill.attribution["rounding"].total) < 1e-5
    assert bill.errors.sum() > bill.explained > 0
    assert bill.alone.errors > bill.alone.features > 0


def test_the_feature_of_the_card_raises_the_containers_and_they_fall_without_it(dictionary):
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    feature = int(re.search(r"feature (\d+)", card)[1])
    before, after = map(float, re.search(r"from ([\d.]+) % to ([\d.]+) %", card).groups())
    model = lmviz.open_model("stories-transformer")
    ids = [model.tokenizer.id_of(word) for word in CONTAINERS]
    found = lmviz.turn_feature(model, dictionary, feature, TEXT, [0, 1]).share(ids)
    assert 100 * found == pytest.approx([after, before], abs=0.06)


def test_no_feature_of_the_gru_remembers():
    """What its card says: a sparse feature of the state is of the present word."""
    card = (FOLDER.parents[1] / "stories-gru" / "features" / "card.md").read_text(encoding="utf-8")
    dictionary = lmviz.open_features(FOLDER.parents[1] / "stories-gru" / "features" / "state.safetensors")
    assert f"{100 * dictionary.worth.variance_explained:.1f} %" in card
    assert f"{dictionary.worth.loss_reconstructed:.3f} nats" in card
    texts = [f"{TEXT} barrel.", f"{TEXT} drawer.".replace("Maya", "Tobin").replace("stone", "bell")]
    found = lmviz.staying_features("stories-gru", dictionary, texts)
    assert found.still[0] < 0.15
    assert found.longest[found.best] < 6

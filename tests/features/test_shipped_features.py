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
    return lmviz.open_features(FOLDER / "stream-after-layer-2.safetensors")


def test_the_card_says_what_the_file_says(dictionary):
    card, worth = (FOLDER / "card.md").read_text(encoding="utf-8"), dictionary.worth
    told = dict(re.findall(r"^\| ([a-z ]+) \| ([\d.]+) ", card, flags=re.MULTILINE))
    assert float(told["variance explained"]) == pytest.approx(100 * worth.variance_explained, abs=0.05)
    assert float(told["loss of the model"]) == pytest.approx(worth.loss, abs=5e-4)
    assert float(told["with the features in place of the state"]) == pytest.approx(
        worth.loss_reconstructed, abs=5e-4
    )
    assert float(told["with the mean state in its place"]) == pytest.approx(worth.loss_mean, abs=5e-4)
    assert int(told["never on"]) == worth.silent
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4_000_000


def test_the_feature_of_the_card_raises_the_containers_and_they_fall_without_it(dictionary):
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    feature = int(re.search(r"feature (\d+)", card)[1])
    before, after = map(float, re.search(r"from ([\d.]+) % to ([\d.]+) %", card).groups())
    model = lmviz.open_model("stories-transformer")
    ids = [model.tokenizer.id_of(word) for word in CONTAINERS]
    found = lmviz.turn_feature(model, dictionary, feature, TEXT, [0, 1]).share(ids)
    assert 100 * found == pytest.approx([after, before], abs=0.06)

"""The lines of Python that reproduce what a run shows over its training do reproduce it."""

import pytest

import lmviz
from lmviz.inspection.recipes import run as recipes
from lmviz.training.run import Run

SETTINGS = {"tokenizer": "words", "validation": 0.25}


@pytest.fixture(scope="module")
def trained(small_text, tmp_path_factory):
    """A small model that has learned for six steps."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    corpus = lmviz.load_corpus(str(small_text), **SETTINGS)
    lmviz.train("rnn", corpus, folder, steps=6, width=8, snapshots=3, validate_every=3, batch=2, device="cpu")
    return folder


def run(source):
    found = {}
    exec(source, found)
    return found


def test_curves(trained):
    folder = str(trained)
    found = run(recipes.curves_recipe([folder]))["curves"]
    lines = Run.open(folder).metrics()
    assert set(found) == {folder}
    assert found[folder]["loss"] == [(line["step"], line["loss"]) for line in lines if "loss" in line]
    assert [step for step, _ in found[folder]["validation_loss"]] == [0, 3, 6]
    [rates] = run(recipes.curves_recipe([folder], ["learning_rate"]))["curves"][folder].values()
    assert rates == [(line["step"], line["learning_rate"]) for line in lines if "learning_rate" in line]


def test_scores(trained, small_text):
    found = run(
        recipes.scores_recipe([str(small_text)], SETTINGS, [(str(trained), 0, ()), (str(trained), 6, ())])
    )
    first, last = (score.negative_log_likelihood for score in found["scores"])
    metrics = {line["step"]: line.get("validation_loss") for line in Run.open(trained).metrics()}
    assert first == pytest.approx(metrics[0], abs=0.1)
    assert last < first


def test_probabilities_over_time(trained):
    steps = Run.open(trained).snapshots()
    found = run(recipes.over_time_recipe(str(trained), "The cow", steps))["probabilities"]
    assert list(found) == steps
    for step, probabilities in found.items():
        expected = lmviz.next_token(lmviz.open_model(trained, step=step), "The cow").probabilities
        assert probabilities.tolist() == expected.tolist()

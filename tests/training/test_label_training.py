"""Training taggers and classifiers: the lecture's figures, and resuming."""

import math
from pathlib import Path

import pytest
import torch
from covering import others_slow, parametrize_few

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.training.run import Run

SENTENCES = "the/d cat/n runs/v\nthe/d old/n man/v the/d boats/n\nthe/d old/a man/n runs/v\ncats/n run/v\n"
REVIEWS = "good\ta fine film END\nbad\ta dull film END\ngood\tnot dull END\nbad\tnot fine at all END\n"


@pytest.fixture
def tagged(tmp_path: Path):
    path = tmp_path / "tagged.txt"
    path.write_text(SENTENCES * 5, encoding="utf-8")
    return lmviz.load_corpus(path)


@pytest.fixture
def reviews(tmp_path: Path):
    path = tmp_path / "reviews.tsv"
    path.write_text(REVIEWS * 5, encoding="utf-8")
    return lmviz.load_corpus(path)


def last(run: Run, name: str) -> float:
    return next(line[name] for line in reversed(run.metrics()) if name in line)


def losses(run: Run) -> float:
    """The mean loss of the last ten batches."""
    return sum(line["loss"] for line in run.metrics()[-10:]) / 10


@pytest.mark.parametrize(
    "family", others_slow(["rnn", "lstm", "gru", "window", "transformer"], "gru", "window")
)
def test_a_tagger_learns_and_its_run_says_what_it_learned(tagged, tmp_path, family):
    options = {"window": {}, "transformer": {"causal": False, "layers": 1}}
    direction = options.get(family, {"direction": "both"})
    run = lmviz.train(
        family, tagged, tmp_path / "run", steps=60, batch=4, width=12, learning_rate=0.02, **direction
    )
    again = Run.open(run.folder).description
    assert (again.task, again.labels) == ("tagging", tagged.labels)
    assert again.options.sampling == "sentences"
    assert losses(run) < 0.5 * math.log(4)
    assert 0 <= last(run, "validation_accuracy") <= 1
    model = lmviz.open_model(run.folder)
    assert model.predicts.names == again.labels
    assert lmviz.trace(model, "the cat runs").names("label") == again.labels


@pytest.mark.parametrize("pooling", others_slow(["last", "mean", "attention"], "attention"))
def test_a_classifier_learns_whichever_way_it_pools(reviews, tmp_path, pooling):
    settings = {"steps": 60, "batch": 4, "width": 12, "learning_rate": 0.02, "pooling": pooling}
    run = lmviz.train("gru", reviews, tmp_path / "run", **settings)
    assert run.description.task == "classification"
    assert losses(run) < 0.3
    assert lmviz.open_model(run.folder).predicts.per == "text"


@parametrize_few("kind", ["tagged", "reviews"])
def test_a_resumed_training_equals_an_undisturbed_one(request, tmp_path, kind):
    corpus = request.getfixturevalue(kind)
    settings = {"batch": 3, "width": 6, "direction": "both", "dropout": 0.1, "validate_every": 5}
    straight = lmviz.train("lstm", corpus, tmp_path / "straight", steps=20, schedule="constant", **settings)
    lmviz.train("lstm", corpus, tmp_path / "parts", steps=9, schedule="constant", **settings)
    parts = lmviz.train("lstm", corpus, tmp_path / "parts", steps=20, resume=True)
    one, other = straight.load_snapshot(20), parts.load_snapshot(20)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_transformer_that_tags_sees_what_follows_unless_it_is_masked(tagged, tmp_path):
    small = {"steps": 1, "layers": 1, "heads": 1, "width": 4, "validate_every": 0}
    free = lmviz.train("transformer", tagged, tmp_path / "free", **small)
    masked = lmviz.train("transformer", tagged, tmp_path / "masked", causal=True, **small)
    assert [run.description.configuration["causal"] for run in (free, masked)] == [False, True]
    again = lmviz.train("transformer", tagged, tmp_path / "masked", resume=True, **small | {"steps": 2})
    assert again.description.configuration["causal"]  # as it was begun
    settings = {"family": "transformer", **small, "width": [4, 8]}
    race = lmviz.race(tagged, settings, out=tmp_path / "race")
    lanes = {lane.name for lane, _ in race}
    runs = [Run.open(tmp_path / "race" / lane) for lane in lanes]
    assert [run.description.configuration["causal"] for run in runs] == [False, False]


def test_a_family_that_cannot_do_a_task_says_which_can(tagged, reviews, tmp_path):
    with pytest.raises(LmvizError, match=r"ngram cannot do tagging.*lstm"):
        lmviz.train("ngram", tagged, tmp_path / "no")
    with pytest.raises(LmvizError, match="window cannot do classification"):
        lmviz.train("window", reviews, tmp_path / "no")
    assert not (tmp_path / "no").exists()


def four_sentences(tmp_path, family, steps, **settings):
    """The training loss, nats per tag, of the lecture's four sentences learned by heart."""
    corpus = lmviz.load_corpus("four-sentences")
    settings = {"width": 16, "batch": 4, "learning_rate": 0.03, "warmup": 0, "weight_decay": 0.0} | settings
    return lmviz.train(family, corpus, tmp_path / "run", steps=steps, **settings).metrics()[-1]["loss"]


@pytest.mark.slow
def test_no_tagger_of_the_four_sentences_goes_below_what_two_of_them_leave_open(tmp_path):
    """The first two have the same words: 4 ln 2 / 20 nats, however far one reads."""
    floor = 4 * math.log(2) / 20
    assert lmviz.load_corpus("four-sentences").floor == pytest.approx(floor)
    assert four_sentences(tmp_path, "gru", 200, direction="both") == pytest.approx(floor, abs=0.002)


@pytest.mark.slow
def test_without_context_the_four_sentences_cost_more(tmp_path):
    """Three "flies", of which two are nouns, and two "like": 0.1648 nats, with as many right."""
    expected = (3 * math.log(3) - 2 * math.log(2) + 2 * math.log(2)) / 20
    assert expected == pytest.approx(0.1648, abs=1e-4)
    assert four_sentences(tmp_path, "window", 300, window=1) == pytest.approx(expected, abs=0.002)


@pytest.mark.slow
def test_a_language_model_that_reads_both_ways_reads_the_answer(small_text, tmp_path):
    corpus = lmviz.load_corpus(small_text, documents="line")
    settings = {"width": 16, "steps": 100, "batch": 16, "learning_rate": 0.02, "sampling": "sentences"}
    answers = lmviz.train("gru", corpus, tmp_path / "both", direction="both", **settings)
    honest = lmviz.train("gru", corpus, tmp_path / "forward", **settings)
    assert losses(answers) < 0.05 < 0.5 < losses(honest)
    assert "the very token that it should predict" in lmviz.open_model(answers.folder).caution


@pytest.mark.slow
def test_ambiguous_words_need_the_words_behind_them(tmp_path):
    """Read both ways within 0.02 nats of the floor; from left to right alone far above it."""
    corpus = lmviz.load_corpus("ambiguous")
    settings = {"width": 32, "batch": 32, "learning_rate": 0.01, "steps": 300}
    found = {}
    for direction in ("both", "forward"):
        run = lmviz.train("gru", corpus, tmp_path / direction, direction=direction, **settings)
        found[direction] = last(run, "validation_loss")
    assert found["both"] < corpus.floor + 0.02
    assert found["forward"] > corpus.floor + 0.15

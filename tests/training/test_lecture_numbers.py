"""Numbers of a first course: how often a text is counted, and how many updates an epoch has."""

from pathlib import Path

import numpy as np
import pytest

import lmviz
from lmviz.families import FAMILIES, build_model
from lmviz.models.prefix import read_prefix
from lmviz.tasks import TASKS
from lmviz.text.examples import Examples, Sequences
from lmviz.training.batching import batches_of
from lmviz.training.distributed import Team
from lmviz.training.gradient_training import learn
from lmviz.training.options import TrainingOptions

EATEN = {"corn": 4, "grass": 3, "hay": 2, "if": 1, "which": 1}


def after_cows_eat(folder: Path, smoothing: str) -> dict[str, float]:
    """The probabilities of what the farm's cows eat, by an n-gram of order 3."""
    corpus = lmviz.load_corpus("farm")
    run = lmviz.train("ngram", corpus, folder / "run", steps=2, order=3, smoothing=smoothing)
    shares = lmviz.next_token(lmviz.open_model(run.folder), "cows eat").probabilities
    return {token: float(share) for token, share in zip(corpus.tokenizer.tokens(), shares, strict=True)}


def test_what_cows_eat_is_counted(tmp_path: Path) -> None:
    found = after_cows_eat(tmp_path, "maximum-likelihood")
    assert {word for word, share in found.items() if share} == set(EATEN)
    for word, times in EATEN.items():
        assert found[word] == pytest.approx(times / 11)


def test_add_one_takes_some_of_it_away(tmp_path: Path) -> None:
    found = after_cows_eat(tmp_path, "add-k")
    words = sum(1 for share in found.values() if share)  # all that can be written: START cannot
    assert sum(found.values()) == pytest.approx(1)
    assert found["corn"] == pytest.approx(5 / (11 + words))
    assert found["cows"] == pytest.approx(1 / (11 + words))


def forty() -> Examples:
    """Forty texts of one length, each with a label."""
    texts = [[first, second, 1] for first in range(8) for second in range(5)]
    return Examples(Sequences.of(texts, 8), Sequences.of([[text[0] % 2] for text in texts], 2))


def test_forty_examples_in_batches_of_eight_are_five_updates_an_epoch() -> None:
    configuration = FAMILIES["rnn"].configuration(width=4)
    model = build_model("rnn", configuration, 9, 0, TASKS["classification"].predicts(("even", "odd")))
    options = TrainingOptions(steps=5, batch=8, sampling="sentences", validate_every=0)
    batches = batches_of(model, forty(), options, ignored_target=None, team=Team())
    seen = [tuple(row) for step in range(5) for row in batches.batch(step).tokens.tolist()]
    assert len(seen) == len(set(seen)) == 40, "every example once"
    sixth = {tuple(row) for row in batches.batch(5).tokens.tolist()}
    assert sixth < set(seen), "the sixth update begins the second epoch"
    *_, last = learn(model, forty(), forty(), options, None, ignored_target=None)
    assert (last.step, last.finished) == (5, True)
    assert np.isfinite(last.loss)


@pytest.mark.parametrize(("smoothing", "is_quoted"), [("maximum-likelihood", True), ("add-k", False)])
def test_a_5_gram_quotes_and_with_add_one_it_writes_salad(
    tmp_path: Path, smoothing: str, is_quoted: bool
) -> None:
    corpus = lmviz.load_corpus("farm")
    run = lmviz.train("ngram", corpus, tmp_path / "run", steps=2, order=5, smoothing=smoothing)
    model, prefix = lmviz.open_model(run.folder), "the farmer"
    ids = [*read_prefix(model, prefix).ids, *(step.id for step in lmviz.sample(model, prefix, 30, seed=1))]
    learned = corpus.training.tolist()
    known = {tuple(learned[at : at + 5]) for at in range(len(learned) - 4)}
    written = [tuple(ids[at : at + 5]) for at in range(len(ids) - 4)]
    assert len(written) > 5
    assert all(five in known for five in written) == is_quoted

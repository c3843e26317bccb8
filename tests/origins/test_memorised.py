"""Lines that were learned by heart."""

import itertools

import numpy as np
import pytest

import lmviz
from lmviz.origins.memorised import _exceeded_by_few, _rank
from lmviz.text.corpus import text_corpus
from lmviz.training.evaluation import evaluate_ids

WORDS = [f"word{number}" for number in range(30)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Random lines, which nothing but heart can know, and one line said again and again."""
    chance = np.random.default_rng(0)
    lines = [" ".join(chance.choice(WORDS, 8)) + " ." for _ in range(60)]
    corpus = text_corpus("\n".join(lines), tokenizer="words", documents="line", validation=0.4)
    folder = tmp_path_factory.mktemp("heart") / "gru"
    settings = {"width": 48, "layers": 1, "steps": 400, "batch": 16, "learning_rate": 0.01, "snapshots": 8}
    return lmviz.train("gru", corpus, folder, sampling="sentences", **settings), corpus


def test_lines_that_nothing_predicts_are_found_to_be_learned_by_heart(trained):
    run, corpus = trained
    found = lmviz.memorised(run, corpus=corpus, tokens=None)
    assert found.share > 0.9
    assert found.held_out_count == 24
    assert found.chance == pytest.approx(1 / 25)  # 24 lines tell no less apart
    assert found.beyond == 0
    assert found.mean[-1] < found.held_out_mean[-1]
    assert found.steps == tuple(run.snapshots())
    first = found.lines[0]
    assert first.learned > found.since
    assert first.times == 1
    assert first.fall > found.threshold
    assert len(found.lines) == min(40, round(found.share * found.count))


@pytest.mark.parametrize("held_out", [5, 20, 100, 400])
def test_where_nothing_is_learned_by_heart_as_many_are_found_as_chance_gives(held_out):
    chance = np.random.default_rng(0)
    shares = []
    for _ in range(300):
        usual, fall = chance.standard_normal(held_out), chance.standard_normal(500)
        shares.append((fall > _exceeded_by_few(usual)).mean())
    wanted = _rank(held_out) / (held_out + 1)
    assert np.mean(shares) == pytest.approx(wanted, rel=0.2)
    assert wanted <= max(0.01, 1 / (held_out + 1))


def test_a_text_in_other_tokens_is_refused(trained):
    run, _ = trained
    other = text_corpus("one two three four .\n" * 20, tokenizer="words", documents="line", validation=0.4)
    with pytest.raises(lmviz.LmvizError, match="other tokens"):
        lmviz.memorised(run, corpus=other)


def test_mean_losses_are_those_of_evaluate(trained):
    run, corpus = trained
    found = lmviz.memorised(run, corpus=corpus, tokens=None)
    for step, mean in ((run.snapshots()[-1], found.mean[-1]), (run.snapshots()[2], found.mean[2])):
        model = lmviz.open_model(run.folder, step)
        starts = corpus.training_stream.starts
        documents = [corpus.training[a:b] for a, b in itertools.pairwise(starts)]
        whole = evaluate_ids(model, documents, corpus.tokenizer.start_id)
        # Every line has as many tokens, so the mean of lines is that of tokens.
        assert mean == pytest.approx(whole.negative_log_likelihood, rel=1e-5)


def test_what_cannot_be_compared_is_refused(trained, tmp_path):
    _, corpus = trained
    counting = lmviz.train("ngram", corpus, tmp_path / "run", order=2)
    with pytest.raises(lmviz.LmvizError, match="counts"):
        lmviz.memorised(counting, corpus=corpus)
    whole = text_corpus(
        "\n".join(corpus.training_documents), tokenizer="words", documents="line", validation=0.0
    )
    run = lmviz.train("gru", whole, tmp_path / "whole", width=4, layers=1, steps=4, snapshots=3, batch=2)
    with pytest.raises(lmviz.LmvizError, match="held out"):
        lmviz.memorised(run, corpus=whole)

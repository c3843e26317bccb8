"""A run trained again without some lines."""

import numpy as np
import pytest
import torch

import lmviz
from lmviz.origins.learned_text import LearnedText
from lmviz.origins.teaching import Teaching
from lmviz.runs.removal import other_lines, remove, targets_of, train_to, trained_again
from lmviz.text.corpus import text_corpus

LINES = "\n".join(
    f"{name} had a {thing} ." for name in ("Mira", "Tom", "Ida", "Leo") for thing in ("drum", "doll") * 2
)


@pytest.fixture(scope="module", params=["sentences", "random", "streams"])
def trained(request, tmp_path_factory):
    corpus = text_corpus(LINES, tokenizer="words", documents="line", validation=0.0)
    folder = tmp_path_factory.mktemp("run") / "gru"
    settings = {"width": 8, "layers": 1, "steps": 8, "batch": 4, "length": 6, "snapshots": 4}
    return lmviz.train("gru", corpus, folder, sampling=request.param, **settings), corpus


def after(learner) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in learner.model.parameters()])


def test_with_all_lines_it_is_the_run_bit_for_bit(trained):
    run, corpus = trained
    learner, anew = trained_again(run, corpus, None, step=0, until=8)
    assert anew == ()
    assert list(train_to(learner, run, 8)) == list(range(1, 9))
    last = lmviz.open_model(run.folder)
    assert torch.equal(after(learner), torch.cat([p.flatten() for p in last.parameters()]))


def test_lines_that_are_left_out_are_not_learned(trained):
    """Without the lines of one word, its row of the embedding gets no push from being asked for."""
    run, corpus = trained
    text = LearnedText.of(corpus)
    wanted = corpus.tokenizer.id_of("doll")
    lines = [n for n in range(len(text.line_starts) - 1) if "doll" in text.line(n).tokens]
    mask = targets_of(text, lines)
    assert (text.wanted[mask] == wanted).sum() == (np.asarray(text.wanted) == wanted).sum() == len(lines)
    learner, _ = trained_again(run, corpus, mask, step=0, until=8)
    targets = np.concatenate([learner._batches.batch(step).targets.ravel() for step in range(8)])
    assert not (targets == wanted).any()
    assert (targets == corpus.tokenizer.id_of("drum")).any()


def test_everything_left_out_changes_nothing(trained):
    run, corpus = trained
    learner, _ = trained_again(run, corpus, np.ones(len(corpus.training), dtype=bool), step=0, until=8)
    before = after(learner)
    for _ in train_to(learner, run, 8):
        pass
    assert torch.equal(after(learner), before)


def test_other_lines_are_as_many_and_none_of_them(trained):
    _, corpus = trained
    text = LearnedText.of(corpus)
    assert set(other_lines(text, [0, 3, 5], 1)).isdisjoint({0, 3, 5})
    assert len(other_lines(text, [0, 3, 5], 1)) == 3


def test_what_lines_gave_is_measured_in_three_arms_for_each_seed(trained):
    run, corpus = trained
    teaching = Teaching(run, corpus, lambda step: lmviz.open_model(run.folder, step), "Mira had a", "doll")
    text = teaching.text
    lines = [n for n in range(len(text.line_starts) - 1) if "doll" in text.line(n).tokens]
    answers = list(remove(run, corpus, text, teaching.asked, lines, step=0, until=8, seeds=(0, 5)))
    found, share = answers[-1]
    assert share == 1.0
    assert found.done
    assert np.isnan(answers[0][0].log_probabilities).all()
    assert (found.lost > 0).all()
    assert (found.lost > found.lost_at_random).all()
    assert found.log_probabilities.shape == (3, 2)


def test_a_model_that_counts_is_refused(tmp_path):
    corpus = text_corpus(LINES, tokenizer="words", documents="line", validation=0.0)
    run = lmviz.train("ngram", corpus, tmp_path / "run", order=2)
    with pytest.raises(lmviz.LmvizError, match="counts"):
        trained_again(run, corpus, None, step=0, until=1)

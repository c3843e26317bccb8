"""A continuation's score is that of the beam that found it, and of the text read as a whole."""

import math

import numpy as np
import pytest
import torch

from lmviz.decoding.beam import beam_search
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.options import BeamOptions
from lmviz.decoding.outcome import outcome


def test_a_beam_scores_its_best_text_the_same(running):
    tree = beam_search(running, "cows", BeamOptions(width=2, length=4, length_penalty=0.8))
    found = outcome(running, "cows", [node.id for node in tree.path(tree.best)], 0.8)
    assert (found.log_probability, found.score) == pytest.approx((tree.best.total, tree.best.score))
    assert "cows" + found.text == tree.best.text


def test_a_score_can_be_normalised_by_the_length_alone(running):
    """As transformers does: the log-probability of n tokens is divided by n^α."""
    options = BeamOptions(width=3, length=4, length_penalty=0.8, length_formula="plain")
    tree = beam_search(running, "cows", options)
    assert all(node.score == pytest.approx(node.total / node.depth**0.8) for node in tree.nodes[1:])
    found = outcome(running, "cows", [node.id for node in tree.path(tree.best)], 0.8, "plain")
    assert found.score == pytest.approx(tree.best.score)
    shifted = beam_search(running, "cows", BeamOptions(width=3, length=4, length_penalty=0.8))
    assert shifted.best.score == pytest.approx(shifted.best.total / ((5 + shifted.best.depth) / 6) ** 0.8)


def test_only_what_was_chosen_counts(bigram):
    whole = text_log_probabilities(bigram, "the cows eat corn")
    ids = [token.id for token in whole.tokens]
    found = outcome(bigram, "the cows", ids[2:])
    chosen = [token.log_probability for token in whole.tokens[2:]]
    assert found.log_probability == pytest.approx(sum(chosen))
    assert found.perplexity == pytest.approx(np.exp(-np.mean(chosen)))
    assert outcome(bigram, "the cows", []).perplexity is None


def test_the_next_to_impossible_has_a_perplexity_beyond_all_numbers(bigram):
    with torch.no_grad():
        bigram.table[:, 3] -= 4000.0
    found = outcome(bigram, "the cows", [3])
    assert -5000 < found.log_probability < -3000
    assert found.perplexity == math.inf

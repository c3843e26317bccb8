from itertools import pairwise, product

import numpy as np
import pytest
import torch

from lmviz.decoding.beam import FINISHED, KEPT, PRUNED, beam_search, grow_beam, length_normaliser
from lmviz.decoding.options import BeamOptions
from lmviz.decoding.sampling import greedy


def log_probabilities(model):
    return torch.log_softmax(model.table.detach(), dim=-1).numpy()


def test_a_wide_beam_finds_the_best_of_all_texts(bigram):
    rows = log_probabilities(bigram)
    last = bigram.tokenizer.encode("cows")[0]
    totals = {
        ids: sum(rows[before, id] for before, id in zip((last, *ids), ids, strict=False))
        for ids in product(range(len(rows)), repeat=3)
    }
    tree = beam_search(bigram, "cows", BeamOptions(width=64, length=3, stop_at_end=False))
    best = max(totals, key=totals.get)
    assert tuple(node.id for node in tree.path(tree.best)) == best
    assert tree.best.total == pytest.approx(totals[best])


def test_the_root_stands_for_the_prefix_and_for_no_token(bigram):
    root = next(grow_beam(bigram, "cows")).nodes[0]
    assert (root.index, root.parent, root.depth, root.id, root.token) == (0, -1, 0, -1, "")
    assert (root.text, root.state) == ("cows", KEPT)


def test_a_beam_of_one_is_greedy(bigram):
    tree = beam_search(bigram, "cows", BeamOptions(width=1, length=6))
    steps = list(greedy(bigram, "cows", 6))
    assert [node.id for node in tree.path(tree.best)] == [step.id for step in steps]
    assert tree.best.text == steps[-1].text


def test_it_grows_step_by_step_and_drops_nothing(bigram):
    trees = list(grow_beam(bigram, "cows", BeamOptions(width=3, length=4, stop_at_end=False)))
    assert [tree.depth for tree in trees] == [0, 1, 2, 3, 4]
    for before, after in pairwise(trees):
        assert after.nodes[: len(before.nodes)] == before.nodes
        offers = after.nodes[len(before.nodes) :]
        assert len(offers) == 3 * len(before.live)
        assert [node.rank for node in offers] == list(range(1, len(offers) + 1))
        assert [node.state for node in offers] == [KEPT] * 3 + [PRUNED] * (len(offers) - 3)
        assert min(node.total for node in offers[:3]) >= max((n.total for n in offers[3:]), default=-np.inf)


def test_of_three_texts_with_four_continuations_each_twelve_are_offered_and_three_kept(bigram):
    options = BeamOptions(width=3, continuations=4, length=4, stop_at_end=False)
    *_, before, after = grow_beam(bigram, "cows", options)
    offers = after.nodes[len(before.nodes) :]
    assert (len(before.live), len(offers)) == (3, 12)
    kept = [node for node in offers if node.state == KEPT]
    assert kept == sorted(offers, key=lambda node: -node.total)[:3]
    for node in (before.nodes[place] for place in before.live):
        likeliest = np.argsort(-log_probabilities(bigram)[node.id])[:4]
        assert [child.id for child in after.children(node)] == likeliest.tolist()


def test_totals_add_up_along_each_path(bigram):
    tree = beam_search(bigram, "cows eat", BeamOptions(width=4, length=5))
    rows = log_probabilities(bigram)
    for node in tree.nodes[1:]:
        path = tree.path(node)
        before = [bigram.tokenizer.encode("eat")[0], *(step.id for step in path)]
        assert node.total == pytest.approx(sum(rows[a, b] for a, b in pairwise(before)))
        assert node.score == pytest.approx(node.total / length_normaliser(len(path), 0.6))


def test_finished_texts_leave_the_beam_and_are_ranked_by_normalised_score(bigram):
    with torch.no_grad():
        bigram.table[:, bigram.tokenizer.end_id] += 2
    tree = beam_search(bigram, "cows", BeamOptions(width=4, length=20))
    finished = [node for node in tree.nodes if node.state == FINISHED]
    assert finished
    assert all(not tree.children(node) for node in finished)
    assert len(finished) + len(tree.live) == 4
    assert list(tree.results) == sorted(tree.results, key=lambda node: -node.score)


def test_length_normalisation_lets_longer_texts_win():
    assert length_normaliser(1, 0.9) == 1.0
    assert length_normaliser(7, 1.0) == pytest.approx(2.0)
    assert length_normaliser(7, 0.0) == 1.0


def test_children_are_offered_likeliest_first(bigram):
    tree = beam_search(bigram, "cows", BeamOptions(width=3, length=1))
    offered = tree.children(tree.nodes[0])
    assert [node.log_probability for node in offered] == sorted(
        (node.log_probability for node in offered), reverse=True
    )

"""Heads as words, and which head reads which: against whole products and numpy's own decomposition."""

import numpy as np
import pytest
import torch

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.circuits.head_matrices import KINDS, compositions
from lmviz.circuits.head_pair import needed_pair
from lmviz.readouts.direction import StateDirection


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


def test_a_score_is_that_of_the_whole_matrices(model):
    found, whole = compositions(model), lmviz.weights(model)
    for layer, head, later, other in ((0, 1, 1, 2), (0, 0, 2, 3), (1, 3, 2, 0)):
        ov, qk, brings = whole.ov(layer, head), whole.qk(later, other), whole.ov(later, other)
        norm = np.linalg.norm
        expected = (
            norm(ov @ qk) / (norm(ov) * norm(qk)),
            norm(ov @ qk.T) / (norm(ov) * norm(qk)),
            norm(ov @ brings) / (norm(ov) * norm(brings)),
        )
        assert found.array[:, layer, head, later, other] == pytest.approx(expected, rel=1e-5)
    assert np.isnan(found.array[:, 1, 0, 1, 0]).all()
    kind, first, second, score = found.strongest(1)[0]
    assert score == np.nanmax(found.array)
    assert found.array[KINDS.index(kind), *first, *second] == score
    assert 0 < found.chance < 1


def test_the_words_of_a_head_are_those_of_its_singular_directions(model):
    whole = lmviz.weights(model)
    for matrix in ("ov", "qk"):
        found = lmviz.head_words(model, 1, 2, matrix, count=3, words=4)
        full = whole.ov(1, 2) if matrix == "ov" else whole.qk(1, 2)
        assert found.values == pytest.approx(np.linalg.svd(full, compute_uv=False)[:3], rel=1e-4)
        for at in range(3):
            assert full.T @ found.left[at] == pytest.approx(found.values[at] * found.right[at], abs=1e-4)
            sizes = whole.embedding @ found.left[at]
            assert found.reads[at][0] == model.tokenizer.token(int(sizes.argmax()))
            assert sizes.max() == np.abs(sizes).max()
        out = whole.unembedding.T if matrix == "ov" else whole.embedding
        assert found.writes[0][0] == model.tokenizer.token(int((out @ found.right[0]).argmax()))


def test_a_singular_direction_can_be_steered_along(model):
    found = lmviz.head_words(model, 1, 2)
    along = StateDirection.of(*found.along(0))
    assert along.address == "layers/1/residual2"
    assert along.vector == pytest.approx(found.right[0], abs=1e-6)
    assert found.along(1, "reads")[0] == "layers/0/residual2"
    with pytest.raises(LmvizError, match="There are 4 directions"):
        found.along(9)


def test_the_earlier_head_is_the_one_without_which_least_is_found():
    model = lmviz.open_model("echo-transformer")
    pair = needed_pair(model, words=8, rows=2)
    scores = lmviz.head_scores(model, words=8, rows=2)
    layer, head = pair.follows
    assert pair.share == pytest.approx(scores.induction[layer, head])
    assert pair.is_needed
    changed = lmviz.open_model("echo-transformer")
    with torch.no_grad():  # by hand: what the head writes is nothing
        width = lmviz.weights(model).output.shape[2]
        matrix = dict(changed.named_parameters())[f"layers.{pair.before[0]}.attention.output.weight"]
        matrix[:, pair.before[1] * width : (pair.before[1] + 1) * width] = 0
    without = lmviz.head_scores(changed, words=8, rows=2)
    assert pair.without == pytest.approx(without.induction[layer, head], abs=1e-5)
    assert pair.before[0] < layer


def test_the_direction_of_a_word_is_its_row(model):
    whole, word = lmviz.weights(model), model.tokenizer.id_of("stone")
    found = lmviz.word_direction(model, "stone", "layers/1/residual2")
    row = whole.unembedding[:, word]
    assert found.length * found.vector == pytest.approx(row, abs=1e-5)
    assert found.words(model, 1)[0][0] == "stone"
    embedded = lmviz.word_direction(model, "stone", "layers/0/residual2", of="embedding")
    assert embedded.cosine(found) == pytest.approx(
        whole.embedding[word] @ row / np.linalg.norm(whole.embedding[word]) / np.linalg.norm(row), abs=1e-5
    )
    with pytest.raises(LmvizError, match="no token"):
        lmviz.word_direction(model, "qqxyz", "layers/0/residual2")

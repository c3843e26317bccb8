import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.decoding.likelihood import (
    BLOCK,
    predictions,
    text_log_probabilities,
)
from lmviz.text.tokenizer import END


def expected(model, text):
    ids = model.tokenizer.encode_prefix(text).ids
    rows = torch.log_softmax(model.table.detach(), dim=-1).numpy()
    return [rows[before, id] for before, id in pairwise(ids)]


def test_each_word_has_its_probability_surprisal_and_rank(bigram):
    scored = text_log_probabilities(bigram, "cows eat corn").tokens
    assert [token.token for token in scored] == ["cows", "eat", "corn"]
    assert [token.log_probability for token in scored] == pytest.approx(expected(bigram, "cows eat corn"))
    row = bigram.table.detach().numpy()[scored[0].id]
    assert scored[1].rank == 1 + (row > row[scored[1].id]).sum()
    assert scored[1].surprisal == pytest.approx(-math.log2(scored[1].probability))
    assert [token.span for token in scored] == [(0, 4), (5, 8), (9, 13)]


def test_the_running_product_is_the_probability_of_the_text(bigram):
    likelihood = text_log_probabilities(bigram, "cows eat corn")
    probabilities = np.exp(expected(bigram, "cows eat corn"))
    assert [token.product for token in likelihood.tokens] == pytest.approx(np.cumprod(probabilities))
    assert likelihood.perplexity == pytest.approx(np.prod(probabilities) ** (-1 / 3))
    assert likelihood.tokens[0].perplexity == pytest.approx(1 / probabilities[0])
    assert likelihood.bits == pytest.approx(-np.log2(probabilities).sum())
    assert likelihood.bits_per_character == pytest.approx(likelihood.bits / 13)


def test_a_text_that_ends_has_the_loss_of_its_end_and_a_mean_of_all(bigram, make):
    ended = text_log_probabilities(bigram, "cows eat", ends=True)
    eat, end = ended.tokens[-2:]
    row = torch.log_softmax(bigram.table.detach(), dim=-1).numpy()[eat.id]
    assert (end.token, end.id, end.span) == (END, bigram.tokenizer.end_id, (8, 8))
    assert end.loss == pytest.approx(-row[end.id])
    assert ended.mean_loss == pytest.approx(np.mean([token.loss for token in ended.tokens]))
    again = text_log_probabilities(bigram, [token.id for token in ended.tokens], ends=True)
    assert [token.token for token in again.tokens] == ["cows", "eat", END], "END stands there once"
    with pytest.raises(LmvizError, match="no END"):
        text_log_probabilities(make(marks=False), "cows", ends=True)


def test_without_start_the_first_token_has_no_probability(make):
    likelihood = text_log_probabilities(make(marks=False), "cows eat")
    first, second = likelihood.tokens
    assert (first.log_probability, first.probability, first.surprisal, first.rank) == (None,) * 4
    assert first.perplexity is None
    assert second.count == 1
    assert likelihood.bits_per_character == pytest.approx(likelihood.bits / len(" eat"))


def test_nothing_to_predict_has_no_perplexity(make):
    assert text_log_probabilities(make(), "").perplexity is None
    only = text_log_probabilities(make(marks=False), "cows")
    assert (only.perplexity, only.bits_per_character, only.bits) == (None, None, 0.0)
    with pytest.raises(LmvizError, match="empty"):
        text_log_probabilities(make(marks=False), "")


def test_an_impossible_word_makes_the_text_impossible(bigram):
    with torch.no_grad():
        bigram.table[:, bigram.tokenizer.encode("eat")[0]] = -math.inf
    likelihood = text_log_probabilities(bigram, "cows eat corn")
    assert likelihood.tokens[1].surprisal == math.inf
    assert likelihood.perplexity == math.inf
    assert likelihood.tokens[2].product == 0.0


@pytest.mark.parametrize("kind", ["bigram", "running"])
def test_long_texts_are_predicted_as_if_read_at_once(make, kind):
    model = make(kind)
    ids = np.random.default_rng(0).integers(0, model.vocabulary_size, 2 * BLOCK + 5)
    rows = torch.stack(list(predictions(model, ids)))
    assert torch.allclose(rows, model(torch.from_numpy(ids)[None])[0].log_softmax(-1).detach())
    assert len(text_log_probabilities(model, ids).tokens) == len(ids) - int(
        ids[0] == model.tokenizer.start_id
    )


@pytest.mark.parametrize(("length", "windows"), [(4, [4]), (6, [6]), (7, [6, 6]), (9, [6, 6]), (13, [6] * 4)])
def test_beyond_its_context_a_model_reads_windows_that_overlap_by_half(make, length, windows):
    model = make("running", context=6)
    ids = np.random.default_rng(0).integers(0, model.vocabulary_size, length)
    rows = list(predictions(model, ids))
    assert model.lengths == windows
    assert len(rows) == length
    for position, row in enumerate(rows):
        reads = [ids[max(0, position - back) : position + 1] for back in range(2, 6)]
        ways = [model.table.detach()[torch.from_numpy(read)].sum(0).log_softmax(-1) for read in reads]
        assert any(torch.allclose(row, way) for way in ways)


def test_ranks_of_ties_go_by_id(bigram):
    with torch.no_grad():
        bigram.table[:] = 0
    scored = text_log_probabilities(bigram, "cows").tokens[0]
    assert scored.rank == scored.id + 1


def test_a_model_that_sees_the_last_two_words_has_forgotten_those_before(make, monkeypatch):
    model = make()
    assert text_log_probabilities(model, "the cows eat corn").forgotten(3) == ()
    monkeypatch.setattr(type(model), "sight", 2)
    likelihood = text_log_probabilities(model, "the cows eat corn")
    assert [likelihood.forgotten(row) for row in range(4)] == [(), (), (), (0,)]
    monkeypatch.setattr(type(model), "sight", 0)
    assert text_log_probabilities(model, "the cows eat").forgotten(2) == (0, 1)

"""The right words cost what they cost after the right words, and something else after the model's own."""

from itertools import pairwise

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.decoding.histories import LONGEST, read_both_ways
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.sampling import greedy


def test_after_the_right_words_each_costs_its_surprisal(bigram):
    found = read_both_ways(bigram, "cows eat corn")
    scored = text_log_probabilities(bigram, "cows eat corn").tokens
    assert found.right == ("cows", "eat", "corn")
    assert found.after_right == pytest.approx([token.surprisal for token in scored])
    assert found.totals[0] == pytest.approx(sum(token.surprisal for token in scored))


@pytest.mark.parametrize("kind", ["bigram", "running"])
def test_after_its_own_words_the_model_reads_what_it_chose(make, kind):
    model = make(kind, seed=4)
    text = "cows eat corn bats sleep"
    ids = model.tokenizer.encode_prefix(text).ids
    found, read = read_both_ways(model, text), [int(ids[0])]
    for place, id in enumerate(ids[1:]):
        rows = model.table.detach().numpy()[read]
        logits = rows[-1] if kind == "bigram" else rows.sum(axis=0)
        shares = np.exp(logits) / np.exp(logits).sum()
        assert found.after_own[place] == pytest.approx(-np.log2(shares[id]))
        read.append(int(logits.argmax()))
        assert found.own[place] == model.tokenizer.token(read[-1])
        if read[-1] == model.tokenizer.end_id:
            assert np.isnan(found.after_own[place + 1 :]).all()
            assert set(found.own[place + 1 :]) <= {""}
            break
    own = [right == chosen for right, chosen in zip(found.right, found.own, strict=True)]
    assert found.parted == own.index(False)
    assert found.after_own[: found.parted + 1] == pytest.approx(found.after_right[: found.parted + 1])


def leading(model, *words):
    """The model with a table in which each of the words is all but sure after the one before."""
    ids = [int(model.tokenizer.encode_prefix("").ids[0]), *(model.tokenizer.id_of(word) for word in words)]
    for before, after in pairwise(ids):
        model.table.data[before, after] = 50
    return model


def test_a_text_that_the_model_would_write_itself_costs_the_same_both_ways(bigram):
    found = read_both_ways(leading(bigram, "cows", "eat", "corn"), "cows eat corn")
    assert found.own == found.right
    assert found.parted is None
    assert found.totals[0] == pytest.approx(found.totals[1])


def test_what_only_fills_rows_up_is_no_word_of_its_own(bigram):
    padding = bigram.tokenizer.id_of("bats")
    bigram.table.data[:, padding] = 50
    assert set(read_both_ways(bigram, "cows eat corn").own) == {"bats"}
    bigram.tokenizer.padding_id = padding
    found = read_both_ways(bigram, "cows eat corn")
    assert "bats" not in found.own
    assert found.own[0] == next(greedy(bigram, "", 1)).token


def test_once_the_model_has_ended_its_text_nothing_comes_after_it(bigram):
    bigram.table.data[bigram.tokenizer.id_of("cows"), bigram.tokenizer.end_id] = 50
    found = read_both_ways(leading(bigram, "cows"), "cows eat corn")
    assert found.own == ("cows", bigram.tokenizer.token(bigram.tokenizer.end_id), "")
    assert found.parted == 1
    assert np.isnan(found.after_own).tolist() == [False, False, True]
    assert found.totals[1] == pytest.approx(found.after_own[:2].sum())


def test_what_cannot_be_read_both_ways_says_why(bigram):
    with pytest.raises(LmvizError, match="type a longer one"):
        read_both_ways(bigram, "")
    with pytest.raises(LmvizError, match=f"at most {LONGEST}"):
        read_both_ways(bigram, "cows " * (LONGEST + 1))

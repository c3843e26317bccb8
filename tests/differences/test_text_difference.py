"""The change of the loss of each token is what evaluation, and numpy over plain logits, say of the two."""

import numpy as np
import pytest
import torch
from family_cases import trained, untrained
from two_models import other_of, two_of

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.differences.documents import judged_text
from lmviz.differences.pair import paired
from lmviz.differences.text_difference import TextDifference, stretch_difference, text_difference
from lmviz.training.evaluation import evaluate_ids

FAMILIES = ("ngram", "window", "rnn", "lstm", "gru", "transformer")
CHANCE = np.random.default_rng(3)
DOCUMENTS = [CHANCE.integers(1, 7, size=size) for size in (50, 2, 31, 1, 17)]


def logs_of(model, ids):
    with torch.inference_mode():
        return model(torch.tensor(ids)[None])[0].double().log_softmax(dim=-1).numpy()


@pytest.mark.parametrize("family", FAMILIES)
def test_changes_add_up_to_what_evaluation_says(family):
    pair = paired(trained(family, ()), untrained(family, {}, seed=5)) if family == "ngram" else two_of(family)
    found = text_difference(pair, DOCUMENTS, 2)
    one, other = (evaluate_ids(model, DOCUMENTS, 2) for model in (pair.before, pair.after))
    assert len(found) == one.tokens
    wanted = other.negative_log_likelihood - one.negative_log_likelihood
    assert found.total == pytest.approx(wanted, abs=1e-6)
    assert found.losses == pytest.approx(
        (one.negative_log_likelihood, other.negative_log_likelihood), abs=1e-6
    )


@pytest.mark.parametrize("family", ["gru", "transformer"])
def test_each_token_and_each_word_are_what_plain_logits_say(family):
    pair, ids = two_of(family), DOCUMENTS[0][:12]
    found = text_difference(pair, [ids])
    logs = [logs_of(model, ids[:-1]) for model in (pair.before, pair.after)]
    for side, log in zip((found.before, found.after), logs, strict=True):
        assert side == pytest.approx(-log[np.arange(11), ids[1:]], abs=1e-5)
    assert found.said == pytest.approx(np.exp(np.stack(logs)).mean(axis=1), abs=1e-6)
    change = found.said[1] - found.said[0]
    assert [word.id for word in found.words(3)] == list(np.argsort(-change)[: min(3, (change > 0).sum())])
    assert all(word.change < 0 for word in found.words(9, rose=False))


def test_a_model_and_itself_do_not_differ():
    model = trained("transformer", ())
    found = text_difference(paired(model, model), DOCUMENTS)
    assert not found.changes.any()
    assert found.total == 0
    assert not found.words(5)
    assert not found.passages(3)
    assert not found.passages(3, better=False)


def made_of(changes, documents=None, tokens=None):
    changes = np.array(changes, dtype=np.float64)
    return TextDifference(
        names=("a", "b"),
        tokens=tuple(tokens or map(str, range(len(changes)))),
        ids=np.arange(len(changes)),
        before=np.zeros(len(changes)),
        after=changes,
        documents=np.zeros(len(changes), dtype=int) if documents is None else np.array(documents),
    )


def test_passages_are_the_best_means_that_do_not_overlap_or_leave_their_document():
    changes = [0, -5, -5, 0, 0, 0, -9, 0, 3, 3]
    found = made_of(changes, documents=[0] * 6 + [1] * 4)
    best = found.passages(2, length=2)
    assert [(one.first, one.end, one.change) for one in best] == [(1, 3, -5.0), (6, 8, -4.5)]
    assert best[1].document == 1
    assert best[0].text == "1 2"
    [worst] = found.passages(1, better=False, length=2)
    assert (worst.first, worst.change) == (8, 3.0)


def test_the_same_words_are_shown_as_one_passage():
    found = made_of([-1.0] * 12, tokens=list("abcdefabcdef"), documents=[0] * 6 + [1] * 6)
    assert len(found.passages(5, length=6)) == 1


def test_the_band_says_whether_a_difference_is_one():
    model = trained("transformer", ())
    documents = [CHANCE.integers(1, 7, size=12) for _ in range(30)]
    found = text_difference(paired(model, other_of(model, 0.02)), documents)
    assert found.low < found.total < found.high
    assert text_difference(paired(model, model), documents).is_clear is False
    assert text_difference(paired(model, other_of(model)), [DOCUMENTS[2]]).low is None
    # the usual standard error of a mean over texts is about a quarter of the band
    means = np.array([found.changes[found.documents == number].mean() for number in range(30)])
    assert found.high - found.low == pytest.approx(3.92 * means.std() / 30**0.5, rel=0.2)


def test_models_of_other_tokens_are_compared_by_bytes():
    words, letters = lmviz.open_model("stories-gru"), lmviz.open_model("shakespeare-lstm")
    text = "The cat sat. She said that it was in the box."
    pair = paired(words, letters)
    assert not pair.read_alike
    found = stretch_difference(pair, [text])
    assert found.unit == "stretch"
    assert found.said is None
    assert not found.words(3)
    assert "".join(found.tokens) == text[-len("".join(found.tokens)) :]
    assert found.bytes == len("".join(found.tokens).encode())
    encoding = letters.tokenizer.encode_prefix(text)
    logs = logs_of(letters, encoding.ids[:-1])
    first = len(text) - found.bytes
    judged = [at for at, (_, end) in enumerate(encoding.offsets) if end > first and at > 0]
    wanted = -sum(logs[at - 1, encoding.ids[at]] for at in judged)
    assert found.after.sum() == pytest.approx(wanted, rel=1e-5)
    with pytest.raises(LmvizError, match="different tokens"):
        text_difference(pair, [encoding.ids])


def test_a_file_is_read_as_evaluate_reads_it(tmp_path):
    path = tmp_path / "held_out.txt"
    path.write_text("The cat sat on the mat.\n\nMaya put it in the box. It was a stone.\n")
    judged = judged_text(lmviz.open_model("stories-gru"), path)
    change = lmviz.difference("stories-gru", "stories-lstm", path, inside=False)
    scores = [lmviz.evaluate(name, path) for name in ("stories-gru", "stories-lstm")]
    assert sum(len(ids) - 1 for ids in judged.documents) == scores[0].tokens == len(change.tokens)
    wanted = scores[1].negative_log_likelihood - scores[0].negative_log_likelihood
    assert change.total == pytest.approx(wanted, abs=1e-5)
    assert sum(nats for _, nats in change.tokens) / len(change.tokens) == pytest.approx(wanted, abs=1e-5)
    assert lmviz.difference("stories-gru", "stories-lstm", str(path), inside=False).total == change.total

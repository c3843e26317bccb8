"""The loss of every token is what `evaluate` adds up, and every division of it adds up to the same."""

import numpy as np
import pytest
from family_cases import CASES, TEXT, covering, trained

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.models.reading import evaluation, on_device
from lmviz.runs.evaluating import evaluate_corpus
from lmviz.training.evaluation import evaluate_ids
from lmviz.training.loss_kinds import KINDS
from lmviz.training.loss_map import LossMap, RowLosses, loss_map

LANGUAGE = [case for case in CASES if "task" not in case.values[1]]
DOCUMENTS = [TEXT[:70], TEXT[3:5], TEXT[50:51], TEXT[:31], TEXT[100:140]]


@pytest.mark.parametrize(("family", "options"), covering(LANGUAGE, [{case.values[0]} for case in LANGUAGE]))
@pytest.mark.parametrize("start", [None, 5])
def test_its_sum_is_that_of_an_evaluation(family, options, start):
    model = trained(family, tuple(sorted(options.items())))
    found, score = loss_map(model, DOCUMENTS, start), evaluate_ids(model, DOCUMENTS, start)
    assert found.judged == score.tokens
    assert found.mean == pytest.approx(score.negative_log_likelihood, abs=1e-6)
    for division in (found.by_position(7), found.by_kind(), found.by_frequency()):
        assert division.tokens.sum() == score.tokens
        if found.total:
            assert division.shares.sum() == pytest.approx(1)
        else:  # counts that know their text by heart
            assert np.isnan(division.shares).all()
            assert "nan" not in str(division).lower()
        assert np.nansum(division.means * division.tokens) == pytest.approx(found.total)
    assert sum(total for _, total, _ in found.words()) == pytest.approx(found.total)
    assert RowLosses.of(found).total == pytest.approx(found.total)


@pytest.mark.parametrize("family", ["gru", "transformer", "ngram"])
def test_each_loss_is_where_its_token_is(family):
    model = trained(family, (("context", 16),) if family == "transformer" else ())
    found = loss_map(model, DOCUMENTS, None)
    for number, ids in enumerate(DOCUMENTS):
        start, end = found.span_of(number)
        assert (found.ids[start:end] == ids).all()
        assert np.isnan(found.losses[start])
        head = ids[:16]  # what one pass reads
        if len(head) > 1:
            with evaluation(model) as reader:
                logits = reader(on_device(model, head))[0].double().log_softmax(-1)
            wanted = [-float(logits[place - 1, head[place]]) for place in range(1, len(head))]
            np.testing.assert_allclose(found.losses[start + 1 : start + len(head)], wanted, atol=1e-5)
            assert list(found.read[start + 1 : start + len(head)]) == list(range(1, len(head)))


def made(losses, starts, words, ids):
    losses = np.array(losses, dtype=np.float32)
    return LossMap(
        np.array(ids), losses, np.array(starts), np.arange(len(ids)), words, np.full(len(words), 3), "a"
    )


WORDS = ("⟨start⟩", "the", ",", "cat")


def test_kinds_passages_and_words_of_a_small_text():
    found = made([np.nan, 1, 2, 3, 4, np.nan, 5, 6], [0, 5], WORDS, [0, 3, 2, 3, 2, 0, 1, 3])
    assert [KINDS[kind] for kind in found.kinds[1:5]].count("marks") == 2
    assert found.words(least=2)[0] == ("cat", 10.0, 3)
    worst = found.passages(length=2)
    assert [(passage.start, passage.end, passage.mean) for passage in worst] == [(6, 8, 5.5), (3, 5, 3.5)]
    assert found.passages(length=2, lowest=True)[0].mean == 1.5
    assert found.document_of(6) == 1
    other = made([np.nan, 0, 0, 0, 9, np.nan, 5, 5], [0, 5], WORDS, found.ids)
    assert found.minus(other).total == pytest.approx(21 - 19)
    with pytest.raises(LmvizError, match="different tokens"):
        found.minus(made([np.nan, 1.0], [0], WORDS, [0, 3]))


def test_what_was_said_before_in_its_document_is_told_from_what_is_new():
    many = tuple(f"w{number}" for number in range(300))
    ids = np.array([0, 200, 250, 200, 0, 250])
    counts = np.arange(300)[::-1]
    found = LossMap(ids, np.ones(6, np.float32), np.array([0, 4]), np.arange(6), many, counts)
    assert [KINDS[kind] for kind in found.kinds[[1, 2, 3, 5]]] == ["new", "new", "said before", "new"]


def test_a_file_a_set_and_a_corpus_have_their_losses_from_python(tmp_path):
    path = tmp_path / "held.txt"
    path.write_text("The cat found a violet mirror . She had a red doll .\n\nThe end .\n")
    found, score = lmviz.loss_map("stories-gru", path), lmviz.evaluate("stories-gru", path)
    assert found.mean == pytest.approx(score.negative_log_likelihood, abs=1e-6)
    assert found.judged == score.tokens
    same = lmviz.evaluate("stories-gru", path, per="token")
    assert same.total == found.total
    rows = lmviz.evaluate("stories-gru", path, per="row")
    assert rows.array.shape == (len(found.starts),)
    assert rows.total == pytest.approx(found.total)
    given = lmviz.text_set([{"text": "The cat found", "label": "x"}, {"text": "She had a red", "label": "y"}])
    of_set = lmviz.loss_map("stories-gru", given)
    assert of_set.by_label().names == ("x", "y")
    whole = lmviz.evaluate("stories-gru", given)
    assert whole.negative_log_likelihood == pytest.approx(of_set.mean, abs=1e-6)
    of_set.save(tmp_path / "losses.csv")
    assert len((tmp_path / "losses.csv").read_text().splitlines()) == 1 + of_set.judged


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda path: lmviz.loss_map("reviews-lstm", lmviz.load_corpus("farm")), "has no examples"),
        (lambda path: lmviz.loss_map("stories-gru", path, path), "does not translate"),
        (lambda path: lmviz.loss_map("reviews-lstm", lmviz.text_set(["good ."])), "has the label ''"),
        (lambda path: lmviz.loss_map("ambiguous-gru-both", lmviz.text_set(["good ."])), "one label each"),
        (lambda path: lmviz.evaluate("stories-gru", path, per="letter"), "per 'token' or per 'row'"),
    ],
)
def test_what_has_no_losses_by_token_is_refused(tmp_path, ask, said):
    (tmp_path / "held.txt").write_text("The cat found a violet mirror .")
    with pytest.raises(LmvizError, match=said):
        ask(tmp_path / "held.txt")


@pytest.mark.parametrize("name", ["ambiguous-gru-both", "reviews-lstm", "twin-gru-attention-short"])
def test_of_labels_and_of_translations_its_sum_is_that_of_an_evaluation(name):
    model = lmviz.open_model(name)
    corpus = lmviz.load_corpus(name.partition("-")[0])
    found, score = lmviz.loss_map(model, corpus), evaluate_corpus(model, corpus)
    assert found.judged == score.tokens
    assert found.mean == pytest.approx(score.negative_log_likelihood, abs=1e-6)
    for by in found.divisions:
        division = getattr(found, f"by_{by}")()
        assert division.tokens.sum() == score.tokens
        assert division.shares.sum() == pytest.approx(1)
    assert ("label" in found.divisions) == (name != "twin-gru-attention-short")
    if hasattr(score, "by_label"):
        by_label = found.by_label()
        for label, answers in score.by_label.items():
            at = by_label.names.index(label)
            assert by_label.tokens[at] == answers.count
            assert by_label.means[at] == pytest.approx(answers.negative_log_likelihood, abs=1e-5)
    worst = found.passages(1)[0]
    assert worst.mean >= found.mean


def test_the_loss_of_a_label_is_painted_where_it_belongs():
    model = lmviz.open_model("reviews-lstm")
    good, bad = (label for label in model.predicts.names)
    rows = [{"text": "a good film", "label": good}, {"text": "a bad film , bad", "label": bad}]
    found = lmviz.loss_map(model, lmviz.text_set(rows))
    assert np.flatnonzero(~np.isnan(found.losses)).tolist() == [2, 7]
    assert not np.isnan(found.painted).any()
    assert len(set(found.painted[:3])) == 1
    for number, row in enumerate(rows):
        wanted = lmviz.trace(model, row["text"])["probabilities"].array
        nats = -np.log(np.asarray(wanted, dtype=np.float64).ravel()[model.predicts.names.index(row["label"])])
        assert found.losses[(2, 7)[number]] == pytest.approx(nats, abs=1e-5)
    assert [found.label_of(place) for place in (0, 7)] == [good, bad]
    rows = lmviz.evaluate(model, lmviz.text_set(rows), per="row")
    assert rows.total == pytest.approx(found.total)


def test_two_models_are_held_beside_each_other_on_the_same_tokens():
    """One has read less before a token than the other, and may have learned from other texts."""
    ids, starts = np.array([1, 2, 3, 1, 2, 1, 3]), np.array([0, 4])
    words, first, second = ("a", "b", "c", "d"), np.arange(7, dtype=np.float32), np.full(7, 2, np.float32)
    long = LossMap(
        ids, first, starts, np.array([0, 1, 2, 3, 0, 1, 2]), words, np.array([0, 9, 99, 5]), "long"
    )
    short = LossMap(ids, second, starts, np.array([0, 1, 0, 1, 0, 1, 0]), words, None, "short")
    beside = long.beside(short)
    assert beside.name == "short"
    for divide in (LossMap.by_position, LossMap.by_kind, LossMap.by_frequency):
        ours, theirs = divide(long), divide(beside)
        assert ours.names == theirs.names
        assert np.array_equal(ours.tokens, theirs.tokens)
        assert np.nansum(theirs.means * theirs.tokens) == pytest.approx(short.total)
    assert len(short.by_position().names) < len(long.by_position().names)
    other = LossMap(ids[::-1].copy(), first.copy(), starts, short.read, words)
    with pytest.raises(LmvizError, match="different tokens"):
        long.beside(other)

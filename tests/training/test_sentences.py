"""Batches of whole sentences: shuffled epochs, similar lengths, and padding that changes nothing."""

import numpy as np
import pytest
import torch
from small_models import small_settings

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.models.model import IGNORED
from lmviz.tasks import TASKS
from lmviz.text.examples import Examples, Sequences
from lmviz.training.batching import Sentences, batches_of, validation_of, with_sentences
from lmviz.training.distributed import Team
from lmviz.training.evaluation import evaluate_ids
from lmviz.training.options import TrainingOptions
from lmviz.training.pieces import pieces_of_examples, pieces_of_text

LABELS = ("noun", "verb", "other")
STREAM = np.array([0, 3, 4, 1, 0, 5, 1, 0, 2, 3, 4, 5, 1])
"""Three documents between START, 0, and END, 1."""


def examples(count=50, seed=0, per_text=False):
    chance = np.random.default_rng(seed)
    sources = [chance.integers(7, size=length) for length in chance.integers(1, 12, size=count)]
    targets = [[source[0] % 3] if per_text else source % 3 for source in sources]
    return Examples(Sequences.of(sources, 6), Sequences.of(targets, 2))


def build(family="gru", task="tagging", **settings):
    configuration = FAMILIES[family].configuration(**(small_settings(family) | settings))
    return build_model(family, configuration, 7, 0, TASKS[task].predicts(LABELS))


def sentences(given=None, batch=4, team=None, **options):
    pieces = pieces_of_examples(given or examples(), TASKS["tagging"].predicts(LABELS), None)
    return Sentences(pieces, TrainingOptions(batch=batch, sampling="sentences", **options), team or Team())


def rows(batch):
    """The rows of a batch without their padding."""
    lengths = batch.lengths if batch.lengths is not None else [batch.tokens.shape[1]] * len(batch.tokens)
    return [tuple(row[:length]) for row, length in zip(batch.tokens.tolist(), lengths, strict=True)]


def epoch(batches, number, steps):
    return [batches.batch(step) for step in range(number * steps, (number + 1) * steps)]


def test_an_epoch_has_every_sentence_once_and_the_next_another_order():
    given = examples()
    batches = sentences(given)
    first, second = epoch(batches, 0, 13), epoch(batches, 1, 13)
    everything = sorted(tuple(source.tolist()) for source in given.source)
    for batch_of_epoch in (first, second):
        assert sorted(row for batch in batch_of_epoch for row in rows(batch)) == everything
    assert [rows(batch) for batch in first] != [rows(batch) for batch in second]


def test_a_batch_depends_on_nothing_but_the_seed_and_the_step():
    one, other = sentences(seed=3), sentences(seed=3)
    other.batch(40)
    np.testing.assert_array_equal(one.batch(7).tokens, other.batch(7).tokens)
    assert rows(one.batch(7)) != rows(sentences(seed=4).batch(7))


def test_sentences_of_similar_length_stand_in_one_batch():
    batches = sentences(examples(400), batch=8)
    padding = sum(
        batch.tokens.size - int(batch.lengths.sum())
        for batch in epoch(batches, 0, 50)
        if batch.lengths is not None
    )
    assert padding < 0.05 * 400 * 6


def test_each_token_keeps_its_target_and_padding_has_none():
    for batch in epoch(sentences(), 0, 13):
        full = np.full(len(batch.tokens), batch.tokens.shape[1])
        lengths = full if batch.lengths is None else batch.lengths
        for tokens, targets, length in zip(batch.tokens, batch.targets, lengths, strict=True):
            np.testing.assert_array_equal(targets[:length], tokens[:length] % 3)
            assert (targets[length:] == IGNORED).all()


def test_two_processes_share_each_batch():
    class Half(Team):
        size = 2

        def __init__(self, rank):
            self.rank = rank

    whole, halves = sentences(batch=8), [sentences(batch=4, team=Half(rank)) for rank in (0, 1)]
    for step in range(7):  # the last has two sentences
        parts = [half.batch(step) for half in halves]
        assert sum(part.share for part in parts) == pytest.approx(1)
        counted = [row for part in parts if part.share for row in rows(part)]
        assert sorted(counted) == sorted(rows(whole.batch(step)))


def test_the_documents_of_a_text_are_sentences_and_end_in_end():
    pieces = pieces_of_text(STREAM, 0, None)
    tokens, targets, lengths = pieces.side_by_side([0, 1, 2])
    assert lengths.tolist() == [3, 2, 5]
    assert tokens[1].tolist() == [0, 5, 0, 0, 0]
    assert targets[1].tolist() == [5, 1, *[IGNORED] * 3]
    assert targets[2].tolist() == [2, 3, 4, 5, 1]


def test_long_documents_and_examples_are_cut_where_a_model_ends():
    tokens, targets, lengths = pieces_of_text(STREAM, 0, 2).side_by_side(range(6))
    assert lengths.tolist() == [2, 1, 2, 2, 2, 1]
    assert targets[3].tolist() == [2, 3]
    given = examples(5)
    cut = pieces_of_examples(given, TASKS["tagging"].predicts(LABELS), 3)
    assert cut.lengths.max() <= 3
    tokens, targets, lengths = cut.side_by_side(range(len(cut)))
    assert all((row[:n] % 3 == aim[:n]).all() for row, aim, n in zip(tokens, targets, lengths, strict=True))
    of_text = pieces_of_examples(examples(5, per_text=True), TASKS["classification"].predicts(LABELS), 3)
    assert len(of_text) == 5
    assert of_text.lengths.max() == 3


def test_a_text_of_one_document_has_no_sentences():
    options = TrainingOptions(sampling="sentences")
    for ids, start in ((STREAM[:4], 0), (STREAM, None)):
        with pytest.raises(LmvizError, match=r"one document.*documents=line"):
            batches_of(build(), ids, options, ignored_target=start, team=Team())


@pytest.mark.parametrize("ids", [STREAM[:4], STREAM[:0]])
def test_one_document_or_none_may_be_held_out(ids):
    options = TrainingOptions(sampling="sentences")
    model = build(task="next-token")
    measure = validation_of(model, ids, options, length=4, ignored_target=0, team=Team())
    found = measure.measure(model)
    if not len(ids):
        assert found is None
    else:
        assert found.loss == pytest.approx(evaluate_ids(model, [ids], 0).negative_log_likelihood, rel=1e-5)


def test_examples_are_taken_whole_and_streams_refused():
    assert with_sentences(TrainingOptions()).sampling == "sentences"
    with pytest.raises(LmvizError, match="cut the examples"):
        with_sentences(TrainingOptions(sampling="streams"))


CASES = [
    ("gru", "tagging", {"direction": "both"}),
    ("lstm", "classification", {"direction": "both", "pooling": "last"}),
    ("rnn", "classification", {"direction": "backward", "pooling": "mean"}),
    ("gru", "classification", {"pooling": "attention"}),
    ("window", "tagging", {}),
    ("transformer", "tagging", {"causal": False}),
    ("transformer", "classification", {"causal": False, "pooling": "attention", "positions": "alibi"}),
]


@pytest.mark.parametrize(("family", "task", "settings"), CASES)
def test_more_padding_changes_neither_loss_nor_gradient(family, task, settings):
    model = build(family, task, **settings)
    given = examples(6, per_text=task == "classification")
    pieces = pieces_of_examples(given, model.predicts, None)
    tokens, targets, lengths = map(torch.from_numpy, pieces.side_by_side(range(6)))
    found = []
    for wider in (0, 5):
        filled = torch.nn.functional.pad(tokens, (0, wider), value=3)
        aims = targets
        if task == "tagging":
            aims = torch.nn.functional.pad(targets, (0, wider), value=IGNORED)
        model.zero_grad()
        loss, _ = model.loss(filled, aims, None, lengths)
        loss.backward()
        found.append([loss.detach(), *(item.grad for item in model.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("family", "task", "settings"), CASES)
def test_the_loss_of_a_batch_is_that_of_its_texts_one_by_one(family, task, settings):
    model = build(family, task, **settings).eval()
    given = examples(6, per_text=task == "classification")
    pieces = pieces_of_examples(given, model.predicts, None)
    tokens, targets, lengths = map(torch.from_numpy, pieces.side_by_side(range(6)))
    with torch.no_grad():
        together, _ = model.loss(tokens, targets, None, lengths)
        total = counted = 0.0
        for number in range(6):
            source = torch.from_numpy(given.source[number].astype(np.int64))[None]
            target = torch.from_numpy(given.target[number].astype(np.int64))[None]
            total += float(model.loss(source, target)[0]) * target.numel()
            counted += target.numel()
    assert float(together) == pytest.approx(total / counted, rel=1e-5)


def test_a_language_model_learns_from_sentences_too():
    model = build_model("gru", FAMILIES["gru"].configuration(width=8), 7, seed=0)
    options = TrainingOptions(batch=2, sampling="sentences")
    batches = batches_of(model, STREAM, options, ignored_target=0, team=Team())
    seen = sorted(row for step in range(2) for row in rows(batches.batch(step)))
    assert seen == [(0, 2, 3, 4, 5), (0, 3, 4), (0, 5)]

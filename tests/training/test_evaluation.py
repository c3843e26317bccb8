import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import scale
from lmviz.models.model import Model
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram
from lmviz.training import evaluation
from lmviz.training.evaluation import evaluate_ids, overlapping

Make = Callable[..., Model]


def documents(ids: np.ndarray) -> list[np.ndarray]:
    """Six texts of lengths between 2 and 300, and one of a single token, which has nothing to judge."""
    cuts = [0, 2, 10, 60, 61, 100, 300, 600]
    return [ids[start:end] for start, end in pairwise(cuts)]


def one_by_one(model: Model, text: np.ndarray, contexts: range | None = None) -> list[float]:
    """The log-probability of each token but the first, each from all that stands before it."""
    tokens = torch.from_numpy(text.astype(np.int64))
    with torch.no_grad():
        rows = [model.eval()(tokens[None, :end])[0, -1].log_softmax(-1) for end in range(1, len(tokens))]
    return [float(row[token]) for row, token in zip(rows, tokens[1:], strict=True)]


def test_a_recurrence_reads_each_document_from_its_start_to_its_end(
    lstm: Make, ids: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "POSITIONS", 40)  # many pieces
    monkeypatch.setattr(evaluation, "SIDE_BY_SIDE", 3)
    model = lstm(layers=2)
    expected = [value for text in documents(ids) for value in one_by_one(model, text)]
    told = evaluate_ids(model, documents(ids), None)
    assert told.tokens == len(expected) == 593
    assert told.negative_log_likelihood == pytest.approx(-np.mean(expected), rel=1e-5)
    assert told.perplexity == pytest.approx(math.exp(told.negative_log_likelihood))


@pytest.mark.parametrize("context", [None, 16])
def test_a_changed_model_reads_each_document_by_itself(
    lstm: Make, transformer: Make, ids: np.ndarray, context: int | None
) -> None:
    model = lstm() if context is None else transformer(context=context)
    [address] = [tap.address for tap in model.taps() if tap.address in ("embedding", "embedding/sum")]
    changed = ChangedModel(model, [scale(address, -2.0, channel=(0, 1, 2))])
    texts = [text[:15] for text in documents(ids)]
    expected = [value for text in texts for value in one_by_one(changed, text)]
    told = evaluate_ids(changed, texts, None)
    assert told.tokens == len(expected)
    assert told.negative_log_likelihood == pytest.approx(-np.mean(expected), rel=1e-5)
    assert told.negative_log_likelihood != pytest.approx(
        evaluate_ids(model, texts, None).negative_log_likelihood, rel=5e-5
    )


def test_a_change_at_the_end_of_a_text_is_at_the_end_of_each(lstm: Make, ids: np.ndarray) -> None:
    changed = ChangedModel(lstm(), [scale("layers/0/hidden", -2.0, position=-1)])
    texts = [text[:15] for text in documents(ids)]
    together = evaluate_ids(changed, texts, None)
    alone = [evaluate_ids(changed, [text], None) for text in texts if len(text) > 1]
    nats = sum(told.tokens * told.negative_log_likelihood for told in alone)
    assert together.negative_log_likelihood == pytest.approx(nats / together.tokens, rel=1e-6)


def test_a_large_vocabulary_is_judged_in_small_pieces(
    lstm: Make, ids: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = lstm()
    expected = evaluate_ids(model, [ids[:100]], None)
    monkeypatch.setattr(evaluation, "LOGITS", 7 * 20 + 3)
    sizes, advance = [], model.advance

    def spy(tokens: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        sizes.append(tokens.numel())
        return advance(tokens, state)

    model.advance = spy  # type: ignore[method-assign]
    told = evaluate_ids(model, [ids[:100]], None)
    assert sizes == [20, 20, 20, 20, 19]
    assert told.negative_log_likelihood == pytest.approx(expected.negative_log_likelihood, rel=1e-5)


@pytest.mark.parametrize("positions", [16, 100, 5000])
def test_a_limited_context_never_sees_less_than_half_of_it(
    transformer: Make, ids: np.ndarray, monkeypatch: pytest.MonkeyPatch, positions: int
) -> None:
    monkeypatch.setattr(evaluation, "POSITIONS", positions)
    model = transformer()
    total, counted = 0.0, 0
    for text in documents(ids):
        tokens = torch.from_numpy(text.astype(np.int64))
        judged = 0
        for start in range(0, len(text), 8):
            end = min(start + 16, len(text) - 1)
            if end <= judged:
                break
            with torch.no_grad():
                rows = model.eval()(tokens[None, start:end])[0].log_softmax(-1)
            for place in range(judged, end):
                assert place - start >= min(place, 8)
                total += float(rows[place - start, tokens[place + 1]])
                counted += 1
            judged = end
    told = evaluate_ids(model, documents(ids), None)
    assert told.tokens == counted == 593
    assert told.negative_log_likelihood == pytest.approx(-total / counted, rel=1e-5)


@pytest.mark.parametrize("context", [1, 2, 3, 16, 17])
@pytest.mark.parametrize("length", [2, 3, 16, 17, 18, 40, 41])
def test_overlapping_windows_judge_every_token_once(length: int, context: int) -> None:
    judged = []
    for window in overlapping(np.arange(length), context):
        assert len(window.ids) <= context + 1
        targets = window.ids[1 + window.first :]
        assert len(targets)
        assert all(target - window.ids[0] >= min(target, (context + 1) // 2) for target in targets)
        judged += list(targets)
    assert judged == list(range(1, length))


def test_an_ngram_is_asked_once_for_everything(ids: np.ndarray) -> None:
    start = 6
    model = Ngram(NgramConfiguration(order=3), 7)
    model.fit(count_ngrams(ids, 3, 7, start_id=start))
    asked = []
    look_up = model.log_probabilities

    def spy(tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        asked.append(tokens.shape)
        return look_up(tokens, targets)

    model.log_probabilities = spy  # type: ignore[method-assign]
    texts = [np.concatenate([[start], text[text != start]]) for text in documents(ids)]
    told = evaluate_ids(model, texts, start)
    assert len(asked) == 1
    expected = [value for text in texts for value in one_by_one(model, text)]
    assert told.tokens == len(expected)
    assert told.negative_log_likelihood == pytest.approx(-np.mean(expected), rel=1e-5)


def test_targets_that_do_not_count_are_left_out(lstm: Make, ids: np.ndarray) -> None:
    model = lstm()
    values = zip(one_by_one(model, ids), ids[1:], strict=True)
    expected = [value for value, token in values if token != 3]
    told = evaluate_ids(model, [ids], 3)
    assert told.tokens == len(expected)
    assert told.negative_log_likelihood == pytest.approx(-np.mean(expected), rel=1e-5)


@pytest.mark.parametrize("context", [None, 64])
def test_known_tokens_are_judged_without_the_unknown_ones(
    lstm: Make, transformer: Make, ids: np.ndarray, context: int | None
) -> None:
    ids = ids[:60]
    model = lstm() if context is None else transformer(context=context)
    values = list(zip(one_by_one(model, ids), ids[1:].tolist(), strict=True))
    known = [value for value, token in values if token not in (3, 4)]
    told = evaluate_ids(model, [ids], 4, unknown_id=3)
    assert told.tokens - told.unknown == len(known)
    assert told.unknown > 0
    assert told.known_negative_log_likelihood == pytest.approx(-np.mean(known), rel=1e-5)
    assert told.known_perplexity == pytest.approx(math.exp(-np.mean(known)), rel=1e-5)
    assert told.known_perplexity != pytest.approx(told.perplexity, rel=1e-4)


def test_without_unknown_words_both_perplexities_are_one(lstm: Make, ids: np.ndarray) -> None:
    told = evaluate_ids(lstm(), [ids], None, unknown_id=None)
    assert told.known_perplexity == told.perplexity


def test_of_unknown_words_alone_no_known_one_is_judged() -> None:
    model = Ngram(NgramConfiguration(order=1, smoothing="maximum-likelihood"), 7)
    model.fit(count_ngrams(np.array([1, 2, 1, 2]), 1, 7, start_id=None))
    told = evaluate_ids(model, [np.array([1, 5, 5])], None, unknown_id=5)
    assert told.known_perplexity is None
    some = evaluate_ids(model, [np.array([1, 5, 1, 2])], None, unknown_id=5)
    assert some.perplexity == math.inf
    assert some.known_perplexity == pytest.approx(2)


def test_bits_per_character_share_the_surprise_among_the_characters(lstm: Make, ids: np.ndarray) -> None:
    told = evaluate_ids(lstm(), [ids], None, characters=1200)
    expected = told.negative_log_likelihood * told.tokens / math.log(2) / 1200
    assert told.bits_per_character == pytest.approx(expected)
    assert evaluate_ids(lstm(), [ids], None).bits_per_character is None


def test_what_cannot_be_predicted_at_all_is_infinitely_surprising() -> None:
    model = Ngram(NgramConfiguration(order=1, smoothing="maximum-likelihood"), 7)
    model.fit(count_ngrams(np.array([1, 2, 1, 2]), 1, 7, start_id=None))
    told = evaluate_ids(model, [np.array([1, 5])], None)
    assert told.negative_log_likelihood == told.perplexity == math.inf


@pytest.mark.parametrize("texts", [[], [np.array([1])], [np.array([1, 6])]])
def test_nothing_to_judge_is_told(lstm: Make, texts: list[np.ndarray]) -> None:
    with pytest.raises(LmvizError, match="no token to predict"):
        evaluate_ids(lstm(), texts, 6)


def test_progress_rises_to_one_and_the_model_is_left_as_it_was(lstm: Make, ids: np.ndarray) -> None:
    model, heard = lstm(dropout=0.5), []
    model.train()
    evaluate_ids(model, documents(ids), None, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
    assert model.training


def test_progress_is_the_share_of_the_tokens_that_are_judged(
    lstm: Make, ids: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "POSITIONS", 5)
    heard: list[float] = []
    evaluate_ids(lstm(), [ids[:21]], None, progress=heard.append)
    assert heard == [0.25, 0.5, 0.75, 1.0]

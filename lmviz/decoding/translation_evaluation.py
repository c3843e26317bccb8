"""Evaluates models that write a text for a source: nats and accuracy, exact match and BLEU, by its length."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.decoding.bleu import bleu
from lmviz.decoding.compared_words import compared_words
from lmviz.decoding.sampling import never_written
from lmviz.decoding.translation import check_translates, longest_answer
from lmviz.looks.shown import Shown
from lmviz.models.finite import check_score
from lmviz.models.float64 import in_float64
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.reading import evaluation
from lmviz.models.translator import Translator
from lmviz.text.examples import Examples

AT_ONCE = 128
"""How many sources are translated side by side."""


@dataclass(frozen=True)
class LengthScore:
    """The translations of sources of one length, in tokens without END."""

    count: int
    exact_match: float
    bleu: float
    negative_log_likelihood: float


@dataclass(frozen=True, eq=False, repr=False)
class TranslationEvaluation(Shown):
    """How well sources were translated.

    With the right words so far, `tokens` were judged, at `negative_log_likelihood` nats each on average,
    `perplexity` is e to that power and `accuracy` the share of them that the model found likeliest. With its
    own words, the likeliest at each step, `exact_match` is the share of the `sentences` that came out as
    wanted, and `bleu` is BLEU-4, from 0 to 1, both over the words of the texts as the model's tokenizer cuts
    them. These three count a word that the model writes as unknown as wrong, whatever is wanted.
    `by_length` has the same for each length of source; it is empty for captions, for pictures are all of one
    size.
    """

    sentences: int
    tokens: int
    negative_log_likelihood: float
    perplexity: float
    accuracy: float
    exact_match: float
    bleu: float
    by_length: Mapping[int, LengthScore]


@dataclass(frozen=True)
class _Judged:
    """One pair: the words that were wanted and written, and what the wanted tokens cost."""

    length: int
    wanted: tuple[Hashable, ...]
    written: tuple[Hashable, ...]
    nats: float
    right: int
    tokens: int


def evaluate_translations(
    model: Model, examples: Examples, progress: Report = unheard
) -> TranslationEvaluation:
    """Judge every pair. `progress` hears of the share that is done. LmvizError where there is none."""
    check_translates(model)
    lengths = examples.source.lengths
    context = model.context
    fitting = [
        number
        for number in np.argsort(lengths, kind="stable").tolist()
        if context is None or max(lengths[number], len(examples.target[number]) - 1) <= context
    ]
    if not fitting:
        raise LmvizError("This model can read none of the pairs of texts to be judged: choose others.")
    judged: list[_Judged] = []
    together = AT_ONCE if isinstance(model, Translator) else 1
    with evaluation(model) as reader:
        for first in range(0, len(fitting), together):
            chosen = fitting[first : first + together]
            sources = [examples.source[number].astype(np.int64) for number in chosen]
            targets = [examples.target[number].astype(np.int64) for number in chosen]
            texts = None if examples.texts is None else [examples.texts[number] for number in chosen]
            judged += _judge(reader, sources, targets, texts)
            progress((first + len(chosen)) / len(fitting))
    nats, tokens = sum(item.nats for item in judged), sum(item.tokens for item in judged)
    mean = nats / tokens
    check_score(model, mean)
    return TranslationEvaluation(
        sentences=len(judged),
        tokens=tokens,
        negative_log_likelihood=mean,
        perplexity=math.exp(mean) if mean < 700 else math.inf,
        accuracy=sum(item.right for item in judged) / tokens,
        exact_match=_exact(judged),
        bleu=bleu((item.written, item.wanted) for item in judged),
        by_length={} if model.task == "captioning" else _by_length(judged),
    )


def _by_length(judged: Sequence[_Judged]) -> dict[int, LengthScore]:
    return {
        length: _of_length([item for item in judged if item.length == length])
        for length in sorted({item.length for item in judged})
    }


def _of_length(judged: Sequence[_Judged]) -> LengthScore:
    nats, tokens = sum(item.nats for item in judged), sum(item.tokens for item in judged)
    pairs = ((item.written, item.wanted) for item in judged)
    return LengthScore(len(judged), _exact(judged), bleu(pairs), nats / tokens)


def _exact(judged: Sequence[_Judged]) -> float:
    return sum(item.written == item.wanted for item in judged) / len(judged)


def _judge(
    model: Model,
    sources: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    texts: Sequence[str] | None,
) -> list[_Judged]:
    """What was written for sources; `texts` are what is wanted as the file has it, where that is known."""
    start, end = int(targets[0][0]), int(targets[0][-1])
    written = write(model, sources, start, end)
    tokens, lengths = _side_by_side([target[:-1] for target in targets])
    if isinstance(model, Translator):
        given, given_lengths = _side_by_side(sources)
        logits = model(*_on_device(model, tokens, lengths, given, given_lengths))
    else:  # one that is changed reads one source at a time
        logits = GivenSource(model, sources[0])(*_on_device(model, tokens))
    unknown = None if model.tokenizer is None else model.tokenizer.unknown_id
    found = []
    for row, (source, target, answer) in enumerate(zip(sources, targets, written, strict=True)):
        shares = in_float64(logits[row, : len(target) - 1]).log_softmax(dim=-1).cpu().numpy()
        nats = -shares[np.arange(len(target) - 1), target[1:]].sum()
        right = int(((shares.argmax(axis=-1) == target[1:]) & (target[1:] != unknown)).sum())
        wanted = _words(model, target[1:-1].tolist(), None if texts is None else texts[row])
        said = _words(model, answer)
        found.append(_Judged(len(source) - 1, wanted, said, float(nats), right, len(target) - 1))
    return found


def _words(model: Model, ids: Sequence[int], text: str | None = None) -> tuple[Hashable, ...]:
    """The words of a text by which it is compared, or of ids; those of a model without a tokenizer."""
    if model.tokenizer is None:
        return tuple(ids)
    return compared_words(model.tokenizer.decode(ids) if text is None else text, model.tokenizer)


def write(model: Model, sources: Sequence[np.ndarray], start: int, end: int) -> list[tuple[int, ...]]:
    """What a model writes for each source, the likeliest token at each step, without START and END.

    It is as long as `translate` lets it be, whatever sources stand beside it. A changed model is given one
    source at a time.
    """
    limits = np.array([longest_answer(len(source)) for source in sources])
    limits = limits if model.context is None else np.minimum(limits, model.context)
    fillers = never_written(model.tokenizer, model.outputs)
    if isinstance(model, Translator):
        writer: Model = model
        state = model.begin(*_on_device(model, *_side_by_side(sources)))
    else:
        writer, state = GivenSource(model, sources[0]), None
    tokens = np.full((len(sources), 1), start)
    while not ((tokens == end).any(axis=1) | (tokens.shape[1] > limits)).all():
        # one that carries no state along reads all it has written again
        given = tokens if state is None else tokens[:, -1:]
        [read] = _on_device(writer, given)
        logits, state = writer.advance(read, state)
        last = logits[:, -1].clone()  # (source, token)
        last[:, fillers] = -torch.inf
        best = last.argmax(dim=-1).cpu().numpy()
        tokens = np.concatenate([tokens, best[:, None]], axis=1)
    return [_until(row[1 : 1 + limit].tolist(), end) for row, limit in zip(tokens, limits, strict=True)]


def _until(ids: list[int], end: int) -> tuple[int, ...]:
    return tuple(ids[: ids.index(end)] if end in ids else ids)


def _side_by_side(rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows filled up to the longest, (row, position), and their lengths (row,), int64."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    filled = np.zeros((len(rows), int(lengths.max())), dtype=np.int64)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return filled, lengths


def _on_device(model: Model, *arrays: np.ndarray) -> tuple[torch.Tensor, ...]:
    device = next(model.parameters()).device
    return tuple(torch.from_numpy(array).to(device) for array in arrays)

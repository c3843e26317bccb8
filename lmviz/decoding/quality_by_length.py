"""How well a model translates sources of each length, how sure that is, and which it translates worst."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.decoding.bleu import bleu_counts, bleu_of_counts, sentence_bleu
from lmviz.decoding.compared_words import compared_words
from lmviz.decoding.judged_pairs import TextPair
from lmviz.decoding.translation import check_translates
from lmviz.decoding.translation_evaluation import AT_ONCE, write
from lmviz.models.model import Model
from lmviz.models.prefix import read_any_length
from lmviz.models.reading import evaluation
from lmviz.models.sequences import SOURCE
from lmviz.text.tokenizer import Tokenizer

RESAMPLES = 1000
"""How often sentences are drawn anew for a band."""

_BAND = (2.5, 97.5)
_SEED = 0


@dataclass(frozen=True)
class MeasuredShare:
    """A share from 0 to 1, and the band from `low` to `high` in which it would be for 95 of 100 other samples
    of as many sentences, by the bootstrap (Efron 1979; of BLEU, Koehn 2004)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class WorstTranslation:
    """The pair of a length whose translation has the least in common with the wanted one."""

    source: str
    wanted: str
    written: str


@dataclass(frozen=True)
class LengthQuality:
    """How well `count` sources of one length were translated."""

    count: int
    bleu: MeasuredShare
    exact_match: MeasuredShare
    worst: WorstTranslation


@dataclass(frozen=True)
class _Answer:
    """What a model wrote for a pair as a text, and the words of it and of what was wanted."""

    pair: TextPair
    text: str
    words: tuple[Hashable, ...]
    wanted: tuple[Hashable, ...]


def quality_by_length(
    model: Model,
    pairs: Sequence[TextPair],
    tokenizer: Tokenizer,
    progress: Report = unheard,
) -> Mapping[int, LengthQuality]:
    """Quality by the length of the source, ascending, of the likeliest token at each step.

    `tokenizer` is that of the wanted texts: models with other tokens are judged by what they write. Lengths
    with a source that is longer than the model can read are left out. `progress` hears of the share that is
    done. LmvizError for a model that does not translate, and where no source is short enough.
    """
    check_translates(model)
    longest = np.inf if model.context is None else model.context
    read = [(pair, read_any_length(model, pair.source, SOURCE).ids) for pair in pairs]
    too_long = {pair.length for pair, ids in read if len(ids) > longest}
    fitting = sorted(
        ((pair, ids) for pair, ids in read if pair.length not in too_long), key=lambda item: len(item[1])
    )
    if not fitting:
        raise LmvizError("This model can read none of the pairs of texts to be judged: choose others.")
    answers: list[_Answer] = []
    with evaluation(model) as reader:
        for first in range(0, len(fitting), AT_ONCE):
            chosen = fitting[first : first + AT_ONCE]
            answers += _answers(reader, chosen, tokenizer)
            progress((first + len(chosen)) / len(fitting))
    lengths = sorted({answer.pair.length for answer in answers})
    return {length: _of_length([one for one in answers if one.pair.length == length]) for length in lengths}


def bootstrap(counts: np.ndarray, measure: Callable[[np.ndarray], np.ndarray]) -> MeasuredShare:
    """A measure of the sums of counts (sentence, count), with the band of sentences drawn anew.

    `measure` turns sums (…, count) into shares (…). Sentences are drawn with replacement, as many as there
    are, `RESAMPLES` times; the same counts always give the same band.
    """
    number = len(counts)
    drawn = np.random.default_rng(_SEED).multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
    low, high = np.percentile(measure(drawn @ counts), _BAND)
    return MeasuredShare(float(measure(counts.sum(axis=0))), float(low), float(high))


def _answers(
    reader: Model, chosen: Sequence[tuple[TextPair, np.ndarray]], tokenizer: Tokenizer
) -> list[_Answer]:
    own = reader.tokenizer
    assert own is not None, "without a tokenizer it could not have read the sources"
    assert own.start_id is not None, "targets begin with START"
    assert own.end_id is not None, "targets end in END"
    written = write(reader, [ids for _, ids in chosen], own.start_id, own.end_id)
    texts = [own.decode(ids) for ids in written]
    return [
        _Answer(pair, text, compared_words(text, tokenizer), compared_words(pair.target, tokenizer))
        for (pair, _), text in zip(chosen, texts, strict=True)
    ]


def _of_length(answers: Sequence[_Answer]) -> LengthQuality:
    counts = np.array([bleu_counts(one.words, one.wanted) for one in answers])
    exact = np.array([[one.words == one.wanted, 1] for one in answers], dtype=np.int64)
    worst = min(answers, key=lambda one: sentence_bleu(one.words, one.wanted))
    return LengthQuality(
        count=len(answers),
        bleu=bootstrap(counts, bleu_of_counts),
        exact_match=bootstrap(exact, lambda sums: sums[..., 0] / sums[..., 1]),
        worst=WorstTranslation(worst.pair.source, worst.pair.target, worst.text),
    )

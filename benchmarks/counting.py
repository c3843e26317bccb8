"""Fitting a 5-gram with modified Kneser-Ney smoothing against NLTK's interpolated Kneser-Ney."""

from __future__ import annotations

import numpy as np
from nltk.lm import KneserNeyInterpolated
from nltk.lm.preprocessing import padded_everygram_pipeline

from benchmarks.rows import Measured, Row, interleave
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram

ORDER = 5
VOCABULARY = 30_000
OUR_WORDS = 1_000_000
THEIR_WORDS = 50_000
SENTENCE = 20


def _words(count: int) -> np.ndarray:
    """Random words, as frequent as Zipf's law has them; (word,) int64 from 2 on, without START and END."""
    weights = 1 / np.arange(1, VOCABULARY - 1)
    return 2 + np.random.default_rng(0).choice(VOCABULARY - 2, size=count, p=weights / weights.sum())


def _stream(words: np.ndarray) -> np.ndarray:
    """START 0, a sentence, END 1, and so on; (token,)."""
    sentences = words.reshape(-1, SENTENCE)
    edges = np.ones((len(sentences), 1), dtype=np.int64)
    return np.hstack([0 * edges, sentences, edges]).ravel()


def ngram() -> Measured:
    """Words a second of fitting, NLTK's on a smaller text, since its time grows in proportion."""
    words = _words(OUR_WORDS)
    stream = _stream(words)
    sentences = words[:THEIR_WORDS].astype(str).reshape(-1, SENTENCE).tolist()

    def ours() -> None:
        model = Ngram(NgramConfiguration(order=ORDER), VOCABULARY)
        model.fit(count_ngrams(stream, ORDER, VOCABULARY, start_id=0))

    def theirs() -> None:
        KneserNeyInterpolated(ORDER).fit(*padded_everygram_pipeline(ORDER, sentences))

    times = interleave(ours, theirs, 5)
    speeds = f"{OUR_WORDS / times.ours:,.0f} words/s, NLTK {THEIR_WORDS / times.theirs:,.0f}"
    return Measured(times.ratio * OUR_WORDS / THEIR_WORDS, speeds)


ROWS = (
    Row(
        "ngram",
        "5-gram modified Kneser-Ney on a million words, against NLTK's KneserNeyInterpolated.fit",
        "×",
        50.0,
        False,
        ngram,
    ),
)

"""A race against the same trainings one after the other, from the first model to the last saved state."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np

import lmviz
from benchmarks.rows import Measured, Row, interleave
from lmviz.text.corpus import text_corpus
from lmviz.text.corpus_options import CorpusOptions

RATES = [0.0003, 0.002, 0.01]
SETTINGS = {"width": 128, "layers": 2, "steps": 40, "batch": 12, "length": 64, "validate_every": 0}
ROUNDS = 5


def race() -> Measured:
    """Seconds of a race of GRUs, over those of the same trained alone."""
    letters = np.random.default_rng(0).integers(26, size=100_000)
    text = "".join(chr(97 + letter) for letter in letters)
    corpus = text_corpus(text, "letters", options=CorpusOptions(tokenizer="characters"))
    numbers = itertools.count()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)

        def together() -> None:
            settings = {"family": "gru", "learning_rate": RATES, **SETTINGS}
            for _ in lmviz.race(corpus, settings, out=folder / str(next(numbers))):
                pass

        def alone() -> None:
            for rate in RATES:
                lmviz.train("gru", corpus, folder / str(next(numbers)), learning_rate=rate, **SETTINGS)

        times = interleave(together, alone, ROUNDS)
    return Measured(1 / times.ratio, f"{times.ours:.2f} s, one after the other {times.theirs:.2f} s")


ROWS = (Row("race", "a race of three GRUs, against the same three trained alone", "×", 1.05, True, race),)

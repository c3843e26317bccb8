"""Many texts at once: a batch of prompts, a loss map that is scrolled, and passages of 100 MB looked up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.apart import once_apart
from benchmarks.deep_model import SHAPE, VOCABULARY, deep_models
from benchmarks.rows import Measured, Row, Times, interleave

PROMPTS, SHORTEST, LONGEST = 100, 10, 18
LAYER = 29
ROUNDS = 3
TOKENS = 1_000_000
FRAME = 1000 / 60
QUESTION = 200


def _prompts() -> list[list[int]]:
    chance = np.random.default_rng(0)
    lengths = chance.integers(SHORTEST, LONGEST + 1, PROMPTS)
    return [chance.integers(10, VOCABULARY - 10, length).tolist() for length in lengths]


def _traced(ours: Any) -> None:
    from lmviz.inspection.many_traces import traces

    traces(ours, _prompts(), taps=[f"layers/{LAYER}/residual2"])


def _padded(theirs: Any) -> None:
    """The same by transformers: one padded batch, whose stream after the layer a hook keeps; no logits."""
    import torch

    prompts = _prompts()
    longest = max(map(len, prompts))
    ids = torch.tensor([prompt + [0] * (longest - len(prompt)) for prompt in prompts])
    mask = torch.tensor([[1] * len(prompt) + [0] * (longest - len(prompt)) for prompt in prompts])
    kept = []
    handle = theirs.model.layers[LAYER].register_forward_hook(lambda module, given, made: kept.append(made))
    with torch.inference_mode():
        theirs.model(ids, attention_mask=mask, use_cache=False)
    handle.remove()


def _batch() -> Times:
    ours, theirs = deep_models()
    return interleave(partial(_traced, ours), partial(_padded, theirs), ROUNDS)


def _against_transformers() -> Measured:
    times = once_apart(_batch)
    return Measured(1 / times.ratio, f"{1000 * times.ours:.0f} ms, theirs {1000 * times.theirs:.0f} ms")


def _scrolled() -> Measured:
    """Frames of a text of a million tokens, each a screen further; all that is in sight is painted."""
    from PySide6.QtWidgets import QApplication

    from lmviz.app.widgets.base.scrolling import scrolling
    from lmviz.app.widgets.text.loss_text import LossText

    application = QApplication.instance() or QApplication([])
    chance = np.random.default_rng(0)
    text = LossText()
    area = scrolling(text)
    area.resize(900, 600)
    words = [f"word{number}" for number in range(2000)]
    text.set_text(
        chance.integers(0, len(words), TOKENS), words, np.arange(0, TOKENS, 500), chance.random(TOKENS)
    )
    area.show()
    application.processEvents()
    bar, taken = area.verticalScrollBar(), []
    for _ in range(120):
        bar.setValue(bar.value() + 600)
        start = time.perf_counter()
        area.viewport().repaint()
        taken.append(1000 * (time.perf_counter() - start))
    area.close()
    return Measured(float(np.percentile(taken, 95)), f"p95 of 120 screens, median {np.median(taken):.1f} ms")


@dataclass(frozen=True)
class _Indexed:
    """Processor seconds of reading a text and of making its index; milliseconds and bytes beside them."""

    reading: float
    indexing: float
    question: float
    bytes: int


@cache
def _indexed(tokens: str) -> Callable[[], _Indexed]:
    """One and the same for each kind of tokens, as `once_apart` knows a piece of work again by itself."""
    return partial(_index, tokens)


def _index(tokens: str) -> _Indexed:
    """A text of 100 MB of made-up words: read, indexed, and asked for the passages of as many tokens."""
    import tempfile
    from pathlib import Path

    import lmviz
    from benchmarks.large_text import write_words
    from lmviz.text.suffix_array import PassageIndex

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.txt"
        write_words(path)
        began = time.process_time()
        corpus = lmviz.load_corpus(path, tokens, documents="file", validation=0.0)
        reading = time.process_time() - began
    began = time.process_time()
    index = PassageIndex(corpus.training)
    indexing = time.process_time() - began
    chance, asked = np.random.default_rng(0), []
    for _ in range(30):  # a part that stands there, and a part that hardly does
        place = int(chance.integers(len(corpus.training) - QUESTION))
        question = corpus.training[place : place + QUESTION].astype(np.int64)
        question[QUESTION // 2 :] = chance.permutation(question[QUESTION // 2 :])
        began = time.process_time()
        index.longest(question)
        asked.append(1000 * (time.process_time() - began))
    size = index.bytes + corpus.training.nbytes
    return _Indexed(reading, indexing, float(np.percentile(asked, 95)), size)


def _index_over_reading(tokens: str) -> Measured:
    found = once_apart(_indexed(tokens))
    held = f"{found.indexing:.1f} s of processor, {found.bytes / 1e6:.0f} MB held"
    return Measured(found.indexing / found.reading, f"{held}, read in {found.reading:.1f} s")


def _asked(tokens: str) -> Measured:
    return Measured(once_apart(_indexed(tokens)).question, "processor time of 30 questions")


ROWS = (
    Row(
        "batch",
        f"{PROMPTS} prompts of {SHORTEST} to {LONGEST} tokens, the last layer kept, {SHAPE}, "
        "against transformers' padded batch",
        "×",
        1.1,
        True,
        _against_transformers,
    ),
    Row(
        "loss-map",
        "a frame of a loss map of a million tokens, scrolled by a screen",
        "ms",
        round(FRAME, 1),
        True,
        lambda: once_apart(_scrolled),
    ),
    *(
        Row(
            f"passages-index-{tokens}",
            f"the index of the passages of a text of 100 MB, by {tokens}, against reading the text",
            "×",
            3,
            True,
            partial(_index_over_reading, tokens),
        )
        for tokens in ("words", "characters")
    ),
    *(
        Row(
            f"passages-question-{tokens}",
            f"the longest passages from each of {QUESTION} {tokens} that stand in a text of 100 MB, p95",
            "ms",
            50,
            True,
            partial(_asked, tokens),
        )
        for tokens in ("words", "characters")
    ),
)

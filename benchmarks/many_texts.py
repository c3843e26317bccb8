"""Many texts at once: a batch of prompts beside transformers, and a loss map that is scrolled."""

from __future__ import annotations

import time
from functools import partial
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
)

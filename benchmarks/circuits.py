"""Grids of patches: beside batched hooks in plain PyTorch, and as the window asks for them."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.apart import once_apart
from benchmarks.deep_model import SHAPE, VOCABULARY, deep_models
from benchmarks.rows import Measured, Row, Times, interleave

POSITIONS, CHANGED = 14, 1
"""The second of so many tokens is changed, so that hardly any position is the same in both texts."""

ROUNDS = 3
STORY = (
    "Maya owned a brown {}. She put it in the barrel. Later, Maya opened the barrel, and there lay the brown"
)


def _texts() -> tuple[list[int], list[int]]:
    clean = [7919 * place % VOCABULARY for place in range(POSITIONS)]
    return clean, [*clean[:CHANGED], 11, *clean[CHANGED + 1 :]]


def grid(ours: Any) -> np.ndarray:
    """The measure for each layer and position, carried into the changed text, (layer, position)."""
    from lmviz.circuits.contrast import Contrast
    from lmviz.circuits.patching import patch

    clean, changed = _texts()
    contrast = Contrast(tuple(clean), tuple(changed), ("logits", (POSITIONS - 1, 5)))
    return patch(ours, contrast, "layers/*/residual2").measured


def hooked(theirs: Any) -> np.ndarray:
    """The same by a hook on each layer in turn, which puts one position into each row of a batch."""
    import torch

    clean, changed = (torch.tensor([ids]) for ids in _texts())
    layers = theirs.model.layers
    with torch.inference_mode():
        kept: dict[int, torch.Tensor] = {}
        handles = [
            layer.register_forward_hook(
                lambda module, given, made, at=at: kept.update({at: _stream(made).clone()})
            )
            for at, layer in enumerate(layers)
        ]
        theirs(clean, logits_to_keep=1)
        for handle in handles:
            handle.remove()
        rows = torch.arange(POSITIONS)
        found = []
        for at, layer in enumerate(layers):

            def put(module: Any, given: Any, made: Any, at: int = at) -> Any:
                stream = _stream(made).clone()
                stream[rows, rows] = kept[at][0, rows]
                return (stream, *made[1:]) if isinstance(made, tuple) else stream

            handle = layer.register_forward_hook(put)
            logits = theirs(changed.expand(POSITIONS, -1), logits_to_keep=1).logits
            found.append(logits[:, -1, 5].numpy())
            handle.remove()
    return np.stack(found)


def _stream(made: Any) -> Any:
    return made[0] if isinstance(made, tuple) else made


def _patching() -> Times:
    ours, theirs = deep_models()
    return interleave(partial(grid, ours), partial(hooked, theirs), ROUNDS)


def _against_hooks() -> Measured:
    times = once_apart(_patching)
    return Measured(1 / times.ratio, f"{1000 * times.ours:.0f} ms, hooks {1000 * times.theirs:.0f} ms")


def _sample() -> Measured:
    """The best of some, since other work on the machine only adds."""
    import lmviz
    from lmviz.circuits.patching import patch

    model = lmviz.open_model("stories-transformer")
    contrast = lmviz.contrast(STORY.format("stone"), STORY.format("bell"))
    taken = []
    for _ in range(10):
        start = time.perf_counter()
        patch(model, contrast, estimate=True)
        taken.append(1000 * (time.perf_counter() - start))
    return Measured(min(taken), f"26 tokens, median {np.median(taken):.0f} ms")


ROWS = (
    Row(
        "patching",
        f"a grid of patches, 30 layers × {POSITIONS} positions, {SHAPE}, against hooks on transformers",
        "×",
        1.2,
        True,
        _against_hooks,
    ),
    Row(
        "patching-sample",
        "the same for the sample Transformer, with the fast estimate",
        "ms",
        150,
        True,
        lambda: once_apart(_sample),
    ),
)

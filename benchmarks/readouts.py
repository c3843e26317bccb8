"""Fitting a lens beside a plain loop of the same mathematics, and the slider of a direction."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.apart import once_apart
from benchmarks.deep_model import SHAPE, VOCABULARY, deep_models
from benchmarks.rows import Measured, Row, Times, interleave

LENGTH, CHANNELS, AT_ONCE = 32, 12, 12
"""Of a passage of so many tokens so many rows of the Jacobian are made, so many at once.

That is one pass of the 48 of a fit, all alike: with four of them and 64 tokens the row took minutes.
"""

ROUNDS, MOVES = 3, 20
KEYSTROKE = 300.0


def _ids() -> np.ndarray:
    return np.random.default_rng(0).integers(10, VOCABULARY - 10, LENGTH)


def _ours(model: Any) -> None:
    from lmviz.readouts.stream_pass import StreamPass

    stream = StreamPass(model)
    parameters = stream.parameters()
    for first in range(0, CHANNELS, AT_ONCE):
        stream.rows_of_jacobian(_ids(), range(first, first + AT_ONCE), slice(16, LENGTH - 1), parameters)


def _plain(model: Any) -> None:
    """Rows of a batch, each with the gradient of one channel of the last layer, by transformers' model."""
    import torch

    tokens = torch.tensor(_ids())[None]
    for first in range(0, CHANNELS, AT_ONCE):
        kept: list[Any] = []

        def keep(module: Any, given: Any, made: Any, kept: list[Any] = kept) -> Any:
            state = made[0] if isinstance(made, tuple) else made
            state = state if state.requires_grad else state.detach().requires_grad_()
            kept.append(state)
            return (state, *made[1:]) if isinstance(made, tuple) else state

        modules = [model.model.embed_tokens, *model.model.layers]
        handles = [module.register_forward_hook(keep) for module in modules]
        with torch.enable_grad():
            model.model(tokens.expand(AT_ONCE, -1), use_cache=False)
            rows = torch.arange(AT_ONCE)
            end = kept[-1][:, 16 : LENGTH - 1]
            asked = end[rows, :, first + rows].sum()
            torch.autograd.grad(asked, kept[:-1])
        for handle in handles:
            handle.remove()


def _fitted() -> Times:
    ours, theirs = deep_models()
    for parameter in theirs.parameters():
        parameter.requires_grad_(False)
    return interleave(partial(_ours, ours), partial(_plain, theirs), ROUNDS)


def _against_a_loop() -> Measured:
    times = once_apart(_fitted)
    told = f"{1000 * times.ours:.0f} ms for {CHANNELS} rows, the loop {1000 * times.theirs:.0f} ms"
    return Measured(times.ours / times.theirs, told)


def _slid() -> Measured:
    """The next words at one strength after the other, of a sample model, as the slider of *Steer* asks."""
    import lmviz
    from lmviz.readouts.direction import mean_difference
    from lmviz.readouts.steering import steered_text

    model = lmviz.open_model("stories-transformer")
    text = "Maya put the green stone in the barrel. Then she went home and put the"
    north = mean_difference(model, [text.replace("green", "red")], [text], "layers/1/residual2")
    taken = []
    for move in range(MOVES + 2):
        start = time.perf_counter()
        steered_text(model, north, text, -2 + 4 * move / MOVES, 24)
        taken.append(1000 * (time.perf_counter() - start))
    own = np.array(taken[2:])
    return Measured(float(np.percentile(own, 95)), f"p95 of {MOVES} places, median {np.median(own):.0f} ms")


ROWS = (
    Row(
        "jacobian-lens",
        f"{CHANNELS} rows of a Jacobian lens on a passage of {LENGTH} tokens, {SHAPE}, against a plain loop",
        "×",
        1.0,
        True,
        _against_a_loop,
    ),
    Row(
        "steer-slider",
        "a place of the slider of Steer, next words and a sample of 24 tokens, sample Transformer",
        "ms",
        KEYSTROKE,
        True,
        lambda: once_apart(_slid),
    ),
)

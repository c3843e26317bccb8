"""Learning a dictionary of features, against a plain PyTorch loop of the same recipe."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from benchmarks.apart import once_apart
from benchmarks.rows import Measured, Row, Times, interleave
from lmviz.features.learner import DictionaryLearner
from lmviz.features.recipe import FeatureRecipe

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

WIDTH, SIZE, K, BATCH, STEPS, ROUNDS = 96, 1024, 16, 1024, 30, 7
SHAPE = f"{SIZE:,} features of {WIDTH} channels, {K} on, {BATCH:,} tokens a step"


def _both() -> Times:
    from plain_dictionary import plain_loop

    drawn = torch.Generator().manual_seed(0)
    states = torch.randn(BATCH * STEPS, WIDTH, generator=drawn) @ torch.randn(WIDTH, WIDTH, generator=drawn)
    mean = states.mean(0)
    scale = float((states - mean).square().mean().sqrt())
    batches = states.split(BATCH)

    def ours() -> None:
        learner = DictionaryLearner(
            FeatureRecipe(size=SIZE, k=K, tokens=BATCH * STEPS, batch=BATCH), mean, scale
        )
        for batch in batches:
            learner.learn(batch)

    def theirs() -> None:
        ordered = iter(batches)
        plain_loop(
            lambda: next(ordered),
            mean,
            scale,
            size=SIZE,
            k=K,
            steps=STEPS,
            rate=0.002,
            dead_after=100_000,
        )

    return interleave(ours, theirs, ROUNDS)


def _measured() -> Measured:
    times = once_apart(_both)
    tokens = BATCH * STEPS
    return Measured(
        times.ratio,
        f"{tokens / times.ours:,.0f} tokens a second, the plain loop {tokens / times.theirs:,.0f}",
    )


ROWS = (
    Row(
        "features",
        f"learning a dictionary, {SHAPE}, against a plain PyTorch loop of the same recipe",
        "×",
        1.0,
        False,
        _measured,
    ),
)

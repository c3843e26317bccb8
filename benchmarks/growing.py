"""How what a person waits for grows: the exponent of its time over three sizes.

Time that grows as sizeᵏ is a line of slope k where both are logarithms. The slope here is that between the
two largest of three sizes: at the smallest, what every call costs hides how it grows. The budget is what
the mathematics asks, with a fifth for noise and for what no longer fits into a cache.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.limits import quickest
from benchmarks.rows import Measured, Row

SLACK = 1.2
TOKENS = (64, 256, 1024)
ROUNDS = 5


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The exponent between the two largest sizes."""
    return math.log(seconds[-1] / seconds[-2]) / math.log(sizes[-1] / sizes[-2])


def grown(sizes: Sequence[int], prepared: Callable[[int], Callable[[], object]]) -> Measured:
    """The exponent of the time that work takes which was prepared for each size."""
    seconds = [quickest(prepared(size), ROUNDS) for size in sizes]
    each = ", ".join(f"{size:,}: {1000 * taken:.3g} ms" for size, taken in zip(sizes, seconds, strict=True))
    return Measured(slope(sizes, seconds), each)


def _transformer(layers: int = 4, vocabulary: int = 1000, context: int = 1024) -> Any:
    from lmviz.families import build_model, find_family

    chosen = find_family("transformer").configuration(layers=layers, heads=4, width=128, context=context)
    return build_model("transformer", chosen, vocabulary, seed=0).eval()


def _gru() -> Any:
    from lmviz.families import build_model, find_family

    return build_model("gru", find_family("gru").configuration(width=128, layers=2), 1000, seed=0).eval()


def _ids(count: int, vocabulary: int = 1000) -> list[int]:
    return list(np.random.default_rng(0).integers(2, vocabulary - 2, count).tolist())


def _traced(model: Any, ids: list[int]) -> Callable[[], object]:
    from lmviz.inspection.tracing import trace

    return lambda: trace(model, ids)


def _trace_of(build: Callable[[], Any], tokens: int) -> Callable[[], object]:
    return _traced(build(), _ids(tokens))


def _gradient_of(build: Callable[[], Any], tokens: int) -> Callable[[], object]:
    from lmviz.inspection.backpropagation import gradient

    model = build()
    return lambda: gradient(model, _ids(tokens), "loss")["logits"].array


def _layers(layers: int) -> Callable[[], object]:
    return _traced(_transformer(layers=layers), _ids(64))


def _vocabulary(vocabulary: int) -> Callable[[], object]:
    from lmviz.decoding.distribution import next_distribution

    logits = torch.randn(vocabulary)
    return lambda: next_distribution(logits)


def _counting(words: int) -> Callable[[], object]:
    from benchmarks.counting import ORDER, VOCABULARY, _stream, _words
    from lmviz.models.ngram.configuration import NgramConfiguration
    from lmviz.models.ngram.counts import count_ngrams
    from lmviz.models.ngram.model import Ngram

    stream = _stream(_words(words))

    def fit() -> None:
        model = Ngram(NgramConfiguration(order=ORDER), VOCABULARY)
        model.fit(count_ngrams(stream, ORDER, VOCABULARY, start_id=0))

    return fit


def _loading(words: int) -> Callable[[], object]:
    from benchmarks.made_models import text
    from lmviz.api.training import load_corpus

    path = Path(tempfile.mkdtemp(prefix="lmviz-bench-")) / "text.txt"
    made = text(words).split()
    path.write_text("\n".join(" ".join(made[at : at + 20]) for at in range(0, words, 20)), encoding="utf-8")
    return lambda: load_corpus(path)


def _snapshots(count: int) -> Callable[[], object]:
    from lmviz.families import build_model, find_family
    from lmviz.training.description import RunDescription
    from lmviz.training.run import Run

    settings = {"width": 8, "layers": 1}
    model = build_model("rnn", find_family("rnn").configuration(**settings), 50, seed=0)
    description = RunDescription(
        name="run", family="rnn", configuration=model.configuration.to_values(), vocabulary_size=50
    )
    run = Run.create(Path(tempfile.mkdtemp(prefix="lmviz-bench-")) / "run", description)
    for step in range(count):
        run.save_snapshot(step, model.state())
    return lambda: Run.open(run.folder).snapshots()


def _row(name: str, what: str, exponent: float, sizes: Sequence[int], prepared: Callable[..., Any]) -> Row:
    return Row(
        f"growing-{name}",
        f"{what}: exponent over {', '.join(f'{size:,}' for size in sizes)}",
        "(exponent)",
        SLACK * exponent,
        True,
        partial(grown, sizes, prepared),
    )


WORDS = (10_000, 100_000, 1_000_000)
ROWS = (
    _row(
        "trace", "a trace of all taps of a Transformer, tokens", 2, TOKENS, partial(_trace_of, _transformer)
    ),
    _row("trace-gru", "the same of a GRU, tokens", 1, TOKENS, partial(_trace_of, _gru)),
    _row("gradient", "gradients of a Transformer, tokens", 2, TOKENS, partial(_gradient_of, _transformer)),
    _row("gradient-gru", "the same of a GRU, tokens", 1, TOKENS, partial(_gradient_of, _gru)),
    _row("layers", "a trace of 64 tokens, layers", 1, (4, 12, 36), _layers),
    # It is sorted: n log n, which is n¹·¹ at these sizes.
    _row("vocabulary", "the next word's distribution, tokens", 1.1, (4_000, 16_000, 64_000), _vocabulary),
    _row("counting", "fitting a 5-gram, words", 1, WORDS, _counting),
    _row("loading", "loading a text, words", 1, WORDS, _loading),
    _row("snapshots", "opening a run and listing its snapshots, snapshots", 1, (20, 200, 2000), _snapshots),
)

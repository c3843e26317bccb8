"""See a language model think, while it learns.

    import lmviz

    corpus = lmviz.load_corpus("input.txt", tokenizer="words")
    run = lmviz.train("lstm", corpus, out="runs/first", steps=500, seed=0, width=128)
    model = lmviz.open_model("runs/first")
    trace = lmviz.trace(model, "The bat made")

Importing this imports neither Qt nor torch; the names below load what they need when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lmviz.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.api import evaluate, load_corpus, next_token, open_model, sample, train
    from lmviz.api import trace as trace

__version__ = "0.1.0"

__all__ = [
    "LmvizError",
    "evaluate",
    "load_corpus",
    "next_token",
    "open_model",
    "sample",
    "trace",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("lmviz.api"), name)
    raise AttributeError(f"module 'lmviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

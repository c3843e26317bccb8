"""Training throughput against plain PyTorch: Hugging Face's GPT-2 in a loop, and bare recurrent modules.

Ours is the whole training, as the command line runs it: progress, metrics, snapshots and the saved
state included. Only validation is left out, which the plain loops do not do either.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.limits import of_products
from benchmarks.rows import Measured, Row, interleave
from lmviz.families import build_model, find_family, learner_of
from lmviz.training.cost import training_cost
from lmviz.training.description import RunDescription
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run


@dataclass(frozen=True)
class Size:
    """How large a model and its batches are; `steps` make one round of the measurement."""

    layers: int
    width: int
    batch: int
    length: int
    vocabulary: int
    steps: int
    heads: int = 1

    @property
    def tokens(self) -> int:
        """Tokens in a round."""
        return self.steps * self.batch * self.length


TOKENS = 200_000
ENDLESS = 1_000_000
ROUNDS = 10

Training = Generator[object, None, None]


def _options(size: Size, precision: str) -> TrainingOptions:
    return TrainingOptions(
        steps=ENDLESS, batch=size.batch, length=size.length, validate_every=0, precision=precision
    )


def _ours(family: str, size: Size, settings: dict[str, Any], precision: str = "float32") -> Training:
    """Our training of a family on random tokens, step by step."""
    options = _options(size, precision)
    configuration = find_family(family).configuration(**settings)
    model = build_model(family, configuration, size.vocabulary, seed=0)
    ids = np.random.default_rng(0).integers(size.vocabulary, size=TOKENS).astype(np.uint16)
    with tempfile.TemporaryDirectory() as folder:
        description = RunDescription(
            name=family,
            family=family,
            configuration=configuration.to_values(),
            vocabulary_size=size.vocabulary,
            training=options.to_values(),
        )
        run = Run.create(Path(folder) / "run", description)
        yield from learner_of(family)(model, ids, ids[:1000], options, run, ignored_target=None)


def _plain_loop(model: nn.Module, size: Size, precision: str = "float32") -> Training:
    """The loop that everybody writes: random windows, AdamW, gradients clipped to norm 1.

    In bfloat16 by torch's autocast, as its documentation recommends.
    """
    ids = torch.randint(size.vocabulary, (TOKENS,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    while True:
        starts = torch.randint(TOKENS - size.length, (size.batch,))
        windows = torch.stack([ids[start : start + size.length + 1] for start in starts])
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            logits = model(windows[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


class _BareRecurrence(nn.Module):
    """An embedding, PyTorch's recurrent module, and a linear output."""

    def __init__(self, module: type[nn.RNNBase], size: Size) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size.vocabulary, size.width)
        self.recurrence = module(size.width, size.width, size.layers, batch_first=True)
        self.output = nn.Linear(size.width, size.vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.output(self.recurrence(self.embedding(tokens))[0])


class _GPT2(nn.Module):
    """Hugging Face's GPT-2 with its default attention and no dropout."""

    def __init__(self, size: Size) -> None:
        from transformers import GPT2Config, GPT2LMHeadModel

        super().__init__()
        configuration = GPT2Config(
            vocab_size=size.vocabulary,
            n_positions=size.length,
            n_embd=size.width,
            n_layer=size.layers,
            n_head=size.heads,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            use_cache=False,
            bos_token_id=0,
            eos_token_id=0,
        )
        self.model = GPT2LMHeadModel(configuration)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=tokens).logits


def _compare(family: str, size: Size, plain: nn.Module, peer: str, precision: str = "float32") -> Measured:
    """The ratio of throughputs, and how near ours is to products of its size."""
    settings = {"layers": size.layers, "width": size.width}
    if family == "transformer":
        settings |= {"heads": size.heads, "context": size.length}
    ours = _ours(family, size, settings, precision)
    theirs = _plain_loop(plain, size, precision)

    def advance(training: Training) -> None:
        for _ in itertools.islice(training, size.steps):
            pass

    times = interleave(partial(advance, ours), partial(advance, theirs), ROUNDS)
    ours.close()
    speeds = f"{size.tokens / times.ours:,.0f} tokens/s, {peer} {size.tokens / times.theirs:,.0f}"
    configuration = find_family(family).configuration(**settings)
    cost = training_cost(configuration, _options(size, precision), size.vocabulary)
    done = size.steps * cost.operations_per_step / times.ours
    return Measured(times.ratio, speeds, of_products(done, precision, size.batch * size.length, size.width))


def transformer(size: Size, precision: str = "float32") -> Measured:
    """Ours against Hugging Face's GPT-2."""
    return _compare("transformer", size, _GPT2(size), "Hugging Face", precision)


def recurrent(family: str, module: type[nn.RNNBase], size: Size) -> Measured:
    """Ours against PyTorch's bare module."""
    return _compare(family, size, _BareRecurrence(module, size), f"nn.{module.__name__}")


_SMALL = Size(layers=4, heads=4, width=128, length=64, batch=12, vocabulary=65, steps=12)
_MEDIUM = Size(layers=6, heads=8, width=256, length=128, batch=8, vocabulary=4000, steps=3)
_RECURRENT = Size(layers=2, width=256, length=64, batch=16, vocabulary=4000, steps=6)


def _transformer_row(name: str, size: Size, precision: str, budget: float) -> Row:
    what = (
        f"training a Transformer of {size.layers} layers of {size.width}, context {size.length}, batch "
        f"{size.batch}, {size.vocabulary:,} tokens, against Hugging Face's GPT-2 in a plain loop"
    )
    if precision == "bfloat16":
        what += ", both in bfloat16"
    return Row(name, what, "×", budget, False, partial(transformer, size, precision))


def _recurrent_row(family: str, module: type[nn.RNNBase]) -> Row:
    size = _RECURRENT
    what = (
        f"training {size.layers} layers of {size.width}, {size.vocabulary:,} tokens, against "
        f"nn.{module.__name__} in a plain loop"
    )
    return Row(family, what, "×", 0.95, False, partial(recurrent, family, module, size))


ROWS = (
    _transformer_row("transformer-small", _SMALL, "float32", 1.0),
    _transformer_row("transformer-medium", _MEDIUM, "float32", 1.0),
    _transformer_row("transformer-medium-bfloat16", _MEDIUM, "bfloat16", 1.2),
    _recurrent_row("lstm", nn.LSTM),
    _recurrent_row("gru", nn.GRU),
    _recurrent_row("rnn", nn.RNN),
)

"""Models as large as the budgets speak of, with random weights, and texts that they can read."""

from __future__ import annotations

import itertools
import random
import string
from pathlib import Path

from lmviz.base.configuration import Configuration
from lmviz.families import build_model
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer
from lmviz.training.description import RunDescription
from lmviz.training.run import Run

GPT2_VOCABULARY = 50_257


def words(count: int = GPT2_VOCABULARY - 1) -> list[str]:
    """Made-up words, the shortest first: whatever one types letter by letter is one of them."""
    lengths = (itertools.product(string.ascii_lowercase, repeat=length) for length in itertools.count(1))
    return ["".join(letters) for letters in itertools.islice(itertools.chain.from_iterable(lengths), count)]


def text(tokens: int, seed: int = 0) -> str:
    """A text of so many made-up words of three letters."""
    chance = random.Random(seed)
    return " ".join("".join(chance.choices(string.ascii_lowercase, k=3)) for _ in range(tokens))


def make_run(folder: Path, configuration: Configuration) -> Path:
    """A run of a Transformer with random weights over GPT-2's number of tokens; its folder."""
    tokenizer = train_tokenizer([" ".join(words())], TokenizerOptions(kind="words"), marks_boundaries=False)
    model = build_model("transformer", configuration, tokenizer.vocabulary_size, seed=0)
    write_run(folder, configuration, tokenizer).save_snapshot(0, model.state())
    return folder


def write_run(folder: Path, configuration: Configuration, tokenizer: Tokenizer) -> Run:
    """A run of a Transformer, without snapshots as yet."""
    description = RunDescription(
        name=folder.name,
        family="transformer",
        configuration=configuration.to_values(),
        vocabulary_size=tokenizer.vocabulary_size,
    )
    return Run.create(folder, description, tokenizer)


def gpt2(context: int = 1024) -> TransformerConfiguration:
    """As large as the smallest GPT-2, which has 124 million parameters."""
    return TransformerConfiguration(
        layers=12, heads=12, width=768, context=context, activation="gelu_tanh", tied=True
    )

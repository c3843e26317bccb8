"""Models small enough to work out by hand: next-token logits looked up by the last token, or summed up."""

import numpy as np
import pytest
import torch
from torch import nn

from lmviz.base.configuration import Configuration
from lmviz.models.model import Model
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

FARM = "cows eat corn\ncows eat corn\ncows eat grass\nbats sleep .\nthe cows sleep ."


class Bigram(Model):
    """Logits are the row of the last token."""

    family = "bigram"

    def __init__(self, table, context=None):
        super().__init__(Configuration(), len(table))
        self.table = nn.Parameter(torch.as_tensor(table, dtype=torch.float64))
        self.context = context
        self.lengths = []

    def forward(self, tokens):
        self.lengths.append(tokens.shape[1])
        return self.table[tokens]

    def taps(self):
        return ()

    def stages(self):
        return ()


class Running(Bigram):
    """Logits are the sum of the rows so far, and that sum is the state that is carried on."""

    def forward(self, tokens):
        return self.advance(tokens)[0]

    def advance(self, tokens, state=None):
        self.lengths.append(tokens.shape[1])
        sums = self.table[tokens].cumsum(dim=1)
        if state is not None:
            sums = sums + state[:, None]
        return sums, sums[:, -1]


def build(kind, size=None, *, marks=True, specification="words", seed=0, context=None):
    options = TokenizerOptions.from_specification(specification)
    tokenizer = train_tokenizer(FARM.splitlines(), options, marks_boundaries=marks)
    table = np.random.default_rng(seed).normal(size=(tokenizer.vocabulary_size,) * 2) * 2
    model = kind(table, context=context)
    model.tokenizer = tokenizer
    return model.eval()


@pytest.fixture
def bigram():
    return build(Bigram)


@pytest.fixture
def running():
    return build(Running)


@pytest.fixture
def make():
    return lambda kind="bigram", **settings: build({"bigram": Bigram, "running": Running}[kind], **settings)

"""A made-up model that reads a source backwards, and then a text with the source's last state in view."""

import torch
from torch import nn
from torch.nn import functional

from lmviz.models.model import Model
from lmviz.models.operations import (
    Affine,
    End,
    EndStates,
    Linear,
    MeanState,
    Row,
    Softmax,
    TokenLookup,
    sum_of,
)
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import Stage, Tap, Value, Weight
from lmviz.models.window_configuration import WindowConfiguration

WIDTH, VOCABULARY, SOURCE_VOCABULARY = 3, 5, 4


class TwoSequences(Model):
    family = "two sequences"
    inputs = ("text", "source")

    def __init__(self):
        super().__init__(WindowConfiguration(), VOCABULARY)
        self.further_vocabularies = {"source": SOURCE_VOCABULARY}
        self.source = nn.Embedding(SOURCE_VOCABULARY, WIDTH)
        self.encoder = nn.Linear(WIDTH, WIDTH, bias=False)
        self.identity = nn.Linear(WIDTH, WIDTH, bias=False)
        self.target = nn.Embedding(VOCABULARY, WIDTH)
        self.memory = nn.Linear(WIDTH, WIDTH)
        self.summary = nn.Linear(WIDTH, WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, source):
        state = torch.zeros(len(source), WIDTH)
        read = []
        for step in reversed(self.source(source).unbind(1)):
            state = torch.tanh(step + self.encoder(state))
            read.append(state)
        context = self.summary(state + torch.stack(read, 1).mean(1))
        state, states = torch.zeros(len(tokens), WIDTH), []
        for step in self.target(tokens).unbind(1):
            state = torch.tanh(step + self.memory(state) + context)
            states.append(state)
        return functional.linear(torch.stack(states, 1), self.output.weight, self.output.bias)

    def taps(self):
        def before(address, shift):
            return Row(Value(address, shift=shift, width=WIDTH))

        identity = Weight("identity.weight")
        read = Affine(
            (
                Linear("input", Row(Value("encoder/embedding")), identity),
                Linear("later", before("encoder/hidden", 1), Weight("encoder.weight")),
            ),
            "tanh",
        )
        written = Affine(
            (
                Linear("input", Row(Value("embedding")), identity),
                Linear("previous", before("hidden", -1), Weight("memory.weight"), Weight("memory.bias")),
                Linear("context", Row(Value("context")), Weight("summary.weight")),
            ),
            "tanh",
        )
        source, text = ("source", "unit"), ("position", "unit")
        lookup = TokenLookup(Weight("source.weight"), sequence=SOURCE)
        answer = Affine(
            (Linear("hidden", Row(Value("hidden")), Weight("output.weight"), Weight("output.bias")),)
        )
        return (
            Tap("encoder/embedding", source, lookup),
            Tap("encoder/hidden", source, read, scan="encoder", reverse=True),
            Tap("last", ("unit",), EndStates((End("encoder/hidden", reverse=True),))),
            Tap("mean", ("unit",), MeanState("encoder/hidden")),
            Tap("context", ("unit",), sum_of(last="last", mean="mean")),
            Tap("embedding", text, TokenLookup(Weight("target.weight"))),
            Tap("hidden", text, written, scan="decoder"),
            Tap("summary", ("unit",), MeanState("hidden")),
            Tap("logits", ("position", "token"), answer),
            Tap("probabilities", ("position", "token"), Softmax("logits"), "share"),
        )

    def stages(self):
        return (Stage("All", "", ("probabilities",), ("logits",), "output"),)


def build():
    model = TwoSequences()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
        model.identity.weight.copy_(torch.eye(WIDTH))
    return model.eval().requires_grad_(False)

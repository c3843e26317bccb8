"""Long short-term memory (Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000)."""

from __future__ import annotations

from typing import Any

from torch import nn

from lmviz.models.operations import Affine, Of, Product, SumOfProducts
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import LSTMConfiguration
from lmviz.models.tap import Stage, Tap, Value

INPUT, FORGET, CANDIDATE, OUTPUT = range(4)
"""The order in which PyTorch stacks the gates' weights."""


class LSTMModel(RecurrentModel):
    """A language model of stacked LSTM layers."""

    family = "lstm"
    configuration: LSTMConfiguration

    def _build(self, **sizes: Any) -> nn.RNNBase:
        recurrence = nn.LSTM(**sizes)
        for layer in range(recurrence.num_layers):
            # A forget gate that starts open lets gradients through (Jozefowicz et al. 2015).
            biases = getattr(recurrence, f"bias_ih_l{layer}").detach().unflatten(0, (4, -1))  # (gate, unit)
            nn.init.ones_(biases[FORGET])
        return recurrence

    def _gate(self, layer: int, gate: int, function: str) -> Affine:
        return Affine((self._from_input(layer, gate), self._from_previous(layer, gate)), function)

    def _layer_taps(self, layer: int) -> tuple[Tap, ...]:
        def at(name: str, function: str = "") -> Of:
            return Of(Value(f"layers/{layer}/{name}"), function)

        kept = Product("kept from the previous cell", (at("forget"), Of(self._previous(layer, "cell"))))
        written = Product("newly written", (at("input"), at("candidate")))
        shown = Product("shown", (at("output"), at("cell", "tanh")))
        return (
            self._tap(layer, "forget", self._gate(layer, FORGET, "sigmoid"), "share"),
            self._tap(layer, "input", self._gate(layer, INPUT, "sigmoid"), "share"),
            self._tap(layer, "candidate", self._gate(layer, CANDIDATE, "tanh")),
            self._tap(layer, "output", self._gate(layer, OUTPUT, "sigmoid"), "share"),
            self._tap(layer, "cell", SumOfProducts((kept, written))),
            self._tap(layer, "hidden", SumOfProducts((shown,))),
        )

    def _layer_stages(self, layer: int) -> tuple[Stage, ...]:
        below, before = self._below(layer), self._previous(layer)
        forget, write, candidate, output = (
            f"layers/{layer}/{name}" for name in ("forget", "input", "candidate", "output")
        )

        def gate(symbol: str, function: str, letter: str) -> str:
            previous = rf"U_{letter} \mathbf{{h}}_{{t-1}}"
            return rf"{symbol} = {function}(W_{letter} \mathbf{{x}}_t + {previous} + \mathbf{{b}}_{letter})"

        return (
            self._stage(layer, "Forget gate", gate(r"\mathbf{f}_t", r"\sigma", "f"), "forget", below, before),
            self._stage(layer, "Input gate", gate(r"\mathbf{i}_t", r"\sigma", "i"), "input", below, before),
            self._stage(
                layer, "Candidate", gate(r"\tilde{\mathbf{c}}_t", r"\tanh", "c"), "candidate", below, before
            ),
            self._stage(
                layer,
                "New cell state",
                r"\mathbf{c}_t = \mathbf{f}_t \odot \mathbf{c}_{t-1} "
                r"+ \mathbf{i}_t \odot \tilde{\mathbf{c}}_t",
                "cell",
                forget,
                self._previous(layer, "cell"),
                write,
                candidate,
            ),
            self._stage(layer, "Output gate", gate(r"\mathbf{o}_t", r"\sigma", "o"), "output", below, before),
            self._stage(
                layer,
                "Hidden state",
                r"\mathbf{h}_t = \mathbf{o}_t \odot \tanh(\mathbf{c}_t)",
                "hidden",
                output,
                f"layers/{layer}/cell",
            ),
        )

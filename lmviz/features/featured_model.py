"""A model whose states at a tap are what features write and what these leave: the same, with more taps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from lmviz.features.dictionary import Dictionary
from lmviz.features.feature_operations import LeftByFeatures, SwitchedOn
from lmviz.features.places import check_widths
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.model_around import ModelAround
from lmviz.models.operations.affine import Affine, Linear
from lmviz.models.operations.elementwise import Of, Product, SumOfProducts
from lmviz.models.operations.inputs import Row
from lmviz.models.tap import Listener, Operation, Stage, Tap, Value, Weight

STATES, SCORES, ACTIVATIONS, WRITTEN, ERROR = "states", "scores", "activations", "reconstruction", "error"
ENCODER, ENCODER_BIAS = "features.encoder", "features.encoder_bias"
DIRECTIONS, BIAS, THRESHOLD, SKIP = (
    "features.directions",
    "features.bias",
    "features.threshold",
    "features.skip",
)

EQUATION = r"\hat{x} = D^\top a + c, \quad x = \hat{x} + e"


def feature_address(dictionary: Dictionary, name: str) -> str:
    """The address of one of the further taps, such as "layers/1/residual2/features/activations"."""
    return f"{dictionary.target}/features/{name}"


class FeaturedModel(ModelAround):
    """Another model, whose state at the tap of a dictionary is its reconstruction and the error, added up.

    It computes on the other's own weights, and nothing changes but the order of sums. Its further taps stand
    under the tap, as in "layers/1/residual2/features/": `states` as they were, `scores` (position, feature),
    `activations`, `reconstruction` (position, channel) and `error`. The error follows from the scores, so
    that an intervention on activations changes what the features write and leaves the error as it is.
    LmvizError where the dictionary does not fit.
    """

    changes_stay = True
    called = "A model with features"

    def __init__(self, model: Model, dictionary: Dictionary) -> None:
        super().__init__(model)
        check_widths(model, dictionary)
        self.dictionary = dictionary
        parameter = next(model.parameters(), None)
        coding = dictionary.coding("cpu" if parameter is None else parameter.device)
        own = {
            ENCODER: coding.encoder,
            ENCODER_BIAS: coding.encoder_bias,
            DIRECTIONS: coding.decoder.T.contiguous(),
            BIAS: coding.decoder_bias,
            THRESHOLD: coding.threshold,
            SKIP: coding.skip,
        }
        self._own = {name: tensor for name, tensor in own.items() if tensor is not None}
        self._taps = tuple(self._with_features(model.taps()))

    def listen(self, tokens: torch.Tensor, listener: Listener, **further: torch.Tensor) -> torch.Tensor:
        scope = ForwardPass(tokens, self.tensors(), **further)
        return scope.run(self.taps(), listener, keep=("logits",))["logits"]

    def tensors(self) -> dict[str, torch.Tensor]:
        """The other's, by the names that its taps know, and those of the dictionary."""
        return {**self.unchanged.tensors(), **self._own}

    def named_buffers(self, *arguments: Any, **named: Any) -> Iterator[tuple[str, torch.Tensor]]:
        yield from self.unchanged.named_buffers(*arguments, **named)
        yield from self._own.items()

    def get_parameter_or_buffer(self, name: str) -> torch.Tensor:
        return self._own[name] if name in self._own else self.unchanged.get_parameter_or_buffer(name)

    def operand(self, source: str, indices: np.ndarray) -> np.ndarray:
        if source in self._own:
            return Model.operand(self, source, indices)
        return self.unchanged.operand(source, indices)

    def taps(self) -> tuple[Tap, ...]:
        return self._taps

    def stages(self) -> tuple[Stage, ...]:
        """The other's, and one of what the features do behind the one that gives the state."""
        found: list[Stage] = []
        names = (SCORES, ACTIVATIONS, WRITTEN, ERROR)
        results = tuple(feature_address(self.dictionary, name) for name in names)
        for stage in self.unchanged.stages():
            found.append(stage)
            if self.dictionary.target in stage.results:
                place = stage.place, stage.by_position
                found.append(Stage("Features", EQUATION, results, (self._read,), *place))
        return tuple(found)

    @property
    def _read(self) -> str:
        """The tap that scores are computed from."""
        dictionary = self.dictionary
        return dictionary.tap if dictionary.is_transcoder else feature_address(dictionary, STATES)

    def _with_features(self, taps: tuple[Tap, ...]) -> Iterator[Tap]:
        dictionary = self.dictionary
        states, scores, activations, written, error = (
            feature_address(dictionary, name) for name in (STATES, SCORES, ACTIVATIONS, WRITTEN, ERROR)
        )
        on = SwitchedOn(
            scores,
            dictionary.kind,
            dictionary.k,
            None if dictionary.threshold is None else Weight(THRESHOLD),
        )
        reader = Row(Value(self._read))
        skip = None if dictionary.skip is None else Weight(SKIP)
        summands = [Linear("features", Row(Value(activations)), Weight(DIRECTIONS), Weight(BIAS))]
        if skip is not None:
            summands.append(Linear("skip", reader, skip))
        left = LeftByFeatures(states, on, Weight(DIRECTIONS), Weight(BIAS), self._read, skip)
        for tap in taps:
            if tap.address != dictionary.target:
                yield tap
                continue
            position, channel = tap.axes
            further: tuple[tuple[str, str, Operation], ...] = (
                (states, channel, tap.operation),
                (
                    scores,
                    "feature",
                    Affine((Linear("state", reader, Weight(ENCODER), Weight(ENCODER_BIAS)),)),
                ),
                (activations, "feature", on),
                (written, channel, Affine(tuple(summands))),
                (error, channel, left),
                (
                    dictionary.target,
                    channel,
                    SumOfProducts(
                        (Product("features", (Of(Value(written)),)), Product("error", (Of(Value(error)),)))
                    ),
                ),
            )
            for address, axis, operation in further:
                yield Tap(address, (position, axis), operation, tap.scale, tap.scan, tap.reverse)

"""What all neural families share: tokens become embeddings, embeddings features, features logits."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lmviz.models.address import POOLED
from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.cross_entropy import linear_cross_entropy
from lmviz.models.model import IGNORED, Model
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.models.operations import Affine, Linear, Row, Softmax
from lmviz.models.pooling import Pooling
from lmviz.models.precision import linear, widened
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.tap import Stage, Tap, Value, Weight


class Output(nn.Module):
    """Logits from features by `weight` (token, feature) and `bias` (token).

    Tied to an embedding it shares its weight (Press & Wolf 2017).
    """

    weight: nn.Parameter | None
    bias: nn.Parameter | None

    def __init__(self, features: int, vocabulary_size: int, *, tied: bool, bias: bool) -> None:
        super().__init__()
        self.register_parameter(
            "weight", None if tied else nn.Parameter(torch.empty(vocabulary_size, features))
        )
        if self.weight is not None:
            nn.init.uniform_(self.weight, -(features**-0.5), features**-0.5)
        self.register_parameter("bias", nn.Parameter(torch.zeros(vocabulary_size)) if bias else None)


class NeuralModel(Model):
    """A model that turns tokens into features (batch, position, feature), and those into logits.

    `embedding.weight` is (token, channel). What is special about a family is in `features`. `output_function`
    is that of the logits by its name in FUNCTIONS, such as a soft cap.
    """

    def __init__(
        self,
        configuration: ModelConfiguration,
        vocabulary_size: int,
        *,
        channels: int,
        features: int,
        tied: bool,
        output_bias: bool,
        output_function: str = "",
        predicts: Prediction = NEXT_TOKEN,
        pooling: Pooling | None = None,
    ) -> None:
        super().__init__(configuration, vocabulary_size, predicts)
        self.output_function = output_function
        self.embedding = nn.Embedding(vocabulary_size, channels)
        tied = tied and predicts.axis == "token"  # labels have no embeddings
        self.output = Output(features, self.outputs, tied=tied, bias=output_bias)
        if tied:
            # Rows of PyTorch's usual length would make a new model very sure of itself.
            nn.init.normal_(self.embedding.weight, std=channels**-0.5)
        self.pooling = pooling if predicts.per == "text" else None
        # What reads whole texts carries nothing on from one to the next.
        self.recurrent = self.recurrent and predicts.continues

    @abstractmethod
    def features(
        self, tokens: torch.Tensor, state: Any = None, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Any]:
        """Features (batch, position, feature) that logits are made of, and the state to carry on with.

        `lengths` are those of `forward`; a causal family may leave them aside.
        """

    @property
    def output_weight(self) -> torch.Tensor:
        """The matrix (token, feature) that scores each token."""
        return self.embedding.weight if self.output.weight is None else self.output.weight

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """See Model."""
        features, _ = self.features(tokens, None, lengths)
        return self._logits(self._pooled(features, lengths))

    def advance(self, tokens: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """Logits of further tokens, given the state after the earlier ones; and the state after these."""
        if not self.causal or self.pooling is not None:
            return self(tokens), None
        features, state = self.features(tokens, state)
        return self._logits(features), state

    def _logits(self, features: torch.Tensor) -> torch.Tensor:
        logits = linear(features, self.output_weight, self.output.bias)
        return FUNCTIONS[self.output_function].tensor(logits)

    def _pooled(self, features: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """Features of every position, or of the text where that is asked for."""
        return features if self.pooling is None else self.pooling(features, lengths)

    def loss(
        self,
        tokens: torch.Tensor,
        targets: torch.Tensor,
        state: Any = None,
        lengths: torch.Tensor | None = None,
        *,
        smoothing: float = 0.0,
    ) -> tuple[torch.Tensor, Any]:
        """Mean negative log-likelihood in nats over targets (batch, position) that are not IGNORED.

        Targets of whole texts are (batch, 1), and `smoothing` is as of Model. A recurrent model carries its
        state on, cut off from the gradient (truncated backpropagation through time); the others carry none.
        """
        features, state = self.features(tokens, state if self.recurrent else None, lengths)
        features = self._pooled(features, lengths)
        if self.output_function:
            rows = self._logits(features).flatten(0, -2)
            value = functional.cross_entropy(
                rows, targets.flatten(), ignore_index=IGNORED, label_smoothing=smoothing
            )
            return value, _cut(state) if self.recurrent else None
        value = linear_cross_entropy(
            features.reshape(-1, features.shape[-1]),
            widened(self.output_weight),
            self.output.bias,
            targets.flatten(),
            smoothing,
        )
        return value, _cut(state) if self.recurrent else None

    def output_taps(self, label: str, features: str, *more: Linear) -> tuple[Tap, ...]:
        """Logits from the tap `features`, called `label` in explanations, and from `more`; probabilities.

        Before them stands what pools the features of a text, where it has one answer.
        """
        pooling = () if self.pooling is None else self.pooling.taps()
        if pooling:
            label, features = "pooled state", pooling[-1].address
        weight = Weight("embedding.weight" if self.output.weight is None else "output.weight")
        bias = Weight("output.bias") if self.output.bias is not None else None
        affine = Affine((Linear(label, Row(Value(features)), weight, bias), *more), self.output_function)
        axes = self.predicts.axes
        return (
            *pooling,
            Tap("logits", axes, affine),
            Tap("probabilities", axes, Softmax("logits"), scale="share"),
        )

    def output_stages(
        self,
        features: tuple[str, ...],
        equation: str,
        *,
        by_position: bool = False,
        spans: tuple[int, ...] = (),
    ) -> tuple[Stage, ...]:
        """The last stages, from the taps that the logits are made of, or from those that are pooled first."""
        if self.pooling is None:
            return _last_stages(features, equation, by_position=by_position, spans=spans)
        equation = r"\mathbf{y} = V \mathbf{c} + \mathbf{b}"
        return (*self.pooling.stages(), *_last_stages((POOLED,), equation, is_of_text=True))


def _last_stages(
    features: tuple[str, ...],
    equation: str,
    *,
    by_position: bool = False,
    spans: tuple[int, ...] = (),
    is_of_text: bool = False,
) -> tuple[Stage, Stage]:
    """The last two stages of every neural family, from the taps that the logits are made of."""
    softmax = r"p_t(w) = \frac{e^{y_t(w)}}{\sum_{v} e^{y_t(v)}}"
    softmax = softmax.replace("_t", "") if is_of_text else softmax
    return (
        Stage("Logits", equation, ("logits",), features, "output", by_position, spans),
        Stage("Softmax", softmax, ("probabilities",), ("logits",), "output", by_position),
    )


def _cut(state: Any) -> Any:
    if isinstance(state, tuple):
        return tuple(_cut(item) for item in state)
    return state.detach()

"""What all models share that read a source whole, and then write a text: a translation, or a caption."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.models.cross_entropy import linear_cross_entropy
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.models.neural import NeuralModel
from lmviz.models.precision import widened
from lmviz.models.sequences import SOURCE, TEXT


class Translator(NeuralModel):
    """Predicts the next token of a text from its tokens so far and from a source (Sutskever et al. 2014).

    A state begins with what was read of the source; `advance` needs one, which `begin` gives. `alignment`
    is the tap (…, position, source) that says where in the source each position of the text looks, empty
    where there is none.
    """

    inputs = (TEXT, SOURCE)
    recurrent = False
    alignment: str = ""

    def __init__(
        self,
        configuration: ModelConfiguration,
        vocabulary_size: int,
        source_vocabulary: int,
        *,
        channels: int,
        features: int,
        tied: bool,
    ) -> None:
        super().__init__(
            configuration,
            vocabulary_size,
            channels=channels,
            features=features,
            tied=tied,
            output_bias=True,
        )
        self.further_vocabularies = {SOURCE: source_vocabulary}

    @property
    def task(self) -> str:
        """See Model."""
        return "translation"

    @abstractmethod
    def begin(self, source: torch.Tensor, lengths: torch.Tensor | None = None) -> Any:
        """The state before the first token of a text, for a source (batch, position).

        `lengths` (batch,) says how many tokens of each row are source, where the rest is padding.
        """

    def forward(
        self,
        tokens: torch.Tensor,
        lengths: torch.Tensor | None = None,
        source: torch.Tensor | None = None,
        source_lengths: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits (batch, position, token) for tokens (batch, position) and a source (batch, position)."""
        features, _ = self.features(tokens, self._begun(source, source_lengths), lengths)
        return self._logits(features)

    def advance(self, tokens: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """Logits of further tokens, given the state after the earlier ones; and the state after these."""
        features, state = self.features(tokens, self._begun(None, None) if state is None else state)
        return self._logits(features), state

    def loss(
        self,
        tokens: torch.Tensor,
        targets: torch.Tensor,
        state: Any = None,
        lengths: torch.Tensor | None = None,
        source: torch.Tensor | None = None,
        source_lengths: torch.Tensor | None = None,
        *,
        smoothing: float = 0.0,
    ) -> tuple[torch.Tensor, Any]:
        """See Model; of targets (batch, position)."""
        features, _ = self.features(tokens, self._begun(source, source_lengths), lengths)
        rows = features.reshape(-1, features.shape[-1])
        weight = widened(self.output_weight)
        return linear_cross_entropy(rows, weight, self.output.bias, targets.flatten(), smoothing), None

    def _begun(self, source: torch.Tensor | None, lengths: torch.Tensor | None) -> Any:
        if source is None:
            raise LmvizError("This model reads a source beside its text: give it, as in source=….")
        return self.begin(source, lengths)

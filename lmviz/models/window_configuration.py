"""The configuration of the window network, readable before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.configuration import setting
from lmviz.models.estimate import NEXT_TOKEN, Asked, Estimate, training_estimate
from lmviz.models.functions import activation_of, activations
from lmviz.models.model_configuration import ModelConfiguration


@dataclass(frozen=True)
class WindowConfiguration(ModelConfiguration):
    """The neural probabilistic language model over a fixed window (Bengio et al. 2003)."""

    window: int = setting(
        4,
        "How many tokens the network sees, the newest included. What came before them is forgotten.",
        minimum=1,
        maximum=256,
    )
    width: int = setting(
        128,
        "Units in the hidden layer.",
        minimum=1,
        maximum=8192,
    )
    embedding: int = setting(
        0,
        "Numbers that stand for each token on its way in; 0 stands for the width of the hidden layer.",
        zero="as width",
        label="Embedding size",
        minimum=0,
        maximum=8192,
        advanced=True,
    )
    activation: str = setting(
        "tanh",
        "The function of the hidden layer.",
        choices=activations(),
    )
    direct: bool = setting(
        False,
        "Also connect the embeddings straight to the output, past the hidden layer.",
        label="Direct connections",
        advanced=True,
    )
    dropout: float = setting(
        0.0,
        "Share of embedding and hidden values set to zero at random while training, against overfitting.",
        minimum=0.0,
        maximum=0.9,
    )

    @property
    def function(self) -> str:
        """The activation by its name in FUNCTIONS, where the identity has none."""
        return activation_of(self.activation)

    @property
    def embedding_width(self) -> int:
        """Channels of the embedding."""
        return self.embedding or self.width

    def estimate(self, vocabulary_size: int, batch: int, length: int, asked: Asked = NEXT_TOKEN) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs."""
        features, outputs = self.window * self.embedding_width, asked.outputs(vocabulary_size)
        matrices = self.width * features + outputs * self.width
        matrices += outputs * features if self.direct else 0
        parameters = vocabulary_size * self.embedding_width + matrices + self.width + outputs
        values = features + 2 * self.width + 2 * outputs
        return training_estimate(parameters, matrices, values, batch * length)

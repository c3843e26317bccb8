"""A family made of little else than one operation: embedding, operation, output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

import pytest
import torch
from small_models import SMALL
from torch import nn

from lmviz import families
from lmviz.models.neural import NeuralModel
from lmviz.models.operations import TokenLookup
from lmviz.models.tap import Operation, Tap, Weight

WIDTH = SMALL["width"]
"""Of the embedding that the operation reads, and of what it makes."""

AXES = ("position", "channel")

Formula = Callable[[torch.Tensor, nn.ParameterDict], torch.Tensor]


@contextmanager
def family_around(
    operation: Operation, formula: Formula, parameters: Mapping[str, torch.Tensor] | None = None
) -> Iterator[str]:
    """The name of a family of FAMILIES that applies an operation to the tap "embedding" (position, channel).

    `formula` computes the same in its own way, from vectors (batch, position, channel) and the parameters.
    These begin as they are given here, and the operation knows each as `Weight("own.NAME")`.
    """
    name = f"around {type(operation).__name__}"

    class AroundModel(NeuralModel):
        """The next token from what the operation makes of the embedding of the last."""

        family = name

        def __init__(self, configuration, vocabulary_size):
            width = configuration.width
            super().__init__(
                configuration, vocabulary_size, channels=width, features=width, tied=False, output_bias=True
            )
            values = {name: nn.Parameter(value.clone()) for name, value in (parameters or {}).items()}
            self.own = nn.ParameterDict(values)

        def features(self, tokens, state=None, lengths=None):
            return formula(self.embedding(tokens), self.own), None

        def taps(self):
            return (
                Tap("embedding", AXES, TokenLookup(Weight("embedding.weight"))),
                Tap("operation", AXES, operation),
                *self.output_taps("operation", "operation"),
            )

        def stages(self):
            return self.output_stages(("operation",), "y = W o")

    with pytest.MonkeyPatch.context() as patch:
        module = ModuleType(f"model_{name.replace(' ', '_')}")
        module.AroundModel = AroundModel
        patch.setitem(sys.modules, module.__name__, module)
        settings = "lmviz.models.window_configuration:WindowConfiguration"
        learner = "lmviz.training.gradient_training:learn"
        row = families.Family(name, "Around", "", settings, f"{module.__name__}:AroundModel", learner)
        patch.setitem(families.FAMILIES, name, row)
        yield name

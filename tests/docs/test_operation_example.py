"""The operation of docs/adding-an-operation.md, in a family that is made of little else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch
from examples import NAMES, check_invariant, install
from family_cases import IDS, trained
from torch import nn

from lmviz import families
from lmviz.base.errors import LmvizError
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain import explain
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import RULES
from lmviz.models.neural import NeuralModel
from lmviz.models.operations import TokenLookup
from lmviz.models.tap import Tap, Weight

EPSILON = 1e-6


class ScaleNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, vectors):
        return self.gain * vectors / (vectors.norm(dim=-1, keepdim=True) ** 2 + EPSILON) ** 0.5


class NormedModel(NeuralModel):
    """The next token from the normalised embedding of the last."""

    family = "normed"

    def __init__(self, configuration, vocabulary_size):
        width = configuration.width
        super().__init__(
            configuration, vocabulary_size, channels=width, features=width, tied=False, output_bias=True
        )
        self.norm = ScaleNorm()

    def features(self, tokens, state=None, lengths=None):
        return self.norm(self.embedding(tokens)), None

    def taps(self):
        from lmviz.models.operations.scale_norm import ScaleNorm as Operation

        axes = ("position", "channel")
        return (
            Tap("embedding", axes, TokenLookup(Weight("embedding.weight"))),
            Tap("norm", axes, Operation("embedding", Weight("norm.gain"), EPSILON)),
            *self.output_taps("norm", "norm"),
        )

    def stages(self):
        return self.output_stages(("norm",), "y = W n")


@pytest.fixture(scope="module", autouse=True)
def _example() -> Iterator[None]:
    """FAMILIES has a family that uses the operation."""
    with pytest.MonkeyPatch.context() as patch:
        [row] = install("adding-an-operation.md", patch).values()
        rule = sys.modules["lmviz.models.arithmetic.rules.scale_norm"].SCALE_NORM
        for name, value in eval(f"{{{row}}}", {"SCALE_NORM": rule}).items():
            patch.setitem(RULES, name, value)
        module = ModuleType("normed_model")
        module.NormedModel = NormedModel
        patch.setitem(sys.modules, "normed_model", module)
        settings = "lmviz.models.window_configuration:WindowConfiguration"
        learner = "lmviz.training.gradient_training:learn"
        family = families.Family("normed", "Normed", "", settings, "normed_model:NormedModel", learner)
        patch.setitem(families.FAMILIES, "normed", family)
        yield


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_for_every_family_holds_with_the_operation(name):
    check_invariant(name, "normed")


def test_it_computes_what_torch_does_and_is_written_as_it_is():
    model = trained("normed", ())
    found = trace(model, IDS)
    embedded = torch.from_numpy(found["embedding"].array.copy())
    expected = model.norm(embedded)
    torch.testing.assert_close(torch.from_numpy(found["norm"].array.copy()), expected)
    written = one_line(explain(model, found, "norm", (2, 1)))
    assert written.count("√") == 1
    assert written.count("=") == 1


def test_without_its_rule_it_shows_nothing_rather_than_a_sum(monkeypatch):
    model = trained("normed", ())
    found = trace(model, IDS)
    monkeypatch.delitem(RULES, "scale norm")
    with pytest.raises(LmvizError, match="no rule 'scale norm'"):
        explain(model, found, "norm", (2, 1))

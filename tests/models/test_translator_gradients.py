"""Gradients of models that translate are autograd's through the fused path, in either precision."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
import torch
from torch.nn import functional

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.backpropagation import gradient as gradient_of
from lmviz.models.prediction import NEXT_TOKEN

TEXT, SOURCE = np.array([0, 3, 5, 2, 3]), np.array([4, 0, 2, 1])
PRECISIONS = ((torch.float32, 1e-5), (torch.float64, 1e-9))
SMALL = {"layers": 2, "heads": 2, "width": 8, "context": 8}
CASES = [
    *(
        (family, {"layers": 2, "width": 4, "direction": direction, "attention": attention})
        for family, direction, attention in product(
            ("rnn", "lstm", "gru"), ("forward", "backward", "both"), ("none", "dot", "bilinear")
        )
        if (direction, attention) != ("both", "dot")  # whose widths differ
    ),
    *(("rnn", {"width": 4, "activation": activation}) for activation in ("sigmoid", "relu")),
    *((family, {"width": 4, "tied": True, "embedding": 4}) for family in ("lstm", "gru")),
    *(
        ("transformer", SMALL | {"positions": positions, "norm": norm, "activation": activation})
        for positions in ("learned", "sinusoidal", "none")
        for norm, activation in (("pre", "gelu"), ("post", "relu"))
    ),
    ("transformer", SMALL | {"norm_kind": "rms", "gated": True, "key_value_heads": 1, "tied": False}),
    ("transformer", SMALL | {"attention_bias": "none", "feedforward_bias": False}),
]


@pytest.mark.parametrize(
    ("family", "settings"), CASES, ids=[f"{name} {' '.join(map(str, case.values()))}" for name, case in CASES]
)
def test_gradients_are_those_of_autograd_through_the_fused_path(family, settings):
    built = build_model(family, FAMILIES[family].configuration(**settings), 6, 0, NEXT_TOKEN, 5)
    with torch.no_grad():
        for parameter in built.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    tokens, source = torch.from_numpy(TEXT)[None], torch.from_numpy(SOURCE)[None]
    for kind, tolerance in PRECISIONS:
        model = deepcopy(built).eval().to(kind).requires_grad_()
        with torch.enable_grad():
            loss = functional.cross_entropy(
                model(tokens, source=source)[0, :-1], tokens[0, 1:], reduction="sum"
            )
            loss.backward()
        found = gradient_of(model, TEXT, source=SOURCE)
        assert found.value == pytest.approx(float(loss.detach()), rel=10 * tolerance)
        assert set(found.parameters) == dict(model.named_parameters()).keys()
        wanted = {
            name: np.zeros(parameter.shape) if parameter.grad is None else parameter.grad.numpy()
            for name, parameter in model.named_parameters()
        }
        # A bias of the keys moves nothing: where all should cancel, rounding is beside the other gradients.
        least = 0.01 * max(float(np.abs(array).max()) for array in wanted.values())
        for name, array in wanted.items():
            off = float(np.abs(found.parameters[name] - array).max())
            assert off <= tolerance * max(float(np.abs(array).max()), least), (name, kind)

"""Shapes without numbers: the same as the model's, and without torch's compiler being loaded."""

import subprocess
import sys

import pytest

from lmviz.families import FAMILIES, build_model
from lmviz.models.shapes import without_numbers


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "ngram"])
def test_shapes_are_those_of_the_model(family: str) -> None:
    configuration = FAMILIES[family].configuration()
    with without_numbers():
        shapes = build_model(family, configuration, 11, seed=0).state_dict()
    real = build_model(family, configuration, 11, seed=0).state_dict()
    assert {name: tensor.shape for name, tensor in shapes.items()} == {
        name: tensor.shape for name, tensor in real.items()
    }
    assert all(tensor.is_meta for tensor in shapes.values())


def test_opening_a_model_does_not_load_the_compiler() -> None:
    code = "import sys, lmviz; lmviz.open_model('stories-lstm'); sys.exit('torch._dynamo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

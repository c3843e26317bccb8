"""The same weights in fewer bits: blocks of a GGUF file and half precision are compared like any others."""

import numpy as np
import pytest
import torch
from family_cases import untrained
from gguf_files import large_llama, write_gguf

from lmviz.circuits.contrast import Contrast
from lmviz.differences.between import between
from lmviz.differences.matrices import matrix_changes
from lmviz.differences.pair import paired
from lmviz.differences.states import state_distance
from lmviz.differences.text_difference import text_difference
from lmviz.differences.transplant import transplant
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.models.blocks import BlockMatrix, without_blocks

pytest.importorskip("gguf")

IDS = np.arange(20) * 7 % 50


@pytest.fixture(params=["F16", "Q8_0"])
def pair(request, tmp_path, monkeypatch):
    """A model in blocks of four bits, kept packed, and the same in more bits."""
    torch.manual_seed(0)
    llama = large_llama()
    finer = open_checkpoint(write_gguf(llama, tmp_path / "finer.gguf", request.param)).model()
    path = write_gguf(llama, tmp_path / "coarse.gguf", "Q4_0")
    monkeypatch.setattr("lmviz.interchange.checkpoint.machine_memory", lambda: 1_000_000)
    coarse = open_checkpoint(path).model()
    assert any(isinstance(part, BlockMatrix) for part in coarse.parameters())
    return paired(coarse, finer)


def test_blocks_are_compared_as_their_numbers(pair):
    for change in matrix_changes(pair):
        one, other = (
            without_blocks(model.tensors()[change.name])
            .detach()
            .double()
            .numpy()[slice(*change.rows or (None,))]
            for model in (pair.before, pair.after)
        )
        assert change.relative == pytest.approx(np.linalg.norm(other - one) / np.linalg.norm(one), abs=1e-9)
    assert 0.001 < np.nanmax(state_distance(pair, IDS).array) < 1
    assert text_difference(pair, [IDS]).changes.any()


@pytest.mark.parametrize("each", ["part", "layer", "matrix", "head"])
def test_blocks_are_transplanted_and_all_of_them_are_the_other_model(pair, each):
    found = transplant(pair, Contrast(tuple(map(int, IDS)), measure="loss"), each)
    assert np.isfinite(found.array).all()
    if each != "head":
        assert found.from_below[-1] == 1.0
        assert found.from_above[0] == 1.0


def test_a_model_lies_between_blocks_and_numbers(pair):
    tokens = torch.tensor(IDS)[None]
    with torch.inference_mode():
        for strength, model in ((0.0, pair.before), (1.0, pair.after)):
            assert torch.equal(between(pair, strength)(tokens), model(tokens))
        half = between(pair, 0.5).tensors()["layers.0.attention.output.weight"]
    sides = [
        without_blocks(model.tensors()["layers.0.attention.output.weight"]).float()
        for model in (pair.before, pair.after)
    ]
    assert half.numpy() == pytest.approx(((sides[0] + sides[1]) / 2).detach().numpy(), abs=1e-6)


def test_dropout_is_no_difference_of_shape():
    one, other = untrained("gru", {"dropout": 0.1}), untrained("gru", {}, seed=1)
    assert not paired(one, other).why_not_alike

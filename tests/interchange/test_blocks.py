"""Matrices that stay in the blocks of their file: all that is asked of a model, bit by bit as without."""

import math

import numpy as np
import pytest
import torch
from gguf_files import large_llama, write_gguf

import lmviz
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.examination import examine_checkpoint
from lmviz.interchange.gguf_blocks import UNPACK
from lmviz.models.blocks import BlockMatrix, without_blocks

gguf = pytest.importorskip("gguf")

IDS = np.arange(20) * 7 % 50


def small_memory(monkeypatch, size=1_000_000):
    monkeypatch.setattr("lmviz.interchange.checkpoint.machine_memory", lambda: size)


def mixed(name):
    """As Q4_K_M has it: values are packed otherwise than queries and keys, with which they are joined."""
    return "Q6_K" if "attn_v" in name or "ffn_down" in name else "Q4_K"


@pytest.fixture(params=["Q8_0", "Q4_0", mixed], ids=["Q8_0", "Q4_0", "mixed"])
def both(request, tmp_path, monkeypatch):
    """A model in blocks, and the same in single precision."""
    path = write_gguf(large_llama(), tmp_path / "model.gguf", request.param)
    whole = open_checkpoint(path).model()
    small_memory(monkeypatch)
    return open_checkpoint(path).model(), whole


def matrices(model):
    return {name: value for name, value in model.named_parameters() if value.dim() == 2}


@pytest.mark.parametrize("kind", UNPACK)
def test_numbers_are_those_of_the_gguf_package(kind):
    number = gguf.GGMLQuantizationType[kind]
    length, size = gguf.GGML_QUANT_SIZES[number]
    rows = np.random.default_rng(0).integers(0, 256, (8, 768 // length * size), dtype=np.uint8)
    with np.errstate(invalid="ignore"):  # some scales are no numbers
        wanted = gguf.dequantize(rows, number)
    assert np.array_equal(UNPACK[kind](torch.from_numpy(rows)).numpy(), wanted, equal_nan=True)


def test_what_memory_decides(both):
    packed, whole = both
    assert all(isinstance(value, BlockMatrix) for value in matrices(packed).values())
    assert not any(isinstance(value, BlockMatrix) for value in whole.parameters())
    held = sum(part.blocks.nbytes for value in matrices(packed).values() for part in value.parts)
    assert held < 1.1 * sum(value.numel() for value in matrices(whole).values())


def test_it_is_said_before_it_is_opened(tmp_path, monkeypatch):
    path = write_gguf(large_llama(), tmp_path / "model.gguf", "Q4_0")
    small_memory(monkeypatch)
    assert open_checkpoint(path).memory == 0
    told = next(sentence for part, _, sentence in examine_checkpoint(path) if part == "weights")
    assert "its blocks stay as they are" in told
    assert f"{open_checkpoint(path).stored.in_single_precision(matrices_stored(path)) / 1e6:.1f} MB" in told


def matrices_stored(path):
    stored = open_checkpoint(path).stored
    return [name for name, shape in stored.shapes.items() if len(shape) == 2]


def test_readings_are_the_same(both):
    packed, whole = both
    found, wanted = lmviz.trace(packed, IDS), lmviz.trace(whole, IDS)
    for address, traced in wanted.arrays.items():
        assert np.array_equal(found[address].array, traced.array), address
    for end in (4, 5, 9):
        tokens = torch.from_numpy(IDS)[None, :end]
        with torch.inference_mode():
            assert torch.equal(packed(tokens), whole(tokens))


def test_gradients_are_the_same(both, monkeypatch):
    packed, whole = both
    wanted = lmviz.gradient(whole, IDS)
    for memory in (math.inf, 1):  # with room for copies in single precision, and without
        monkeypatch.setattr("lmviz.inspection.backpropagation.machine_memory", lambda memory=memory: memory)
        monkeypatch.setattr("lmviz.inspection.backpropagation.check_room", lambda *_: None)
        found = lmviz.gradient(packed, IDS)
        for name, parameter in wanted.parameters.items():
            assert np.allclose(found.parameters[name], parameter, rtol=1e-5, atol=1e-9), name


def test_cells_are_explained_alike(both):
    packed, whole = both
    traces = [lmviz.trace(model, IDS) for model in both]
    for address in ("embedding/token", "layers/0/attention/key", "layers/0/feedforward/output", "logits"):
        index = tuple(size // 2 for size in traces[1][address].shape)
        told = [
            lmviz.explain(model, trace, address, index)
            for model, trace in zip((packed, whole), traces, strict=True)
        ]
        assert repr(told[0]) == repr(told[1])


def test_cells_of_parameters(both):
    packed, whole = both
    for name, matrix in matrices(whole).items():
        places = np.array([[3, 5], [7, 2], [60, 200]])
        assert np.array_equal(packed.operand(name, places), whole.operand(name, places)), name
        kept = packed.get_parameter_or_buffer(name)
        assert torch.equal(kept[5], matrix[5])
        assert torch.equal(without_blocks(kept[-3:]), matrix[-3:])
        assert np.array_equal(kept.detach()[2:9].float().cpu().numpy(), matrix[2:9].numpy())


def test_rows_in_a_row_stay_packed_and_others_are_their_numbers(both):
    packed, whole = both
    for name, matrix in matrices(whole).items():
        kept = packed.get_parameter_or_buffer(name)
        some = kept[2:9]
        assert isinstance(some, BlockMatrix), name
        assert torch.equal(some.values(), matrix[2:9])
        for others in (np.s_[1:9:2], np.s_[:, 2:9]):
            assert torch.equal(without_blocks(kept[others]), matrix[others])


def test_what_is_saved_is_in_single_precision(both, tmp_path):
    packed, whole = both
    again = open_checkpoint(lmviz.save_pretrained(packed, tmp_path / "saved")).model()
    for name, matrix in matrices(whole).items():
        assert torch.equal(again.get_parameter_or_buffer(name), matrix), name

"""Checkpoints of torch.distributed, read without running the pickle in them."""

import io
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as any_of
from trained_series import PROBE, distributed_series

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.distributed_checkpoint import stored_distributed
from lmviz.runs.opening import find_model

TENSORS = {
    "a.weight": torch.arange(6.0).reshape(2, 3),
    "b.bias": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    values = {"model": TENSORS, "optimizer": {"exp_avg": torch.ones(3)}, "step": 7}
    import torch.distributed.checkpoint as distributed  # which takes a second, in each worker

    distributed.save(values, checkpoint_id=str(folder), no_dist=True)
    return folder


def test_tensors_come_back_as_they_were_and_those_of_the_optimizer_are_left_out(written):
    found = stored_distributed(written)
    assert set(found.shapes) == {"model.a.weight", "model.b.bias"}
    for name, tensor in TENSORS.items():
        assert torch.equal(found.get(f"model.{name}"), tensor)
        assert found.kinds[f"model.{name}"] == tensor.dtype


class Runs:
    """Runs a program when Python's own reader builds it."""

    def __reduce__(self):
        return os.system, ("touch was-run",)


def test_no_code_of_a_file_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".metadata").write_bytes(pickle.dumps({"state_dict_metadata": Runs()}))
    with pytest.raises(LmvizError, match="not as torch writes it today: gather it with `python -m torch"):
        stored_distributed(tmp_path)
    assert not (tmp_path / "was-run").exists()


def test_what_lies_outside_is_not_read(written, tmp_path):
    folder = shutil.copytree(written, tmp_path / "step-1")
    described = (folder / ".metadata").read_bytes()
    name = b"__0_0.distcp"
    (folder / ".metadata").write_bytes(described.replace(name, b"../" + name[3:]))
    with pytest.raises(LmvizError, match="not as torch writes it"):
        stored_distributed(folder)


def test_what_breaks_off_is_said(written, tmp_path):
    folder = shutil.copytree(written, tmp_path / "step-1")
    part = folder / "__0_0.distcp"
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(LmvizError, match=r"__0_0\.distcp is missing or breaks off"):
        stored_distributed(folder)
    (folder / ".metadata").unlink()
    with pytest.raises(LmvizError, match="a part of a distributed checkpoint of torch"):
        lmviz.open_model(folder)


@pytest.mark.parametrize("second", [2, 1, 3])
def test_what_no_part_gives_is_not_taken_for_zeros(tmp_path, second):
    from torch.distributed.checkpoint import metadata
    from torch.distributed.checkpoint.filesystem import _StorageInfo

    chunks, storage, content = [], {}, b""
    for begins, rows in ((0, torch.arange(4.0).view(2, 2)), (second, torch.tensor([[4.0, 5.0]]))):
        place, buffer = torch.Size([begins, 0]), io.BytesIO()
        torch.save(rows, buffer)
        chunks.append(metadata.ChunkStorageMetadata(place, rows.shape))
        index = metadata.MetadataIndex("weight", place)
        storage[index] = _StorageInfo("__0_0.distcp", len(content), len(buffer.getvalue()))
        content += buffer.getvalue()
    kind = metadata.TensorProperties(torch.float32)
    tensors = {"weight": metadata.TensorStorageMetadata(kind, torch.Size([3, 2]), chunks)}
    (tmp_path / ".metadata").write_bytes(pickle.dumps(metadata.Metadata(tensors, storage_data=storage)))
    (tmp_path / "__0_0.distcp").write_bytes(content)
    found = stored_distributed(tmp_path)
    if second == 2:
        assert found.get("weight").tolist() == [[0, 1], [2, 3], [4, 5]]
        return
    with pytest.raises(LmvizError, match="'weight' in parts that leave some of it out"):
        found.get("weight")


@settings(max_examples=60)
@given(place=any_of.integers(0, 3000), other=any_of.binary(min_size=1, max_size=8))
def test_any_description_gives_tensors_or_one_sentence(written, tmp_path_factory, place, other):
    folder = tmp_path_factory.mktemp("any")
    content = bytearray((written / ".metadata").read_bytes())
    content[place % len(content) : place % len(content) + len(other)] = other
    (folder / ".metadata").write_bytes(bytes(content))
    shutil.copy(written / "__0_0.distcp", folder)
    said = "."
    try:
        found = stored_distributed(folder)
        for name in found.shapes:
            found.get(name)
    except LmvizError as sentence:
        said = str(sentence)
    assert said.endswith(".")
    assert "\n" not in said


def test_a_step_is_found_by_its_folder_and_by_its_files(tmp_path):
    distributed_series(tmp_path / "out")
    step = tmp_path / "out" / "step-2"
    assert find_model(step) == find_model(step / ".metadata") == find_model(step / "__0_0.distcp") == step
    assert find_model(tmp_path / "out") == tmp_path / "out"


TWO_PROCESSES = """
import sys, torch, torch.distributed as dist, torch.distributed.checkpoint as distributed
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.distributed.fsdp import fully_shard
sys.path.insert(0, sys.argv[2])
from trained_series import PROBE, fresh, trained
dist.init_process_group("gloo")
model = fresh("llama")
model.config.save_pretrained(sys.argv[1])
for layer in model.model.layers:
    fully_shard(layer)
fully_shard(model)
for step in trained(model, 4, 2):
    logits = model(PROBE).logits[0].detach()
    distributed.save({"model": get_model_state_dict(model)}, checkpoint_id=f"{sys.argv[1]}/step-{step}")
    if dist.get_rank() == 0:
        torch.save(logits, f"{sys.argv[1]}/logits-{step}")
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_what_two_processes_have_dealt_out_among_them_is_a_series(tmp_path):
    """FSDP2 on the processor: each process holds and writes a half of every tensor."""
    script, out = tmp_path / "train.py", tmp_path / "out"
    script.write_text(TWO_PROCESSES)
    tests = str(Path(__file__).parents[1])
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*launch, str(script), str(out), tests], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(list((out / "step-4").glob("*.distcp"))) == 2
    traces = lmviz.trace(out, PROBE[0].tolist(), steps="all")
    assert list(traces) == [0, 2, 4]
    for step, trace in traces.items():
        expected = torch.load(io.BytesIO((out / f"logits-{step}").read_bytes()), weights_only=True)
        assert np.abs(trace["logits"].array - expected.numpy()).max() <= 1e-5

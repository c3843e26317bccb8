"""Any bytes may be offered as a checkpoint: the answer is a model or one sentence."""

import json
import shutil

import numpy as np
import pytest
import torch
from foreign_models import add_tokenizer, saved
from hypothesis import given, settings
from hypothesis import strategies as st

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint import open_checkpoint

few = settings(max_examples=60, derandomize=True)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Sound folders of several kinds, by name."""
    home = tmp_path_factory.mktemp("checkpoints")
    found = {
        name: add_tokenizer(saved(name, home / name)) for name in ("gpt2", "gpt_neox", "llama 3", "qwen2")
    }
    found["parts"] = add_tokenizer(saved("gpt2", home / "parts", max_shard_size="8KB"))
    found["saved"] = home / "saved"
    found["saved"].mkdir()
    tensors = {name: value.clone() for name, value in open_checkpoint(found["gpt2"]).model().state().items()}
    state = {
        "transformer.wte.weight": tensors["embedding.weight"],
        "transformer.wpe.weight": tensors["positions.weight"],
    }
    torch.save({"model": state, "model_args": {"n_head": 3}}, found["saved"] / "ckpt.pt")
    return found


def opened(folder):
    """A model that can read, or one sentence."""
    said = ""
    try:
        model = lmviz.open_model(folder)
        with torch.no_grad():
            assert model(torch.zeros(1, 1, dtype=torch.int64)).shape[-1] == model.vocabulary_size
        if model.tokenizer is not None:
            model.tokenizer.encode("w1 w2")
        return model
    except LmvizError as refusal:
        said = str(refusal)
    assert said
    assert "\n" not in said
    assert len(said) < 2000
    return None


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 30),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(
        st.sampled_from(["rope_type", "factor", "rope_theta", "partial_rotary_factor"]),
        st.one_of(st.floats(), st.integers(), st.sampled_from(["llama3", "linear"])),
        max_size=3,
    ),
)


@few
@given(data=st.data())
def test_any_value_in_a_description(data, folders, tmp_path):
    folder = folders[data.draw(st.sampled_from(["gpt2", "gpt_neox", "llama 3", "qwen2"]))]
    path = folder / "config.json"
    before = path.read_bytes()
    names = st.sampled_from([*json.loads(before), "rope_parameters", "sliding_window", "head_dim"])
    changes = data.draw(st.dictionaries(names, values, min_size=1, max_size=3))
    try:
        path.write_text(json.dumps(json.loads(before) | changes))
        opened(folder)
    finally:
        path.write_bytes(before)


@few
@given(data=st.data())
def test_any_damage_to_a_file(data, folders, tmp_path):
    folder = folders[data.draw(st.sampled_from(["gpt2", "parts", "saved", "llama 3"]))]
    path = data.draw(st.sampled_from(sorted(path for path in folder.iterdir() if path.is_file())))
    before = path.read_bytes()
    damaged = bytearray(before)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, min(len(before) - 1, 3000)))
        damaged[at] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.none(), st.integers(0, len(before))))
    target = tmp_path / "damaged"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    (target / path.name).write_bytes(bytes(damaged[:end]))
    opened(target)


@few
@given(
    content=st.binary(max_size=300),
    name=st.sampled_from(["model.safetensors", "pytorch_model.bin", "ckpt.pt"]),
)
def test_any_bytes_as_weights(content, name, folders, tmp_path):
    target = tmp_path / "bytes"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    shutil.copy(folders["gpt2"] / "config.json", target)
    (target / name).write_bytes(content)
    assert opened(target) is None


@few
@given(
    vocabulary=st.dictionaries(st.text(max_size=3), st.one_of(st.integers(-5, 60), st.none()), max_size=6),
    merges=st.text(alphabet=" ab\nĠ#", max_size=30),
)
def test_any_vocabulary_and_merges(vocabulary, merges, folders, tmp_path):
    target = tmp_path / "words"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folders["gpt2"], target)
    (target / "tokenizer.json").unlink()
    (target / "vocab.json").write_text(json.dumps(vocabulary))
    (target / "merges.txt").write_text(merges)
    opened(target)


def test_a_header_that_claims_more_than_there_is_takes_no_memory(folders, tmp_path):
    target = tmp_path / "claims"
    shutil.copytree(folders["gpt2"], target)
    large = {"transformer.wte.weight": {"dtype": "F32", "shape": [2**40, 24], "data_offsets": [0, 96]}}
    header = json.dumps(large).encode()
    (target / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(96))
    assert opened(target) is None


def test_pipes_and_devices_are_not_waited_for(folders, tmp_path):
    import os

    target = tmp_path / "pipes"
    shutil.copytree(folders["gpt2"], target)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        before = (target / name).read_bytes()
        (target / name).unlink()
        os.mkfifo(target / name)
        assert opened(target) is None
        (target / name).unlink()
        (target / name).write_bytes(before)
    assert np.isfinite(opened(target).embedding.weight.numpy()).all()


def test_an_archive_that_unpacks_to_more_is_refused(folders, tmp_path):
    import zipfile

    path = tmp_path / "ckpt.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(10_000_000))
    with pytest.raises(LmvizError, match=r"packed in a way that torch\.save does not"):
        lmviz.open_model(path)

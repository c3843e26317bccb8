"""What lmviz recognises and does not open: the same sentence from opening and from the doctor."""

import json

import pytest
from foreign_models import add_tokenizer, saved

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.examination import examine_checkpoint
from lmviz.runs.opening import find_model

PACKED = {
    "GPTQ into 4 bits": {"quantization_config": {"quant_method": "gptq", "bits": 4}},
    "AWQ into 4 bits": {"quantization_config": {"quant_method": "awq", "w_bit": 4}},
    "bitsandbytes into 4 bits": {"quantization_config": {"load_in_4bit": True}},
    "bitsandbytes into 8 bits": {
        "quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}
    },
    "MLX into 4 bits": {"quantization": {"group_size": 64, "bits": 4}},
    "FP8": {"quantization_config": {"quant_method": "fp8"}},
}

FILES = {
    "model.onnx": "ONNX",
    "tf_model.h5": "TensorFlow",
    "flax_model.msgpack": "Flax",
    "model.ckpt-1000.index": "TensorFlow",
    "saved_model.pb": "TensorFlow",
    "consolidated.00.pth": "Meta",
    "model.mlmodel": "Core ML",
    "model.llamafile": "GGUF",
}


def refusal(place):
    """What opening says; the doctor says it too, and it is not taken for a text."""
    assert find_model(place) is not None
    with pytest.raises(LmvizError) as caught:
        lmviz.open_model(place)
    said = str(caught.value)
    assert "\n" not in said
    assert said in [
        sentence for _, state, sentence in examine_checkpoint(find_model(place)) if state == "problem"
    ]
    return said


@pytest.mark.parametrize("words", PACKED)
def test_packed_weights(words, tmp_path):
    folder = saved("llama", tmp_path / "packed")
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | PACKED[words]))
    said = refusal(folder)
    assert f"packed by {words}," in said
    assert "GGUF" in said


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_programs(name, tmp_path):
    (tmp_path / name).write_bytes(b"\0\1\2" * 20)
    assert FILES[name] in refusal(tmp_path / name)
    assert FILES[name] in refusal(tmp_path)


def test_a_computation_in_a_folder_of_its_own(tmp_path):
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"\0")
    assert "ONNX" in refusal(tmp_path)


def test_weights_of_transformers_beside_them_are_opened(tmp_path):
    folder = add_tokenizer(saved("llama", tmp_path / "both"))
    (folder / "model.onnx").write_bytes(b"\0")
    (folder / "consolidated.00.pth").write_bytes(b"\0")
    assert lmviz.open_model(folder).vocabulary_size == 50


def test_a_description_without_weights(tmp_path):
    folder = saved("llama", tmp_path / "bare")
    (folder / "model.safetensors").unlink()
    assert "describes a model and holds no weights" in refusal(folder)


def test_what_git_leaves_in_their_place(tmp_path):
    folder = saved("llama", tmp_path / "pointers")
    (folder / "model.safetensors").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    )
    assert "git lfs pull" in refusal(folder)


def test_a_config_of_something_else_is_no_model(tmp_path):
    (tmp_path / "config.json").write_text('{"name": "my project"}')
    (tmp_path / "text.txt").write_text("A text.")
    assert find_model(tmp_path) is None

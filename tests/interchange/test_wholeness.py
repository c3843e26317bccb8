"""Whether a checkpoint is there as a whole."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as any_of
from safetensors.torch import save_file

from lmviz.interchange.checkpoint_steps import step_inside
from lmviz.interchange.wholeness import files_of, why_not_whole


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def test_a_file_is_whole_at_its_last_byte_and_not_before(place):
    tensors = {"a": torch.arange(100.0), "b": torch.ones(3, dtype=torch.bfloat16)}
    save_file(tensors, place / "model.safetensors")
    torch.save(tensors, place / "ckpt.pt")
    for name in ("model.safetensors", "ckpt.pt"):
        content = (place / name).read_bytes()
        assert why_not_whole(place / name) == ""
        for length in (0, 1, 7, 9, len(content) // 2, len(content) - 1):
            (place / name).write_bytes(content[:length])
            assert name in why_not_whole(place / name), length


def test_a_model_in_parts_is_whole_with_its_index_and_all_of_them(tmp_path):
    for number in (1, 2):
        save_file({f"t{number}": torch.ones(2)}, tmp_path / f"model-0000{number}-of-00002.safetensors")
    assert "no index" in why_not_whole(tmp_path)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"t1": "model-00001-of-00002.safetensors"')
    assert why_not_whole(tmp_path)
    names = {f"t{number}": f"model-0000{number}-of-00002.safetensors" for number in (1, 2)}
    index.write_text(str({"weight_map": names}).replace("'", '"'))
    assert why_not_whole(tmp_path) == ""
    assert len(files_of(tmp_path)) == 2
    (tmp_path / names["t2"]).unlink()
    assert "is not there" in why_not_whole(tmp_path)


@settings(max_examples=150, derandomize=True)
@given(content=any_of.binary(max_size=300), ending=any_of.sampled_from(("safetensors", "pt", "ckpt", "bin")))
def test_any_bytes_are_whole_or_not_and_say_a_step_or_none(place, content, ending):
    path = place / f"any.{ending}"
    path.write_bytes(content)
    assert "\n" not in why_not_whole(path)
    step = step_inside(path)
    assert step is None or step >= 0

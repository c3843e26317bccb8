from pathlib import Path

import pytest
import torch

from lmviz.errors import LmvizError
from lmviz.training.atomic import NotWritten, remove_unfinished, replacing, write_bytes
from lmviz.training.tensors import write_tensors


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_whoever_fails_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def fail() -> None:
        with replacing(path) as beside:
            beside.write_bytes(b"half of the n")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_to_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="could not be written") as told:
        write_bytes(tmp_path / "missing" / "file", b"content")
    assert isinstance(told.value, LmvizError)


def test_a_folder_that_has_gone_is_not_called_full(tmp_path: Path) -> None:
    tensors = {"weight": torch.zeros(2)}
    with pytest.raises(NotWritten, match="has gone") as told:
        write_tensors(tmp_path / "missing" / "file.safetensors", tensors, {})
    assert "os error" not in str(told.value)


def test_what_a_crash_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    write_bytes(tmp_path / "kept.safetensors", b"")
    (tmp_path / ".kept.safetensors.17.0.part").write_bytes(b"torn")
    remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.safetensors"]

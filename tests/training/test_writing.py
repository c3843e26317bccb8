import errno
from pathlib import Path

import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.training.tensors import write_tensors
from lmviz.training.writing import NotWritten, write_bytes


def test_a_folder_that_cannot_be_written_to_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="could not be written") as told:
        write_bytes(tmp_path / "missing" / "file", b"content")
    assert isinstance(told.value, LmvizError)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError("the cable is out"), "the cable is out"),
    ],
)
def test_the_system_s_own_words_are_passed_on(error: OSError, reason: str) -> None:
    assert str(NotWritten(Path("run.json"), error)).startswith(
        f"run.json could not be written ({reason}): free"
    )


def test_a_folder_that_has_gone_is_not_called_full(tmp_path: Path) -> None:
    tensors = {"weight": torch.zeros(2)}
    with pytest.raises(NotWritten, match="was deleted") as told:
        write_tensors(tmp_path / "missing" / "file.safetensors", tensors, {})
    assert "os error" not in str(told.value)

"""Files written beside and renamed: whole, or as they were."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lmviz.base.errors import LmvizError
from lmviz.base.files import remove_unfinished, replacing, write_atomically


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_whoever_fails_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail() -> None:
        with replacing(path) as beside:
            beside.write_bytes(b"half of the n")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_a_sentence_and_leaves_the_old_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(LmvizError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_name_that_no_file_can_have_is_a_sentence(name: str) -> None:
    with pytest.raises(LmvizError, match="cannot be written"):
        write_atomically(name, b"content")


def test_what_a_crash_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    write_atomically(tmp_path / "kept.safetensors", b"")
    (tmp_path / ".kept.safetensors.17.0.part").write_bytes(b"torn")
    remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.safetensors"]


KILLED = """
import os, signal, sys
from pathlib import Path
from lmviz.base.files import replacing

with replacing(Path(sys.argv[1])) as beside:
    beside.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process is killed so on Windows")
def test_what_a_killed_process_was_writing_is_removed_at_the_next_use_of_its_folder(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "model.safetensors")])
    assert ended.returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    (tmp_path / f"{left.name.removesuffix('.part')}.part.txt").write_text("of somebody else")
    others = left.name.replace(left.name.split(".")[-3].split("-")[1], "00000000")
    kept = [others, f".mine.{os.getpid()}-{left.name.split('-')[1]}", ".kept.safetensors.17.0.part"]
    for name in kept:
        (tmp_path / name).write_bytes(b"")
    folder = tmp_path / left.name.replace("model", "folder")
    folder.mkdir()
    (folder / "a.txt").write_text("half")
    write_atomically(tmp_path / "other", b"whole")
    expected = {"other", *kept, f"{left.name.removesuffix('.part')}.part.txt"}
    assert {path.name for path in tmp_path.iterdir()} == expected

from pathlib import Path

import pytest

from lmviz.errors import LmvizError
from lmviz.text import resources
from lmviz.text.files import write_atomically


def test_resources_are_found_in_a_checkout():
    assert resources.resource_path("corpora", "farm.txt").is_file()


def test_a_resource_that_is_missing_is_said():
    with pytest.raises(LmvizError, match=r"lacks the file corpora/other\.txt"):
        resources.resource_path("corpora", "other.txt")


def test_the_data_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path))
    assert resources.data_folder() == tmp_path
    monkeypatch.delenv("LMVIZ_DATA")
    assert "lmviz" in str(resources.data_folder())


def test_a_file_is_replaced_whole_or_not_at_all(monkeypatch, tmp_path):
    path = tmp_path / "new" / "file.txt"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(LmvizError, match="No space left"):
        write_atomically(path, b"three")
    assert [found.name for found in path.parent.iterdir()] == ["file.txt"]
    assert path.read_bytes() == b"two"

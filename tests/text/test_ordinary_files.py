import os
import tracemalloc
from pathlib import Path

import pytest

from lmviz.base.errors import LmvizError
from lmviz.interchange.arpa import read_arpa
from lmviz.text.corpus import load_corpus
from lmviz.text.ordinary_files import check_ordinary, read_file
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.metrics import read_metrics
from lmviz.training.run import Run
from lmviz.training.tensors import read_tensors

posix_only = pytest.mark.skipif(os.name == "nt", reason="pipes and devices are files on POSIX systems")


def open_run(path: Path) -> Run:
    (path.parent / "run.json").symlink_to(path)
    return Run.open(path.parent)


READERS = {
    "a text": load_corpus,
    "a tokenizer": Tokenizer.load,
    "an ARPA file": read_arpa,
    "metrics": read_metrics,
    "weights": read_tensors,
    "a run": open_run,
}


def test_an_ordinary_file_is_read_whole(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read_file(tmp_path / "file") == b"12345"
    assert read_file(tmp_path / "file", 5) == b"12345"
    check_ordinary(tmp_path / "file")


def test_a_small_file_takes_no_more_room_than_it_needs_whatever_the_limit(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    tracemalloc.start()
    try:
        read_file(tmp_path / "file", 500_000_000)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no file that says nothing of its size")
def test_a_file_that_says_nothing_of_its_size_is_read_whole_within_the_limit():
    assert read_file("/proc/self/maps", 10_000_000).count(b"\n") > 5
    with pytest.raises(OSError, match="larger than"):
        read_file("/proc/self/maps", 10)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    with open(tmp_path / "file", "wb") as file:
        file.truncate(1 << 40)  # sparse: it takes no space
    with pytest.raises(OSError, match="larger than 5 MB"):
        read_file(tmp_path / "file", 5_000_000)


@posix_only
def test_a_file_that_does_not_say_its_size_is_read_up_to_the_limit():
    """Files of /proc have size 0 and content."""
    if not os.path.exists("/proc/self/environ"):
        pytest.skip("there is no /proc")
    with pytest.raises(OSError, match="larger than"):
        read_file("/proc/self/environ", 3)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)


@posix_only
@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("reader", READERS)
def test_pipes_and_devices_are_refused_in_a_sentence_and_not_waited_for(tmp_path, kind, reader):
    if kind == "pipe":
        os.mkfifo(tmp_path / "file")
    else:
        (tmp_path / "file").symlink_to("/dev/zero")
    with pytest.raises(LmvizError, match="not an ordinary file"):
        READERS[reader](tmp_path / "file")

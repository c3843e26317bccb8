"""The short form of `start.py soak`, and whether it would notice."""

import faulthandler
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be forked here")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder into which every user can look."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.slow
def test_nothing_is_lost_in_a_short_soak(open_folder: Path) -> None:
    from soak import try_all

    tried = list(try_all(open_folder, mutations=10, disturbances=3, seed=0))
    assert len(tried) == 22
    assert [fault for one in tried for fault in one.faults] == []
    stopped = {one.what: one.stopped for one in tried if one.stopped is not None}
    assert stopped["clock backwards"] == 0
    assert sum(stopped.values()) >= 5, "little was disturbed"


def explode() -> None:
    raise KeyError("no sentence")


def abort() -> None:
    faulthandler.disable()  # or the log of the tests would tell of a crash
    os.abort()


def hang() -> None:
    time.sleep(60)


@pytest.mark.parametrize(
    ("read", "how", "longest"),
    [(explode, "no sentence", 60), (abort, "SIGABRT", 60), (hang, "no answer within", 0.2)],
)
def test_what_is_neither_a_value_nor_a_sentence_is_a_fault(
    read: object, how: str, longest: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fuzzing
    from loaders import Loader

    monkeypatch.setattr(fuzzing, "LONGEST", longest)
    path = tmp_path / "file"
    path.write_bytes(b"good")
    faults = fuzzing.fuzz(Loader("file", path, read), 2, 0, tmp_path / "notes")
    assert [fault.number for fault in faults] == [0, 1]
    assert all(how in fault.how for fault in faults)
    assert path.read_bytes() == b"good"


def test_a_training_that_ends_otherwise_is_a_loss(small_text: Path, tmp_path: Path) -> None:
    from disturbances import DISTURBANCES, disturb, undisturbed

    from lmviz.text.corpus import load_corpus

    corpus = load_corpus(small_text)
    expected = undisturbed(corpus, tmp_path / "undisturbed")
    clock = next(one for one in DISTURBANCES if one.name == "clock backwards")
    other = {name: value + 1 for name, value in expected.items()}
    outcomes = [
        disturb(clock, corpus, tmp_path / "run", weights, random.Random(0)).lost
        for weights in (expected, other)
    ]
    assert outcomes == ["", "it ended in other weights"]


def test_a_mutation_is_the_same_each_time_and_changes_what_it_is_given() -> None:
    from mutations import mutate

    content = b'{"steps": 12, "name": "first", "values": [1.5, 2]}' * 3
    changed = [mutate(content, random.Random(seed)) for seed in range(200)]
    assert changed == [mutate(content, random.Random(seed)) for seed in range(200)]
    assert sum(one != content for one in changed) > 190
    assert mutate(b"", random.Random(3)) is not None

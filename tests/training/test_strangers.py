"""Runs that somebody else has written, with anything in their files."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.api.training import corpus_of
from lmviz.base.errors import LmvizError
from lmviz.families import open_run_model
from lmviz.models.model import Model
from lmviz.runs.further import without_state
from lmviz.training import tensors
from lmviz.training.gradient_training import learn
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

Make = Callable[..., Model]
NewRun = Callable[..., Run]
STREAMS = TrainingOptions(steps=6, batch=2, length=5, sampling="streams", snapshots=3)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([10**400, -1]) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
relaxed = settings(max_examples=80)


def rewrite(run: Run, **changes: object) -> Path:
    path = run.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")
    return run.folder


@pytest.mark.parametrize(
    "corpus",
    [
        {"options": None},
        {"options": []},
        {"sources": 5},
        {"sources": {}},
        {"sources": [0.5]},
        {"sources": [{}]},
        {"name": 3},
        {"fingerprint": 1.5},
    ],
)
def test_a_run_json_whose_corpus_is_of_the_wrong_kind_describes_no_run(
    lstm: Make, new_run: NewRun, corpus: dict[str, Any]
) -> None:
    folder = rewrite(new_run(lstm(), STREAMS), corpus=corpus)
    with pytest.raises(LmvizError, match="its corpus is"):
        Run.open(folder)


PARTS = ("name", "sources", "options", "fingerprint", "marks_boundaries", "characters_per_token")


@relaxed
@given(corpus=st.dictionaries(st.sampled_from(PARTS), JSON), training=st.none() | JSON)
def test_whatever_a_run_json_says_is_a_run_or_a_sentence(
    lstm: Make, new_run: NewRun, tmp_path_factory: pytest.TempPathFactory, corpus: dict, training: Any
) -> None:
    run = new_run(lstm(), STREAMS, tmp_path_factory.mktemp("run").name)
    folder = rewrite(run, corpus=corpus)
    if training is not None:
        rewrite(run, training=training)
    try:
        run = Run.open(folder)
        characters = run.description.characters_per_token
        assert characters is None or 0 < characters < float("inf")
        assert isinstance(run.description.fingerprint, str)
        corpus_of(run)
    except LmvizError as error:
        assert str(error).endswith(".")  # noqa: PT017 - a run or a sentence


def test_a_metric_of_400_digits_is_left_out(lstm: Make, new_run: NewRun) -> None:
    run = new_run(lstm(), STREAMS)
    digits = "9" * 400
    lines = [f'{{"step": 1, "loss": {digits}, "seconds": 2}}', f'{{"step": {digits}, "loss": 1}}']
    (run.folder / "metrics.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert run.metrics() == [{"step": 1, "seconds": 2}]
    run.rewind(5)  # which writes them anew
    assert run.metrics() == [{"step": 1, "seconds": 2}]


@pytest.fixture
def stopped(lstm: Make, new_run: NewRun, ids: np.ndarray) -> Run:
    """A training with a state carried from window to window, left after two steps."""
    run = new_run(lstm(), STREAMS)
    progress = learn(lstm(), ids, ids, STREAMS, run, ignored_target=None)
    for _ in range(3):
        next(progress)
    progress.close()
    return run


def go_on(run: Run, model: Model, ids: np.ndarray) -> None:
    for _ in learn(model, ids, ids, STREAMS, run, ignored_target=None, resume=True):
        pass


def test_the_state_as_it_was_left_is_gone_on_with(stopped: Run, lstm: Make, ids: np.ndarray) -> None:
    go_on(stopped, lstm(), ids)
    assert stopped.snapshots()[-1] == 6


@pytest.mark.parametrize("carried", [[], [[]], [0], [0, 0, 0], [[0], [1]], 0, "no", [1.5], {}, [None, None]])
def test_a_carried_state_of_another_form_is_told(
    stopped: Run, lstm: Make, ids: np.ndarray, carried: Any
) -> None:
    tensors, values = stopped.load_resume()
    stopped.save_resume(tensors, values | {"carried": carried})
    with pytest.raises(LmvizError, match="streams is damaged"):
        go_on(stopped, lstm(), ids)


def test_a_carried_state_of_another_shape_or_name_is_told(stopped: Run, lstm: Make, ids: np.ndarray) -> None:
    tensors, values = stopped.load_resume()
    assert "carried/0/1" in tensors
    for other in (torch.zeros(1, 3, 8), torch.zeros(1, 2, 8, dtype=torch.int64)):
        stopped.save_resume(tensors | {"carried/0/1": other}, values)
        with pytest.raises(LmvizError, match="streams is damaged"):
            go_on(stopped, lstm(), ids)
    renamed = {name.replace("carried/0/1", "carried/0/one"): item for name, item in tensors.items()}
    stopped.save_resume(renamed, values)
    with pytest.raises(LmvizError, match="streams is damaged"):
        go_on(stopped, lstm(), ids)


@relaxed
@given(
    name=st.sampled_from(["step", "processes", "carried", "seconds", "learning_rate"]),
    value=JSON.filter(lambda value: not isinstance(value, float) or value == value),
)
def test_whatever_a_resume_state_says_is_a_training_or_a_sentence(
    stopped: Run, lstm: Make, ids: np.ndarray, name: str, value: Any
) -> None:
    kept = {path: path.read_bytes() for path in stopped.folder.rglob("*") if path.is_file()}
    tensors, values = stopped.load_resume()
    stopped.save_resume(tensors, values | {name: value})
    try:
        go_on(stopped, lstm(), ids)
    except LmvizError as error:
        assert str(error).endswith(".")  # noqa: PT017 - a training or a sentence
    finally:
        for path in stopped.folder.glob("snapshots/*"):
            path.unlink()
        for path, content in kept.items():
            path.write_bytes(content)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder into which every user can look."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def as_nobody(ask: Callable[[], object]) -> str:
    """What is raised by what somebody asks who is not root; for root may read everything."""
    if os.geteuid() != 0:
        with pytest.raises(LmvizError) as caught:
            ask()
        return str(caught.value)
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.setuid(65534)
            ask()
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.wait()
    with open(reading, encoding="utf-8") as said:
        kind, _, sentence = said.read().partition(": ")
    assert kind == "LmvizError", sentence
    return sentence


@pytest.mark.skipif(os.name == "nt", reason="the rights of files are those of POSIX systems")
def test_what_may_not_be_read_is_not_said_to_be_missing(lstm: Make, open_folder: Path) -> None:
    from lmviz.training.snapshots import read_snapshot, write_snapshot

    path = open_folder / "000001.safetensors"
    write_snapshot(path, 1, lstm().state())
    path.chmod(0)
    assert "cannot be read (Permission denied)" in as_nobody(lambda: read_snapshot(path))
    path.unlink()
    with pytest.raises(LmvizError, match="is not there"):
        read_snapshot(path)


@pytest.mark.skipif(os.name == "nt", reason="the rights of files are those of POSIX systems")
def test_a_folder_that_may_not_be_read_is_not_said_to_be_untrained(
    lstm: Make, new_run: NewRun, open_folder: Path
) -> None:
    description = new_run(lstm(), STREAMS).description
    run = Run.create(open_folder / "run", description)
    with pytest.raises(LmvizError, match="train it first"):
        open_run_model(run)
    (run.folder / "snapshots").chmod(0)
    try:
        assert "snapshots cannot be read (Permission denied)" in as_nobody(lambda: open_run_model(run))
    finally:
        (run.folder / "snapshots").chmod(0o755)


def test_a_run_that_was_moved_is_not_said_to_keep_nothing(stopped: Run) -> None:
    assert without_state(stopped) == ""
    stopped.folder.rename(stopped.folder.with_name("moved"))
    assert "was deleted or moved" in without_state(stopped)
    with pytest.raises(LmvizError, match="was deleted or moved"):
        stopped.load_resume()


@pytest.mark.skipif(os.name == "nt", reason="the rights of files are those of POSIX systems")
def test_a_saved_state_that_may_not_be_looked_for_is_not_said_to_be_missing(
    lstm: Make, new_run: NewRun, open_folder: Path
) -> None:
    run = Run.create(open_folder / "run", new_run(lstm(), STREAMS).description)
    (run.folder / "resume").chmod(0)
    try:
        for ask in (run.load_resume, run.check_resumable):
            assert "resume cannot be read (Permission denied)" in as_nobody(ask)
    finally:
        (run.folder / "resume").chmod(0o755)


def test_weights_that_no_memory_can_hold_are_refused_before_they_are_read(
    lstm: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmviz.training.snapshots import read_snapshot, write_snapshot

    path = tmp_path / "000001.safetensors"
    write_snapshot(path, 1, lstm().state())
    opened: list[Path] = []
    monkeypatch.setattr(tensors, "safe_open", lambda path, framework: opened.append(path))
    monkeypatch.setattr(tensors, "machine_memory", lambda: path.stat().st_size - 1)
    with pytest.raises(LmvizError, match="is larger than"):
        read_snapshot(path)
    assert opened == []


@pytest.mark.parametrize(
    "fault",
    [
        MemoryError("Cannot allocate memory (os error 12)"),
        RuntimeError("unable to mmap: Cannot allocate memory"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_weights_for_which_no_memory_is_left_are_said_to_be_too_large(
    lstm: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    from lmviz.training.snapshots import read_snapshot, write_snapshot

    def fail(path: Path, framework: str) -> None:
        raise fault

    path = tmp_path / "000001.safetensors"
    write_snapshot(path, 1, lstm().state())
    monkeypatch.setattr(tensors, "safe_open", fail)
    with pytest.raises(LmvizError, match="does not fit into memory"):
        read_snapshot(path)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited as Linux does it")
def test_a_process_without_memory_is_not_ended_by_writing_or_reading_weights(
    lstm: Make, tmp_path: Path
) -> None:
    """In a process of its own: what safetensors does, where it gets no memory, cannot be caught."""
    from lmviz.training.snapshots import write_snapshot

    path = tmp_path / "000001.safetensors"
    write_snapshot(path, 1, lstm().state())
    child = os.fork()
    if child == 0:
        heard = 0
        try:
            state = lstm().state()
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + 2**16
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            with contextlib.suppress(MemoryError):  # what is left in places that were free before
                held = []
                while True:
                    held.append(bytearray(2**16))
            for act in (
                lambda: write_snapshot(tmp_path / "000002.safetensors", 2, state),
                lambda: tensors.read_tensors(path),
            ):
                with contextlib.suppress(MemoryError, LmvizError):  # writing needs next to none
                    act()
                heard += 1
        finally:
            os._exit(heard)
    _, status = os.waitpid(child, 0)
    assert not os.WIFSIGNALED(status), os.WTERMSIG(status)
    assert os.waitstatus_to_exitcode(status) == 2

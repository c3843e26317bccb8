"""One run, one trainer: held while it trains, free again however the trainer ended."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Thread

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer
from lmviz.training.description import RunDescription
from lmviz.training.gradient_training import learn
from lmviz.training.lock import LOCK_NAME, NOTE_START, BeingTrained, holding
from lmviz.training.options import TrainingOptions
from lmviz.training.run import HoldsRun, Run
from lmviz.training.writing import NotWritten

HOLDER = """
import sys, time
from pathlib import Path
from lmviz.training.lock import holding
with holding(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process that holds the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def note(folder: Path) -> str:
    """What is written in the lock's file, without its first byte, which Windows locks."""
    with (folder / LOCK_NAME).open("rb", buffering=0) as file:
        file.seek(NOTE_START)
        return file.read().decode()


def test_a_held_folder_names_its_holder(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(BeingTrained) as refused, holding(tmp_path):
        pass
    assert f"process {holder.pid}:" in str(refused.value)
    assert note(tmp_path).startswith(f"{holder.pid} ")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("umask", [0, 0o002, 0o077])
def test_the_file_of_the_lock_obeys_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with holding(tmp_path):
            assert (tmp_path / LOCK_NAME).stat().st_mode & 0o777 == 0o666 & ~umask
    finally:
        os.umask(before)


def test_a_lock_that_was_deleted_is_taken_again_or_another_trainer_is_said(tmp_path: Path) -> None:
    with holding(tmp_path) as first:
        (tmp_path / LOCK_NAME).unlink()
        first.renew()
        with pytest.raises(BeingTrained), holding(tmp_path):
            pass
        (tmp_path / LOCK_NAME).unlink()
        with holding(tmp_path) as second:
            with pytest.raises(BeingTrained):
                first.renew()
            second.renew()
            with pytest.raises(BeingTrained), holding(tmp_path):
                pass
    assert not (tmp_path / LOCK_NAME).exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
def test_a_killed_holder_holds_nobody_up(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert (tmp_path / LOCK_NAME).exists()
    with holding(tmp_path):
        assert note(tmp_path).startswith(f"{os.getpid()} ")
    assert not (tmp_path / LOCK_NAME).exists()


def test_what_a_living_process_of_the_same_number_left_behind_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_text(f"{os.getppid()} elsewhere\n")
    with holding(tmp_path):
        pass


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(NotWritten), holding(tmp_path):
            pass
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_has_gone_is_a_sentence_and_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="was deleted"), holding(tmp_path / "gone"):
        pass
    assert not (tmp_path / "gone").exists()


def test_a_file_system_without_locks_is_trained_on_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def unknown(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    with holding(tmp_path):
        (tmp_path / "trained").touch()
    assert (tmp_path / "trained").exists()


def test_a_folder_may_be_released_by_another_thread(tmp_path: Path) -> None:
    held = ExitStack()
    held.enter_context(holding(tmp_path))
    thread = Thread(target=held.close)
    thread.start()
    thread.join()
    assert not (tmp_path / LOCK_NAME).exists()
    with holding(tmp_path):
        pass


def test_trainers_that_follow_one_another_at_once_never_meet(tmp_path: Path) -> None:
    """The file of the one that ends is removed while the next one opens it."""
    together: list[FileExistsError] = []

    def train() -> None:
        for _ in range(50):
            try:
                with holding(tmp_path):
                    (tmp_path / "alone").touch(exist_ok=False)
                    (tmp_path / "alone").unlink()
            except BeingTrained:
                pass
            except FileExistsError as error:
                together.append(error)

    threads = [Thread(target=train) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not together


def test_only_one_of_several_trainings_begins_in_a_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All have seen that there is no run yet when the first one writes."""
    descriptions = [
        RunDescription(str(number), "lstm", {"width": 8}, 7, corpus={"name": str(number)})
        for number in range(4)
    ]
    tokenizers = [
        train_tokenizer([f"a {number}"], TokenizerOptions(), marks_boundaries=False) for number in range(4)
    ]
    seen, together = os.path.exists, Barrier(4)

    def exists(path: Path) -> bool:
        found = seen(path)
        with suppress(BrokenBarrierError):
            together.wait(0.5)
        return found

    monkeypatch.setattr(os.path, "exists", exists)
    begun: list[int] = []

    def begin(number: int) -> None:
        with suppress(HoldsRun, BeingTrained):
            Run.create(tmp_path / "run", descriptions[number], tokenizers[number])
            begun.append(number)

    threads = [Thread(target=begin, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [first] = begun
    there = Run.open(tmp_path / "run")
    assert there.description.corpus == {"name": str(first)}
    assert there.tokenizer().content == tokenizers[first].content


def test_a_training_whose_run_was_overwritten_before_its_first_step_leaves_the_other_alone(
    lstm: Callable[..., Model], new_run: Callable[..., Run], ids: np.ndarray
) -> None:
    options = TrainingOptions(steps=4, batch=4, length=8)
    run = new_run(lstm(), options)
    waiting = learn(lstm(), ids[:500], ids[500:], options, run, ignored_target=None)
    Run.create(run.folder, replace(run.description, corpus={"name": "another"}), overwrite=True)
    with pytest.raises(LmvizError, match="Another training has begun in"):
        next(waiting)
    there = Run.open(run.folder)
    assert (there.description.corpus, there.snapshots()) == ({"name": "another"}, [])


def test_two_trainings_never_share_a_run(
    lstm: Callable[..., Model], new_run: Callable[..., Run], ids: np.ndarray
) -> None:
    options = TrainingOptions(steps=20, batch=4, length=8, validate_every=0)
    model = lstm()
    run = new_run(model, options)
    first = learn(model, ids[:500], ids[500:], options, run, ignored_target=None)
    for _ in range(5):
        next(first)
    written = sorted(path.name for path in run.folder.rglob("*"))
    second = learn(lstm(), ids[:500], ids[500:], options, run, ignored_target=None, resume=True)
    with pytest.raises(BeingTrained, match="in this program"):
        next(second)
    assert sorted(path.name for path in run.folder.rglob("*")) == written, "it must not even tidy up"
    first.close()
    third = learn(lstm(), ids[:500], ids[500:], options, run, ignored_target=None, resume=True)
    assert list(third)[-1].finished
    assert not (run.folder / LOCK_NAME).exists()

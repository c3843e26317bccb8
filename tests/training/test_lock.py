"""One run, one trainer: held while it trains, free again however the trainer ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lmviz.models.model import Model
from lmviz.training.atomic import NotWritten
from lmviz.training.gradient_training import learn
from lmviz.training.lock import LOCK_NAME, BeingTrained, holding
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

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


def test_a_held_folder_names_its_holder(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(BeingTrained) as refused, holding(tmp_path):
        pass
    assert f"process {holder.pid}:" in str(refused.value)
    assert (tmp_path / LOCK_NAME).read_text().startswith(f"{holder.pid} ")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
def test_a_killed_holder_holds_nobody_up(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert (tmp_path / LOCK_NAME).exists()
    with holding(tmp_path):
        assert (tmp_path / LOCK_NAME).read_text().startswith(f"{os.getpid()} ")
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
    assert list(third)[-1].stopped == "finished"
    assert not (run.folder / LOCK_NAME).exists()

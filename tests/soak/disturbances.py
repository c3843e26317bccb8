"""Disturbs trainings in every way there is, and looks at what is left of them.

After each disturbance the folder must hold a run that opens and all of whose snapshots can be read, or no
run yet; and the training must go on from there to the very weights of an undisturbed one.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import lmviz
from lmviz.api.training import is_run
from lmviz.base.errors import LmvizError, is_out_of_memory
from lmviz.text.corpus import Corpus
from lmviz.training import recorder
from lmviz.training.progress import Progress
from lmviz.training.run import Run

STEPS = 8
SETTINGS: dict[str, Any] = {
    "steps": STEPS, "width": 4, "batch": 2, "length": 5, "snapshots": 5, "validate_every": 4, "dropout": 0.1,
}  # fmt: skip
STOPPED = 3
"""The exit code of a process whose training ended with a sentence."""

NO_MEMORY_LEFT = "could not execute a primitive"
"""What oneDNN, with which torch runs an LSTM, says where it gets no memory: it gives no reason."""

FILE_OPERATIONS = 80
"""About how many files a training opens, renames and removes in its folder."""

Heard = Callable[[Progress], None]


@dataclass(frozen=True)
class Disturbance:
    """One way to disturb a training: `begin` is called in its process and may return what hears of each step.

    `keeps_files` is whether what was written before has to be there afterwards; `trainers` is how many
    processes train in the folder at once.
    """

    name: str
    begin: Callable[[Path, random.Random], Heard | None]
    keeps_files: bool = True
    mend: Callable[[Path], None] = lambda folder: None
    trainers: int = 1


@dataclass(frozen=True)
class Outcome:
    """What was `lost`, "" where nothing was; and whether the training came to its end all the same."""

    lost: str
    ended: bool


def undisturbed(corpus: Corpus, folder: Path) -> dict[str, torch.Tensor]:
    """The weights in which a training ends when nothing disturbs it."""
    return lmviz.train("lstm", corpus, folder, **SETTINGS).load_snapshot(STEPS)


def disturb(
    disturbance: Disturbance,
    corpus: Corpus,
    folder: Path,
    expected: dict[str, torch.Tensor],
    chance: random.Random,
) -> Outcome:
    """Train, disturbed, and train on."""
    said = folder.with_suffix(".said")
    said.unlink(missing_ok=True)
    children = []
    for _ in range(disturbance.trainers):
        own = random.Random(chance.random())
        children.append(os.fork())
        if not children[-1]:
            _train(disturbance, corpus, folder, own, said)
    ended = [os.waitpid(child, 0)[1] == 0 for child in children]
    disturbance.mend(folder)
    lost = (
        said.read_text(encoding="utf-8") if said.exists() else _go_on(disturbance, corpus, folder, expected)
    )
    return Outcome(lost, any(ended))


def _go_on(disturbance: Disturbance, corpus: Corpus, folder: Path, expected: dict[str, torch.Tensor]) -> str:
    """Look at what is left of a run and train it on; what was lost."""
    try:
        if is_run(folder):
            run = Run.open(folder)
            run.metrics()
            for step in run.snapshots():
                run.load_snapshot(step)
        run = lmviz.train("lstm", corpus, folder, resume=True, **SETTINGS)
        ended = run.load_snapshot(STEPS)
    except LmvizError as sentence:
        return "" if not disturbance.keeps_files else f"it could not go on: {sentence}"
    except Exception:
        return traceback.format_exc(limit=-4)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    same = all(torch.equal(expected[name], ended[name]) for name in expected)
    return "" if same else "it ended in other weights"


def _train(disturbance: Disturbance, corpus: Corpus, folder: Path, chance: random.Random, said: Path) -> None:
    """What the process does that is disturbed; it never returns."""
    code = STOPPED
    try:
        recorder.SAVE_SECONDS = recorder.FLUSH_SECONDS = 0.0
        heard = disturbance.begin(folder, chance)
        lmviz.train("lstm", corpus, folder, progress=heard, **SETTINGS)
        code = 0
    except LmvizError:
        pass
    except BaseException as fault:
        if is_out_of_memory(fault) or NO_MEMORY_LEFT in str(fault):
            os._exit(STOPPED)
        said.write_text(traceback.format_exc(limit=-4), encoding="utf-8")
    finally:
        os._exit(code)


def kill_at_a_file_operation(folder: Path, chance: random.Random) -> None:
    """kill -9 as a file of the run is about to be opened, renamed or removed, from the first one on."""
    left = [chance.randrange(FILE_OPERATIONS)]

    def look(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.rename", "os.remove", "os.mkdir") and str(folder) in str(arguments[0]):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)


def kill_at_any_moment(folder: Path, chance: random.Random) -> None:
    """kill -9 at a moment that has nothing to do with what is done."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.01, 0.4))


def fill_the_disk(folder: Path, chance: random.Random) -> Heard | None:
    """No file may become larger than so much, as on a disk that is full: before or during the training."""
    limit, after = chance.randint(0, 4_000), chance.randint(-1, STEPS - 1)

    def fill(progress: Progress | None = None) -> None:
        if progress is None or progress.step == after:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    if after < 0:
        fill()
    return fill


def forbid_writing(folder: Path, chance: random.Random) -> Heard:
    """The folders of the run may not be written to any more; root is nobody first, whom it concerns."""
    after, inner = chance.randint(0, STEPS - 1), chance.choice(("", "snapshots", "resume"))
    if os.geteuid() == 0:
        os.setuid(65534)

    def forbid(progress: Progress) -> None:
        if progress.step == after:
            (folder / inner).chmod(0o500)

    return forbid


def allow_writing(folder: Path) -> None:
    """Undo `forbid_writing`, and let root go on with what nobody began."""
    for place in (folder, folder / "snapshots", folder / "resume"):
        if place.exists():
            place.chmod(0o700)


def delete_something(folder: Path, chance: random.Random) -> Heard:
    """A file of the run is removed under way, a folder in it, or the whole run."""
    after = chance.randint(0, STEPS - 1)

    def delete(progress: Progress) -> None:
        if progress.step == after:
            place = chance.choice([folder, *sorted(folder.rglob("*"))])
            shutil.rmtree(place) if place.is_dir() else place.unlink()

    return delete


def turn_the_clock_back(folder: Path, chance: random.Random) -> None:
    """The clock of the day runs backwards."""
    now, back = time.time(), iter(range(10**9))
    time.time = lambda: now - 3600 * next(back)


def exhaust_memory(folder: Path, chance: random.Random) -> Heard:
    """From some step on the process gets no memory any more, and what it had left is taken."""
    after, pieces = chance.randint(0, STEPS - 1), chance.randint(1, 4)
    held: list[bytearray] = []

    def exhaust(progress: Progress) -> None:
        if progress.step == after and Path("/proc/self/statm").exists():  # elsewhere no limit is kept
            faulthandler.disable()  # libraries may end the process, which is no crash to be told of
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (own, resource.RLIM_INFINITY))
            for size in (2**20, 2**16, 2**12, 2**8)[:pieces]:
                with contextlib.suppress(MemoryError):
                    while True:
                        held.append(bytearray(size))

    return exhaust


def wait_a_moment(folder: Path, chance: random.Random) -> None:
    """One of two trainers begins when the other has begun, has trained, or has ended."""
    time.sleep(chance.choice((0.0, chance.uniform(0, 0.3))))


DISTURBANCES = (
    Disturbance("kill -9 at a file operation", kill_at_a_file_operation),
    Disturbance("kill -9 at any moment", kill_at_any_moment),
    Disturbance("disk full", fill_the_disk),
    Disturbance("no permission to write", forbid_writing, mend=allow_writing),
    Disturbance("deleted under way", delete_something, keeps_files=False),
    Disturbance("clock backwards", turn_the_clock_back),
    Disturbance("memory exhausted", exhaust_memory),
    Disturbance("two trainers in one folder", wait_a_moment, trainers=2),
)

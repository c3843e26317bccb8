"""Two hundred checkpoints of a model as large as GPT-2 124M: opened as a run, and scrubbed."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.checkpoints import write_checkpoint
from benchmarks.rows import Measured, Row, Times, interleave

if TYPE_CHECKING:
    import torch

CHECKPOINTS = 200
ROUNDS = 5
LOGGED_EVERY = 10
"""Steps between two lines of what Trainer records, which grows with each checkpoint."""


def _write(place: Path) -> Path:
    """`checkpoint-N/`, whose weights are one file under many names: only their number is measured here."""
    first = write_checkpoint(place / "alone")
    for number in range(1, CHECKPOINTS + 1):
        step = 100 * number
        folder = place / "series" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        for path in first.iterdir():
            if path.suffix == ".safetensors":
                os.link(path, folder / path.name)
            else:
                shutil.copy(path, folder / path.name)
        history = [{"loss": 1.0, "learning_rate": 0.1, "step": at} for at in range(0, step, LOGGED_EVERY)]
        state = {"global_step": step, "log_history": history}
        (folder / "trainer_state.json").write_text(json.dumps(state, indent=2, sort_keys=True))
    return place


def _opened(folder: Path) -> object:
    from lmviz.runs.opening import open_model_of, open_recorded

    return open_model_of(open_recorded(folder))


def _opening() -> Measured:
    with tempfile.TemporaryDirectory() as name:
        place = _write(Path(name))
        alone = place / "series" / f"checkpoint-{100 * CHECKPOINTS}"
        times = interleave(lambda: _opened(place / "series"), lambda: _opened(alone), ROUNDS)
    more = 1000 * (times.ours - times.theirs)
    return Measured(more, f"{1000 * times.ours:.0f} ms, and {1000 * times.theirs:.0f} ms one alone")


def _scrubbing() -> Times:
    """A step shown after another, as the window does it, beside opening that checkpoint alone."""
    from lmviz.runs.opening import open_model_of, open_recorded

    with tempfile.TemporaryDirectory() as name:
        place = _write(Path(name))
        run = open_recorded(place / "series")
        model = open_model_of(run)
        steps = itertools.cycle(run.snapshots())
        alone = place / "series" / "checkpoint-100"

        def show(state: dict[str, torch.Tensor]) -> None:
            model.exchange_state(state)

        def ours() -> None:
            show(run.again().load_snapshot(next(steps)))

        def theirs() -> None:
            opened = open_recorded(alone)
            show(open_model_of(opened).state_dict())

        return interleave(ours, theirs, ROUNDS)


def _shown() -> Measured:
    times = _scrubbing()
    return Measured(
        1 / times.ratio, f"{1000 * times.ours:.0f} ms a step, {1000 * times.theirs:.0f} ms opened alone"
    )


ROWS = (
    Row(
        "series-opening",
        f"Opening {CHECKPOINTS} checkpoints of GPT-2's size as a run, more than one alone",
        "ms",
        100,
        True,
        _opening,
    ),
    Row(
        "series-scrubbing",
        "Showing a step of such a series, against opening its checkpoint alone",
        "×",
        1.1,
        True,
        _shown,
    ),
)

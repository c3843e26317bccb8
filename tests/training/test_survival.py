"""A training that is killed without warning goes on as if nothing had happened."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from patience import patience

from lmviz.models.model import Model
from lmviz.training.gradient_training import learn
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

VICTIM = """
import sys
import numpy as np
import torch
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import LSTMConfiguration
from lmviz.training import recorder
from lmviz.training.gradient_training import learn
from lmviz.training.run import Run

torch.set_num_threads(1)
recorder.SAVE_SECONDS = recorder.FLUSH_SECONDS = 0.05
run = Run.open(sys.argv[1])
ids = np.load(sys.argv[2])
torch.manual_seed(0)
model = RecurrentModel(LSTMConfiguration.from_values(run.description.configuration), 7)
for progress in learn(model, ids[:500], ids[500:], run.description.options, run, ignored_target=None):
    pass
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
def test_killed_and_resumed_is_undisturbed(
    lstm: Callable[..., Model], new_run: Callable[..., Run], ids: np.ndarray, tmp_path: Path
) -> None:
    options = TrainingOptions(
        steps=200, batch=4, length=8, sampling="streams", validate_every=50, snapshots=50, resume_seconds=1
    )
    model = lstm(dropout=0.1, layers=2)
    run = new_run(model, options, "killed")
    np.save(tmp_path / "ids.npy", ids)
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, str(run.folder), str(tmp_path / "ids.npy")])
    try:
        deadline = time.monotonic() + 60 * patience()
        while len(run.snapshots()) < 20:
            assert victim.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline, "it never got going"
            time.sleep(0.01)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
    interrupted_at = Run.open(run.folder).snapshots()[-1]
    assert 0 < interrupted_at < 200

    resumed = learn(
        model, ids[:500], ids[500:], options, Run.open(run.folder), ignored_target=None, resume=True
    )
    told = list(resumed)
    assert 0 < told[0].step <= interrupted_at
    assert told[-1].finished

    undisturbed = lstm(dropout=0.1, layers=2)
    for _ in learn(undisturbed, ids[:500], ids[500:], options, None, ignored_target=None):
        pass
    straight, killed = undisturbed.state(), run.load_snapshot(200)
    assert all(torch.equal(straight[name], killed[name]) for name in straight)
    assert [line["step"] for line in run.metrics()] == list(range(201))

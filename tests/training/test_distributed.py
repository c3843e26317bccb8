"""Two processes with a batch of B take the steps of one with a batch of 2 B."""

import contextlib
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from patience import patience

from lmviz.training.distributed import ProcessTeam, Team, is_first_process, join_team

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without it")

SCRIPT = """
import atexit
import json
import os
import sys
from pathlib import Path
import numpy as np
import torch
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import LSTMConfiguration
from lmviz.training.controls import Controls
from lmviz.training.description import RunDescription
from lmviz.training.distributed import is_first_process
from lmviz.training.gradient_training import learn
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

torch.set_num_threads(1)
folder, batch = sys.argv[1], int(sys.argv[2])

def note_threads():
    names = [Path(task, "comm").read_text().strip() for task in Path("/proc/self/task").glob("*")]
    Path(f"{folder}.{os.environ['RANK']}.threads").write_text(json.dumps(names))

if "RANK" in os.environ:
    atexit.register(note_threads)  # before the group's own, hence called after it
ids = (np.arange(600) * 3 + (np.random.default_rng(0).random(600) < 0.1)) % 7
told = {}

def start(options, run, **rest):
    torch.manual_seed(int(os.environ.get("RANK", 0)))  # the first one's weights are everybody's
    model = RecurrentModel(LSTMConfiguration(width=8), 7)
    return learn(model, ids[:500], ids[500:], options, run, ignored_target=2, **rest)

for sampling in ("random", "streams"):
    options = TrainingOptions(steps=20, batch=batch, length=8, sampling=sampling, validate_every=10)
    description = RunDescription(sampling, "lstm", {}, 7, options.to_values())
    path = f"{folder}/{sampling}"
    run = Run.create(path, description) if is_first_process() else None
    controls, progress = Controls(), []
    steps = start(options, run, controls=controls)
    for progress in steps:
        # One process asks; all of them stop.
        controls.stop = progress.step == 12 and is_first_process()
    assert progress.step == 12, progress
    told[sampling] = [
        (progress.step, progress.loss, progress.validation_loss)
        for progress in start(options, Run.open(path), resume=True)
    ]
if is_first_process():
    Path(folder, "told.json").write_text(json.dumps(told))
"""


def by_two_processes(script: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    with open(folder.with_suffix(".log"), "w+") as log:
        process = subprocess.Popen(
            [*command, str(script), str(folder), "3"],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            assert process.wait(timeout=80 * patience()) == 0, log.seek(0) or log.read()
        finally:
            with contextlib.suppress(ProcessLookupError):  # none is left, as it should be
                os.killpg(process.pid, signal.SIGKILL)


def by_one_process(script: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(script), str(folder), "6"])
    runpy.run_path(str(script))


@pytest.mark.slow  # three programs that import torch
def test_two_processes_equal_one_with_twice_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    by_two_processes(script, tmp_path / "two")
    for rank in range(2):
        left = json.loads((tmp_path / f"two.{rank}.threads").read_text())
        assert not [name for name in left if "gloo" in name]  # it might abort the process later
    by_one_process(script, tmp_path / "one", monkeypatch)
    two, one = (json.loads((tmp_path / name / "told.json").read_text()) for name in ("two", "one"))
    for sampling in ("random", "streams"):
        assert [step for step, _, _ in two[sampling]] == list(range(12, 21))
        for (_, loss, validation), (_, expected, validation_expected) in zip(
            two[sampling][1:], one[sampling][1:], strict=True
        ):
            assert loss == pytest.approx(expected, abs=1e-5)
            assert validation == pytest.approx(validation_expected, abs=1e-5)


@pytest.fixture
def group() -> Iterator[None]:
    """A group of torch that has this process alone in it."""
    importlib.import_module("torch.distributed.nn.functional")  # see join_team
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_a_team_of_processes_adds_up_gathers_and_averages() -> None:
    """What is sent and what is made of it; `test_two_processes…` has two of them."""
    team = ProcessTeam(torch.device("cpu"))
    assert (team.rank, team.size, team.is_first) == (0, 1, True)
    assert team.any(True, False) == (True, False)
    values = torch.tensor([1.0, 2.0])
    assert team.sum(values).tolist() == [1, 2]
    assert [part.tolist() for part in team.gather(values)] == [[1, 2]]
    matrix, unread = torch.nn.Parameter(torch.zeros(2, 3)), torch.nn.Parameter(torch.zeros(4))
    matrix.grad = torch.arange(6.0).reshape(2, 3)
    loss = team.average([matrix, unread], torch.tensor(8.0), 0.5)
    assert float(loss) == 4
    assert matrix.grad.tolist() == [[0, 0.5, 1], [1.5, 2, 2.5]]
    assert unread.grad is not None
    assert unread.grad.tolist() == [0] * 4
    model = torch.nn.Linear(2, 1)
    before = [value.clone() for value in model.state_dict().values()]
    team.share_weights(model)
    team.wait()
    assert all(map(torch.equal, before, model.state_dict().values()))


def test_a_process_alone_is_its_own_team(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert is_first_process()
    team = join_team(torch.device("cpu"))
    assert type(team) is Team
    assert team.is_first
    assert team.any(True, False) == (True, False)
    monkeypatch.setenv("RANK", "1")
    assert not is_first_process()


@pytest.mark.parametrize(("kind", "weights"), [("cpu", "gloo"), ("cuda", "nccl")])
def test_a_team_sends_what_the_processor_has_wherever_the_weights_are(
    monkeypatch: pytest.MonkeyPatch, kind: str, weights: str
) -> None:
    """What torch is asked for, as tests have no cards: trainings add up their validation losses there."""
    from torch.distributed.distributed_c10d import Backend, BackendConfig

    asked: list[str] = []
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("torch.distributed.init_process_group", asked.append)
    monkeypatch.setattr("torch.distributed.get_rank", lambda: 1)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 2)
    monkeypatch.setattr("atexit.register", lambda function: None)
    assert join_team(torch.device(kind)).size == 2
    backends = BackendConfig(Backend(asked[0])).get_device_backend_map()
    assert (backends["cpu"], backends[kind]) == ("gloo", weights)

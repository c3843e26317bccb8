"""Under torchrun the first process writes, also where fully_shard has dealt out the weights."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from patience import patience

import lmviz

pytestmark = [
    pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without it"),
    pytest.mark.slow,
]

SCRIPT = """
import json, os, sys
sys.path.insert(0, {tests!r})
import torch
from torch import distributed
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from own_modules import GPT, batch_of
import lmviz

torch.set_num_threads(1)
distributed.init_process_group("gloo")
way, folder = sys.argv[1:]
torch.manual_seed(0)
module = GPT()
if way == "fully_shard":
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
    for block in module.transformer.h:
        fully_shard(block, mesh=mesh)
    fully_shard(module, mesh=mesh)
    trained = module
else:
    trained = DistributedDataParallel(module)
optimizer = torch.optim.AdamW(trained.parameters(), 1e-2)
generator = torch.Generator().manual_seed(distributed.get_rank())
probe, logits, losses = torch.tensor([[3, 4, 5, 0, 9, 1]]), dict(), dict()

def note(step):
    trained.eval()
    with torch.no_grad():
        logits[step] = trained(probe, probe)[0][0].tolist()
    trained.train()

with lmviz.record(folder, trained, every=3) as recording:
    note(0)
    for step in range(1, 8):
        ids = batch_of(generator)
        loss = trained(ids[:, :-1], ids[:, 1:])[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recording.step(step, loss=loss.item())
        losses[step] = loss.item()
        note(step)
if distributed.get_rank() == 0:
    with open(folder + ".json", "w") as file:
        json.dump([logits, losses], file)
distributed.destroy_process_group()
"""


@pytest.mark.parametrize("way", ["fully_shard", "data parallel"])
def test_two_processes_record_one_run(way, tmp_path):
    script, folder = tmp_path / "loop.py", tmp_path / "run"
    script.write_text(SCRIPT.replace("{tests!r}", repr(str(Path(__file__).parents[1]))))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(lmviz.__file__).parents[1])}
    with open(tmp_path / "log", "w+") as log:
        process = subprocess.Popen(
            [*command, str(script), way, str(folder)],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            assert process.wait(timeout=200 * patience()) == 0, log.seek(0) or log.read()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    logits, losses = json.loads((tmp_path / "run.json").read_text())
    run = lmviz.Run.open(folder)
    assert run.snapshots() == [0, 1, 2, 3, 4, 6, 7]
    assert {str(line["step"]): line["loss"] for line in run.metrics()} == losses
    for step in run.snapshots():
        found = lmviz.open_model(folder, step)(torch.tensor([[3, 4, 5, 0, 9, 1]]))[0]
        torch.testing.assert_close(found, torch.tensor(logits[str(step)]), atol=1e-5, rtol=1e-5)

"""A loop that is killed at any moment leaves a run that opens."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from patience import patience

import lmviz

VICTIM = """
import sys
sys.path[:0] = sys.argv[2:]
import torch
torch.set_num_threads(1)
from own_modules import GPT, batch_of
import lmviz
from lmviz.recording import writer
writer.FLUSH_SECONDS = 0.001
torch.manual_seed(0)
module, generator = GPT(), torch.Generator().manual_seed(1)
optimizer = torch.optim.AdamW(module.parameters(), 1e-2)
with lmviz.record(sys.argv[1], module, every=1, budget="1 MB", overwrite=True) as recording:
    for step in range(1, 100_000):
        ids = batch_of(generator)
        loss = module(ids[:, :-1], ids[:, 1:])[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recording.step(step, loss=loss.item())
"""


def begun_at(folder):
    """When the run in a folder was begun, in nanoseconds; None where there is none."""
    try:
        return (folder / "run.json").stat().st_mtime_ns
    except FileNotFoundError:
        return None


def killed_after(folder, snapshots, delay):
    """Kill a loop some moments after it has written so many snapshots, over whatever was there before."""
    tests, before = [os.path.dirname(os.path.dirname(__file__))], begun_at(folder)
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, str(folder), *tests])
    try:
        deadline = time.monotonic() + 120 * patience()
        while begun_at(folder) in (before, None) or len(lmviz.Run.open(folder).snapshots()) < snapshots:
            assert victim.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline, "it never got going"
            time.sleep(0.002)
        time.sleep(delay)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()


def check_opens(folder):
    run = lmviz.Run.open(folder)
    steps = run.snapshots()
    for step in steps:
        logits = lmviz.open_model(folder, step)(torch.tensor([[1, 2, 3]]))
        assert torch.isfinite(logits).all()
    lines = run.metrics()
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
    assert all("loss" in line for line in lines)
    return steps


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_kills_leave_nothing_unreadable(tmp_path):
    for number in range(20):
        folder = tmp_path / f"run{number % 4}"  # what one kill has left is in the way of the next
        killed_after(folder, snapshots=1 + number % 5, delay=number * 0.0017)
        assert check_opens(folder)
    with lmviz.record(folder, lmviz.open_model(folder, 0), overwrite=True) as recording:
        recording.step(1)
    assert check_opens(folder) == [0, 1]
    assert not [path for path in folder.rglob(".*") if path.is_file()]

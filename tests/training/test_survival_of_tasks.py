"""Trainings of every task that are killed without warning go on as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from patience import patience

import lmviz
from lmviz.training.run import Run

TEXTS = {
    "tagging": "the/d cat/n runs/v\nthe/d old/n man/v the/d boats/n\ncats/n run/v\n",
    "classification": "good\ta fine film\nbad\ta dull film\ngood\tnot dull\nbad\tnot fine at all\n",
    "translation": "a red car\tune voiture rouge\na blue car\tune voiture bleue\ncars\tdes voitures\n",
}
MODELS = {
    "tagging": ("gru", {"direction": "both"}),
    "classification": ("lstm", {"pooling": "attention", "dropout": 0.1}),
    "translation": ("gru", {"attention": "dot", "dropout": 0.1}),
    "translation by a Transformer": ("transformer", {"heads": 2, "layers": 1, "context": 16}),
}
STEPS = 200
SETTINGS = {"steps": STEPS, "batch": 4, "width": 6, "snapshots": 60, "resume_seconds": 1}
VICTIM = """
import json, sys, torch, lmviz
from lmviz.training import recorder
torch.set_num_threads(1)
recorder.SAVE_SECONDS = recorder.FLUSH_SECONDS = 0.05
source, out, family, settings = sys.argv[1:]
lmviz.train(family, lmviz.load_corpus(source), out, **json.loads(settings))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
@pytest.mark.parametrize("case", MODELS)
def test_killed_and_resumed_is_undisturbed(case: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    task, (family, own) = case.split()[0], MODELS[case]
    (tmp_path / "text.txt").write_text(TEXTS[task] * 8, encoding="utf-8")
    corpus, folder = lmviz.load_corpus(tmp_path / "text.txt"), tmp_path / "killed"
    assert corpus.task == task
    settings = SETTINGS | own
    words = [corpus.sources[0], str(folder), family, json.dumps(settings)]
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, *words])
    try:
        deadline = time.monotonic() + 60 * patience()
        while not (folder / "run.json").is_file() or len(Run.open(folder).snapshots()) < 20:
            assert victim.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline, "it never got going"
            time.sleep(0.01)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
    assert 0 < Run.open(folder).snapshots()[-1] < STEPS
    killed = lmviz.train(family, corpus, folder, resume=True)
    straight = lmviz.train(family, corpus, tmp_path / "straight", **settings)
    one, other = straight.load_snapshot(STEPS), killed.load_snapshot(STEPS)
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert [line["step"] for line in killed.metrics()] == list(range(STEPS + 1))

"""A loop of PyTorch that is recorded, beside the same loop that is not."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.rows import Measured, Row

STEPS = 300
ROUNDS = 4
VOCABULARY, CONTEXT, BATCH = 65, 64, 12


def _loop(folder: Path | None) -> float:
    """Seconds of some steps of a GPT-2 as nanoGPT trains on two cores, recorded where there is a folder."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    import lmviz

    torch.manual_seed(0)
    sizes = {"n_layer": 4, "n_head": 4, "n_embd": 128, "n_positions": CONTEXT, "vocab_size": VOCABULARY}
    module = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
    optimizer = torch.optim.AdamW(module.parameters(), 1e-3)
    batches = torch.randint(VOCABULARY, (STEPS, BATCH, CONTEXT))
    recording = None if folder is None else lmviz.record(folder, module)
    began = time.perf_counter()
    for step, batch in enumerate(batches, start=1):
        loss = module(batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        measured = loss.item()
        if recording is not None:
            recording.step(step, loss=measured, learning_rate=1e-3)
    taken = time.perf_counter() - began
    if recording is not None:
        recording.close()
    return taken


def overhead() -> Measured:
    """Both loops in turns; the first round warms up."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for number in range(ROUNDS + 1):
            first = number % 2 == 0
            taken = dict.fromkeys((first, not first), 0.0)
            for is_recorded in taken:
                taken[is_recorded] = _loop(Path(folder) / str(number) if is_recorded else None)
            pairs.append((taken[True], taken[False]))
    ratio = statistics.median(with_it / without for with_it, without in pairs[1:])
    ours, theirs = (statistics.median(times) for times in zip(*pairs[1:], strict=True))
    detail = f"{1000 * ours / STEPS:.1f} ms a step, {1000 * theirs / STEPS:.1f} ms without, {STEPS} steps"
    return Measured(ratio, detail)


ROWS = (
    Row(
        "recording",
        "a loop of PyTorch that is recorded at the usual steps, beside the same loop without",
        "×",
        1.02,
        True,
        overhead,
    ),
)

"""Opening a checkpoint as large as GPT-2 124M, against transformers, and what it takes in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.apart import once_apart
from benchmarks.rows import Measured, Row, Times, interleave

ROUNDS = 5
READ = list(range(64))  # token ids of the text that is read once, so that every weight is used


def write_checkpoint(folder: Path) -> Path:
    """A folder of transformers with random weights and a tokenizer of as many words."""
    from benchmarks.made_models import gpt2, words
    from lmviz.families import build_model
    from lmviz.interchange.saving import save_pretrained
    from lmviz.text.tokenizer_options import TokenizerOptions
    from lmviz.text.tokenizer_training import train_tokenizer

    tokenizer = train_tokenizer([" ".join(words())], TokenizerOptions(kind="words"), marks_boundaries=False)
    model = build_model("transformer", gpt2(), tokenizer.vocabulary_size, seed=0)
    model.tokenizer = tokenizer
    return save_pretrained(model, folder)


def _theirs(folder: Path) -> object:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)


def _compare() -> Times:
    import transformers

    from lmviz.interchange.checkpoint import open_checkpoint

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as place:
        folder = write_checkpoint(Path(place) / "gpt2")
        tokenizer = (folder / "tokenizer.json").rename(folder / "set-aside.json")  # the peer reads none
        ours: Callable[[], object] = lambda: open_checkpoint(folder).model()  # noqa: E731
        times = interleave(ours, partial(_theirs, folder), ROUNDS)
        tokenizer.rename(folder / "tokenizer.json")
    return times


def _resident() -> int:
    """Bytes of this process that are in memory, those mapped from files among them."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def _memory() -> tuple[int, int]:
    """The bytes that an open model takes which has read a text, and those of its file."""
    import gc

    import torch

    from lmviz.interchange.checkpoint import open_checkpoint

    with tempfile.TemporaryDirectory() as place:
        folder = once_apart(
            partial(write_checkpoint, Path(place) / "gpt2")
        )  # what writing leaves behind is not counted
        with torch.inference_mode():
            torch.randn(64, 64) @ torch.randn(64, 64)  # the library's own buffers
            before = _resident()
            model = open_checkpoint(folder).model()
            model(torch.tensor([READ]))
        gc.collect()
        return _resident() - before, (folder / "model.safetensors").stat().st_size


def opening() -> Measured:
    """Our seconds over theirs."""
    times = once_apart(_compare)
    return Measured(1 / times.ratio, f"{1000 * times.ours:.0f} ms, transformers {1000 * times.theirs:.0f} ms")


def memory() -> Measured:
    """Resident bytes over those of the file."""
    taken, size = once_apart(_memory)
    return Measured(taken / size, f"{taken / 1e6:.0f} MB for {size / 1e6:.0f} MB")


ROWS = (
    Row(
        "open-gpt2",
        "opening a folder as large as GPT-2 124M, against transformers' from_pretrained",
        "×",
        0.7,
        True,
        opening,
    ),
    Row(
        "open-gpt2-memory",
        "the memory of that model once it has read a text, over the size of its file",
        "×",
        1.3,
        True,
        memory,
    ),
)

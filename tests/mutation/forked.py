"""pytest in a process that is forked from one with torch in it already, over a copy of the sources."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "--no-header")
MEMORY = 12 * 2**30
"""A mutant may ask for any amount of memory; it gets so many bytes of addresses."""


def load_libraries() -> None:
    """Import, once for all forks, what takes time and is not mutated."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.dont_write_bytecode = True
    import hypothesis
    import numpy
    import pytest
    import safetensors.torch
    import tokenizers
    import torch

    del hypothesis, numpy, pytest, safetensors, tokenizers
    torch.set_num_threads(1)  # a process with threads is not to be forked


def forked(work: Callable[[], Any], copy: Path, seconds: float) -> tuple[Any, str]:
    """What `work` returns, in a process of its own that finds lmviz in `copy`; and what it prints.

    The answer, which has to be plain values, is None where the process took too long or died.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer, printed = Path(folder, "answer.json"), Path(folder, "printed.txt")
        child = os.fork()
        if child == 0:
            _work(work, copy, answer, printed)
        _wait(child, seconds)
        text = printed.read_text(encoding="utf-8", errors="replace") if printed.exists() else ""
        return (json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else None), text


def _work(work: Callable[[], Any], copy: Path, answer: Path, printed: Path) -> None:
    """The life of a child, which ends here."""
    try:
        import resource  # which Windows lacks

        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        file = os.open(printed, os.O_CREAT | os.O_WRONLY)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        os.environ["PYTHONPATH"] = str(copy)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        result = work()
        beside = answer.with_suffix(".new")
        beside.write_text(json.dumps(result), encoding="utf-8")
        beside.replace(answer)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _wait(child: int, seconds: float) -> None:
    """Until the child ends, or is ended with all that it started."""
    until = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.01)

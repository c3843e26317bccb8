"""The command line in tests: the words of a small training, what was printed, a process of its own."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_models import small_settings


def train_words(family: str, text: Path, out: Path, *more: str) -> list[str]:
    sizes = [f"{name}={value}" for name, value in small_settings(family).items()]
    settings = [word for size in sizes for word in ("--set", size)]
    return ["train", "--corpus", str(text), "--family", family, *settings, "--out", str(out), *more]


def said(capsys: pytest.CaptureFixture[str]) -> tuple[dict, str]:
    """The one JSON object on standard output, and what is on standard error."""
    captured = capsys.readouterr()
    return json.loads(captured.out, parse_constant=pytest.fail), captured.err


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lmviz", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition, process: subprocess.Popen[str]) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)

"""The tests of `growing_window.py`, each in a process in which nothing else is done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app import growing_window

PROGRAM = Path(growing_window.__file__)
GROWTH = growing_window.test_neither_the_window_nor_its_memory_grows_with_many_times.__name__
HABITS = [habit.__name__ for habit in growing_window.MANY_TIMES]


def run_alone(test: str) -> str:
    """What pytest says of tests of the program in a process of their own, where they have to pass."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "slow", f"{PROGRAM}::{test}"],
        cwd=PROGRAM.parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]
    return ended.stdout


@pytest.mark.slow
def test_the_window_does_not_grow() -> None:
    assert " passed" in run_alone(growing_window.test_the_window_does_not_grow.__name__)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="reads its memory where Linux tells it")
@pytest.mark.parametrize("habit", HABITS)
def test_neither_the_window_nor_its_memory_grows_with_many_times(habit: str) -> None:
    assert " passed" in run_alone(f"{GROWTH}[{habit}]")

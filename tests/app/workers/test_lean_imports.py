"""Modules that are loaded late: nothing runs until something is looked up in them, and then all is there."""

import importlib
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lmviz.app.workers.lean_imports import UNUSED, LateFinder

MODULE = "seldom_used"
SOURCE = "import time\nRUNS.append(1)\ntime.sleep(0.05)\nanswer = 42\n"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A module of that name can be imported late; the list has one entry for each time that its code ran."""
    (tmp_path / f"{MODULE}.py").write_text(f"from builtins import {MODULE}_runs as RUNS\n{SOURCE}")
    made: list[int] = []
    monkeypatch.setattr("builtins.seldom_used_runs", made, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [LateFinder(frozenset({MODULE})), *sys.meta_path])
    yield made
    sys.modules.pop(MODULE, None)


def test_its_code_runs_when_something_is_looked_up(runs: list[int]) -> None:
    module = importlib.import_module(MODULE)
    assert sys.modules[MODULE] is module
    assert module.__name__ == MODULE
    assert not runs
    assert module.answer == 42
    assert runs == [1]
    with pytest.raises(AttributeError, match="has no attribute 'question'"):
        print(module.question)


def test_it_runs_once_where_several_threads_look(runs: list[int]) -> None:
    module, found = importlib.import_module(MODULE), []
    threads = [threading.Thread(target=lambda: found.append(module.answer)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [42] * 4
    assert runs == [1]


def test_a_module_of_another_name_is_left_to_the_others(runs: list[int]) -> None:
    assert LateFinder(frozenset({MODULE})).find_spec("json", None) is None
    assert LateFinder(frozenset({"there.is.none"})).find_spec("there.is.none", []) is None


def test_what_is_loaded_late_is_there_when_it_is_wanted() -> None:
    """Each exists in the libraries of today; numpy and PySide6 work without it, and it works when asked."""
    script = (
        "import sys\n"
        "from lmviz.app.workers.lean_imports import UNUSED, LateModule, import_lean\n"
        "import_lean()\n"
        "import numpy, urllib.parse\n"
        "from PySide6.QtCore import QObject\n"
        "late = {name for name in UNUSED if '_loader' in vars(sys.modules.get(name, sys))}\n"
        "assert late == UNUSED - {'torch._dynamo'}, UNUSED - late\n"
        "assert numpy.arange(3).sum() == 3\n"
        "assert numpy.linalg.eigh(numpy.eye(2)).eigenvalues.tolist() == [1, 1]\n"
        "import numpy.typing\n"
        "assert '_loader' not in vars(sys.modules['numpy._typing'])\n"
        "assert numpy._typing.NDArray is numpy.typing.NDArray is not numpy.ndarray\n"
        "assert urllib.parse.urlsplit('http://[::1]:8000/').port == 8000\n"
        "assert '_loader' not in vars(sys.modules['ipaddress'])\n"
        "try:\n"
        "    QObject().setObjectName(3, 4)\n"
        "except TypeError as error:\n"
        "    assert 'setObjectName' in str(error), error\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(UNUSED) > 2


TRAINS = """
import sys
from lmviz.app.workers.lean_imports import import_lean
import_lean()
import lmviz, torch
corpus = lmviz.load_corpus(sys.argv[1])
for optimizer in ("sgd", "momentum", "adam", "adamw"):
    lmviz.train("rnn", corpus, f"{sys.argv[2]}/{optimizer}", steps=2, width=4, optimizer=optimizer)
assert "sympy" not in sys.modules
assert "torch._inductor" not in sys.modules
assert torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)) == 2  # whoever does want it has it
"""


def test_a_training_does_without_the_compiler_of_torch(small_text: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", TRAINS, str(small_text), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr

"""What is left out of imports is not missed."""

from pathlib import Path

import pytest
from programs import run_python

from lmviz.app.workers.lean_imports import TESTED, is_tested

TRAINS = """
import sys
from lmviz.app.workers.lean_imports import import_lean
import_lean()
import lmviz, torch
from lmviz.inspection.step_jacobians import step_jacobians
corpus = lmviz.load_corpus(sys.argv[1])
for optimizer in ("sgd", "momentum", "adam", "adamw"):
    lmviz.train("rnn", corpus, f"{sys.argv[2]}/{optimizer}", steps=2, width=4, optimizer=optimizer)
assert "sympy" not in sys.modules
assert "torch._inductor" not in sys.modules
model = lmviz.open_model(f"{sys.argv[2]}/sgd")
step_jacobians(model, lmviz.trace(model, "The cow"))  # gives torch the gradients to begin with
assert "sympy" not in sys.modules
x = torch.ones(2, requires_grad=True)
try:
    torch.autograd.grad(2 * x, x, torch.ones(3))
except RuntimeError as fault:
    assert "Mismatch in shape" in str(fault)
assert torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)) == 2  # whoever does want it has it
"""

CHECKPOINTS = """
from lmviz.app.workers.lean_imports import import_lean
import_lean()
import torch
from torch.utils.checkpoint import checkpoint  # asks the compiler for one of its settings
x = torch.ones(1, requires_grad=True)
checkpoint(torch.exp, x, use_reentrant=False).backward()
assert x.grad == torch.exp(x)
"""


TYPES = """
from lmviz.app.workers.lean_imports import import_lean
import_lean()
import sys, numpy
assert not {"numpy._typing._array_like", "argparse"} & sys.modules.keys()
assert numpy.linalg.eigh(numpy.eye(2)).eigenvalues.tolist() == [1, 1]
from numpy.typing import ArrayLike, NDArray  # whoever does want them has them
assert NDArray[numpy.float64].__origin__ is numpy.ndarray
assert "numpy._typing._array_like" in sys.modules
"""


PLOTS = """
from lmviz.app.workers.lean_imports import import_lean
import_lean()
from PySide6 import QtCore, QtGui, QtWidgets
import pyqtgraph
from pyqtgraph import Qt
assert "QCalendarWidget" not in vars(QtWidgets)  # Qt's classes are made when they are asked for
assert Qt.QtWidgets.QCalendarWidget is QtWidgets.QCalendarWidget
assert Qt.QtGui.QPainter is QtGui.QPainter
assert Qt.QtCore.QObject is QtCore.QObject
assert Qt.QtVersion == QtCore.__version__
assert not hasattr(Qt.QtGui, "nothing of this name")
"""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(TRAINS, id="training", marks=pytest.mark.slow),
        pytest.param(CHECKPOINTS, id="checkpoint", marks=pytest.mark.slow),
        pytest.param(TYPES, id="types"),
        pytest.param(PLOTS, id="plots"),
    ],
)
def test_what_is_left_out_is_there_only_where_it_is_wanted(
    script: str, small_text: Path, tmp_path: Path
) -> None:
    done = run_python(script, str(small_text), str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_pyside_reads_no_source_of_what_is_imported_after_it() -> None:
    """The private name by which it is kept from that is there in the PySide6 of today."""
    script = (
        "import sys\n"
        "import PySide6\n"
        "feature = sys.modules['shibokensupport.feature']\n"
        "assert feature._mod_uses_pyside(PySide6)\n"
        "from lmviz.app.workers.lean_imports import import_lean\n"
        "import_lean()\n"
        "assert not feature._mod_uses_pyside(PySide6)\n"
    )
    done = run_python(script)
    assert done.returncode == 0, done.stderr


def test_the_versions_are_those_of_the_constraints() -> None:
    lines = (Path(__file__).parents[3] / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.lower().split("==") for line in lines if "==" in line and not line.startswith("#"))
    assert {name: pinned[name] for name in TESTED} == TESTED
    assert pinned["pyside6_essentials"] == TESTED["shiboken6"]
    assert all(is_tested(library) for library in TESTED)


@pytest.mark.slow
def test_of_another_version_nothing_is_left_out() -> None:
    script = (
        "import sys\n"
        "from lmviz.app.workers import lean_imports\n"
        "lean_imports.TESTED = {name: '1.0.0' for name in lean_imports.TESTED}\n"
        "lean_imports.import_lean()\n"
        "import numpy, PySide6, pyqtgraph\n"
        "assert not lean_imports.LEFT_OUT\n"
        "assert 'numpy._typing._array_like' in sys.modules\n"
        "assert sys.modules['shibokensupport.feature']._mod_uses_pyside(PySide6)\n"
    )
    done = run_python(script)
    assert done.returncode == 0, done.stderr


def test_a_library_that_is_not_there_is_not_the_tested_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TESTED, "no_library_of_this_name", "1.0")
    assert not is_tested("no_library_of_this_name")


def test_no_import_is_asked_about_features_of_pyside() -> None:
    """Not even those within functions, which are imports each time that they are called."""
    script = """
import builtins
from lmviz.app.workers.lean_imports import import_lean
import_lean()
from PySide6 import QtGui, QtWidgets
from shibokensupport import feature
asked = []
ask = feature.feature_import
feature.feature_import = lambda *given, **named: asked.append(given) or ask(*given, **named)
import json
from PySide6 import QtSvg
assert not asked, asked
from PySide6.QtCore import *  # which PySide6 has to notice
assert QPropertyAnimation
"""
    done = run_python(script)
    assert done.returncode == 0, done.stderr

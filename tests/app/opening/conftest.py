"""The window as it first appears."""

import runpy
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from benches.opening import PREFIX
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.base.places import shipped


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory, make_run: Callable[..., Path]) -> Path:
    """A folder of sample models: one small Transformer, with a stored trace beside it."""
    folder = tmp_path_factory.mktemp("samples")
    run = make_run("transformer", 4, width=8, heads=2, layers=1, context=16)
    shutil.copytree(run, folder / "transformer")
    writer = runpy.run_path(str(shipped("sample_models") / "first_screen.py"))
    writer["write_first_screen"](folder / "transformer", folder / "first_screen.npz", PREFIX)
    return folder


@pytest.fixture
def sleeping(tmp_path: Path, qtbot: QtBot, samples: Path) -> MainWindow:
    """The window as it is first painted: its session has not been started, so nothing can be computed."""
    session = Session(tmp_path / "runs")
    window = MainWindow(session, Settings(tmp_path / "settings.json"))
    qtbot.addWidget(window)
    window.beginning.welcome(samples)
    window.show_settled()
    yield window
    session.close()

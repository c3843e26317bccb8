"""What panels about features begin with."""

from collections.abc import Callable
from pathlib import Path

import pytest
from made_features import made_features
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


@pytest.fixture
def open_features(
    window: MainWindow, session: Session, transformer_run: Path, tmp_path: Path, qtbot: QtBot
) -> Callable[[], None]:
    """With a small Transformer and a text: opens features of it, and then a changed text."""
    text = "the cows eat"
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    session.reading.set_prefix(text)

    def both() -> None:
        made = made_features(lmviz.open_model(transformer_run), "layers/0/residual2", text)
        session.features.open_file(made.save(tmp_path / "drawn.safetensors"))
        session.contrast.set_other("the cows see")

    return both

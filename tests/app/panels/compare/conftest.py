"""The window at Compare, and runs to compare."""

from collections.abc import Callable
from pathlib import Path

import pytest
from benches.compare import LONG, PREFIX, open_all
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus import load_corpus


@pytest.fixture(scope="session")
def ngram_run(make_run: Callable[..., Path]) -> Path:
    return make_run("ngram", 2)


@pytest.fixture(scope="session")
def character_run(tmp_path_factory: pytest.TempPathFactory, text_file: Path) -> Path:
    """A run whose tokens are characters, of the same text."""
    from lmviz.api.training import train

    folder = tmp_path_factory.mktemp("runs") / "letters"
    corpus = load_corpus(text_file, "characters", documents="line")
    train("gru", corpus, folder, steps=2, batch=2, length=8, validate_every=0, width=8)
    return folder


@pytest.fixture
def compare(
    window: MainWindow, session: Session, text_file: Path, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> MainWindow:
    """The window at Compare with a text, a prefix, and two models side by side."""
    window.show_perspective("compare")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    open_all(session, qtbot, transformer_run, lstm_run)
    session.reading.set_prefix(PREFIX)
    session.comparison.choose([(session.library.models[0], 2)])
    return window

"""Where the tests of this folder begin."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading


@pytest.fixture
def show(
    window: MainWindow, read_pair: Callable[..., Session], drawn: Callable[[], None]
) -> Callable[..., dict[str, Panel]]:
    """show(run): the panels of the perspective, by name, when they have drawn a translator's reading."""

    def open_pair(run: Path, source: str = "abc", text: str = "cb") -> dict[str, Panel]:
        read_pair(run, source, text)
        window.show_perspective("attention")
        drawn()
        return {panel.objectName(): panel for panel in window.perspective.panels}

    return open_pair


@pytest.fixture(scope="session")
def run(make_run: Callable[..., Path]) -> Path:
    """A Transformer with learned positions, two layers of two heads."""
    return make_run("transformer", 3, width=8, heads=2, layers=2, context=16)


@pytest.fixture
def show_text(
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    answered: Callable[[], None],
    drawn: Callable[[], None],
) -> Callable[[Path], dict[str, Panel]]:
    """show_text(run): the panels of the perspective, by name, when they have drawn six words."""

    def open_model(run: Path) -> dict[str, Panel]:
        text = "the cows eat grass the cows"
        session.library.open(run)
        qtbot.waitUntil(lambda: session.library.model is not None)
        session.reading.set_prefix(text)
        wait_for_reading(session, qtbot)
        window.show_perspective("attention")
        drawn()
        answered()
        return {panel.objectName(): panel for panel in window.perspective.panels}

    return open_model


@pytest.fixture
def panels(show_text: Callable[[Path], dict[str, Panel]], run: Path) -> dict[str, Panel]:
    """The panels of the perspective on the small Transformer."""
    return show_text(run)


@pytest.fixture
def reread(session: Session, qtbot: QtBot) -> Callable[[Callable[[], object]], None]:
    """reread(act): do what changes the reading, and wait for the next."""

    def do(act: Callable[[], object]) -> None:
        with qtbot.waitSignal(session.reading.changed):
            act()

    return do

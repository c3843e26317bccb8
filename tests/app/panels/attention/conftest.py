"""Where the tests of this folder begin."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


@pytest.fixture
def first_perspective() -> str:
    """The window begins where these panels are."""
    return "attention"


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

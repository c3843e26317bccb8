"""What the tests of this folder share: where the window begins, small models, and their pictures."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from small_models import small_settings

from lmviz.app.panels.inside.picture import PicturePanel
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.kit.picture import Picture, Spot
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from tests.app.conftest import wait_for_reading

TEXT = "the cows eat grass and the"


@pytest.fixture
def picture_of(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    qtbot: QtBot,
    answered: Callable[[], None],
    drawn: Callable[[], None],
) -> Callable[..., PicturePanel]:
    """Open a small run of a family and show its picture, of a text that has been read."""

    def show(family: str, text: str = TEXT, **settings: object) -> PicturePanel:
        window.show_perspective("inside")
        session.library.open(make_run(family, 3, **(small_settings(family) | settings)))
        qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.family == family)
        session.reading.set_prefix(text)
        wait_for_reading(session, qtbot)
        drawn()
        answered()
        return next(panel for panel in window.perspective.panels if isinstance(panel, PicturePanel))

    return show


def click(view: Picture, spot: Spot, qtbot: QtBot) -> None:
    area = view.rectangle(spot)
    assert not area.isEmpty(), spot
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=area.center().toPoint())


def point(view: Picture, spot: Spot, qtbot: QtBot) -> None:
    qtbot.mouseMove(view, view.rect().bottomLeft())
    qtbot.mouseMove(view, view.rectangle(spot).center().toPoint())


def made_by(session: Session) -> tuple[str, ...]:
    """The taps of the stage one is at."""
    return session.reading.current.trace.stages[session.focus.stage].results


@pytest.fixture(scope="module", params=list(FAMILIES))
def run(request: pytest.FixtureRequest, make_run: Callable[..., Path]) -> Path:
    """A small run of each family."""
    return make_run(request.param, 3, **small_settings(request.param))


@pytest.fixture
def inside(
    window: MainWindow,
    session: Session,
    run: Path,
    qtbot: QtBot,
    answered: Callable[[], None],
    drawn: Callable[[], None],
) -> dict[str, Panel]:
    """The panels of the Inside perspective, with a prefix read and drawn."""
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)
    window.show_perspective("inside")
    drawn()
    answered()
    return {panel.objectName(): panel for panel in window.perspective.panels}

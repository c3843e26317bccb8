"""The three walks of docs/architecture.md, taken in the window: what they name is called, in their order."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.lens import LensPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.position_curve import PositionCurve
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions
from tests.app.conftest import wait_for_reading

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEP = re.compile(r"`([\w/]+\.py)`, ((?:`\w+`(?:, | and )?)+)")


def walk(beginning: str) -> list[tuple[str, str]]:
    """The end of a path and the name of each function that a walk names, in its order."""
    section = MAP.split(f"## {beginning}")[1].split("\n## ")[0]
    return [
        (file, name)
        for file, names in STEP.findall(section.replace("\n   ", " "))
        for name in re.findall(r"\w+", names.replace(" and ", " "))
    ]


class Calls:
    """The calls of some functions in any thread, in their order."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._made: list[tuple[str, str]] = []

    def listen(self, steps: list[tuple[str, str]]) -> None:
        self._names = {name for _, name in steps}

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name in self._names:
            self._made.append((frame.f_code.co_filename, frame.f_code.co_name))

    def missing(self, steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The steps from the first on that was not called after those before it."""
        made = iter([*self._made])
        for at, (file, name) in enumerate(steps):
            if not any(called == name and path.endswith(f"/{file}") for path, called in made):
                return steps[at:]
        return []


@pytest.fixture(autouse=True)
def calls() -> Iterator[Calls]:
    """Listens from before the session's thread begins, which no profile could be set in later."""
    calls = Calls()
    threading.setprofile(calls.note)
    sys.setprofile(calls.note)
    yield calls
    sys.setprofile(None)
    threading.setprofile(None)


def read(session: Session, run: Path, qtbot: QtBot) -> None:
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)


@contextmanager
def walking(calls: Calls, beginning: str, qtbot: QtBot) -> Iterator[None]:
    """Do what a walk begins with, and wait until all that it names has been called."""
    steps = walk(beginning)
    assert len(steps) > 5
    calls.listen(steps)
    yield
    try:
        qtbot.waitUntil(lambda: calls.missing(steps) == [])
    except TimeoutError:
        pytest.fail(f"not called, or not in this order: {calls.missing(steps)}")


@pytest.mark.parametrize("first_perspective", ["attention"])
def test_a_keystroke_goes_to_the_picture_as_the_map_says(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    calls: Calls,
    drawn: Callable[[], None],
    qtbot: QtBot,
):
    read(session, transformer_run, qtbot)
    drawn()
    with walking(calls, "One keystroke", qtbot):
        qtbot.keyClicks(window.prefix_bar.edit, " ")


@pytest.mark.parametrize("first_perspective", ["inside"])
def test_a_click_goes_to_the_other_panels_as_the_map_says(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    calls: Calls,
    drawn: Callable[[], None],
    qtbot: QtBot,
):
    read(session, transformer_run, qtbot)
    panel = window.findChild(LensPanel)
    panel.parentWidget().raise_()
    drawn()
    curve = panel.findChild(PositionCurve)
    qtbot.waitUntil(lambda: curve.isVisible() and bool(panel.norms))
    with walking(calls, "One click", qtbot):
        qtbot.mouseClick(curve, Qt.MouseButton.LeftButton, pos=curve.point(0).toPoint())


@pytest.mark.slow
@pytest.mark.parametrize("first_perspective", ["train"])
def test_a_press_of_train_goes_to_the_curve_as_the_map_says(
    window: MainWindow,
    session: Session,
    text_file: Path,
    calls: Calls,
    options: TrainingOptions,
    qtbot: QtBot,
):
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), options)
    with walking(calls, "One press of Train", qtbot):
        qtbot.mouseClick(window.findChild(QPushButton, "train_button"), Qt.MouseButton.LeftButton)
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active)

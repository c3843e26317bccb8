"""The answers to a question asked three ways have the room of the chain rule, and need no scrolling."""

from __future__ import annotations

from pathlib import Path

import foreign_tokenizers
import pytest
from PySide6.QtWidgets import QAbstractScrollArea
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


def panel(window: MainWindow, name: str) -> Panel:
    return next(each for each in window.perspective.panels if each.objectName() == name)


def is_seen(window: MainWindow, name: str) -> bool:
    found = window.findChild(Panel, name)
    return found is not None and found.isVisible()


def hidden(window: MainWindow) -> int:
    """By how many pixels the perspective scrolls."""
    areas = window.findChildren(QAbstractScrollArea)
    around = [area for area in areas if area.isAncestorOf(panel(window, "distribution_view"))]
    return sum(area.verticalScrollBar().maximum() for area in around)


def test_it_fits_into_the_usual_window_and_gives_the_room_back(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    pytest.importorskip("transformers")
    window.resize(1440, 900)
    window.open_paths([foreign_tokenizers.chat_folder(tmp_path / "little-chat")])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.chat.begin("Who asks?")
    window.show_perspective("sample")
    window.perspective.bring_forward("asked_ways_view")
    asked = panel(window, "asked_ways_view")
    qtbot.waitUntil(lambda: asked.is_in_sight and not is_seen(window, "chain_rule_view"))
    qtbot.waitUntil(lambda: hidden(window) == 0)
    assert asked.visibleRegion().boundingRect() == asked.rect()
    window.perspective.bring_forward("branches_view")
    qtbot.waitUntil(lambda: is_seen(window, "chain_rule_view"))


@pytest.mark.slow
def test_with_a_model_that_says_nothing_here_nothing_scrolls(
    window: MainWindow, session: Session, label_runs: dict[str, Path], qtbot: QtBot
) -> None:
    window.resize(1440, 900)
    session.library.open(label_runs["tagger"])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cat")
    window.show_perspective("sample")
    names = ("distribution_view", "branches_view", "chain_rule_view")
    qtbot.waitUntil(lambda: all(panel(window, name).is_out_of_place for name in names))
    qtbot.waitUntil(lambda: hidden(window) == 0)

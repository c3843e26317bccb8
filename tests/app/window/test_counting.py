"""Layers and heads counted from 0 wherever they are named, for those who read papers."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import Settings
from lmviz.app.panels.attention.attention import AttentionPanel
from lmviz.app.panels.shared.why import WhyPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.plain import Label
from lmviz.app.window.main_window import MainWindow
from lmviz.base.counting import count_from, numbered
from lmviz.inspection.names import coordinate, title_of
from tests.app.conftest import wait_for_reading

ROOT = Path(__file__).parents[3] / "lmviz"
BY_HAND = re.compile(r"\b(layer|head|number_of_head)\)? \+ 1\b|\b(layer|head) or 0\) \+ 1")
AMOUNTS = {"inspection/lens_sentence.py"}
"""Where the index of the last layer is how many there are."""


def test_nothing_that_is_shown_counts_layers_and_heads_by_itself():
    paths = [path for room in ("app", "inspection") for path in (ROOT / room).rglob("*.py")]
    found = {
        path.relative_to(ROOT).as_posix(): line
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        if BY_HAND.search(line) and "range(" not in line
    }
    assert {name: line for name, line in found.items() if name not in AMOUNTS} == {}


def test_names_follow_and_positions_and_units_do_not():
    count_from(0)
    assert numbered(2) == 2
    assert title_of("layers/0/attention/weights") == "layer 0, attention weights"
    assert [coordinate(axis, 0) for axis in ("head", "position", "unit")] == [
        "head 0",
        "position 1",
        "unit 1",
    ]
    count_from(1)
    assert numbered(2) == 3
    assert title_of("layers/0/attention/weights") == "layer 1, attention weights"


@pytest.mark.parametrize("first_perspective", ["attention"])
def test_the_menu_counts_from_0_and_back_and_it_is_kept(
    window: MainWindow,
    session: Session,
    settings: Settings,
    transformer_run: Path,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
):
    def shown() -> tuple[str, str]:
        title = window.findChild(AttentionPanel).findChild(Card).title
        why = " ".join(label.text() for label in window.findChild(WhyPanel).findChildren(Label))
        return title, why

    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)
    drawn()
    qtbot.waitUntil(lambda: "layer 1" in shown()[1] and shown()[0] == "Layer 1, head 1")
    action = next(each for each in window.findChildren(QAction) if each.text().startswith("Count layers"))
    action.trigger()
    qtbot.waitUntil(lambda: "layer 0" in shown()[1] and shown()[0] == "Layer 0, head 0")
    assert settings.is_on("view/counts_from_zero")
    action.trigger()
    qtbot.waitUntil(lambda: "layer 1" in shown()[1] and shown()[0] == "Layer 1, head 1")
    assert not settings.is_on("view/counts_from_zero")
    answered()

"""Helpers for widget tests: show a widget at a size, and point at places in it."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.kit.painter import Painter


@pytest.fixture
def shown(qtbot):
    """Show a widget at a size; it is closed after the test."""

    def show(widget, width=400, height=300):
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)
        return widget

    return show


@pytest.fixture
def fitted(monkeypatch):
    """What painters fit into areas: each text with its room, the size asked for, and how it is written."""
    fit, texts = Painter.fit, {}

    def keep(painter, area, text, ink=None, size=11.5, **how):
        texts[text] = area.width(), size, how
        fit(painter, area, text, ink, size, **how)

    monkeypatch.setattr(Painter, "fit", keep)
    return texts


@pytest.fixture
def point():
    """Move the pointer to a place of a widget, and perhaps click there."""

    def move(widget, place, *, click=False, modifier=Qt.KeyboardModifier.NoModifier):
        place = place.toPoint() if isinstance(place, QPointF) else QPoint(place)
        QTest.mouseMove(widget, QPoint(0, 0))
        QTest.mouseMove(widget, place)
        if click:
            QTest.mouseClick(widget, Qt.MouseButton.LeftButton, modifier, place)

    return move

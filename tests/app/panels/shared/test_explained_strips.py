"""Strips of a reading speak of that reading, also while a newer one is there."""

from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from lmviz.app.panels.shared.explained_strips import ExplainedStrips, NamedView
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.inspection.views import strip

ONLY_PANELS = ("picture", "state")


def test_a_cell_is_named_by_the_words_of_the_reading_that_is_drawn(read: Session, qtbot: QtBot) -> None:
    strips, drawn = ExplainedStrips(read), read.reading.current
    qtbot.addWidget(strips)
    strips.resize(300, 40)
    strips.show()
    view = strip(drawn.trace, "layers/0/hidden", 2, 0, ())
    strips.set_views([NamedView("hidden", view)], drawn)
    read.reading.set_prefix("a hen sees")
    qtbot.waitUntil(lambda: read.reading.current.trace.text == "a hen sees")
    QTest.mouseMove(strips, QPoint(0, 0))
    QTest.mouseMove(strips, strips.cell_rectangle(0, 3).center().toPoint())
    assert f"“{drawn.trace.tokens[2]}”" in strips.window().findChild(HoverCard).lines[1]

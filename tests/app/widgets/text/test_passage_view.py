"""A passage that can be chosen until it has been judged."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.text.passage_view import PassageView


def test_it_can_be_chosen_by_pointer_and_keys_until_it_was_judged(qtbot: QtBot) -> None:
    passage = PassageView("first passage")
    qtbot.addWidget(passage)
    chosen: list[bool] = []
    passage.chosen.connect(lambda: chosen.append(True))
    qtbot.mouseClick(passage, Qt.MouseButton.LeftButton)
    assert not chosen  # there is nothing to choose yet
    passage.set_passage("the cows eat grass")
    qtbot.mouseClick(passage, Qt.MouseButton.LeftButton)
    qtbot.keyClick(passage, Qt.Key.Key_Return)
    assert len(chosen) == 2
    passage.set_verdict("real", emphasised=True)
    qtbot.mouseClick(passage, Qt.MouseButton.LeftButton)
    assert len(chosen) == 2
    assert passage.verdict == "real"
    assert passage.accessibleDescription() == "real: the cows eat grass"

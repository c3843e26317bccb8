"""Why a cell has its value, as the window asks for it."""

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.errors import LmvizError


def test_what_cannot_be_explained_leaves_no_other_explanation_and_goes_with_its_cell(
    read: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def fail(*arguments: object) -> None:
        raise LmvizError("It cannot be explained.")

    explanation, focus = read.explanation, read.focus
    with qtbot.waitSignal(explanation.changed):
        focus.choose_cell(("layers/0/hidden", (1, 2)))
    assert explanation.arithmetic.index == (1, 2)
    monkeypatch.setattr("lmviz.inspection.explain.explain", fail)
    with qtbot.waitSignal(explanation.failed) as failed:
        focus.choose_cell(("layers/0/hidden", (1, 3)))
    assert failed.args == ["It cannot be explained."]
    assert explanation.arithmetic is None
    with qtbot.waitSignal(explanation.changed):
        focus.release()
    with qtbot.assertNotEmitted(explanation.changed):
        focus.hover_cell(None)

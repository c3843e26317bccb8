"""Why a cell has its value, as the window asks for it."""

from dataclasses import replace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError


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


def test_what_a_stored_trace_does_not_hold_is_explained_by_the_first_live_reading(
    read: Session, qtbot: QtBot
) -> None:
    live, cell = read.reading.current, ("layers/0/hidden", (1, 2))
    kept = {address: array for address, array in live.trace.arrays.items() if address != "layers/0/output"}
    with qtbot.assertNotEmitted(read.explanation.failed):
        read.reading.show_stored(Reading(replace(live.trace, arrays=kept), None, live.model, live.step))
        assert read.reading.is_stored
        read.focus.choose_cell(cell)
        qtbot.waitUntil(lambda: not read.work.is_busy("why"))
        assert read.explanation.arithmetic is None
        read.reading.set_prefix("the cows eat corn")
        qtbot.waitUntil(lambda: read.explanation.arithmetic is not None)
    assert not read.reading.is_stored
    assert read.explanation.arithmetic.index == cell[1]


def test_what_is_explained_first_is_late_until_it_is_explained(read: Session, qtbot: QtBot) -> None:
    explanation = read.explanation
    assert explanation.arithmetic is None
    assert not explanation.is_late
    read.focus.choose_cell(("layers/0/hidden", (1, 2)))
    assert explanation.is_late
    with qtbot.waitSignal(explanation.late_changed):
        read.focus.release()
    assert not explanation.is_late
    read.focus.choose_cell(("layers/0/hidden", (1, 3)))
    qtbot.waitUntil(lambda: not explanation.is_late)
    assert explanation.arithmetic.index == (1, 3)


def asked_of(session: Session, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """The text and the cell of each explanation that is asked for from now on."""
    asked, ask = list[tuple[str, object]](), session.reading.ask_about

    def note(reading: Reading, key: str, *rest: Any) -> None:
        if key == "why":
            asked.append((reading.trace.text, session.explanation.cell))
        ask(reading, key, *rest)

    monkeypatch.setattr(session.reading, "ask_about", note)
    return asked


def test_a_newer_reading_is_asked_once_why_where_a_panel_draws_its_strongest_cell(
    read: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    explanation, strongest = read.explanation, ("layers/0/hidden", (2, 3))
    explanation.suggest(("layers/0/hidden", (1, 2)))
    asked = asked_of(read, monkeypatch)
    read.reading.changed.connect(lambda: explanation.suggest_otherwise(lambda: ("logits", (1, 0))))
    read.reading.changed.connect(lambda: explanation.suggest(strongest))
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the dog sees")
    qtbot.waitUntil(lambda: explanation.reading is read.reading.current and not explanation.is_late)
    assert asked == [("the dog sees", strongest)]


def test_what_was_suggested_holds_of_a_newer_reading_that_its_panel_does_not_draw(
    read: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    explanation, strongest = read.explanation, ("layers/0/hidden", (1, 2))
    explanation.suggest(strongest)
    asked = asked_of(read, monkeypatch)
    read.reading.changed.connect(lambda: explanation.suggest_otherwise(lambda: ("logits", (1, 0))))
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the dog sees")
    qtbot.waitUntil(lambda: explanation.reading is read.reading.current and not explanation.is_late)
    assert explanation.reading is read.reading.current
    assert asked == [("the dog sees", strongest)]

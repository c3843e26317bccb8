"""The next word: what takes time to compute does not hold up the pointer."""

import threading

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.panels.shared import next_word
from lmviz.app.panels.shared.next_word import NextWordPanel
from lmviz.app.session.session import Session
from lmviz.decoding.glance import Glance
from lmviz.inspection import later_rows


def test_a_row_that_is_looked_at_is_computed_beside_the_window(
    read: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(later_rows, "FEWEST", 0)  # as if the vocabulary were large
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the dog sees the cows")
    panel = NextWordPanel(read)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.distribution is not None)
    computed, looked = list[str](), list[tuple[str, np.ndarray]]()
    computing, looking = later_rows.ForwardPass, next_word.glance

    def compute(*given: object) -> object:
        computed.append(threading.current_thread().name)
        return computing(*given)

    def look(logits: np.ndarray, count: int) -> Glance:
        looked.append((threading.current_thread().name, logits))
        return looking(logits, count)

    monkeypatch.setattr(later_rows, "ForwardPass", compute)
    monkeypatch.setattr(next_word, "glance", look)
    last = panel.distribution.probabilities
    place = len(read.reading.current.trace.tokens) - 2  # what the text began with was read before
    read.focus.hover_position(place)
    qtbot.waitUntil(lambda: not np.array_equal(panel.distribution.probabilities, last))
    assert computed
    assert threading.main_thread().name not in computed
    logits = read.reading.current.trace["logits"].at(position=place)
    first = next(thread for thread, row in looked if np.array_equal(row, logits))
    assert first != threading.main_thread().name, "the likeliest of the row were found in the window's thread"
    row = read.reading.current.trace["probabilities"].at(position=place)
    np.testing.assert_allclose(panel.distribution.probabilities, row, rtol=1e-4)


def test_a_row_is_asked_for_before_the_panels_draw(
    read: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(later_rows, "FEWEST", 0)
    panel = NextWordPanel(read)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.distribution is not None)
    asked = list[bool]()
    read.reading.changed.connect(lambda: asked.append(read.work.is_busy("next word")))
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the dog sees the cows")
    assert asked == [True]
    qtbot.waitUntil(lambda: not read.work.is_busy("next word"))
    row = read.reading.current.trace["probabilities"].at(position=-1)
    qtbot.waitUntil(lambda: np.allclose(panel.distribution.probabilities, row, rtol=1e-4))


def test_the_likeliest_of_a_row_are_found_once(
    read: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = NextWordPanel(read)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.distribution is not None)
    looked, looking = list[tuple[bytes, int]](), next_word.glance

    def look(logits: np.ndarray, count: int) -> Glance:
        looked.append((logits.tobytes(), count))
        return looking(logits, count)

    monkeypatch.setattr(next_word, "glance", look)
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the dog sees the cows")
    row = read.reading.current.trace["probabilities"].at(position=-1)
    qtbot.waitUntil(lambda: np.allclose(panel.distribution.probabilities, row, rtol=1e-4))
    assert looked
    assert len(set(looked)) == len(looked)

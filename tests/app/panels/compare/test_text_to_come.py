"""What the open text lacks is not said while another one is being read."""

import threading

import pytest
from benches.compare import LONG, bring_to_front
from pytestqt.qtbot import QtBot

from lmviz.app.panels.compare.text_to_come import BEING_READ
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("which_is_real", "scores")


def test_a_game_waits_for_the_text_that_is_being_read(
    compare: MainWindow, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmviz.text import corpus, preview

    view = bring_to_front(compare, "real_view", qtbot)
    said = view.invitation.findChild(EmptyText)
    whole, gate = session.text.corpus, threading.Event()
    without = corpus.text_corpus("a b c", "short", validation=0.0)
    session.text.use(without)
    qtbot.waitUntil(lambda: "no held-out part" in said.text(), timeout=LONG)
    monkeypatch.setattr(preview, "look", lambda *_, **__: None)
    monkeypatch.setattr(corpus, "load_corpus", lambda source, **_: gate.wait() and whole)
    session.text.open("other")
    qtbot.waitUntil(lambda: said.text() == BEING_READ, timeout=LONG)
    gate.set()
    qtbot.waitUntil(lambda: session.text.corpus is whole, timeout=LONG)
    qtbot.waitUntil(lambda: said.text() not in (BEING_READ, view.needs_held_out), timeout=LONG)

"""Work in other threads: who is answered, and what is under way."""

import gc
import threading
import weakref

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.session import Session
from lmviz.models.model import Model


def test_work_asked_for_gets_the_model_as_it_is_shown(read: Session, qtbot: QtBot) -> None:
    heard: list[int] = []
    read.library.choose_step(3)
    read.reading.ask("size", lambda model: model.step, heard.append, pytest.fail)
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [3]


def test_all_compared_moments_are_answered_together(read: Session, qtbot: QtBot) -> None:
    heard: list[list[int]] = []
    read.comparison.choose([(read.library.model, 0), (read.library.model, 6), (read.library.model, 1)])
    compared = [ComparedModel(moment) for moment in read.comparison.chosen]
    read.comparison.ask(
        compared, "steps", lambda models: [model.step for model in models], heard.append, pytest.fail
    )
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [[0, 6, 1]]


def test_a_cancelled_job_is_under_way_no_more(session: Session, gate: threading.Event, qtbot: QtBot) -> None:
    job = session.work.start_job("slow", lambda report: gate.wait(), print, pytest.fail)
    assert session.work.jobs == (job,)
    with qtbot.waitSignal(session.work.job_finished):
        job.cancel()
        assert session.work.jobs == ()
        gate.set()


def test_nothing_is_kept_of_a_closed_model_that_somebody_asks_about(read: Session, qtbot: QtBot) -> None:
    """As the rest of an answer that grows is asked for, when the model has gone."""
    opened, asked = read.library.model, []

    def ask(key: str) -> weakref.ref[Model]:
        read.work.ask_model((opened, 3), key, weakref.ref, asked.append, pytest.fail)
        qtbot.waitUntil(lambda: read.work.is_at_rest and not read.work.jobs)
        gc.collect()
        return asked[-1]

    assert ask("open")() is not None
    read.library.close(opened)
    assert ask("closed")() is None
    with qtbot.waitSignal(read.library.model_changed):
        read.library.open(opened.folder)
    assert ask("open again")() is not None

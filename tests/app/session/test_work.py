"""Work in other threads: who is answered, and what is under way."""

import threading

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.session import Session


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

"""Each job under way has a row; pressing cancel takes the row away at once."""

import threading

import pytest
from PySide6.QtWidgets import QProgressBar, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.job_strip import JobStrip


def test_a_job_has_a_row_as_long_as_it_is_under_way(
    session: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    strip = JobStrip(session)
    qtbot.addWidget(strip)
    assert strip.isHidden()
    with qtbot.waitSignal(session.work.job_finished):
        session.work.start_job("Reading farm", lambda report: report(0.25) or gate.wait(), print, pytest.fail)
        assert not strip.isHidden()
        [bar] = strip.findChildren(QProgressBar)
        qtbot.waitUntil(lambda: bar.value() == bar.maximum() / 4)
        gate.set()
    assert strip.isHidden()


def test_a_row_goes_when_its_job_is_cancelled_though_the_thread_is_on_its_way_out(
    session: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    strip = JobStrip(session)
    qtbot.addWidget(strip)
    with qtbot.waitSignal(session.work.job_finished):
        job = session.work.start_job("Reading farm", lambda report: gate.wait(), print, pytest.fail)
        button = strip.findChild(QPushButton, "cancel_button")
        button.click()
        assert job.is_cancelled
        assert button.parentWidget().isHidden()
        gate.set()

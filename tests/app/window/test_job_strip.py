"""Each job under way has a row beside the others; pressing cancel takes the row away at once."""

import threading

import pytest
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.window.job_strip import JobStrip


def test_a_job_has_a_row_as_long_as_it_is_under_way(
    session: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    strip = JobStrip(session)
    qtbot.addWidget(strip)
    assert not strip.findChildren(QProgressBar)
    with qtbot.waitSignal(session.work.job_finished):
        session.work.start_job("Reading farm", lambda report: report(0.25) or gate.wait(), print, pytest.fail)
        [bar] = strip.findChildren(QProgressBar)
        qtbot.waitUntil(lambda: bar.value() == bar.maximum() / 4)
        gate.set()
    qtbot.waitUntil(lambda: not strip.findChildren(QProgressBar))


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


def test_jobs_for_which_there_is_no_room_are_counted_and_move_up(
    session: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    strip = JobStrip(session)
    qtbot.addWidget(strip)
    strip.show()
    gates = [threading.Event() for _ in range(4)]
    names = [f"Counting n-grams of text {number}" for number in range(4)]
    for name, own in zip(names, gates, strict=True):
        session.work.start_job(name, lambda report, own=own: own.wait(), print, pytest.fail)

    widest = max(bar.parentWidget().sizeHint().width() for bar in strip.findChildren(QProgressBar))
    strip.resize(3 * widest, strip.height())

    def shown() -> list[str]:
        return [bar.accessibleName() for bar in strip.findChildren(QProgressBar) if bar.isVisible()]

    others = strip.findChild(QLabel, "other_jobs")
    assert shown() == names[:2]
    assert others.text() == "and 2 more"
    assert others.toolTip() == paragraph("\n".join(names[2:]))
    gates[0].set()
    qtbot.waitUntil(lambda: len(strip.findChildren(QProgressBar)) == 3)
    assert shown() == names[1:3]
    for own in gates:
        own.set()
    qtbot.waitUntil(lambda: not strip.findChildren(QProgressBar))
    assert others.isHidden()

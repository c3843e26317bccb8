"""A test that waits in a loop of Qt's is ended by its alarm, where it waits."""

import signal

import pytest
import pytest_timeout
from PySide6.QtCore import QTimer

AT_MOST = 100_000  # milliseconds, which nobody waits for


@pytest.fixture
def ring(request, monkeypatch):
    """Rings the alarm of this test, as if it took too long; the real one is put off."""
    monkeypatch.setattr(pytest_timeout, "dump_stacks", lambda terminal: None)
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: None)
    settings = pytest_timeout._get_item_settings(request.node)
    return lambda: pytest_timeout.timeout_sigalrm(request.node, settings)


def test_it_ends_the_loop_from_within_a_slot(ring, qtbot):
    QTimer.singleShot(0, ring)
    with pytest.raises(pytest.fail.Exception, match="Timeout"):
        qtbot.waitUntil(lambda: False, timeout=AT_MOST)
    qtbot.wait(1)  # and the next loop is one like any other


def test_it_ends_a_loop_that_was_begun_in_a_slot_of_another(ring, qtbot):
    went_on = []

    def wait_within():
        QTimer.singleShot(0, ring)
        qtbot.wait(AT_MOST)
        qtbot.wait(AT_MOST)
        went_on.append(True)

    QTimer.singleShot(0, wait_within)
    with pytest.raises(pytest.fail.Exception, match="Timeout"):
        qtbot.wait(AT_MOST)
    assert went_on


def test_elsewhere_it_is_raised_at_once(ring):
    with pytest.raises(pytest.fail.Exception, match="Timeout"):
        ring()

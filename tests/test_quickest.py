"""What is slow itself is found slow, however often it is measured; what was held up is not."""

import time

import pytest
from quickest import TRIES, quickest


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that pass while a thread works are those that are added here."""
    passed = [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: sum(passed))
    return passed


def test_what_is_slow_each_time_is_over_its_limit(passing: list[float]) -> None:
    tried: list[float] = []

    def work() -> None:
        tried.append(0.2 + 0.1 * (len(tried) % 3))
        passing.append(tried[-1])

    assert quickest(work, 0.1) == pytest.approx(0.2)
    assert len(tried) == TRIES


def test_what_was_held_up_is_measured_again_and_no_more_than_that(passing: list[float]) -> None:
    took, made_ready = [0.5, 0.3, 0.01, 0.001], []
    work = lambda: passing.append(took.pop(0))  # noqa: E731
    assert quickest(work, 0.1, before=lambda: made_ready.append(passing.append(9.0))) == pytest.approx(0.01)
    assert len(made_ready) == 3
    assert took == [0.001]

"""What a training says of its speed, and of the time that is left."""

import pytest

from lmviz.training.progress import SMOOTHING, Clock, Progress


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch):
    """Lets seconds pass for every clock."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    return pass_by


def test_the_time_left_is_that_of_the_steps_since_it_began_or_resumed(wait):
    clock = Clock(seconds=1000.0)
    assert clock.seconds_left(5) is None
    clock.start()
    for _ in range(4):
        wait(2.0)
        clock.step(10, 2.0)
    assert clock.elapsed == 1008.0
    assert clock.seconds_left(5) == pytest.approx(10.0)


def test_before_it_starts_a_clock_says_what_it_began_with(wait):
    clock = Clock(seconds=7.0)
    wait(2.0)
    assert clock.elapsed == 7.0


def test_a_line_of_metrics_holds_milliseconds_and_tenths_of_tokens():
    progress = Progress(step=3, steps=9, loss=2.5, seconds=12.34567, tokens_per_second=456.789)
    assert progress.metrics() == {
        "step": 3,
        "loss": 2.5,
        "tokens_per_second": 456.8,
        "seconds": 12.346,
    }


def test_seconds_that_others_take_do_not_count(wait):
    clock = Clock()
    clock.start()
    wait(3.0)
    clock.pause()
    wait(100.0)
    assert clock.elapsed == 3.0
    clock.start()
    wait(1.0)
    assert clock.elapsed == 4.0


def test_the_speed_is_a_running_mean_that_begins_with_the_first_step():
    clock = Clock()
    clock.step(100, 2.0)
    assert clock.tokens_per_second == pytest.approx(50.0)
    clock.step(300, 2.0)
    assert clock.tokens_per_second == pytest.approx(SMOOTHING * 50 + (1 - SMOOTHING) * 150)
    for _ in range(1000):
        clock.step(300, 2.0)
    assert clock.tokens_per_second == pytest.approx(150.0)


def test_progress_is_a_plain_value() -> None:
    progress = Progress(step=1, steps=2, loss=1.0)
    with pytest.raises(AttributeError):
        progress.loss = 2.0  # type: ignore[misc]
    assert hash(progress.trouble) == hash("")

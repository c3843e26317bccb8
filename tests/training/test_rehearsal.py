"""How long steps take is read off the first ones, without the very first."""

import pytest

from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress
from lmviz.training.rehearsal import measured_pace


def training(first, step, validation, steps=100):
    """A training whose first step takes longer than the others."""
    for number in range(steps + 1):
        seconds = validation if number == 0 else validation + first + step * (number - 1)
        yield Progress(number, steps, seconds=seconds, finished=number == steps)


def test_the_first_step_does_not_count_and_validations_have_their_share():
    options = TrainingOptions(validate_every=50)
    *before, found = measured_pace(training(first=9.0, step=0.25, validation=2.0), options)
    assert set(before) == {None}
    assert len(before) == 5
    assert found == pytest.approx(0.25 + 2.0 / 50)


def test_a_short_training_is_measured_to_its_end():
    options = TrainingOptions(steps=3, validate_every=0)
    *_, found = measured_pace(training(first=9.0, step=0.1, validation=0.3, steps=3), options)
    assert found == pytest.approx(0.1 + 0.3 / 3)


def test_one_step_tells_nothing():
    assert list(measured_pace(training(9.0, 0.1, 0.3, steps=1), TrainingOptions(steps=1))) == [None, None]


def test_what_delays_some_steps_is_no_part_of_the_pace():
    def busy():
        seconds = 0.0
        for number in range(200):
            yield Progress(number, 200, seconds=seconds, finished=False)
            seconds += 0.05 if number < 10 else 0.01  # something else was computed in the first half second

    *_, found = measured_pace(busy(), TrainingOptions(validate_every=0, steps=200))
    assert found == pytest.approx(0.01)

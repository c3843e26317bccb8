"""What may be changed while a training runs is checked where it is set."""

import pytest

from lmviz.base.errors import LmvizError
from lmviz.training.controls import Controls


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), -0.001, 1e9, "fast", True])
def test_a_rate_that_no_training_can_have_is_refused_and_the_one_before_stays(rate: object) -> None:
    controls = Controls(learning_rate=0.5)
    with pytest.raises(LmvizError, match="Learning rate must be"):
        controls.learning_rate = rate
    assert controls.learning_rate == 0.5
    with pytest.raises(LmvizError, match="Learning rate must be"):
        Controls(learning_rate=rate)


def test_a_rate_is_a_number_within_the_limits_of_the_option_or_left_to_the_schedule() -> None:
    controls = Controls()
    for rate in (0, 1e-9, 100.0, "0.01", None):
        controls.learning_rate = rate
        assert controls.learning_rate == (None if rate is None else float(rate))

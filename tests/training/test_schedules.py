from itertools import pairwise

import pytest

from lmviz.training.options import TrainingOptions
from lmviz.training.schedules import learning_rate


def test_cosine_rises_in_a_line_and_falls_to_its_end() -> None:
    options = TrainingOptions(steps=1000, warmup=100, learning_rate=1.0, final_rate=0.1)
    rates = [learning_rate(step, options) for step in range(1, 1001)]
    assert rates[0] == pytest.approx(1 / 101)
    assert rates[49] == pytest.approx(50 / 101)
    assert rates[100] == max(rates) == 1.0
    assert rates[550] == pytest.approx(0.55, abs=1e-3)
    assert rates[-1] == pytest.approx(0.1)
    assert all(later < earlier for earlier, later in pairwise(rates[100:]))


def test_a_long_warm_up_leaves_most_of_a_short_training_at_its_rate() -> None:
    options = TrainingOptions(steps=10, warmup=100, learning_rate=1.0)
    assert learning_rate(3, options) == 1.0


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_shortest_trainings_have_a_rate(steps: int) -> None:
    options = TrainingOptions(steps=steps, learning_rate=1.0)
    assert all(0 < learning_rate(step, options) <= 1 for step in range(1, steps + 1))


def test_constant_is_constant() -> None:
    options = TrainingOptions(schedule="constant", learning_rate=0.5)
    assert {learning_rate(step, options) for step in (1, 7, 2000)} == {0.5}

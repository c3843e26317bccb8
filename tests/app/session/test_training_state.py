"""What the window remembers of a training."""

import pytest

from lmviz.app.session.training_state import History
from lmviz.training.progress import Progress


def progress(step: int, **measured: object) -> Progress:
    return Progress(step=step, steps=10, loss=1.0, **measured)


def test_what_is_measured_only_now_and_then_stays_known() -> None:
    history = History()
    history.append(progress(1, update_ratios={"embedding": 0.1}))
    history.append(progress(2))
    assert history.update_ratios == {"embedding": 0.1}
    assert history.ratios_step == 1
    history.append(progress(3, update_ratios={"embedding": 0.2}))
    assert history.update_ratios == {"embedding": 0.2}
    assert history.ratios_step == 3
    assert history.loss.steps.tolist() == [1, 2, 3]


def test_a_training_that_goes_on_has_one_value_for_each_step() -> None:
    history = History()
    for step in range(1, 6):
        history.append(progress(step, gradient_norm=0.1 * step, validation_loss=2.0))
    history.append(progress(5, gradient_norm=0.5))  # it ended there, and its last state is told once more
    history.append(Progress(step=3, steps=10))  # it goes on from the state that was saved
    assert history.gradient_norm.values.tolist() == pytest.approx([0.1, 0.2, 0.3])
    history.append(progress(4, gradient_norm=0.7))
    assert history.gradient_norm.steps.tolist() == history.loss.steps.tolist() == [1, 2, 3, 4]
    assert history.gradient_norm.values[-1] == 0.7
    assert history.validation_loss.steps.tolist() == [1, 2, 3]

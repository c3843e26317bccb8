"""What curves of a loss show is said: that it falls, falls no more, or that a text is learned by heart."""

import numpy as np
import pytest

from lmviz.training.loss_remark import FEWEST, loss_remark

STEPS = np.arange(1, 401)
NONE = np.array([])


def falling(to: float) -> np.ndarray:
    """From 6 nats down to a loss, quickly at first."""
    return to + (6 - to) * np.exp(-STEPS / 40)


def test_a_loss_that_still_falls_is_said_with_its_numbers():
    said = loss_remark(STEPS, 6 - STEPS / 100, NONE, NONE)
    assert said == (
        "The loss fell from 5.99 to 2.50 nats per token in 400 steps, by 1.00 in the last quarter of them: "
        "it still learns."
    )


def test_a_loss_that_has_come_to_rest_is_said():
    said = loss_remark(STEPS, falling(2.0), NONE, NONE, "perplexity", "")
    assert said == "The perplexity fell from 5.90 to 2.00 in 400 steps, and hardly falls any more."


def test_a_loss_that_does_not_fall_is_said():
    assert loss_remark(STEPS, np.full(400, 3.0), NONE, NONE) == (
        "The loss has not fallen in 400 steps: it is 3.00 nats per token."
    )


def test_where_held_out_loss_rises_while_the_other_falls_the_text_is_learned_by_heart():
    validated = np.array([0, 100, 200, 300, 400])
    said = loss_remark(STEPS, falling(1.0), validated, np.array([6.0, 2.0, 2.2, 2.5, 2.9]))
    assert said.startswith(
        "Since step 100 the model learns its text by heart: on held-out text the loss was "
    )
    assert "lowest there, 2.00, and is 2.90 now" in said
    steady = loss_remark(STEPS, falling(1.0), validated, np.array([6.0, 2.2, 2.1, 2.05, 2.06]))
    assert "by heart" not in steady, "noise of half a per cent says nothing"


@pytest.mark.parametrize("losses", [NONE, np.ones(FEWEST - 1), np.full(50, np.nan)])
def test_nothing_is_said_before_it_can_be_told(losses):
    assert loss_remark(np.arange(len(losses)), losses, NONE, NONE) == ""


def test_the_present_value_is_the_one_that_the_curve_shows():
    said = loss_remark(STEPS, 6 - STEPS / 100, NONE, NONE, drawn=2.25)
    assert said.startswith("The loss fell from 5.99 to 2.25 nats per token in 400 steps")
    validated = np.array([0, 100, 200, 300, 400])
    said = loss_remark(STEPS, falling(1.0), validated, np.array([6.0, 2.0, 2.2, 2.5, 2.9]), drawn=0.97)
    assert said.endswith("to 0.97.")

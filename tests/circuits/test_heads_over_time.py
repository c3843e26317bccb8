"""When in a training heads took what they do."""

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.circuits.head_scores import SCORES, HeadScores
from lmviz.circuits.heads_over_time import HeadsOverTime, Jump, jump_of

STEPS = list(range(0, 1000, 20))


def scores(induction: float, loss: float, previous: float = 0.1) -> HeadScores:
    """Of one layer of two heads: the second looks at what followed."""
    array = np.full((len(SCORES), 1, 2), 0.05)
    array[SCORES.index("induction"), 0, 1] = induction
    array[SCORES.index("previous"), 0, 0] = previous
    return HeadScores(
        array=array,
        axes=("score", "layer", "head"),
        ids=np.zeros((1, 32), dtype=np.int64),
        words=16,
        loss_new=4.0,
        loss_again=loss,
    )


def learned() -> HeadsOverTime:
    """The loss falls between the steps 600 and 680, and the head turns with it."""
    at = [min(max((step - 600) / 80, 0.0), 1.0) for step in STEPS]
    return HeadsOverTime(
        {step: scores(0.05 + 0.6 * done, 3.9 - 3.5 * done) for step, done in zip(STEPS, at, strict=True)}
    )


def test_a_jump_is_where_a_number_rises_most_within_a_few_steps():
    values = np.interp(STEPS, [0, 300, 400, 420, 1000], [0.0, 0.2, 0.2, 1.0, 1.2])
    assert jump_of(STEPS, values, 0.5) == Jump(400, 420, 410, pytest.approx(0.2), pytest.approx(1.0))
    assert jump_of(STEPS, values, 0.9) is None
    assert jump_of(STEPS, -np.asarray(STEPS, dtype=float), 0.1) is None
    assert jump_of([0], np.zeros(1), 0.0) is None


def test_between_snapshots_that_are_far_apart_it_is_from_one_to_the_next():
    found = jump_of([0, 1, 10, 100, 1000], np.array([0.0, 0.1, 0.1, 0.1, 0.9]), 0.5)
    assert (found.begin, found.end) == (100, 1000)


def test_it_is_where_words_said_again_become_easier_than_new_ones():
    jump = learned().jump()
    assert (jump.begin, jump.end) == (600, 680)
    assert (jump.before, jump.after) == (pytest.approx(3.9), pytest.approx(0.4))
    [turn] = learned().turns()
    assert (turn.layer, turn.head, turn.role) == (0, 1, "induction")
    assert turn.jump.meets(jump)
    assert not turn.jump.meets(Jump(0, 600, 300, 0.0, 1.0))


def test_of_no_step_there_is_nothing_and_no_array():
    none = HeadsOverTime()
    assert (none.steps, none.turns(), none.jump()) == ([], [], None)
    with pytest.raises(LmvizError, match="no step was asked about"):
        _ = none.array


def test_without_one_it_is_the_greatest_turn_of_a_head():
    known = {step: scores(0.05, 4.0, 0.1 if step < 300 else 0.7) for step in STEPS}
    found = HeadsOverTime(known)
    assert found.loss_jump() is None
    assert (found.jump().begin, found.jump().end) == (280, 300)


def test_where_nothing_turns_there_is_none():
    found = HeadsOverTime({step: scores(0.05, 4.0) for step in STEPS})
    assert found.jump() is None
    assert found.turns() == []
    assert HeadsOverTime().jump() is None

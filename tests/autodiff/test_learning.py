"""Steps of gradient descent, a training, and the loss as a surface."""

import numpy as np
import pytest

from lmviz.autodiff import descend, move_to, read, shipped_network, surface, train
from lmviz.autodiff.learning import Direction, directions, losses_along, parameters_of, steepest
from lmviz.base.errors import LmvizError


def test_a_step_is_not_taken_before_one_moves(lecture):
    before = lecture.loss
    step = descend(lecture, 0.1)
    assert lecture.loss == before == step.before
    assert move_to(lecture, step.parameters).loss == step.after < before
    np.testing.assert_allclose(
        step.parameters["β"], [[0.992832, -1.008923], [0.513876, 2.017274], [-1.006708, 0.491649]], atol=5e-7
    )


def test_training_goes_on_from_step_to_step(lecture):
    steps = list(train(lecture, 0.5, 20))
    assert len(steps) == 20
    losses = [steps[0].before, *(step.after for step in steps)]
    assert losses == sorted(losses, reverse=True)
    assert [step.before for step in steps[1:]] == losses[1:-1]
    assert lecture.loss == losses[0]


def test_training_ends_where_the_loss_is_no_longer_finite():
    net = read("parameter x = 3\ny = exp(square(x))")
    steps = list(train(net, 100, 10))
    assert len(steps) < 10
    assert not np.isfinite(steps[-1].after)


def test_only_parameters_learn():
    net = read("x = [1; 2]\ny = sum(x)")
    with pytest.raises(LmvizError, match="no parameter"):
        descend(net, 0.1)


def test_the_loss_along_the_step(lecture):
    losses = losses_along(lecture, [0, 0.1, 0.5])
    np.testing.assert_allclose(losses, [0.325054, 0.306588, 0.241334], atol=5e-7)


def test_a_surface_holds_the_loss_at_each_place(lecture):
    across, up = Direction("β", (1, 0)), Direction("α", (0, 1))
    path = [step.parameters for step in train(lecture, 0.5, 5)]
    found = surface(lecture, across, up, path, points=7)
    for place in (parameters_of(lecture), *path):
        assert found.first[0] < across.of(place) < found.first[-1]
        assert found.second[0] < up.of(place) < found.second[-1]
    changed = lecture.copy()
    changed.edit("β", (1, 0), found.first[2]).edit("α", (0, 1), found.second[5]).forward()
    assert found.losses[5, 2] == pytest.approx(changed.loss)
    assert lecture["β"].value[1, 0] == 0.5


def test_a_surface_needs_two_parameters(lecture):
    with pytest.raises(LmvizError, match="two different"):
        surface(lecture, Direction("β", (0, 0)), Direction("β", (0, 0)))


def test_every_cell_of_every_parameter_is_a_direction(lecture):
    assert len(directions(lecture)) == lecture.size == 10


SUMS = """
parameter W = {W}
parameter U = {U}
parameter V = {V}
h[0] = 0
x[1..4] = [2; -0.5; 1; 1]
s[1..4] = [2; 1.5; 2.5; 3.5]
e[0] = 0
for t in 1..4:
    h[t] = add(linear(U, h[t-1]), linear(W, x[t]))
    e[t] = add(e[t-1], squared_error(s[t], linear(V, h[t])))
J = identity(e[4])
"""


@pytest.mark.slow
def test_of_a_summation_that_is_learned_only_u_and_the_product_of_v_and_w_are_determined():
    learned = []
    for seed in (0, 2):
        first = dict(zip("WUV", np.random.default_rng(seed).uniform(0.4, 1.4, 3), strict=True))
        *_, last = train(read(SUMS.format(**first)), 0.004, 800)
        assert last.after < 1e-6
        learned.append({name: float(value) for name, value in last.parameters.items()})
    for each in learned:
        assert each["U"] == pytest.approx(1, abs=1e-3)
        assert each["V"] * each["W"] == pytest.approx(1, abs=1e-3)
    assert max(each["W"] for each in learned) - min(each["W"] for each in learned) > 0.1


def test_the_steepest_cells_are_those_with_the_largest_gradients(lecture):
    done = lecture.copy().backward()
    sizes = {cell: abs(float(done[cell.name].gradient[cell.index])) for cell in directions(lecture)}
    first, second = steepest(lecture)
    assert [sizes[first], sizes[second]] == sorted(sizes.values(), reverse=True)[:2]
    assert steepest(read("parameter x = 3\ny = square(x)")) is None


def test_a_step_leaves_short_numbers_in_the_program():
    net = read(shipped_network("summation").text)
    move_to(net, descend(net, 0.1).parameters)
    assert [line for line in net.text.splitlines() if line[0] in "WU"] == ["W = 0.65", "U = 0.4"]


def test_a_recurrent_net_learns_to_predict_a_series_of_numbers():
    """Better than to say that each number comes once more."""
    net = read(shipped_network("series").text).forward()
    series = [float(net[f"x[{t}]"].value) for t in range(1, 7)]
    following = [float(net[f"y[{t}]"].value) for t in range(1, 7)]
    assert following[:-1] == series[1:]
    same_again = sum((now - then) ** 2 for now, then in zip(series, following, strict=True))
    *_, last = train(net, 0.05, 50)
    assert last.after < same_again / 2 < net.loss

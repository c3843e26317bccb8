"""The gradient of what is read, as panels show it."""

import numpy as np
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.families import open_run_model
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.interventions import scale
from lmviz.inspection.views import matrix, strip
from lmviz.training.run import Run


def wait(session: Session, qtbot: QtBot, name: str) -> None:
    """Until the gradient of that number is there."""
    found = session.gradients
    qtbot.waitUntil(lambda: found.current is not None and found.current.scalar.name == name)


def test_nothing_is_differentiated_until_gradients_are_shown(read: Session, qtbot: QtBot) -> None:
    assert not read.gradients.is_shown
    assert read.gradients.current is None
    with qtbot.waitSignal(read.gradients.shown_changed):
        read.gradients.toggle()
    wait(read, qtbot, f"loss@{len(read.reading.current.trace) - 1}")
    read.gradients.show(False)
    assert read.gradients.current is None


def test_it_follows_the_prefix_the_choice_and_the_interventions(read: Session, qtbot: QtBot) -> None:
    read.gradients.choose("loss@2")
    wait(read, qtbot, "loss@2")
    read.reading.set_prefix("the cows eat grass")
    qtbot.waitUntil(lambda: read.gradients.current is not None and len(read.gradients.current) == 5)
    read.gradients.choose(("layers/0/hidden", (3, 1)))
    wait(read, qtbot, "layers/0/hidden[3, 1]")
    before = read.gradients.current["embedding"].array
    read.surgery.add(scale("layers/0/cell", 0.5))
    qtbot.waitUntil(
        lambda: read.gradients.current is not None and bool(read.gradients.current.trace.interventions)
    )
    assert not np.allclose(read.gradients.current["embedding"].array, before)


def test_it_is_what_the_model_gives(read: Session, qtbot: QtBot) -> None:
    read.gradients.choose("loss")
    wait(read, qtbot, "loss")
    found, opened = read.gradients.current, read.library.model
    expected = gradient(open_run_model(Run.open(opened.folder)), "the cows eat", "loss")
    np.testing.assert_allclose(found["embedding"].array, expected["embedding"].array, rtol=1e-5, atol=1e-8)


def test_what_has_no_such_number_says_so_and_can_be_chosen_again(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.gradients.failed) as failed:
        read.gradients.choose("loss@40")
    assert "no token 40" in failed.args[0]
    read.gradients.choose("loss@1")
    wait(read, qtbot, "loss@1")


def test_a_view_of_a_gradient_has_the_cells_of_the_view(read: Session, qtbot: QtBot) -> None:
    trace = read.reading.current.trace
    views = (
        matrix(trace, "layers/0/hidden", 0, 1, [1, 2], order=(3, 1)),
        matrix(trace, "probabilities", 0, 1, [4, 2]),
        strip(trace, "layers/0/forget", 2, 0, []),
        strip(trace, "logits", 1, 0, [5, 3]),
    )
    assert all(read.gradients.view(view) is view for view in views)
    read.gradients.choose("loss@2")
    wait(read, qtbot, "loss@2")
    for view in views:
        drawn = read.gradients.view(view)
        assert drawn.address == f"gradient/{view.address}"
        assert drawn.scale == "signed"
        for row in range(len(view.rows)):
            for column in range(len(view.columns)):
                index = drawn.index(row, column)
                assert index == view.index(row, column)
                assert drawn.values[row, column] == read.gradients.current[view.address].array[index]

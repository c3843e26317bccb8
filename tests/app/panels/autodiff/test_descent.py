"""One step of gradient descent, and a training with its path across the surface of the loss."""

import numpy as np
import pytest
from covering import parametrize_few
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSlider
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.plots.loss_surface import LossSurface
from tests.app.panels.autodiff.conftest import Scene

ONLY_PANELS = ("graph", "descent", "surface")


def test_one_step_of_gradient_descent_and_back(scene: Scene) -> None:
    losses = scene.find(QLabel, "descent_losses")
    assert losses.text() == "0.3251", "what comes next is seen once the step is taken"
    scene.click("take_step_button")
    assert losses.text() == "0.3251 → 0.3066"
    assert scene.find(QLabel, "descent_line").text() == "a straight line said 0.3062"
    assert scene.read("J") == pytest.approx(0.306588, abs=5e-7)
    scene.click("undo_step_button")
    assert scene.read("J") == pytest.approx(0.325054, abs=5e-7)
    assert losses.text() == "0.3251"
    slider = scene.find(QSlider, "rate_slider")
    slider.setValue(slider.value() + 2)
    scene.settle()
    assert scene.session.descent.rate == 0.5
    scene.click("take_step_button")
    assert scene.read("J") == pytest.approx(0.241334, abs=5e-7)


@pytest.mark.slow
def test_what_the_straight_line_says_is_never_cut(scene: Scene) -> None:
    line = scene.find(QLabel, "descent_line")
    assert line.text() == "a straight line says 0.3062"
    for size in ((1280, 720), (1000, 640)):
        scene.view.window().resize(*size)
        scene.settle()
        assert line.height() >= line.heightForWidth(line.width())


@pytest.mark.slow
def test_a_step_that_cannot_be_taken_leaves_the_path_as_it_was(scene: Scene, qtbot: QtBot) -> None:
    descent = scene.session.descent
    descent.descend(3)
    descent.go_to(1)
    descent.choose_rate(float("nan"))
    with qtbot.waitSignal(descent.failed):
        descent.descend()
    assert (len(descent.path), descent.place) == (4, 1)
    descent.choose_rate(0.1)
    scene.session.network.write("x = 3\ny = square(x)")
    with qtbot.waitSignal(descent.failed):
        descent.descend()
    assert descent.path == ()


@pytest.fixture
def training(scene: Scene, qtbot: QtBot) -> Scene:
    """The scene with the tab of the training in front."""
    scene.panel("surface_view").parent().raise_()
    scene.settle()
    qtbot.waitUntil(lambda: scene.panel("surface_view").isVisible())
    return scene


def test_training_draws_its_path_over_the_surface(training: Scene) -> None:
    training.click("train_network_button")
    surface = training.find(LossSurface)
    assert surface.path.shape == (51, 2)
    after = training.session.descent.loss
    assert after < 0.325054
    slider = training.find(QSlider, "descent_slider")
    slider.setValue(0)
    training.settle()
    assert training.read("J") == pytest.approx(0.325054, abs=5e-7)
    slider.setValue(50)
    training.settle()
    assert training.read("J") == pytest.approx(after, abs=1e-6)
    picker = training.find(QComboBox, "across_picker")
    picker.setCurrentText("α (1, 1)")
    picker.activated.emit(picker.currentIndex())
    training.settle()
    assert training.session.descent.chosen[0].name == "α"
    np.testing.assert_allclose(surface.path[0, 0], 0.5)


@pytest.mark.slow
def test_changing_a_number_by_hand_begins_a_new_path(scene: Scene) -> None:
    scene.click("take_step_button")
    assert scene.session.descent.place == 1
    scene.session.network.edit("x", (0,), 2)
    scene.settle()
    assert scene.session.descent.place == 0
    assert not scene.find(QPushButton, "undo_step_button").isEnabled()


@pytest.mark.slow
def test_a_network_without_parameters_says_how_to_have_one(scene: Scene) -> None:
    scene.session.network.open_shipped("poll")
    scene.settle()
    assert not scene.find(QPushButton, "take_step_button").isEnabled()


@pytest.mark.slow
@parametrize_few("choice", ["light", "dark"])
def test_the_card_says_which_way_the_colours_of_the_surface_go(training: Scene, choice: str) -> None:
    theme_switch().set_choice(choice)
    try:
        training.settle()
        surface = training.find(LossSurface)
        image, losses = surface.grab().toImage(), surface.losses
        corners = {
            (row, column): surface.place_of(first, second)
            for row, second in ((0, surface.extent[1][0]), (-1, surface.extent[1][1]))
            for column, first in ((0, surface.extent[0][0]), (-1, surface.extent[0][1]))
        }
        by_loss = sorted(corners, key=lambda corner: losses[corner])
        inwards = {0: 3, -1: -3}
        light = [
            image.pixelColor(
                round(corners[at].x()) + inwards[at[1]], round(corners[at].y()) - inwards[at[0]]
            ).lightnessF()
            for at in (by_loss[0], by_loss[-1])
        ]
        said = training.panel("surface_view").card.aside
        far = "darker" if light[1] < light[0] else "lighter"
        assert abs(light[1] - light[0]) > 0.1
        assert said == f"the {far}, the larger the loss"
    finally:
        theme_switch().set_choice("light")

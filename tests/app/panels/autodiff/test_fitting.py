"""The graph fits the width of its panel: equations and wide gradients give way before type grows small."""

import pytest
from PySide6.QtWidgets import QScrollArea

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.diagrams.editable_numbers import SMALLEST
from lmviz.app.widgets.text import typesetting

WITHOUT_STEPS = ("lecture", "diamond", "dot_attention", "bilinear_attention", "layer_norm")


@pytest.fixture
def typeset(qtbot):
    typesetting.load_in_background()
    qtbot.waitUntil(typesetting.ready)


@pytest.fixture(params=["light", "projector"])
def fitted(request, scene, typeset):
    """The perspective as a window of 1280 × 720 has it, and as that is projected, with fewer panels."""
    if request.param == "projector":
        theme_switch().set_projector(True)
        scene.view.show_only("graph", "tape")
    scene.view.resize(1166, 620)
    yield scene
    theme_switch().set_projector(False)


def sideways(picture) -> int:
    """How far its scroll area can be scrolled sideways."""
    area = picture.parentWidget().parentWidget()
    assert isinstance(area, QScrollArea)
    return area.horizontalScrollBar().maximum()


@pytest.mark.parametrize("name", WITHOUT_STEPS)
def test_networks_without_steps_do_not_scroll_sideways(fitted, qtbot, name):
    fitted.session.network.open_shipped(name)
    fitted.settle()
    qtbot.waitUntil(lambda: sideways(fitted.picture) == 0)
    assert fitted.picture.zoom >= SMALLEST
    for node in fitted.session.network.current:
        assert fitted.picture.rect().contains(fitted.picture.box_rectangle(node.name).toRect()), node.name


def test_gradients_lie_below_their_matrices_where_it_is_narrow(scene, qtbot, typeset):
    scene.session.network.run_backward()
    scene.view.resize(1600, 780)
    scene.settle()
    qtbot.waitUntil(lambda: scene.place("β", (0, 0), True).x() > scene.place("β", (0, 1), False).x())
    assert scene.place("β", (0, 0), True).y() == scene.place("β", (0, 0), False).y()
    scene.view.resize(960, 780)
    qtbot.waitUntil(lambda: scene.place("β", (0, 0), True).x() == scene.place("β", (0, 0), False).x())
    assert scene.place("β", (0, 0), True).y() > scene.place("β", (2, 0), False).y()
    assert scene.read("β", (1, 0), gradient=True) == pytest.approx(-0.138756, abs=5e-7)

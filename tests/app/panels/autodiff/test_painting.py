"""The graph paints anew only what has changed, and shows what painting all of it shows."""

import numpy as np
import pytest
from pixels import pixels_of
from PySide6.QtCore import QEvent, QLineF, QObject
from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QApplication

from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.text import typesetting

ONLY_PANELS = ("graph", "tape")

CUT_CURVES = 150  # bytes: a curve that is cut where painting ends is smoothed a little differently
NETWORKS = ("lecture", "diamond", "comparison", "recurrence_tanh", "bilinear_attention")
QUICK = ("diamond",)


def shown(picture) -> np.ndarray:
    """What stands on the screen: (rows, columns, bytes)."""
    QApplication.processEvents()
    window = picture.window()
    place = picture.mapTo(window, picture.visibleRegion().boundingRect().topLeft())
    size = picture.visibleRegion().boundingRect().size()
    pixmap = window.screen().grabWindow(window.winId(), place.x(), place.y(), size.width(), size.height())
    return pixels_of(pixmap.toImage())


def differing(picture) -> int:
    """How many bytes of the screen differ from the picture painted as a whole."""
    by_bits = shown(picture)
    picture.update()
    return int((by_bits != shown(picture)).sum())


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS]
)
def test_what_is_painted_bit_by_bit_is_the_whole_picture(scene, qtbot, name):
    typesetting.load_in_background()
    qtbot.waitUntil(typesetting.ready)
    network, focus = scene.session.network, scene.session.network_focus
    network.open_shipped(name)
    network.rewind()
    scene.settle()
    modules = network.current.tape.modules
    for act, times in ((network.push, len(modules)), (network.pop, 2), (network.pop, len(modules) - 2)):
        for _ in range(times):
            act()
            scene.settle()
            QApplication.processEvents()
        assert differing(scene.picture) < CUT_CURVES
    given = network.current.nodes[0]
    focus.choose_cell(NetworkCell(given.name, (0,) * len(given.shape), False))
    focus.hover_module(modules[0].name)
    scene.settle()
    network.edit(given.name, (0,) * len(given.shape), -3.25)
    scene.settle()
    assert differing(scene.picture) < CUT_CURVES


class Painted(QObject):
    """Notes where a widget is painted."""

    def __init__(self, widget) -> None:
        super().__init__(widget)
        self.region = QRegion()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.region += event.region()
        return False


def test_a_step_leaves_the_rest_of_the_picture_as_it_is(scene):
    scene.session.network.rewind()
    scene.settle()
    QApplication.processEvents()
    painted = Painted(scene.picture)
    scene.session.network.push()
    scene.settle()
    QApplication.processEvents()
    middle = {name: scene.picture.box_rectangle(name).center().toPoint() for name in ("a", "J")}
    assert painted.region.contains(middle["a"])
    assert not painted.region.contains(middle["J"])


@pytest.mark.parametrize("parameter", ["α", "β"])
def test_room_for_the_gradient_of_a_parameter_is_marked_before_there_is_one(scene, parameter):
    scene.session.network.open_shipped("lecture")
    scene.settle()
    assert scene.session.network.current[parameter].gradient is None
    place = scene.picture.cell_rectangle(ValueCell(parameter, (1, 0), True)).toRect()
    picture = scene.picture.grab(place).toImage()
    colors = {picture.pixelColor(x, y).rgb() for x in range(picture.width()) for y in range(picture.height())}
    assert len(colors) > 1


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS]
)
def test_every_edge_has_a_head_at_its_end(scene, monkeypatch, name):
    network, picture = scene.session.network, scene.picture
    network.open_shipped(name)
    for _ in network.current.tape.modules:
        network.push()
    for _ in network.current.tape.modules:
        network.pop()
    scene.settle()
    heads = []
    draw = Painter.head

    def note(self, before, end, ink, length, half):
        place = self.transform().map(
            before + (end - before) * (1 - length / 2 / QLineF(before, end).length())
        )
        heads.append((place.toPoint(), ink))
        draw(self, before, end, ink, length, half)

    monkeypatch.setattr(Painter, "head", note)
    shown = picture.grab().toImage()
    edges = sum(len(module.inputs) for module in network.current.tape.modules)
    assert len(heads) == 2 * edges, "one goes forward and one comes back"
    for place, ink in heads:
        found = shown.pixelColor(place)  # which may be paler: what is not looked at is
        assert abs(found.hue() - ink.hue()) < 12, place
        assert found.saturation() > 90, place

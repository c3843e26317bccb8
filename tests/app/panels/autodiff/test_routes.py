"""No arrow of the graph crosses a foreign box or a name, in any network and any arrangement."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainterPath, QPainterPathStroker

from lmviz.app.panels.autodiff.drawn import drawn_values
from lmviz.app.widgets.diagrams.network_areas import equations_area
from lmviz.app.widgets.diagrams.network_boxes import ARRANGEMENTS, DOWNWARD, Boxes
from lmviz.app.widgets.diagrams.network_places import place_boxes
from lmviz.app.widgets.text import typesetting
from lmviz.autodiff import Network, read, shipped_network, shipped_networks
from lmviz.autodiff.layout import LEFT
from tests.autodiff.test_random_networks import networks

THICK = 1.6  # pixels of an arrow back


@pytest.fixture(autouse=True)
def typeset(qapp, qtbot):
    typesetting.load_in_background()
    qtbot.waitUntil(typesetting.ready)


def drawings(net: Network) -> list[Boxes]:
    """The network in every arrangement that it may have."""
    values, unrolled = drawn_values(net)
    return [place_boxes(values, each) for each in (*ARRANGEMENTS, *([DOWNWARD] if unrolled else []))]


def outline(path: QPainterPath) -> QPainterPath:
    stroker = QPainterPathStroker()
    stroker.setWidth(THICK)
    return stroker.createStroke(path)


def crossed(drawn: Boxes) -> list[str]:
    """Each arrow, forward or back, that meets a box, a name or an equation, its own two ends left out."""
    words = {f"equations of {name}": equations_area(drawn, box) for name, box in drawn.boxes.items()}
    labels = {use: line.label for use, line in drawn.lines.items() if not line.label.isEmpty()}
    frames = {name: box.frame for name, box in drawn.boxes.items()}
    found = []
    for use, line in drawn.lines.items():
        ends = {use[0], drawn.source(use).name}
        others = {
            name: area.adjusted(1, 1, -1, -1) if name in ends else area for name, area in frames.items()
        }
        others |= {f"name before {other}": area for other, area in labels.items() if other != use}
        others |= words
        for way, path in (("forward", line.path), ("back", line.back)):
            ink, room = outline(path), path.boundingRect().adjusted(-2, -2, 2, 2)
            found += [
                f"{ends} {way} crosses {name}"
                for name, area in others.items()
                if room.intersects(area) and ink.intersects(area)
            ]
    return found


def check(net: Network) -> None:
    for drawn in drawings(net):
        assert not crossed(drawn)
        labels = [line.label for line in drawn.lines.values() if not line.label.isEmpty()]
        areas = [box.frame for box in drawn.boxes.values()] + labels
        assert not [1 for one, other in combinations(areas, 2) if one.intersects(other)]
        whole = QRectF(0, 0, drawn.size.width(), drawn.size.height())
        assert all(whole.contains(area) for area in areas)
        joined = [use for use, line in drawn.lines.items() if line.label.isEmpty()]
        for name, box in drawn.boxes.items():
            if box.value.place.side == LEFT:
                modules = {use[0] for use in joined if drawn.source(use).name == name}
                assert len(modules) <= 1, "each further use has a name of its own before it"


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_no_arrow_of_a_shipped_network_crosses_what_it_does_not_join(name):
    check(read(shipped_network(name).text))


@settings(max_examples=40)
@given(networks())
def test_no_arrow_of_a_random_network_does(text):
    check(read(text))


READ_BOTH_WAYS = """
W = 0.5
s[0] = 1
r[4] = 0
x[1..3] = [1; 2; 3]
for t in 1..3:
    s[t] = tanh(add(linear(W, s[t-1]), linear(W, x[t])))
r[3] = add(r[4], s[1], s[3])
r[2] = multiply(r[3], r[3], s[1])
r[1] = subtract(r[2], square(s[3]))
J = add(sum(r[1]), s[0], s[2], W)
"""


def test_no_arrow_from_step_to_step_does_however_far_it_goes():
    check(read(READ_BOTH_WAYS))

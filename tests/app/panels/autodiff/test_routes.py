"""No arrow of the graph crosses a foreign box or a name, in any network and any arrangement."""

import random
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainterPath, QPainterPathStroker

from lmviz.app.panels.autodiff.drawn import drawn_units, drawn_values, folding
from lmviz.app.widgets.diagrams.network_boxes import ARRANGEMENTS, DOWNWARD, Boxes, place_boxes
from lmviz.app.widgets.diagrams.unit_boxes import UnitPlaces, place_folded, place_unrolled
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
    words = {f"equations of {name}": drawn.equations_area(box) for name, box in drawn.boxes.items()}
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


def headless(drawn: Boxes) -> list[str]:
    """Each arrow whose head would come from nowhere, and not be drawn."""
    return [
        f"{drawn.source(use).name} → {use[0]}{' back' if back else ''}"
        for use, line in drawn.lines.items()
        for back in (False, True)
        if QLineF(*line.head(back=back)).length() < 1
    ]


def check(net: Network) -> None:
    for drawn in drawings(net):
        assert not crossed(drawn)
        assert not headless(drawn)
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


@settings(max_examples=20)
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


TWO_LAYERS = """
W = 1
U = 0.5
V = 2
A = 3
h[0] = 0
g[0] = 0
x[1..3] = [1; 2; 3]
for t in 1..3:
    h[t] = tanh(add(linear(U, h[t-1]), linear(W, x[t])))
    g[t] = tanh(add(linear(V, g[t-1]), linear(A, h[t])))
    y[t] = add(g[t], linear(W, x[t]), h[t])
"""
RECURRENT = {each.name: each.text for each in shipped_networks() if folding(read(each.text)) is not None}
RECURRENT["two layers"] = TWO_LAYERS


def crossed_by_units(drawn: UnitPlaces) -> list[str]:
    """The same for the units of a recurrent network, the fields of their weights among what is crossed."""
    fields = [(line, line.field) for line in drawn.lines if line.cells]
    found = []
    for line in drawn.lines:
        name = f"{line.ends[0].label} → {line.ends[1].names}"
        others = [(box.label, box.frame) for box in drawn.boxes if box not in line.ends]
        others += [(f"{each.weight} of {each.targets}", area) for each, area in fields if each is not line]
        for path in (line.path, line.back):
            ink = outline(path)
            found += [f"{name} crosses {other}" for other, area in others if ink.intersects(area)]
    solid = [*(box.frame for box in drawn.boxes), *(area for _, area in fields)]
    return found + [
        f"{one} lies on {other}" for one, other in combinations(solid, 2) if one.intersects(other)
    ]


@pytest.mark.parametrize("place", [place_unrolled, place_folded])
@pytest.mark.parametrize("name", RECURRENT)
def test_no_arrow_between_units_does(name, place):
    net = read(RECURRENT[name]).backward()
    assert crossed_by_units(place(*drawn_units(net, folding(net)))) == []


def recurrence(chance: random.Random) -> str:
    """A text of units with recurrences, which take what is read and one another, with weights or without."""
    states, weights = "hgk"[: chance.randint(1, 3)], iter("ABCDEFGHIJ")
    lines = [f"{weight} = {chance.choice([1, 0.5, -2])}" for weight in "ABCDEFGHIJ"]
    lines += [f"{state}[0] = 0" for state in states] + ["x[1..3] = [1; 2; 3]", "for t in 1..3:"]
    for at, state in enumerate(states):
        taken = [f"{state}[t-1]", *(f"{other}[t]" for other in states[:at] if chance.random() < 0.6)]
        taken += [f"{other}[t-1]" for other in states if other != state and chance.random() < 0.1]
        taken += ["x[t]"] if at == 0 or chance.random() < 0.4 else []
        terms = [f"linear({next(weights)}, {each})" if chance.random() < 0.7 else each for each in taken]
        whole = f"add({', '.join(terms)})" if terms[1:] else terms[0]
        lines.append(f"    {state}[t] = tanh({whole})")
    return "\n".join(lines)


@settings(max_examples=60)
@given(some.integers(0, 10**6))
def test_no_arrow_between_random_units_does(seed):
    net = read(recurrence(random.Random(seed))).backward()
    units = folding(net)
    assume(units is not None)
    for place in (place_unrolled, place_folded):
        assert crossed_by_units(place(*drawn_units(net, units))) == []


def test_what_cannot_be_drawn_as_units_without_crossing_is_not():
    over_two = "U = 1\nh[0] = 0\nh[1] = 1\nfor t in 2..4:\n    h[t] = add(linear(U, h[t-2]), h[t-1])"
    assert folding(read(over_two)) is None

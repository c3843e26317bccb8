"""Text in little room: names keep their beginning, numbers their first digits, and the pointer says all."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter
from PySide6.QtWidgets import QApplication, QToolTip

import lmviz.app
from lmviz.app.panels.autodiff.drawn import drawn_units, drawn_values, folding
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.diagrams.network_picture import NetworkPicture
from lmviz.app.widgets.diagrams.unit_picture import UnitPicture
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.loss_surface import LossSurface
from lmviz.app.widgets.plots.plot_names import PlotName, PlotNames
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.app.widgets.text.label_table import LabelTable
from lmviz.app.widgets.text.word_effects import WordEffect, WordEffects
from lmviz.autodiff import read
from lmviz.looks.curve import PlotCurve
from lmviz.looks.label_row import LabelRow, TableLabel

CLIPPED = Qt.AlignmentFlag.AlignRight.value | Qt.AlignmentFlag.AlignHCenter.value
LONG = "a model of Shakespeare's comedies, tragedies and sonnets"


def loss_surface() -> Canvas:
    surface = LossSurface()
    places = np.linspace(-123456.7, 234567.8, 5)
    surface.set_surface(places, places, np.ones((5, 5)), ("a long name[10, 12]", "another long name[10, 12]"))
    return surface


def legend() -> Canvas:
    shown = Legend()
    shown.set_entries([LegendEntry(f"{LONG} {number}", QColor("black")) for number in (1, 2)])
    return shown


def plot_names() -> Canvas:
    names = PlotNames()
    names.resize(120, 100)
    names.set_names([PlotName(f"{n} of GPT-3", "689.086", 20.0 * n, QColor("black")) for n in (1, 2)], 0, 100)
    return names


def label_table() -> Canvas:
    table = LabelTable()
    table.set_rows(["one", "two"], [LabelRow(LONG, "#000000", (TableLabel("N", 0.4),) * 2)])
    return table


def arithmetic() -> Canvas:
    net = read("W = [1 2 3; 4 5 6]\nx = [1; 2; 3]\ny = linear(W, x)").backward()
    card = ArithmeticCard()
    card.set_arithmetic(net.explain("y", (0,)), lambda source, index: f"{LONG}, layer 0, channel {index[-1]}")
    return card


def network_picture() -> Canvas:
    net = read("parameter v = 4321\nu = square(v)\nw = multiply(2, square(v))\ny = add(u, w)").backward()
    picture = NetworkPicture()
    picture.resize(420, 400)
    picture.set_network(drawn_values(net)[0], 1.0)
    return picture


def unit_picture() -> Canvas:
    net = read("U = 1\nh[0] = -4321.5\nfor t in 1..2:\n    h[t] = linear(U, h[t-1])").backward()
    units = folding(net)
    assert units is not None
    picture = UnitPicture()
    picture.set_units(*drawn_units(net, units), 1.0)
    return picture


LITTLE = {
    "NetworkPicture": (network_picture, 420, 400),
    "UnitPicture": (unit_picture, 420, 200),
    "LossSurface": (loss_surface, 240, 160),
    "Legend": (legend, 300, 20),
    "PlotNames": (plot_names, 120, 100),
    "LabelTable": (label_table, 300, 120),
    "ArithmeticCard": (arithmetic, 260, 200),
}


@pytest.fixture
def painted(monkeypatch):
    """Each text that is painted in an area, with whether its beginning is cut off there."""
    found: list[tuple[str, bool]] = []
    paint = QPainter.drawText

    def noted(painter, *arguments):
        if isinstance(arguments[0], (QRect, QRectF)) and isinstance(arguments[-1], str):
            area, flags, text = arguments[0], getattr(arguments[1], "value", arguments[1]), arguments[2]
            wide = QFontMetricsF(painter.font()).horizontalAdvance(text)
            found.append((text, bool(flags & CLIPPED) and wide > area.width() + 1))
        return paint(painter, *arguments)

    monkeypatch.setattr(QPainter, "drawText", noted)
    return found


@pytest.mark.parametrize("name", LITTLE)
def test_no_text_loses_its_beginning(name, shown, painted):
    make, width, height = LITTLE[name]
    shown(make(), width, height).grab()
    assert painted
    assert [text for text, is_cut in painted if is_cut or text.startswith("…") or "…" in text[:-1]] == []


@pytest.mark.parametrize("name", ["LossSurface", "Legend", "PlotNames", "LabelTable"])
def test_what_is_cut_is_said_wholly_at_the_pointer(name, shown, painted):
    make, width, height = LITTLE[name]
    widget = shown(make(), width, height)
    widget.grab()
    assert any(text.endswith("…") for text, _ in painted)
    places = [QPoint(x, y) for y in range(2, widget.height(), 4) for x in range(2, widget.width(), 4)]
    place = next(each for each in places if widget.whole_at(each.toPointF()))
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place)))
    assert widget.whole_at(place.toPointF()) in QToolTip.text().replace("&#x27;", "'")


def test_terms_that_begin_alike_are_told_apart(shown, painted):
    make, width, height = LITTLE["ArithmeticCard"]
    widget = shown(make(), width, height)
    widget.grab()
    assert {"channel 0", "channel 1", "channel 2"} <= {text for text, _ in painted}
    assert LONG in widget.whole_at(widget.row_rectangle(0).center() - QPointF(widget.width() / 2 - 20, 0))


def test_curves_whose_names_begin_alike_are_told_apart(shown, painted):
    names = PlotNames()
    names.resize(90, 100)
    names.set_names([PlotName(f"channel {n}", "0.04", 20.0 * n, QColor("black")) for n in (1, 33)], 0, 100)
    shown(names, 90, 100).grab()
    assert {"1", "33"} <= {text for text, _ in painted}


def test_a_row_writes_no_change_that_its_bar_cannot_show(shown, painted):
    words = WordEffects()
    words.set_words([WordEffect("far", -1.4e-12, 2e-9), WordEffect("near", -0.5, 2.5)], 2.5)
    shown(words, 400, 120).grab()
    assert {"−0.00", "+0.00", "−0.50", "+2.50"} <= {text for text, _ in painted}
    assert words.readout(0)[1][0].endswith("−1.4e−12")


def test_only_one_place_decides_how_text_is_cut():
    folder = Path(lmviz.app.__file__).parent
    words = ("elidedText", "ElideLeft", "ElideMiddle", "ElideRight")
    found = {
        path.name for path in folder.rglob("*.py") if any(word in path.read_text("utf-8") for word in words)
    }
    assert found == {"painter.py"}


def test_a_short_name_comes_before_its_figure(shown, painted):
    names = PlotNames()
    names.resize(64, 60)
    names.set_names([PlotName("36", "4.9e−3", 30, QColor("black"))], 0, 60)
    shown(names, 64, 60).grab()
    assert [text for text, _ in painted] == ["36"]
    assert names.whole_at(names.places["36"].center()) == "36 4.9e−3"


def test_the_pointer_explains_the_name_of_a_reference(shown):
    plot = LinePlot()
    plot.set_curves([PlotCurve("training", np.arange(9.0), np.linspace(3, 2, 9))])
    plot.set_references([("bigram", 2.5)], {"bigram": "an n-gram model that sees one word"})
    shown(plot, 500, 300).grab()
    assert "sees one word" in plot.names.whole_at(plot.names.places["bigram"].center())

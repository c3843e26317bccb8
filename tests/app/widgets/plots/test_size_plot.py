"""Names along the lines of a plot of models stand apart from the dashed line and from the models."""

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest
from PySide6.QtCore import QPointF, QRectF

from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.plots.size_plot import ComputeLine, SizePlot, SizePoint
from lmviz.scaling.public_models import PUBLIC_MODELS

MODELS = [
    SizePoint("mine", 316e3, 7e6, is_own=True),
    SizePoint("GPT-2", 1.5e9, 10e9),
    SizePoint("GPT-3", 175e9, 300e9, is_chosen=True),
    SizePoint("PaLM", 540e9, 780e9),
]
PRODUCTS = {"an hour": 4e13, "a day": 1e15, "a year": 4e17, "1,000 years": 4e20, "150,000 years": 5e22}
LINES = [ComputeLine(name, product, name == "150,000 years") for name, product in PRODUCTS.items()]
TICKS = tuple({exponent: f"1e{exponent}" for exponent in range(4, last, 2)} for last in (13, 15))
DAYS = {"1e−6 petaflop/s-days": 1.44e13, "1 petaflop/s-day": 1.44e19, "3,646 petaflop/s-days": 5.25e22}
FEW = [ComputeLine(name, product, product > 1e22) for name, product in DAYS.items()]
RATIO = 20.0


@pytest.fixture(params=[(420, 420), (540, 520), (700, 400)], ids=str)
def plot(shown: Callable[..., SizePlot], request: pytest.FixtureRequest) -> SizePlot:
    plot = SizePlot()
    plot.set_content(MODELS, LINES, ("20 tokens a parameter", RATIO), TICKS)
    shown(plot, *request.param)
    plot.grab()
    return plot


def on_the_dashed_line(plot: SizePlot) -> list[QPointF]:
    start, end = plot.place_of(1e4, RATIO * 1e4), plot.place_of(1e12, RATIO * 1e12)
    return [start + (end - start) * (step / 400) for step in range(401)]


def test_no_name_along_a_line_stands_on_the_dashed_line(plot: SizePlot) -> None:
    assert len(plot.line_names) > len(LINES), "several squares a name"
    dashed = on_the_dashed_line(plot)
    assert not [square for square in plot.line_names if any(square.contains(place) for place in dashed)]


def test_no_name_along_a_line_stands_on_a_model(plot: SizePlot) -> None:
    places = [plot.place_of(model.parameters, model.tokens) for model in MODELS]
    assert not [square for square in plot.line_names if any(square.contains(place) for place in places)]


def test_all_lines_are_named_and_the_names_stand_apart(plot: SizePlot) -> None:
    groups: list[list[QRectF]] = [[plot.line_names[0]]]
    for before, square in pairwise(plot.line_names):
        if (square.center() - before.center()).manhattanLength() > 2 * square.width():
            groups.append([])
        groups[-1].append(square)
    assert len(groups) == len(LINES) + 1
    for index, group in enumerate(groups):
        for other in groups[index + 1 :]:
            assert not [one for one in group if any(one.intersects(square) for square in other)]


def test_the_name_of_a_small_run_covers_no_number_of_an_axis(
    shown: Callable[..., SizePlot], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, fit = "Transformer on farm, 11:11", Painter.fit
    written: dict[str, QRectF] = {}

    def note(painter: Painter, area: QRectF, text: str, *given: Any, **named: Any) -> None:
        written[text] = area
        fit(painter, area, text, *given, **named)

    monkeypatch.setattr(Painter, "fit", note)
    plot = SizePlot()
    runs = [SizePoint(name, 8e5, 4e4, is_own=True, is_named=True), SizePoint("other", 3e6, 3e4, is_own=True)]
    plot.set_content([*MODELS, *runs], LINES, ("20 tokens a parameter", RATIO), TICKS)
    shown(plot, 700, 240)
    plot.grab()
    corner = plot.place_of(1e4, 1e4)
    assert written[name].left() >= corner.x()
    assert written[name].bottom() <= corner.y()


def test_where_it_is_narrow_a_line_has_no_name_rather_than_one_under_a_model(
    shown: Callable[..., SizePlot],
) -> None:
    plot = SizePlot()
    models = [SizePoint(model.name, model.parameters, model.tokens) for model in PUBLIC_MODELS]
    plot.set_content(models, FEW, ("20 tokens a parameter", RATIO), TICKS)
    shown(plot, 300, 260)
    for width, height in product((280, 300, 340), (340, 460, 560)):
        plot.resize(width, height)
        plot.grab()
        places = [plot.place_of(model.parameters, model.tokens) for model in models]
        assert plot.line_names
        assert not [square for square in plot.line_names if any(square.contains(place) for place in places)]

"""Every kind of picture with parts, with as many as asked for: for tests of how long a person waits."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.controls.measured_cards import MeasuredBar, MeasuredCard, MeasuredCards
from lmviz.app.widgets.controls.preset_cards import PresetCard, PresetCards
from lmviz.app.widgets.diagrams.circuit_picture import CircuitNode, CircuitPath, CircuitPicture
from lmviz.app.widgets.diagrams.family_cards import FamilyCard, FamilyCards
from lmviz.app.widgets.diagrams.gradient_wave import GradientWave, WaveRow
from lmviz.app.widgets.diagrams.ladder import LadderView
from lmviz.app.widgets.diagrams.ladder_parts import (
    LadderBar,
    LadderPicture,
    LadderRung,
    MixtureColumn,
    MixtureWord,
)
from lmviz.app.widgets.diagrams.model_parts import StreamMark
from lmviz.app.widgets.diagrams.network_picture import NetworkPicture
from lmviz.app.widgets.diagrams.network_values import DrawnValue
from lmviz.app.widgets.diagrams.stage_timeline import StageTimeline
from lmviz.app.widgets.diagrams.tree_view import TreeNode, TreeView
from lmviz.app.widgets.diagrams.unit_boxes import DrawnArrow, DrawnUnit
from lmviz.app.widgets.diagrams.unit_picture import UnitPicture
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.unrolled_values import UnrolledLayer, UnrolledRow
from lmviz.app.widgets.diagrams.whole_model import WholeModelView
from lmviz.app.widgets.diagrams.word_window import WordWindowView
from lmviz.app.widgets.diagrams.word_window_values import VotedWord, WindowPicture, WindowWord
from lmviz.app.widgets.kit.picture import Miniature
from lmviz.app.widgets.matrix.confusion_grid import ConfusionGrid
from lmviz.app.widgets.matrix.head_wall import HeadWall
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.widgets.matrix.operation_view import OperationView
from lmviz.app.widgets.matrix.pixel_grid import PixelGrid
from lmviz.app.widgets.matrix.sized_cells import SizedCells
from lmviz.app.widgets.matrix.strips import Strip, StripList
from lmviz.app.widgets.plots.answer_columns import AnswerColumns
from lmviz.app.widgets.plots.banded_plot import BandedPlot
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.before_after_bars import BeforeAfterBars
from lmviz.app.widgets.plots.cumulative_bar import CumulativeBar
from lmviz.app.widgets.plots.curve_rows import CurveRow, CurveRows
from lmviz.app.widgets.plots.dot_rows import DotRows
from lmviz.app.widgets.plots.histogram import Histogram
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.log_log_plot import LogLogPlot
from lmviz.app.widgets.plots.loss_surface import LossSurface
from lmviz.app.widgets.plots.plot_names import PlotName, PlotNames
from lmviz.app.widgets.plots.point_cloud import PointCloud
from lmviz.app.widgets.plots.poll_choices import ChoiceRow, PollChoices
from lmviz.app.widgets.plots.position_bars import PositionBars
from lmviz.app.widgets.plots.position_curve import PositionCurve
from lmviz.app.widgets.plots.scatter_plot import ScatterPlot
from lmviz.app.widgets.plots.score_strips import ScoreStrip, ScoreStrips
from lmviz.app.widgets.plots.shift_arrows import ShiftArrows
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.app.widgets.plots.simplex_bars import SimplexBars
from lmviz.app.widgets.plots.size_plot import ComputeLine, SizePlot, SizePoint
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot
from lmviz.app.widgets.plots.word_bars import WordBarsPlot
from lmviz.app.widgets.tables.tape_list import TapeEntry, TapeList
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLine, AlgorithmLines
from lmviz.app.widgets.text.alignment_arcs import AlignmentArcs
from lmviz.app.widgets.text.answer_rows import AnswerRow, AnswerRows
from lmviz.app.widgets.text.answered_strip import AnsweredStrip, TokenAnswer
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.app.widgets.text.attention_text import AttentionText
from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.app.widgets.text.examples_view import ExamplesView, ShownExample
from lmviz.app.widgets.text.firing_lines import FiringLines
from lmviz.app.widgets.text.label_table import LabelTable
from lmviz.app.widgets.text.labelled_words import LabelledWord, LabelledWords
from lmviz.app.widgets.text.loss_text import LossText
from lmviz.app.widgets.text.product_strip import ProductStrip
from lmviz.app.widgets.text.pushed_lines import PushedLinesView
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.app.widgets.text.word_effects import WordEffect, WordEffects
from lmviz.autodiff.layout import ValuePlace
from lmviz.inspection.operation_picture import Band, BandGroup, OperationPicture
from lmviz.looks.answer_column import AnswerColumn
from lmviz.looks.curve import PlotCurve
from lmviz.looks.firing import FiringLine
from lmviz.looks.label_row import LabelRow, TableLabel
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.looks.parts import DotRow
from lmviz.looks.pushed import PushedRow
from lmviz.looks.word_curve import WordCurve
from lmviz.models.arithmetic import Arithmetic, Factor, Terms

MAKERS: dict[str, Callable[[int], QWidget]] = {}
"""By class: a picture with so many parts, or in a matrix about so many cells."""


def makes(name: str) -> Callable[[Callable[[int], QWidget]], Callable[[int], QWidget]]:
    def note(maker: Callable[[int], QWidget]) -> Callable[[int], QWidget]:
        MAKERS[name] = maker
        return maker

    return note


def words(count: int) -> list[str]:
    """Words of several lengths, each another one."""
    return [f"{'word' * (1 + number % 3)}{number}" for number in range(count)]


def shares(count: int) -> np.ndarray:
    """Shares that sum to one, (count,)."""
    return np.random.default_rng(1).dirichlet([0.5] * count)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(2).normal(size=shape)


def rows_by_columns(count: int) -> tuple[int, int]:
    rows = isqrt(count)
    return rows, -(-count // rows)


@makes("PresetCards")
def preset_cards(count: int) -> QWidget:
    view = PresetCards()
    view.set_cards([PresetCard(word, (word, word)) for word in words(count)])
    return view


@makes("CircuitPicture")
def circuit(count: int) -> QWidget:
    view = CircuitPicture()
    nodes = [CircuitNode(str(at), at // 50, 1 + at // 10 % 5, at % 10, 0.1) for at in range(count)]
    paths = [CircuitPath(at, at + 50, 0.1) for at in range(count - 50)]
    view.set_circuit(nodes, paths, words(count // 50), words(8), "answer")
    return view


@makes("FamilyCards")
def family_cards(count: int) -> QWidget:
    return FamilyCards([FamilyCard(word, word) for word in words(count)])


@makes("GradientWave")
def gradient_wave(count: int) -> QWidget:
    wave = GradientWave()
    color = current_theme().series_color(0)
    wave.set_rows([WaveRow("LSTM", "", color, numbers(count, 12), shares(count))], words(count))
    return wave


@makes("LadderView")
def ladder(count: int) -> QWidget:
    view = LadderView()
    bars = tuple(LadderBar(f"count {n}", word, 3, 0.5) for n, word in enumerate(words(count)))
    rungs = (LadderRung(2, 1, ("at",), "", bars, 10, 3, 1.0, 0.76, 0.24),)
    mixed = tuple(MixtureWord(f"word {n}", word, 0.1, (0.1, 0.1)) for n, word in enumerate(words(count)))
    columns = tuple(
        MixtureColumn(f"position {n}", word, 2, (0.9, 0.1)) for n, word in enumerate(words(count))
    )
    view.set_ladder(LadderPicture(rungs, ("every word alike", 0.02), mixed, columns, "What followed"), 2)
    return view


@makes("WholeModelView")
def whole_model(count: int) -> QWidget:
    view = WholeModelView()
    marks = tuple(
        StreamMark(f"r{at}", Miniature(f"r{at}", numbers(1, count)), word, 0.3)
        for at, word in enumerate(words(16))
    )
    view.set_model(marks, ("night", 0.9), "compared with others")
    return view


@makes("WordWindowView")
def word_window(count: int) -> QWidget:
    view = WordWindowView()
    seen = tuple(
        WindowWord(f"seen {at}", word, "back", Miniature(f"embedding {at}", numbers(1, 16)), numbers(count))
        for at, word in enumerate(words(8))
    )
    joined, hidden = Miniature("joined", numbers(1, 128)), Miniature("hidden", numbers(1, count))
    likely = tuple(
        VotedWord(f"said {n}", word, 0.1, Miniature(f"votes {n}", numbers(1, count)))
        for n, word in enumerate(words(8))
    )
    view.set_window(WindowPicture((), 0, 0.0, seen, joined, hidden, "hidden layer", likely), 5)
    return view


def drawn_value(name: str, row: int, step: int, side: str = "left", made: bool = False) -> DrawnValue:
    word = "add" if made else ""
    return DrawnValue(
        name, name, word, (), np.array(1.0), np.array(1.0), None, ValuePlace(row, step, side), popped=made
    )


@makes("NetworkPicture")
def network_picture(count: int) -> QWidget:
    view = NetworkPicture()
    values = [drawn_value("v", -1, 0, "below")]
    values += [drawn_value(f"u{at}", at, 0, "module", made=True) for at in range(count)]
    view.set_network(values, 8.0)
    return view


@makes("UnitPicture")
def unit_picture(count: int) -> QWidget:
    view, units, arrows = UnitPicture(), [], []
    for step in range(count // 2):
        units.append(DrawnUnit(drawn_value(f"x{step}", 0, step), "x", "x", step, "", is_given=True))
        made = drawn_value(f"h{step}", 1, step, "module", made=True)
        units.append(DrawnUnit(made, "h", "h", step, "", is_given=False))
        arrows.append(DrawnArrow(f"x{step}", f"h{step}", "W"))
    view.set_units(units, arrows, {"W": drawn_value("W", 0, 0)}, 1.0)
    return view


@makes("StageTimeline")
def stage_timeline(count: int) -> QWidget:
    view = StageTimeline()
    view.set_stages(words(count), [word[:4] for word in words(count)])
    return view


@makes("TreeView")
def tree(count: int) -> QWidget:
    view = TreeView()
    view.set_nodes([TreeNode(word, "7 %", (at - 1) // 3) for at, word in enumerate(words(count))])
    return view


@makes("UnrolledView")
def unrolled(count: int) -> QWidget:
    view = UnrolledView()
    layers = [
        UnrolledLayer(name, (UnrolledRow("h", np.tanh(numbers(count, 64)), limit=1.0),))
        for name in ("1", "2")
    ]
    view.set_network(words(count), layers, words(count))
    return view


@makes("ConfusionGrid")
def confusion(count: int) -> QWidget:
    view, side = ConfusionGrid(), isqrt(count)
    view.set_counts(np.arange(side * side).reshape(side, side), words(side))
    return view


@makes("HeadWall")
def wall(count: int) -> QWidget:
    layers, heads = rows_by_columns(count)
    view = HeadWall()
    view.set_heads(np.random.default_rng(5).dirichlet([0.3] * 6, (layers, heads, 6)), {})
    return view


@makes("HeadMosaic")
def mosaic(count: int) -> QWidget:
    layers, heads = rows_by_columns(count)
    view = HeadMosaic()
    view.set_heads(
        np.random.default_rng(5).dirichlet([0.3] * 6, (layers, heads, 6)), [["previous"] * heads] * layers
    )
    return view


@makes("HeatmapView")
def heatmap(count: int) -> QWidget:
    view = HeatmapView()
    rows, columns = 12, count
    view.set_matrix(numbers(rows, columns), rows=words(rows), columns=words(columns))
    return view


@makes("OperationView")
def operation(count: int) -> QWidget:
    bands = (Band("", "norm", numbers(count)), Band("×", "weights", numbers(count)))
    view = OperationView()
    groups = (BandGroup("input", bands, 1.0), BandGroup("bias", (Band("", "bias", np.array([0.17])),), 0.17))
    view.set_picture(OperationPicture(groups, "sum", 1.17, "signed"))
    return view


@makes("PixelGrid")
def pixels(count: int) -> QWidget:
    side = isqrt(count)
    view = PixelGrid(side)
    view.set_pixels([bool(at % 3) for at in range(side * side)])
    return view


@makes("StripList")
def strips(count: int) -> QWidget:
    view = StripList()
    view.set_strips([Strip(word, numbers(count), "signed") for word in words(8)])
    return view


@makes("BandedPlot")
def banded_plot(count: int) -> QWidget:
    plot, x = BandedPlot(), np.arange(float(count))
    plot.set_units("words")
    plot.set_curves([PlotCurve("model", x, np.sqrt(x), 0, dots=True)])
    return plot


@makes("BarsView")
def bars(count: int) -> QWidget:
    view = BarsView()
    view.set_bars(words(count), shares(count), notes=words(count))
    return view


@makes("BeforeAfterBars")
def before_after(count: int) -> QWidget:
    view = BeforeAfterBars()
    view.set_words(words(count), shares(count), shares(count)[::-1])
    return view


@makes("CumulativeBar")
def cumulative_bar(count: int) -> QWidget:
    view = CumulativeBar()
    view.set_shares(words(count), np.sort(shares(count))[::-1])
    view.set_draw(0.42, animated=False)
    return view


@makes("CurveRows")
def curve_rows(count: int) -> QWidget:
    view, steps = CurveRows(), list(range(0, 2600, 20))
    view.set_span(60, 400)
    view.set_rows(steps, [CurveRow(word, {"query": shares(len(steps))}) for word in words(count)], 0.7)
    return view


@makes("Histogram")
def histogram(count: int) -> QWidget:
    view = Histogram("documents", "tokens")
    view.set_columns(np.arange(count + 1.0), np.arange(count))
    return view


@makes("Legend")
def legend(count: int) -> QWidget:
    view = Legend(wraps=True, hides=True)
    view.set_entries([LegendEntry(word, current_theme().series_color(0)) for word in words(count)])
    return view


@makes("LogLogPlot")
def log_log_plot(count: int) -> QWidget:
    plot = LogLogPlot("rank", "count")
    plot.set_values(np.ceil(20_000 / np.arange(1, count + 1) ** 1.05))
    return plot


@makes("LossSurface")
def loss_surface(count: int) -> QWidget:
    plot, places = LossSurface(), np.linspace(-2, 2, isqrt(count))
    plot.set_surface(places, places, places[None, :] ** 2 + places[:, None] ** 2, ("U", "W"))
    turns = np.linspace(0, 30, count)
    plot.set_path(np.stack([np.cos(turns), np.sin(turns)], axis=1) * np.exp(-turns / 9)[:, None], 5)
    return plot


@makes("PlotNames")
def plot_names(count: int) -> QWidget:
    view, color = PlotNames(), current_theme().series_color(0)
    view.set_names([PlotName(word, "0.1", at * 0.5, color) for at, word in enumerate(words(count))], 0, 500)
    return view


@makes("PollChoices")
def poll_choices(count: int) -> QWidget:
    view = PollChoices()
    view.set_choices([ChoiceRow(str(at), word, at) for at, word in enumerate(words(count))])
    view.show_answers(True, "1")
    return view


@makes("PositionBars")
def position_bars(count: int) -> QWidget:
    view = PositionBars()
    view.set_parts(numbers(count), words(count))
    return view


@makes("PositionCurve")
def position_curve(count: int) -> QWidget:
    view = PositionCurve()
    view.set_values(numbers(count), words(count))
    return view


@makes("ScatterPlot")
def scatter_plot(count: int) -> QWidget:
    plot = ScatterPlot("exact", "estimate")
    plot.set_points(numbers(count), numbers(count)[::-1])
    return plot


@makes("ScoreStrips")
def score_strips(count: int) -> QWidget:
    view = ScoreStrips()
    view.set_strips([ScoreStrip(word, shares(count) * 20) for word in words(3)])
    return view


@makes("SignedBars")
def signed_bars(count: int) -> QWidget:
    view = SignedBars("what each part adds")
    view.set_bars(words(count), numbers(count), notes=words(count))
    return view


@makes("SimplexBars")
def simplex_bars(count: int) -> QWidget:
    view = SimplexBars()
    view.set_words(words(count), shares(count), 22)
    view.set_shares(shares(count)[::-1], numbers(count))
    return view


@makes("SizePlot")
def size_plot(count: int) -> QWidget:
    plot = SizePlot()
    spread = numbers(count, 2)
    points = [
        SizePoint(word, 10 ** (9 + x), 10 ** (10 + y), is_named=at < 40)
        for at, (word, (x, y)) in enumerate(zip(words(count), spread, strict=True))
    ]
    ticks = {exponent: f"1e{exponent}" for exponent in range(4, 15, 2)}
    plot.set_content(points, [ComputeLine("a year", 3e17)], ("20 tokens a parameter", 20), (ticks, ticks))
    return plot


@makes("SurprisalPlot")
def surprisal_plot(count: int) -> QWidget:
    plot = SurprisalPlot()
    plot.set_words(words(count), [WordCurve(name, 1, np.abs(numbers(count))) for name in ("a", "b")])
    return plot


@makes("TapeList")
def tape_list(count: int) -> QWidget:
    view = TapeList()
    view.set_entries([TapeEntry(word, "add", word, "waits") for word in words(count)])
    return view


@makes("AlgorithmLines")
def algorithm_lines(count: int) -> QWidget:
    view = AlgorithmLines()
    view.set_lines([AlgorithmLine(word, f"{word} ← 1", "12 texts") for word in words(count)])
    return view


@makes("AlignmentArcs")
def alignment_arcs(count: int) -> QWidget:
    view = AlignmentArcs()
    view.set_alignment(words(count), words(count), np.random.default_rng(3).dirichlet([0.1] * count, count))
    return view


@makes("AnswerRows")
def answer_rows(count: int) -> QWidget:
    view = AnswerRows()
    rows = []
    for at in range(4):
        said = tuple(words(count // 4))
        rows.append(
            AnswerRow(f"row {at}", "9 tokens", "", said, (0.5,) * len(said), frozenset(), "It goes on.")
        )
    view.set_rows(rows)
    return view


@makes("AnsweredStrip")
def answered_strip(count: int) -> QWidget:
    view = AnsweredStrip()
    view.set_tokens(words(count))
    view.set_answers([TokenAnswer("n", 0.5, "v") for _ in range(count)])
    return view


@makes("ArithmeticCard")
def arithmetic_card(count: int) -> QWidget:
    places = np.stack([np.full(count, 4), np.arange(count)], axis=1)
    factors = (
        Factor("layers.0.recurrent", places, numbers(count)),
        Factor("layers/0/hidden", places, numbers(count)[::-1]),
    )
    cell = Arithmetic("x", (5, 17), 0.0, "gate", "sum", (Terms("previous", factors),), "sigmoid")
    view = ArithmeticCard()
    view.set_arithmetic(cell, lambda source, index: f"h · {index[-1] + 1}", count=count)
    return view


@makes("AttentionText")
def attention_text(count: int) -> QWidget:
    view = AttentionText()
    weights = np.tri(count) / np.arange(1, count + 1)[:, None]
    view.set_attention(words(count), weights)
    view.set_current(count // 2)
    return view


@makes("Breadcrumbs")
def breadcrumbs(count: int) -> QWidget:
    view = Breadcrumbs()
    view.set_steps(words(count))
    return view


@makes("ConcordanceList")
def concordance(count: int) -> QWidget:
    view = ConcordanceList()
    view.set_lines([OccurrenceLine("in the yard", "cows eat", word, "in the shade") for word in words(count)])
    return view


@makes("ExamplesView")
def examples(count: int) -> QWidget:
    view = ExamplesView()
    ten = tuple(words(10))
    view.set_examples([ShownExample(ten, tags=tuple("nvpdnnvpdn"), label="good") for _ in range(count // 10)])
    return view


@makes("LabelTable")
def label_table(count: int) -> QWidget:
    table = LabelTable()
    table.set_rows(words(count), [LabelRow("forward", 0, (TableLabel("n", 0.5, False),) * count)])
    return table


@makes("LabelledWords")
def labelled_words(count: int) -> QWidget:
    view = LabelledWords()
    view.set_words([LabelledWord(word, "n", 0.94) for word in words(count)])
    return view


@makes("ProductStrip")
def product_strip(count: int) -> QWidget:
    view, factors = ProductStrip(), np.clip(shares(count), 1e-9, 1)
    view.set_product(words(count), factors, -np.log2(factors))
    return view


@makes("TokenStrip")
def token_strip(count: int) -> QWidget:
    view = TokenStrip()
    view.set_tokens(words(count), boundaries={0}, tinted=True)
    return view


@makes("WordEffects")
def word_effects(count: int) -> QWidget:
    view = WordEffects()
    view.set_words([WordEffect(word, 0.1, 0.2) for word in words(count)], 1.63)
    return view


@makes("DotRows")
def dot_rows(count: int) -> QWidget:
    dots = DotRows()
    half = count // 2
    rows = [
        DotRow(f"group {at}", numbers(half), range(at * half, (at + 1) * half), at, (0.0, 0.1))
        for at in (0, 1)
    ]
    dots.set_rows(rows)
    return dots


@makes("PointCloud")
def point_cloud(count: int) -> QWidget:
    cloud = PointCloud()
    cloud.set_names("A", "B")
    cloud.set_points(numbers(count), numbers(count) ** 2)
    return cloud


@makes("AnswerColumns")
def answer_columns(count: int) -> QWidget:
    view = AnswerColumns()
    columns = [AnswerColumn(name, place, shares(count)) for place, name in enumerate(("before", "after"))]
    view.set_answers(columns, words(count), words(count))
    return view


@makes("ShiftArrows")
def shift_arrows(count: int) -> QWidget:
    view = ShiftArrows()
    view.set_shifts(words(count), shares(count), shares(count)[::-1])
    return view


@makes("WordBarsPlot")
def word_bars(count: int) -> QWidget:
    view = WordBarsPlot()
    view.set_bars(words(count), numbers(count), np.full(count, 0.1), numbers(count) / 2, words(count))
    return view


@makes("FiringLines")
def firing_lines(count: int) -> QWidget:
    view, line = FiringLines(), FiringLine(tuple(words(10)), 5, np.linspace(0, 1, 10), "6.5")
    view.set_lines([line] * count)
    return view


@makes("PushedLinesView")
def pushed_lines(count: int) -> QWidget:
    view, push = PushedLinesView(), np.linspace(-1, 1, 10)
    line = tuple(words(10))
    rows = [
        PushedRow(label=("to", "her"), times="27", tokens=line, pushes=push, bars=push[:4], said="9 %")
        for _ in range(count)
    ]
    view.set_rows(("form", "times", "line", "by step", "of all"), rows)
    return view


@makes("LossText")
def loss_text(count: int) -> QWidget:
    text, known = LossText(), words(50)
    ids = np.arange(count) % len(known)
    text.set_text(ids, known, np.arange(0, count, 40), np.abs(numbers(count)), "count", 3.0)
    return text


@makes("MeasuredCards")
def measured_cards(count: int) -> QWidget:
    cards = MeasuredCards()
    bars = (MeasuredBar("trained", 0.5, "2.4M"), MeasuredBar("memory", 0.2, "20 MB"))
    cards.set_cards([MeasuredCard(word, word, "rate", bars) for word in words(count)], "")
    return cards


@makes("SizedCells")
def sized_cells(count: int) -> QWidget:
    cells = SizedCells()
    rows, columns = rows_by_columns(count)
    names = words(rows), words(columns)
    cells.set_cells(numbers(rows, columns), np.abs(numbers(rows, columns)), *names, ("head", "layer"))
    return cells

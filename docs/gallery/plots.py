"""Plots: bars, curves and counts."""

from __future__ import annotations

import numpy as np
from gallery import Exhibit, show
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.kit.axes import ANYTHING, LOSS, SHARE
from lmviz.app.widgets.plots.answer_columns import AnswerColumns
from lmviz.app.widgets.plots.banded_plot import BandedPlot
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.before_after_bars import BeforeAfterBars
from lmviz.app.widgets.plots.cumulative_bar import CumulativeBar
from lmviz.app.widgets.plots.curve_rows import CurveRow, CurveRows
from lmviz.app.widgets.plots.distribution_card import DistributionCard
from lmviz.app.widgets.plots.dot_rows import DotRows
from lmviz.app.widgets.plots.histogram import Histogram
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.log_log_plot import LogLogPlot
from lmviz.app.widgets.plots.loss_surface import LossSurface
from lmviz.app.widgets.plots.parts_bar import PartsBar
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
from lmviz.app.widgets.plots.sparkline import Sparkline
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot
from lmviz.app.widgets.plots.word_bars import WordBarsPlot
from lmviz.looks.answer_column import AnswerColumn
from lmviz.looks.curve import PlotCurve
from lmviz.looks.parts import DotRow
from lmviz.looks.word_curve import WordCurve

CANDIDATES = ("king", "queen", "night", "world", "people", "lord", "house", "other", "day", "duke", "rest")
SHARES = np.array([21.2, 14.8, 9.7, 7.1, 5.5, 4.9, 4.1, 3.6, 3.1, 2.7, 2.2]) / 100
TEXT = ("The", "bat", "made", "noise", "at", "night", "and", "the")


def banded_plot() -> QWidget:
    """Quality by length of two models, one length chosen."""
    plot, lengths = BandedPlot(), np.arange(5.0, 55, 5)
    high, low = 100 / (1 + np.exp((lengths - 42) / 5)), 100 / (1 + np.exp((lengths - 14) / 4))
    plot.set_units("words")
    plot.set_curves(
        [
            PlotCurve(name, lengths, y, series, dots=True, band=band)
            for name, series, y, band in (
                ("with attention", 0, high, (high * 0.94, high * 0.5 + 50)),
                ("without", 4, low, (low * 0.9, low * 0.96 + 4)),
            )
        ]
    )
    plot.set_marks([(30, "trained to 30")])
    plot.choose(40.0)
    return plot


def bars() -> QWidget:
    """A distribution, one word marked and some dimmed."""
    view = BarsView()
    logits = [f"{value:.2f}" for value in np.log(SHARES) + 9]
    view.set_bars(CANDIDATES, SHARES, notes=logits, highlighted={1}, faded={8, 9, 10})
    return view


def signed_bars() -> QWidget:
    """Parts of a sum, each where the one before has ended, and their sum."""
    view = SignedBars("what each part adds")
    shares = [2.7, 2.09, 0.35, -0.44, -0.16, -0.43]
    names = ["feed-forward 3", "feed-forward 1", "head 2·2", "feed-forward 2", "head 3·2", "9 other heads"]
    words = ["", "", "stone", "", "brown", ""]
    view.set_bars([*names, "stone − bell"], [*shares, sum(shares)], notes=words, faded=[5], running=True)
    view.set_current(2)
    return view


def before_after_bars() -> QWidget:
    """The words that a change moved most."""
    view = BeforeAfterBars()
    before = np.array([0.923, 0.015, 0.002, 0.001, 0.014])
    view.set_words(
        ("stone", "thimble", "ball", "mirror", "key"), before, [0.03, 0.136, 0.105, 0.102, 0.063], lost=True
    )
    return view


def shift_arrows() -> QWidget:
    """The next words of a model at two steps."""
    view = ShiftArrows()
    words = ("stone", "feather", "key", "lamp", "ball", "cup")
    view.set_shifts(
        words, [0.023, 0.033, 0.024, 0.059, 0.051, 0.046], [0.51, 0.093, 0.038, 0.005, 0.006, 0.003]
    )
    return view


def answer_columns() -> QWidget:
    """A model before and after it was trained further, asked the same."""
    view = AnswerColumns()
    prompts = ("The capital of France is", "The opposite of hot is", "The sun rises in the")
    view.set_answers(
        [
            AnswerColumn("before", "muted_text", np.array([0.77, 0.68, 0.11]), text="… the great god, and I"),
            AnswerColumn("LoRA, rank 8", 0, np.array([0.004, 0.06, 0.14]), text="… the great general, and I"),
        ],
        prompts,
        ("Paris", "cold", "east"),
    )
    return view


def cumulative_bar() -> QWidget:
    """A uniform number that lands among the candidates."""
    view = CumulativeBar()
    view.set_shares(CANDIDATES, SHARES, 1 - SHARES.sum())
    view.set_draw(0.42, animated=False)
    return view


def distribution_card() -> QWidget:
    """One of several models that are compared."""
    card = DistributionCard()
    card.set_moment("LSTM", current_theme().series_color(1), (0, 100, 200), 200, removable=True)
    card.set_readout("entropy 5.21 bits")
    card.bars.set_bars(CANDIDATES[:3], SHARES[:3], highlighted={0})
    return card


def histogram() -> QWidget:
    """The lengths of many documents."""
    view = Histogram("documents", "tokens")
    lengths = np.random.default_rng(0).poisson(12, 3000) + 2
    counts, edges = np.histogram(lengths, bins=np.arange(1, lengths.max() + 2))
    view.set_columns(edges, counts)
    return view


def legend() -> QWidget:
    """Three curves, one of them hidden."""
    color = current_theme().series_color
    view = Legend(wraps=True, hides=True)
    view.set_entries(
        [
            LegendEntry("training", color(0)),
            LegendEntry("validation", color(1)),
            LegendEntry("5-gram", color(2), shown=False),
        ]
    )
    return view


def line_plot() -> QWidget:
    """The loss of a training under way."""
    plot = LinePlot()
    steps = np.arange(0, 1241)
    loss = 1.7 + 2.5 * np.exp(-steps / 150) + np.random.default_rng(0).normal(0, 0.03, len(steps))
    measured = 1.8 + 2.5 * np.exp(-steps[::20] / 160)
    validation = PlotCurve("validation", steps[::20], measured, role="validation")
    plot.set_curves([PlotCurve("training", steps, loss), validation])
    plot.set_references([("unigram", 3.31), ("bigram", 2.46), ("5-gram Kneser-Ney", 2.02)])
    plot.set_end(2000)
    plot.set_cursor(1240)
    return plot


def curve_rows() -> QWidget:
    """Two heads over a training, one of which turns to something within a few steps."""
    steps = np.arange(0, 2600, 20)
    turn = 0.03 + 0.5 / (1 + np.exp((1900 - steps) / 40))
    low = 0.04 + 0.01 * np.sin(steps / 90)
    rows = CurveRows()
    rows.set_span(60, 400)
    rows.set_rows(
        steps.tolist(),
        [
            CurveRow("1·2", {"query": low, "key": low / 2}, said="no clear role"),
            CurveRow("2·3", {"query": low, "key": turn}, strong="key", said="what followed 53 %"),
        ],
        0.7,
    )
    rows.set_band((1760, 2040))
    rows.set_cursor(2200)
    rows.set_current(1)
    return rows


def log_log_plot() -> QWidget:
    """Zipf's law, with one word marked."""
    plot = LogLogPlot("rank", "count")
    plot.set_values(np.ceil(20_000 / np.arange(1, 9413) ** 1.05))
    plot.set_current(40)
    return plot


def position_curve() -> QWidget:
    """One unit over a text."""
    curve = PositionCurve()
    curve.set_values(np.array([-0.5, -0.35, -0.1, -0.15, 0.4, 0.6, 0.1, -0.2]), TEXT)
    curve.set_threshold(0.3)
    curve.set_current(5)
    return curve


def scatter_plot() -> QWidget:
    """An estimate that is right about most, and too low where much is at stake."""
    plot, exact = ScatterPlot("exact", "fast estimate"), np.random.default_rng(2).beta(0.3, 1.2, 60)
    plot.set_points(exact, exact * (1 - 0.4 * exact) + np.random.default_rng(3).normal(0, 0.03, 60))
    plot.set_current(int(exact.argmax()))
    return plot


def score_strips() -> QWidget:
    """One head of 270 among all, by three scores."""
    strips, random = ScoreStrips(), np.random.default_rng(4)
    shapes = (("previous word", 0.6, 4, "query"), ("the same word before", 0.4, 9, "value"))
    strips.set_strips([ScoreStrip(name, random.beta(a, b, 270), role) for name, a, b, role in shapes])
    strips.set_current(int(strips.strips[1].scores.argmax()))
    return strips


def sparkline() -> QWidget:
    """A loss that falls."""
    line = Sparkline()
    line.set_values(np.exp(-np.linspace(0, 3, 200)) + np.random.default_rng(0).normal(0, 0.02, 200))
    return line


def word_bars() -> QWidget:
    """What is lost where the state after each word gives way to others, and what it said then."""
    plot = WordBarsPlot()
    words = ("Her", "grandfather", "often", "laughed", "about", "it", ".", "Mira")
    lost = np.array([0.52, 0.37, 1.15, 2.0, 1.48, -0.4, 1.4, 1.36])
    said = ("grandfather", "often", "laughed", "about", "it", ".", "The", "had")
    plot.set_bars(words, lost, np.full(8, 0.2), lost / 2, said)
    plot.set_current(3)
    return plot


def surprisal_plot() -> QWidget:
    """Two models over one text."""
    plot = SurprisalPlot()
    counts = np.array([6.2, 13.4, 8.3, 10.7, 4.9, 3.6, 3.4, 3.1])
    curves = [WordCurve("5-gram", 4, counts), WordCurve("LSTM", 1, counts * 0.86)]
    plot.set_words(TEXT, curves, np.array([0.9, 0.5, 0.45, 0.4, 0.8, 0.9, 0.2, 0.2]))
    plot.set_current(5)
    return plot


def error_plot() -> QWidget:
    """Truncation on one side, rounding on the other."""
    plot = LinePlot("ε", logarithmic=(True, True), words=("{:.0e}".format, "{:.0e}".format), y_name="error")
    epsilon = np.logspace(-13, -1, 25)
    curves = (("float64", "accent", 1e-17), ("float32", "muted_text", 3e-8))
    errors = [(name, role, least / epsilon + epsilon**2 / 300) for name, role, least in curves]
    plot.set_curves([PlotCurve(name, epsilon, error, role) for name, role, error in errors])
    plot.set_cursor(1e-5)
    return plot


def batch_noise_plot() -> QWidget:
    """Gradients of which a batch of twelve has as much noise as signal."""
    plot, sizes = LinePlot("examples", LOSS, logarithmic=(True, True), y_name="norm"), 2 ** np.arange(7)
    expected, wobble = np.sqrt(0.08 + 0.96 / sizes), np.array([1, 1.02, 0.98, 1.01, 0.97, 1.02, 1])
    noise = expected[0] / np.sqrt(sizes)
    plot.set_curves(
        [
            PlotCurve("measured", sizes, expected * wobble, "accent", 0, dots=True),
            PlotCurve("expected", sizes, expected, "accent"),
            PlotCurve("noise, 1/√B", sizes, noise, "muted_text", 1.4, dashed=True),
        ]
    )
    plot.set_marks([(12, "noise = signal")])
    return plot


def descent_plot() -> QWidget:
    """A step of gradient descent on a parabola."""
    plot = LinePlot("η", words=("{:.2g}".format, "{:.3f}".format), y_name="loss", possible_x=ANYTHING)
    rates = np.linspace(-0.1, 0.6, 20)
    line = PlotCurve("line", rates, 0.3 - 0.2 * rates, "muted_text", 1.2, dashed=True, guide=True)
    plot.set_curves([PlotCurve("loss", rates, 0.3 - 0.2 * rates + 0.1 * rates**2, "accent"), line])
    plot.set_cursor(0.1)
    return plot


def loss_surface() -> QWidget:
    """A way down into a valley."""
    plot = LossSurface()
    places = np.linspace(-2, 2, 25)
    plot.set_surface(places, places, places[None, :] ** 2 + 3 * places[:, None] ** 2, ("U", "W"))
    plot.set_path(np.array([(1.8 * 0.8**step, 1.5 * 0.5**step) for step in range(12)]), 5)
    return plot


def position_bars() -> QWidget:
    """What each step adds to the gradient of a weight, the first three cut off."""
    bars, parts = PositionBars(), np.array([0.1, 0.3, 0.2, 0.5, -0.4, 0.8, 1.4])
    bars.set_parts(parts, kept=np.arange(7) > 2)
    return bars


COUNTS = np.array([4.0, 3, 2, 1, 1])


def simplex_bars() -> QWidget:
    """Shares on their way to the counts."""
    view, shares = SimplexBars(), np.array([0.2, 0.35, 0.25, 0.05, 0.15])
    view.set_words(("corn", "grass", "hay", "if", "which"), COUNTS / 11, 22)
    view.set_shares(shares, COUNTS / shares - 11)
    return view


def likelihood_curve() -> QWidget:
    """The log likelihood over the share of one word."""
    plot, places = LinePlot("p", possible_x=SHARE, y_name="Σ c ln p"), np.linspace(0.001, 0.999, 120)
    likelihoods = 4 * np.log(places) + 7 * np.log(1 - places)
    seen = np.where(likelihoods > likelihoods.max() - 6, likelihoods, np.nan)
    here = PlotCurve("here", [0.2], [4 * np.log(0.2) + 7 * np.log(0.8)], "accent", 0, dots=True)
    plot.set_curves([here, PlotCurve("p(corn)", places, seen, "accent", said="")])
    plot.set_references([("the most", float(likelihoods.max()))])
    return plot


def poll_choices() -> QWidget:
    """A poll whose answers are shown."""
    view = PollChoices()
    texts = ("0.1, 0.2, 1.2, 0.1", "0.1, 0.6, 0.4, 0.1", "0.1, 0.2, 0.6, 0.1")
    view.set_choices([ChoiceRow(*row) for row in zip("ABC", texts, (16, 6, 4), strict=True)])
    view.show_answers(True, "A")
    return view


def curves_plot() -> QWidget:
    """Edges of two computation graphs."""
    plot, lengths = LinePlot("tokens T", LOSS, words=(count, count), y_name="edges"), np.arange(1, 25)
    curves = {"attention": ("accent", lengths * (lengths + 1) / 2), "RNN": ("value", 2 * lengths - 1)}
    plot.set_curves([PlotCurve(name, lengths, y, color) for name, (color, y) in curves.items()])
    plot.set_cursor(7)
    return plot


def parts_bar() -> QWidget:
    """The parameters of a model, part by part."""
    bar = PartsBar()
    bar.set_parts([("layers", 84.9, "84.9 M"), ("vocabulary", 31.1, "31.1 M"), ("positions", 0.4, "393 k")])
    return bar


def size_plot() -> QWidget:
    """Three models, a line of equal compute and that of 20 tokens a parameter."""
    plot = SizePlot()
    points = [
        SizePoint("GPT-2", 1.5e9, 1e10),
        SizePoint("GPT-3", 1.75e11, 3e11, is_chosen=True),
        SizePoint("one's own", 5e5, 1e7, is_own=True),
    ]
    lines = [ComputeLine("a year here", 3e17), ComputeLine("100,000 years here", 5.2e22, is_chosen=True)]
    ticks = {exponent: f"1e{exponent}" for exponent in range(4, 15, 2)}
    plot.set_content(points, lines, ("20 tokens a parameter", 20), (ticks, ticks))
    return plot


def dot_rows() -> QWidget:
    """The measure of thirty texts in two groups, one of them ringed."""
    dots, chance = DotRows(), np.random.default_rng(3)
    first, second = chance.normal(4.5, 1.6, 30), chance.normal(6.3, 1.4, 30)
    dots.set_rows(
        [
            DotRow("named second\n30 texts", first, range(30), 0, (3.9, 5.1)),
            DotRow("named first\n30 texts", second, range(30, 60), 1, (5.8, 6.8)),
        ]
    )
    dots.ring(7)
    return dots


def point_cloud() -> QWidget:
    """Thirty texts by the measure of two models."""
    cloud, chance = PointCloud(), np.random.default_rng(4)
    x = chance.normal(5, 1.8, 30)
    cloud.set_names("A: Transformer", "B: GRU")
    cloud.set_points(x, 0.5 * x + chance.normal(2, 1, 30))
    cloud.ring(5)
    return cloud


EXHIBITS = (
    Exhibit("The measure of each text", "mean and 95 %", dot_rows, (460, 180)),
    Exhibit("A second model", "", point_cloud, (300, 260)),
    Exhibit("Quality by length", "BLEU", banded_plot, (480, 240)),
    Exhibit("Poll", "26 answers", poll_choices, (560, 320)),
    Exhibit("Simplex", "", simplex_bars, (480, 200)),
    Exhibit("Likelihood", "", likelihood_curve, (300, 200)),
    Exhibit("How the graph grows", "edges", curves_plot, (360, 220)),
    Exhibit("Parameters", "", parts_bar, (280, 130)),
    Exhibit("Who wrote it", "", signed_bars, (380, 220)),
    Exhibit("Models by size and reading", "", size_plot, (520, 360)),
    Exhibit("Check by nudging", "", error_plot, (360, 220)),
    Exhibit("Gradient noise", "256 single gradients", batch_noise_plot, (400, 240)),
    Exhibit("One step", "θ ← θ − η g", descent_plot, (320, 180)),
    Exhibit("Training", "the darker, the larger the loss", loss_surface, (340, 260)),
    Exhibit("Next word", "", bars, (460, 340)),
    Exhibit("Next word", "before → after", before_after_bars, (360, 240)),
    Exhibit("Next word", "A ○ → ● B · points", shift_arrows, (420, 200)),
    Exhibit("Before and after", "the same draws", answer_columns, (560, 150)),
    Exhibit("The die", "", cumulative_bar, (460, 170)),
    Exhibit("Compare", "", distribution_card, (320, 240)),
    Exhibit("Lengths", "of 3,000 documents", histogram, (320, 160)),
    Exhibit("Curves", "", legend, (320, 90)),
    Exhibit("Loss, nats per character", "linear", line_plot, (660, 380)),
    Exhibit("What heads do over a training", "in rows", curve_rows, (560, 120)),
    Exhibit("Rank and frequency", "log–log", log_log_plot, (320, 240)),
    Exhibit("Gradient of U by step", "", position_bars, (300, 110)),
    Exhibit("Among all 270", "by score", score_strips, (420, 60)),
    Exhibit("Fast estimate", "per cent", scatter_plot, (260, 220)),
    Exhibit("Unit 18", "over the text", position_curve, (240, 150)),
    Exhibit("Loss", "", sparkline, (160, 90)),
    Exhibit("A number for each word", "and another word below", word_bars, (700, 260)),
    Exhibit("Surprisal over the text, bits", "disagreement below", surprisal_plot, (700, 300)),
)

if __name__ == "__main__":
    show(EXHIBITS)

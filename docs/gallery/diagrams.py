"""Diagrams: families, stages, networks and trees."""

from __future__ import annotations

import numpy as np
from gallery import Exhibit, show
from PySide6.QtWidgets import QHBoxLayout, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.scrolling import scrolling
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
from lmviz.app.widgets.diagrams.layer_graph import LayerGraphView
from lmviz.app.widgets.diagrams.model_parts import ModelBlock, ModelLine, StreamMark
from lmviz.app.widgets.diagrams.network_picture import NetworkPicture
from lmviz.app.widgets.diagrams.network_values import DrawnValue
from lmviz.app.widgets.diagrams.order_picture import OrderLine, OrderPicture
from lmviz.app.widgets.diagrams.stage_timeline import StageTimeline
from lmviz.app.widgets.diagrams.thin_product import ThinProduct
from lmviz.app.widgets.diagrams.tree_view import TreeNode, TreeView
from lmviz.app.widgets.diagrams.unit_boxes import DrawnArrow, DrawnUnit
from lmviz.app.widgets.diagrams.unit_picture import UnitPicture
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.unrolled_handover import HandedOn, UnrolledHandover
from lmviz.app.widgets.diagrams.unrolled_values import UnrolledLayer, UnrolledRow
from lmviz.app.widgets.diagrams.whole_model import WholeModelView
from lmviz.app.widgets.diagrams.word_window import WordWindowView
from lmviz.app.widgets.diagrams.word_window_values import UnseenWord, VotedWord, WindowPicture, WindowWord
from lmviz.app.widgets.diagrams.zoom_buttons import ZoomButtons
from lmviz.app.widgets.kit.picture import Miniature
from lmviz.autodiff.layout import ValuePlace

FAMILIES = {
    "ngram": "n-gram",
    "window": "window",
    "rnn": "RNN",
    "lstm": "LSTM",
    "gru": "GRU",
    "transformer": "Transformer",
}
STAGES = ("embedding", "norm", "query, key, value", "scores", "mask", "softmax", "weighted sum", "logits")


def family_cards() -> QWidget:
    """All families, one of them chosen."""
    cards = FamilyCards([FamilyCard(name, title) for name, title in FAMILIES.items()])
    cards.choose("transformer")
    return cards


def gradient_wave() -> QWidget:
    """A loss that goes back through two recurrences, as far as truncation lets it."""
    chance, tokens = np.random.default_rng(3), ("When", "she", "tried", "to", "print", "her", "tickets")
    wave = GradientWave()
    rows = []
    for index, (name, factor) in enumerate((("LSTM", 0.97), ("RNN", 0.55))):
        sizes = factor ** np.arange(len(tokens))[::-1]
        gradients = chance.normal(size=(len(tokens), 12)) * sizes[:, None]
        note = f"state ×{factor} a step"
        rows.append(WaveRow(name, note, current_theme().series_color(index), gradients, sizes))
    wave.set_rows(rows, tokens)
    wave.set_truncation(4)
    wave.set_current(1)
    return wave


def stage_timeline() -> QWidget:
    """The stages of an attention layer."""
    timeline = StageTimeline()
    timeline.set_stages(STAGES, ["embedding", *["attention"] * 6, "output"])
    timeline.set_stage(4)
    return timeline


def tree_view() -> QWidget:
    """A beam search with its pruned branches."""
    tree = TreeView()
    nodes = [
        TreeNode("… the"),
        TreeNode("king", "21 %", 0, pruned=True),
        TreeNode("queen", "15 %", 0),
        TreeNode("world", "7 %", 0, pruned=True),
        TreeNode("of", "33 %", 2),
        TreeNode(",", "21 %", 2, pruned=True),
        TreeNode("France", "12 %", 4, pruned=True),
        TreeNode("the", "19 %", 4),
        TreeNode("night", "24 %", 7),
    ]
    tree.set_nodes(nodes, current=8)
    return tree


def unrolled() -> QWidget:
    """Two layers over seven words."""
    view = UnrolledView()
    tokens = ["The", "bat", "made", "noise", "at", "night", "and"]
    chance = np.random.default_rng(0)
    layers = [
        UnrolledLayer(
            name,
            (
                UnrolledRow("h", np.tanh(chance.normal(size=(7, 64))), limit=1.0),
                UnrolledRow("z", chance.uniform(size=(7, 64)), "share"),
            ),
        )
        for name in ("layer 1", "layer 2")
    ]
    predictions = ["bat 4 %", "is 9 %", "a 22 %", "of 14 %", "the 31 %", "and 18 %", ", 2 %"]
    view.set_network(tokens, layers, predictions)
    view.set_current(4, 1)
    return view


def encoder_and_decoder() -> QWidget:
    """An encoder that reads both ways, and a decoder that looks at all of its states."""
    both, chance = QWidget(), np.random.default_rng(1)
    row, encoder, decoder = QHBoxLayout(both), UnrolledView(), UnrolledView()

    def states(direction: str = "") -> UnrolledLayer:
        return UnrolledLayer("", (UnrolledRow("h", np.tanh(chance.normal(size=(3, 64)))),), direction)

    layers = [states("forward"), states("backward")]
    encoder.set_network(["the", "cat", "sleeps"], layers, is_read_whole=True, is_gathered=True)
    decoder.set_network(["⟨start⟩", "le", "chat"], [states()], ["le 99 %", "chat 98 %", "dort 97 %"])
    for view in (encoder, decoder):
        row.addWidget(view)
    handover = UnrolledHandover(encoder, decoder, both)
    handover.set_ways([HandedOn(0, 2, 0), HandedOn(1, 0, 0)], has_context=True)
    return both


def whole_model() -> QWidget:
    """Two layers of a Transformer, the first of them unfolded."""
    chance, view = np.random.default_rng(0), WholeModelView()

    def strips(key: str, count: int = 4) -> tuple[Miniature, ...]:
        return tuple(Miniature(f"{key} {n}", chance.normal(size=(1, 24))) for n in range(count))

    def mark(key: str, word: str, share: float) -> StreamMark:
        return StreamMark(key, Miniature(key, chance.normal(size=(1, 96))), word, share)

    def block(number: int) -> ModelBlock:
        triangles = np.tril(chance.exponential(size=(4, 12, 12)))
        shares = triangles / triangles.sum(axis=-1, keepdims=True)
        weights = tuple(Miniature(f"w{number} {n}", square, "share") for n, square in enumerate(shares))
        lines = [
            ModelLine(f"q{number}", "queries", strips(f"q{number}"), "query"),
            ModelLine(f"k{number}", "keys", strips(f"k{number}"), "key"),
            ModelLine(f"w{number}", "weights", weights),
            ModelLine(f"a{number}", "adds", strips(f"a{number}", 1)),
        ]
        notes = (("1", "the", "31"), ("2", "bat", "92"), ("3", "at", "40"), ("4", "made", "12"))
        parts = (*lines, mark(f"r{number}", "night", 0.3))
        return ModelBlock(
            f"layer {number}", f"layer {number}", parts, (tuple(lines[2:]),), notes, "looks most at"
        )

    parts = (mark("e", "at", 0.8), block(1), mark("s1", "night", 0.4), block(2), mark("s2", "night", 0.9))
    view.set_model(parts, ("night", 0.9), "compared with 1,426 tokens")
    view.set_current("w1")
    return view


def ladder() -> QWidget:
    """Back-off of a trigram model whose longest context was never seen."""
    view = LadderView()
    bars = (("night", 6, 0.9), ("all", 3, 0.9), ("a", 1, 0.6))
    counted = tuple(LadderBar(f"count 2 {n}", *bar) for n, bar in enumerate(bars))
    rungs = (
        LadderRung(3, 2, ("noise", "at"), "never seen: all falls to the next rung", (), 0, 0, 1.0, 0.0, 1.0),
        LadderRung(2, 1, ("at",), "", counted, 10, 3, 1.0, 0.76, 0.24),
        LadderRung(1, 0, (), "", tuple(reversed(counted)), 900, 120, 0.24, 0.22, 0.02),
    )
    words = (
        MixtureWord("word 0", "night", 0.53, (0.0, 0.51, 0.01, 0.01), is_marked=True),
        MixtureWord("word 1", "all", 0.23, (0.0, 0.21, 0.01, 0.01)),
    )
    shares = ((0.0, 0.9, 0.1, 0.0), (0.6, 0.3, 0.1, 0.0), (0.0, 0.76, 0.22, 0.02))
    columns = tuple(
        MixtureColumn(f"position {at}", word, 3 if parts[0] else 2, parts)
        for at, (word, parts) in enumerate(zip(("made", "noise", "at"), shares, strict=True))
    )
    ground = ("every one of 130 words alike", 0.02)
    view.set_ladder(LadderPicture(rungs, ground, words, columns, "What followed, and how often"), 2)
    view.set_current(2, "night: (6 − 0.900) / 10 + 0.240 × 8.0 % = 53.0 %")
    return view


def word_window() -> QWidget:
    """Three words side by side, and two that the model cannot see."""
    chance, view = np.random.default_rng(0), WordWindowView()
    texts = (("made", "two back"), ("noise", "one back"), ("at", "this word"))
    words = tuple(
        WindowWord(f"seen {at}", word, place, Miniature(f"embedding {at}", chance.normal(size=(1, 16))),
                   chance.normal(size=24))
        for at, (word, place) in enumerate(texts)
    )  # fmt: skip
    likely = tuple(
        VotedWord(f"said {n}", word, share, Miniature(f"votes {n}", chance.normal(size=(1, 24))))
        for n, (word, share) in enumerate((("night", 0.31), ("all", 0.12), ("home", 0.05)))
    )
    joined = Miniature("joined", np.concatenate([word.embedding.values for word in words], axis=1))
    hidden = Miniature("hidden", np.tanh(sum(word.products for word in words))[None])
    unseen = (UnseenWord("unseen 0", "The"), UnseenWord("unseen 1", "bat"))
    view.set_window(WindowPicture(unseen, 0, 0.0, words, joined, hidden, "hidden layer", likely), 5)
    view.set_current("hidden")
    return view


def unit_picture() -> QWidget:
    """One linear unit that adds up what it reads, folded."""

    def drawn(name: str, number: float, row: int, step: int, *, is_made: bool = False) -> DrawnValue:
        word, side = ("add", "module") if is_made else ("", "left")
        place, array = ValuePlace(row, step, side), np.array(number)
        return DrawnValue(name, name, word, (), array, np.array(1.0), None, place, popped=is_made)

    numbers, total, units, arrows = (2, -0.5, 1), 0.0, [], []
    units.append(DrawnUnit(drawn("h0", 0.0, 1, 0), "h", "h", 0, "", is_given=True))
    for step, number in enumerate(numbers, start=1):
        total += number
        units.append(DrawnUnit(drawn(f"x{step}", number, 0, step), "x", "x", step, "", is_given=True))
        made = drawn(f"h{step}", total, 1, step, is_made=True)
        units.append(DrawnUnit(made, "h", "h", step, "", is_given=False))
        arrows.append(DrawnArrow(f"x{step}", f"h{step}", "W"))
        arrows.append(DrawnArrow(f"h{step - 1}", f"h{step}", "U"))
    view = UnitPicture()
    view.set_folded(True)
    view.set_units(units, arrows, {name: drawn(name, 1.0, 0, 0) for name in "WU"}, 1.0)
    return view


def network_picture() -> QWidget:
    """The diamond, its gradient on the way back; it can be drawn larger."""
    picture = NetworkPicture()
    number, slope = np.array, (np.array(8.0), np.array(1.0), np.array(1.0), np.array(1.0))
    rows = [
        ("v", "", 3.0, slope[0], ValuePlace(-1, 0, "below"), ()),
        ("u", "square", 9.0, slope[1], ValuePlace(0, 0, "module"), ("v",)),
        ("w", "multiply", 6.0, slope[2], ValuePlace(0, 0, "module"), ("v",)),
        ("y", "add", 15.0, slope[3], ValuePlace(1, 0, "module"), ("u", "w")),
    ]
    values = [
        DrawnValue(name, name, word, (), number(value), gradient, None, place, inputs, (), True)
        for name, word, value, gradient, place, inputs in rows
    ]
    picture.set_network(values, 8.0)
    picture.set_lit("w", "")
    area = scrolling(picture, sideways=True)
    ZoomButtons(picture, area)
    return area


def order_picture() -> QWidget:
    """Two words have changed places, and their weights with them."""
    view = OrderPicture()
    first, second = np.array([[0.1, 0.2, 0.6, 0.1]]), np.array([[0.1, 0.6, 0.2, 0.1]])
    same = "0.1, 0.2, 1.2, 0.1"
    view.set_lines(
        [
            OrderLine("before", ("x₁", "x₂", "x₃", "x₄"), first, same, (1, 2)),
            OrderLine("after", ("x₁", "x₃", "x₂", "x₄"), second, same, (1, 2)),
        ]
    )
    return view


def layer_graph() -> QWidget:
    """Attention over five words."""
    graph, words = LayerGraphView("accent"), ("The", "bat", "made", "noise", "at")
    state, source = np.tril_indices(5)
    none = np.empty((0, 2), dtype=int)
    graph.set_graph("attention", "15 edges", "1 step", np.stack([source, state], axis=1), none, words)
    return graph


def circuit() -> QWidget:
    """A word is read by a head, and what it brings goes on to the answer."""
    view = CircuitPicture()
    nodes = [
        CircuitNode("stone", -1, 0, 0, 0.0, is_head=False),
        CircuitNode("1", 0, 1, 0, 0.97),
        CircuitNode("ff", 0, 1, 1, 0.8, is_head=False),
        CircuitNode("2", 1, 1, 0, -0.1),
        CircuitNode("ff", 2, 1, 0, 0.5, is_head=False),
    ]
    pairs = ((0, 1, 0.97), (1, 2, 0.8), (2, 4, 0.3), (2, None, 0.3), (3, None, -0.1), (4, None, 0.5))
    view.set_circuit(nodes, [CircuitPath(*pair) for pair in pairs], "123", ("stone", "brown"), "stone − bell")
    return view


def thin_product() -> QWidget:
    """A matrix of 576 rows, and a change of rank 8."""
    view = ThinProduct()
    view.set_shape(576, 576, 8)
    return view


EXHIBITS = (
    Exhibit("LoRA", "to scale", thin_product, (280, 150)),
    Exhibit("The circuit", "3 parts keep 73 %", circuit, (420, 260)),
    Exhibit("Two words change places", "", order_picture, (400, 330)),
    Exhibit("Edges into one hidden layer", "", layer_graph, (380, 200)),
    Exhibit("Model", "0.80 M · 3.2 MB", family_cards, (320, 230)),
    Exhibit("Stage 5 of 8 · mask", "layer 1", stage_timeline, (520, 130)),
    Exhibit("Back through time", "as wide as the gradient", gradient_wave, (520, 150)),
    Exhibit("Branches", "sampling", tree_view, (620, 260)),
    Exhibit("Encoder and decoder", "what is handed on, and the context", encoder_and_decoder, (860, 300)),
    Exhibit("Unrolled over the prefix", "← → positions   ↑ ↓ layers", unrolled, (820, 320)),
    Exhibit("The whole model, at “at”", "each row on its own scale", whole_model, (560, 520)),
    Exhibit("Back-off ladder, at “at”", "dashed: the discount", ladder, (560, 560)),
    Exhibit("The whole model, at “at”", "each strip on its own scale", word_window, (620, 560)),
    Exhibit("Summation", "folded", unit_picture, (420, 300)),
    Exhibit("Backward 3 of 3 · square u", "B add up", network_picture, (420, 300)),
)

if __name__ == "__main__":
    show(EXHIBITS)

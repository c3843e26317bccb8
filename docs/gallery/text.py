"""Text: tokens, passages, equations, and the arithmetic of one number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from gallery import Exhibit, show
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text import typesetting
from lmviz.app.widgets.text.agreeing_digits import AgreeingDigits, WrittenNumber
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLine, AlgorithmLines
from lmviz.app.widgets.text.alignment_arcs import AlignmentArcs
from lmviz.app.widgets.text.answer_rows import AnswerRow, AnswerRows
from lmviz.app.widgets.text.answered_strip import AnsweredStrip, TokenAnswer
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard, ResultLine
from lmviz.app.widgets.text.attention_text import AttentionText
from lmviz.app.widgets.text.big_figure import BigFigure
from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.app.widgets.text.equation import EquationView
from lmviz.app.widgets.text.examples_view import ExamplesView, ShownExample
from lmviz.app.widgets.text.firing_lines import FiringLines
from lmviz.app.widgets.text.label_table import LabelTable
from lmviz.app.widgets.text.labelled_words import LabelledWord, LabelledWords
from lmviz.app.widgets.text.loss_text import LossText
from lmviz.app.widgets.text.marked_words import WordScroll
from lmviz.app.widgets.text.network_editor import NetworkEditor
from lmviz.app.widgets.text.passage_view import PassageView
from lmviz.app.widgets.text.product_strip import ProductStrip
from lmviz.app.widgets.text.pushed_lines import PushedLinesView
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.app.widgets.text.word_effects import WordEffect, WordEffects
from lmviz.looks.firing import FiringLine
from lmviz.looks.label_row import LabelRow, TableLabel
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.looks.pushed import PushedRow
from lmviz.models.arithmetic import Arithmetic, Factor, Terms

WORDS = ("The", "bat", "made", "noise", "at", "night", "and", "the")
TEXT = "⟨start⟩ First Citizen : ⏎ Before we proceed any further , hear me speak . ⏎ All : ⏎ Speak , speak . ⏎"
TOKENS = f"{TEXT} 言葉 は 文字 שלום עולם zyzzyva 🦇 You are all resolved rather to die".split(" ")


def gate_card(*, with_result: bool) -> ArithmeticCard:
    """Why a forget gate is as open as it is."""
    chance = np.random.default_rng(2)
    places = np.stack([np.full(128, 4), np.arange(128)], axis=1)
    state = Factor("layers/0/hidden", places, chance.normal(0, 0.5, 128))
    weight = Factor("layers.0.recurrent", places, chance.normal(0, 0.5, 128))
    bias = Factor("layers.0.bias", np.array([[17]]), np.array([0.2]))
    terms = (Terms("previous state", (weight, state)), Terms("bias", (bias,)))
    cell = Arithmetic("layers/0/forget", (5, 17), 0.0, "forget gate", "sum", terms, "sigmoid")
    card = ArithmeticCard(with_result=with_result)
    card.set_arithmetic(
        replace(cell, value=cell.evaluate()),
        lambda source, index: f"h₅ · {index[-1] + 1}" if "/" in source else source,
        count=3,
    )
    return card


def arithmetic_card() -> QWidget:
    """Operands and result, one line each."""
    return gate_card(with_result=True)


def result_line() -> QWidget:
    """What they come to, where the operands scroll."""
    line = ResultLine()
    line.set_row(gate_card(with_result=False).result)
    return line


def attention_text() -> QWidget:
    """What one word looks at, in the text itself."""
    seen = np.tri(len(WORDS), dtype=bool)
    powers = np.where(seen, np.exp(np.random.default_rng(1).normal(0, 1.6, seen.shape)), 0)
    view = AttentionText()
    view.set_attention(WORDS, powers / powers.sum(axis=1, keepdims=True))
    view.set_current(5)
    return view


def algorithm_lines() -> QWidget:
    """One step of gradient descent, at its backward pass."""
    view = AlgorithmLines()
    view.set_lines(
        [
            AlgorithmLine("batch", "batch ← 12 texts", "764 targets"),
            AlgorithmLine("loss", "L ← mean −ln p(target)", "6.922 nats"),
            AlgorithmLine("backward", "g ← ∂L/∂θ", "‖g‖ = 1.826"),
            AlgorithmLine("update", "θ ← θ − η · AdamW(g)", "η = 0.0002"),
        ]
    )
    view.set_lit(2)
    view.set_current(0)
    return view


def alignment_arcs() -> QWidget:
    """Where each word of a translation comes from."""
    target, source = ("la", "vache", "brune", "dort", "⟨end⟩?"), ("the", "brown", "cow", "sleeps", "⟨end⟩")
    powers = np.exp(np.random.default_rng(3).normal(0, 1, (5, 5)))
    powers[np.arange(5), [0, 2, 1, 3, 4]] += 12
    view = AlignmentArcs()
    view.set_alignment(target, source, powers / powers.sum(axis=1, keepdims=True))
    view.set_current(2)
    return view


def answer_rows() -> QWidget:
    """An answer that ends, and one that does not."""
    words = ("The", "capital", "of", "France", "is", "Paris", ".")
    view = AnswerRows()
    ended = AnswerRow(
        "as chat", "31 tokens", "the template", (*words, "im_end"), (0.16, *(0.97,) * 5, 0.57, 0.78),
        frozenset([7]), "It answers, and says by itself that its turn is over.",
    )  # fmt: skip
    endless = AnswerRow(
        "as letters", "66 tokens", "as chat, with each special token spelt out", words * 4, (0.9,) * 28,
        frozenset(), "Nothing tells it to stop: it says the same 7 tokens again and again.",
    )  # fmt: skip
    view.set_rows([ended, endless])
    return view


def breadcrumbs() -> QWidget:
    """The way from a logit to one state."""
    way = Breadcrumbs()
    way.set_steps(["logit of “king”", "hidden 2 · 41", "forget gate · 18", "h₅ · 18"])
    return way


def concordance_list() -> QWidget:
    """A phrase in three places."""
    view = ConcordanceList()
    lines = [
        OccurrenceLine("in the yard the brown", "cows eat", "corn", "from the trough"),
        OccurrenceLine("at noon", "cows eat", "grass", "by the brook and then they rest in the shade"),
        OccurrenceLine("when", "cows eat", "if", "they are led to it"),
    ]
    view.set_lines(lines)
    view.set_faded([2])
    return view


def equation() -> QWidget:
    """The new cell state of an LSTM."""
    typesetting.load()
    view = EquationView()
    gates = r"\textcolor{key}{f_6} \odot c_5 + \textcolor{query}{i_6} \odot"
    view.set_equation(rf"c_6 = {gates} \textcolor{{value}}{{\tilde{{c}}_6}}")
    view.set_numbers("unit 18:  0.91 · 0.42 + 0.13 · −0.77 = 0.28")
    return view


def tagged_sentences() -> QWidget:
    """The same words with two taggings."""
    words = ("time", "flies", "like", "an", "arrow")
    view = ExamplesView()
    view.set_examples(
        [ShownExample(words, tuple("nvpdn")), ShownExample(words, tuple("nnvdn"), unknown=(1,))]
    )
    view.set_current(2)
    return view


def labelled_texts() -> QWidget:
    """A review, and what "not" makes of it."""
    view = ExamplesView()
    words = ("The", "movie", "was", "terrible", "END")
    negated = (*words[:3], "not", *words[3:])
    view.set_examples([ShownExample(words, label="bad"), ShownExample(negated, label="good")])
    return view


def pairs() -> QWidget:
    """Two sentences and their translations."""
    view = ExamplesView()
    first = ShownExample(
        ("the", "white", "cow", "sleeps", "⟨end⟩"),
        target=("⟨start⟩", "la", "vache", "blanche", "dort", "⟨end⟩"),
    )
    second = ShownExample(("she", "sings", "⟨end⟩"), target=("⟨start⟩", "elle", "chante", "⟨end⟩"))
    view.set_examples([first, second], special=("⟨start⟩", "⟨end⟩"))
    return view


def passage_view() -> QWidget:
    """One of two passages to choose from."""
    passage = PassageView("first passage")
    passage.set_passage("The bat made noise at night and the king could not sleep.")
    return passage


def product_strip() -> QWidget:
    """The chain rule along a text."""
    strip = ProductStrip()
    chances = np.array([0.021, 0.0004, 0.03, 0.02, 0.6, 0.99, 0.31, 0.08])
    strip.set_product(WORDS, chances, -np.log2(chances))
    strip.set_new(2)
    return strip


def token_strip() -> QWidget:
    """A text as tokens, in several scripts."""
    strip = TokenStrip()
    strip.set_tokens(TOKENS, unknown={TOKENS.index("zyzzyva")}, boundaries={0}, tinted=True)
    strip.set_current(7)
    return strip


def agreeing_digits() -> QWidget:
    """A slope and a gradient that agree."""
    view = AgreeingDigits()
    lines = [
        WrittenNumber("J(θ + ε)", "0.325053052743074", 6),
        WrittenNumber("J(θ − ε)", "0.325055817862801", 6),
        WrittenNumber("slope", "−0.138755986328620", 13),
        WrittenNumber("gradient", "−0.138755986334287", 13),
    ]
    view.set_numbers(lines, "10 digits agree", True)
    return view


def network_editor() -> QWidget:
    """A network in a few lines, one of them with a fault."""
    editor = NetworkEditor(("linear", "sigmoid"))
    editor.set_text("# a small network\nx = [1; 2]\nW = [1 2]\na = linear(W, x)\nz = sigmod(a)\n")
    editor.set_faults({5: "there is no module “sigmod”: did you mean sigmoid?"})
    editor.set_lit(4)
    return editor


def labelled_words() -> QWidget:
    """Tags that a model gives, one of them wrong."""
    words = LabelledWords()
    words.set_words(
        [
            LabelledWord("time", "n", 0.94),
            LabelledWord("flies", "n", 0.55, note="gold v", wrong=True),
            LabelledWord("fast", "adv", 0.88),
        ]
    )
    return words


def word_effects() -> WordEffects:
    """What a gradient predicts of erasing each word, beside what erasing it does."""
    words = WordEffects()
    rows = [
        WordEffect("the", -0.04, -0.22),
        WordEffect("brown", -1.31, -1.63),
        WordEffect("stone", 0.98, -0.16),
        WordEffect("lay", 0.64, 0.61),
    ]
    words.set_words(rows, 1.63)
    words.set_current(3)
    return words


def pushed_lines() -> PushedLinesView:
    """Lines that taught a word, one form unfolded, and what pushed it down."""
    view = PushedLinesView()
    up, down = np.array([0.1, 0.3, 0.8, 0.5]), np.array([0.1, -0.2, -0.7, -0.4])
    line = ("Mira", "owned", "a", "horn", "that", "had", "belonged", "to", "her", "aunt", ".")
    push = np.array([0.0] * 8 + [1.0, 0.0, -0.2])
    rows = [
        PushedRow(label=("to", "her"), times="27", tokens=line, pushes=push, bars=up, said="9 %", opens=True),
        PushedRow(times="685", tokens=line, pushes=push, bars=up, said="0.5 %", ink="muted_text", inner=True),
        PushedRow(label=("", "Against"), said="shares of all push against it", heading=True),
        PushedRow(
            label=("with", "his"),
            times="312",
            tokens=("Milo", "lived", "with", "his", "father", "."),
            pushes=np.array([0.0, 0.0, 0.1, -1.0, 0.0, 0.0]),
            bars=down,
            said="−26 %",
            ink="signed_negative",
            opens=True,
            mark="generalised",
        ),
    ]
    view.set_rows(("form", "times", "the line that pushed most", "by step", "of all"), rows)
    return view


def firing_lines() -> FiringLines:
    """Places at which a feature fires: before the name of a container."""
    view = FiringLines()
    lines = (
        ("She", "put", "the", "grey", "needle", "in", "the", "drawer", "under", "the", "kitchen"),
        ("and", "laid", "the", "grey", "knife", "in", "the", "trunk", "next", "to", "the"),
        ("He", "hid", "the", "green", "doll", "in", "the", "barrel", "under", "the", "stairs"),
    )
    strengths = np.array([0.2, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3, 0.0])
    view.set_lines(
        [
            FiringLine(line, 6, strengths * share, f"{6.5 * share:.1f}")
            for line, share in zip(lines, (1, 0.9, 0.8), strict=True)
        ]
    )
    return view


def large_word_effects() -> QWidget:
    """The same where it has more room than usual."""
    words = word_effects()
    return scrolling(words, area=WordScroll([words]))


def big_figure() -> QWidget:
    """How long a training takes."""
    figure = BigFigure(washed=True)
    figure.set_figure("on this machine", "100,000 years", "measured: 23,000 tokens/s")
    return figure


def answered_strip() -> QWidget:
    """The same under the words that are typed."""
    strip = AnsweredStrip()
    strip.set_tokens(["time", "flies", "like", "an", "arrow"])
    answers = [("n", 0.99, "n"), ("n", 0.5, "v"), ("p", 0.5, "p"), ("d", 1.0, "d"), ("n", 0.98, "n")]
    strip.set_answers([TokenAnswer(label, share, gold, label != gold) for label, share, gold in answers])
    strip.set_current(2)
    return strip


def label_table() -> QWidget:
    """Two models that disagree about one word."""
    table, gold = LabelTable(), ("d", "n", "v")
    rows = []
    for name, ink, labels in (
        ("forward", 0, (("d", 1.0), ("a", 0.6), ("v", 0.8))),
        ("both ways", 1, (("d", 1.0), ("n", 0.9), ("v", 0.98))),
    ):
        found = zip(labels, gold, strict=True)
        cells = tuple(TableLabel(label, share, label != right) for (label, share), right in found)
        rows.append(LabelRow(name, ink, cells))
    table.set_rows(("the", "old", "man"), rows, gold)
    table.set_current(1)
    return table


def loss_text() -> QWidget:
    """A text by the loss of each token, in a scroll area."""
    text, chance = LossText(), np.random.default_rng(6)
    words = ["the", "bat", "made", "noise", "at", "night", "and", "cat", "heard", "it", "."]
    ids = chance.integers(0, len(words), 400)
    text.set_text(ids, words, np.arange(0, 400, 40), chance.exponential(1.5, 400), "count", 6.0)
    text.mark(12, 20)
    return scrolling(text)


EXHIBITS = (
    Exhibit("Loss of every token", "0 to 6 nats", loss_text, (460, 200)),
    Exhibit("Calculator", "", big_figure, (320, 170)),
    Exhibit("Tags of two models", "they disagree at 1 of 3 words", label_table, (360, 160)),
    Exhibit("Tags under words", "one of five is wrong", answered_strip, (400, 90)),
    Exhibit("Tags", "one of three is wrong", labelled_words, (360, 120)),
    Exhibit("Saliency", "", word_effects, (460, 150)),
    Exhibit("Who taught it this?", "", pushed_lines, (720, 190)),
    Exhibit("Where a feature fires", "activation", firing_lines, (640, 90)),
    Exhibit("Saliency in a large window", "type has grown", large_word_effects, (620, 260)),
    Exhibit("Chain rule", "", product_strip, (660, 130)),
    Exhibit("The same question, asked two ways", "per cent", answer_rows, (660, 190)),
    Exhibit("Why 0.91?", "forget gate, unit 18", arithmetic_card, (400, 240)),
    Exhibit("Result", "", result_line, (400, 90)),
    Exhibit("Digits", "", agreeing_digits, (320, 150)),
    Exhibit("Network", "", network_editor, (320, 160)),
    Exhibit("In the text", "point at a word: what it looks at", attention_text, (760, 260)),
    Exhibit("Algorithm", "one step", algorithm_lines, (420, 150)),
    Exhibit("Between the two texts", "point at a word", alignment_arcs, (620, 170)),
    Exhibit("Why?", "", breadcrumbs, (420, 110)),
    Exhibit("Concordance", "“cows eat _” · 11 places", concordance_list, (560, 160)),
    Exhibit("Stage 3 of 6 · new cell state", "layer 1 · position 6 “night”", equation, (400, 180)),
    Exhibit("Tagged sentences", "4 tags", tagged_sentences, (400, 150)),
    Exhibit("Labelled texts", "2 classes", labelled_texts, (460, 120)),
    Exhibit("Pairs", "source and target", pairs, (620, 150)),
    Exhibit("Which is real?", "", passage_view, (300, 160)),
    Exhibit("The text as the model sees it", "42 tokens", token_strip, (560, 260)),
)

if __name__ == "__main__":
    show(EXHIBITS)

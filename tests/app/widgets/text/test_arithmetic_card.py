"""The arithmetic card: its lines add up to the cell, and every number leads back to its source."""

import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.text.arithmetic_card import MARGIN, NUMBER_SIZE, ArithmeticCard
from lmviz.app.widgets.text.arithmetic_rows import sheet_of
from lmviz.models.arithmetic import FUNCTIONS, RULES, Arithmetic, Factor, Rule, Terms, constant
from lmviz.models.arithmetic.sheet import Sheet, SheetLine
from lmviz.models.operations.factors import part


def factor(source, values, function=""):
    values = np.asarray(values, dtype=float)
    places = np.stack([np.full(len(values), 4), np.arange(len(values))], axis=1)
    return Factor(source, places, values, function)


def cell(rule, terms, function=""):
    empty = Arithmetic("layers/0/forget", (5, 17), 0.0, "forget gate", rule, tuple(terms), function)
    return replace(empty, value=empty.evaluate())


@pytest.fixture
def gate():
    weights = factor("layers.0.recurrent", [0.5, -2.0, 0.1, 3.0])
    states = factor("layers/0/hidden", [1.0, 0.5, 1.0, -1.0])
    bias = factor("layers.0.bias", [0.2])
    return cell("sum", [Terms("previous state", (weights, states)), Terms("bias", (bias,))], "sigmoid")


@pytest.fixture
def card(shown, gate):
    card = ArithmeticCard()
    card.set_arithmetic(gate, lambda source, index: f"{source}·{index[-1]}", count=2)
    return shown(card, 400, 200)


def written(text):
    return float(text.replace("−", "-"))


def test_the_largest_come_first_the_rest_together_and_all_add_up(card, gate):
    rows = card.rows
    names = ["layers/0/hidden·3", "layers/0/hidden·1", "2 others", "bias", "σ(−3.20)"]
    assert [row.name for row in rows] == names
    assert sum(written(row.value) for row in rows[:-1]) == pytest.approx(gate.argument, abs=0.02)
    assert written(rows[-1].value) == pytest.approx(1 / (1 + math.exp(3.2)), abs=1e-3)
    assert rows[-1].result


def test_a_click_on_a_line_follows_its_value_and_on_a_number_that_number(card, qtbot):
    for place, wanted in (
        (card.row_rectangle(0).topLeft() + QPointF(10, 10), ["layers/0/hidden", (4, 3)]),
        (card.operand_rectangle(0, 0).center(), ["layers.0.recurrent", (4, 3)]),
        (card.operand_rectangle(0, 1).center(), ["layers/0/hidden", (4, 3)]),
        (card.row_rectangle(3).topLeft() + QPointF(10, 10), ["layers.0.bias", (4, 0)]),
    ):
        with qtbot.waitSignal(card.operand_clicked) as signal:
            QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=place.toPoint())
        assert signal.args == wanted


def test_lines_without_a_source_lead_nowhere(card):
    clicked = []
    card.operand_clicked.connect(lambda source, index: clicked.append(source))
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.row_rectangle(2).center().toPoint())
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.row_rectangle(4).center().toPoint())
    assert clicked == []


def test_keys_walk_the_lines(card, qtbot):
    QTest.keyClick(card, Qt.Key.Key_Down)
    QTest.keyClick(card, Qt.Key.Key_Down)
    with qtbot.waitSignal(card.operand_clicked) as signal:
        QTest.keyClick(card, Qt.Key.Key_Return)
    assert signal.args == ["layers/0/hidden", (4, 1)]


def test_hover_previews_and_leaving_says_so(card, qtbot):
    with qtbot.waitSignal(card.operand_hovered) as signal:
        QTest.mouseMove(card, card.operand_rectangle(1, 0).center().toPoint())
    assert signal.args == ["layers.0.recurrent", (4, 1)]
    with qtbot.waitSignal(card.left):
        QTest.mouseMove(card, card.row_rectangle(2).center().toPoint())


def test_softmax_shows_each_score_once_its_own_first_and_what_it_is_divided_by():
    scores = [2.0, 1.0, 3.0, 2.0]
    row = factor("scores", scores)
    own = Terms("own score", (part(row, 1, 1),))
    softmax = cell("softmax", [own, Terms("row", (row,))])
    sheet = sheet_of(softmax, count=3)
    assert [row.name for row in sheet.rows[:4]] == [f"scores (5, {place})" for place in (2, 3, 1)] + [
        "1 other"
    ]
    whole = 1 + math.exp(-2) + 2 * math.exp(-1)
    assert written(sheet.rows[-2].value) == pytest.approx(whole, abs=1e-3)
    assert sum(written(row.value) for row in sheet.rows[:4]) == pytest.approx(whole, abs=2e-3)
    assert sheet.rows[-1].name == f"{math.exp(-2):.3f} / {whole:.3f}, its share of all"
    assert written(sheet.rows[-1].value) == pytest.approx(softmax.value, abs=1e-3)


def test_layer_norm_shows_mean_deviation_gain_and_bias():
    row = [1.0, 2.0, 3.0, 6.0]
    parts = [factor("x", row[3:]), factor("x", row), factor("norm.weight", [2.0]), factor("norm.bias", [0.5])]
    groups = [Terms(name, (part,)) for name, part in zip(["own", "row", "gain", "bias"], parts, strict=True)]
    sheet = sheet_of(cell("layer norm", [*groups, Terms("epsilon", (constant(1e-5),))]))
    assert [row.value for row in sheet.rows[:3]] == ["6.000", "3.000", "1.871"]
    assert written(sheet.rows[-1].value) == pytest.approx((6 - 3) / 1.8708 * 2 + 0.5, abs=2e-3)


def test_a_masked_cell_and_an_empty_card_are_drawn(card):
    masked = Arithmetic("scores", (0, 0, 1), -math.inf, "a later word is masked", "mask", ())
    card.set_arithmetic(masked)
    card.grab()
    assert card.rows[-1].value == "−∞"
    card.set_arithmetic(None)
    card.grab()
    assert card.rows == ()
    QTest.keyClick(card, Qt.Key.Key_Down)


def test_a_fraction_shows_both_sums():
    counted = {"count": 3.0, "total": 12.0}.items()
    groups = [Terms(name, (factor(f"orders/2/{name}", [value]),)) for name, value in counted]
    rows = sheet_of(cell("fraction", groups)).rows
    assert [row.name for row in rows] == ["count", "together", "total", "divided by", "all together"]
    assert [row.value for row in rows[-2:]] == ["12.000", "0.250"]


def test_functions_of_factors_are_written_around_them():
    product = Terms("gate", (factor("output", [0.99]), factor("cell", [0.28], "tanh")))
    rows = sheet_of(cell("sum", [product])).rows
    assert [operand.text for operand in rows[0].operands] == ["0.99", "tanh(0.28)"]


def test_a_sinusoid_shows_its_angle():
    angle = Terms("angle", (constant(3.0), constant(0.5)))
    rows = sheet_of(cell("sum", [angle], "cos")).rows
    assert [row.name for row in rows] == ["angle", "cos(1.50)"]
    assert written(rows[-1].value) == pytest.approx(math.cos(1.5), abs=1e-3)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_is_written_in_factors_and_results(function):
    rows = sheet_of(cell("sum", [Terms("x", (factor("x", [0.25], function),))])).rows
    assert rows[0].operands[0].text == FUNCTIONS[function].plain.format("0.25")
    result = sheet_of(cell("sum", [Terms("x", (factor("x", [0.25]),))], function)).rows[-1]
    assert result.name == (FUNCTIONS[function].plain.format("0.25") if function else "all together")
    assert written(result.value) == pytest.approx(
        float(FUNCTIONS[function].compute(np.float64(0.25))), abs=1e-3
    )


def test_a_function_of_any_rule_is_shown():
    half = [Terms("count", (constant(1.0),)), Terms("total", (constant(4.0),))]
    assert sheet_of(cell("fraction", half, "log")).rows[-1].name == "ln(0.25)"


def test_a_new_rule_is_drawn_by_its_own_sheet(card, monkeypatch):
    rule = Rule(
        evaluate=lambda groups: float(groups[0].products.max()),
        equation=lambda groups, notation, shown: "max",
        sheet=lambda groups, naming, count: Sheet(
            (SheetLine("largest", 3.0),), "the largest of all", "number", "most"
        ),
        strengths=lambda groups: (np.ones(len(groups[0])),),
    )
    monkeypatch.setitem(RULES, "maximum", rule)
    card.set_arithmetic(cell("maximum", [Terms("x", (factor("x", [1.0, 3.0]),))]))
    card.grab()
    assert [(row.name, row.value) for row in card.rows] == [
        ("largest", "3.000"),
        ("the largest of all", "3.000"),
    ]


@pytest.mark.parametrize(("width", "shown_of_four"), [(250, 2), (640, 4)])
def test_operands_never_run_into_the_value(shown, width, shown_of_four):
    factors = tuple(factor(f"layers/0/{name}", [1.25]) for name in "abcd")
    card = ArithmeticCard()
    card.set_arithmetic(cell("sum", [Terms("product", factors)]))
    shown(card, width, 100)
    assert 1 <= card.operands_shown(0) <= shown_of_four
    assert (card.operands_shown(0) == 4) == (shown_of_four == 4)
    value = 40  # pixels at the right that the value needs at least
    assert card.operand_rectangle(0, card.operands_shown(0) - 1).right() < width - value


def test_what_is_left_out_has_room_for_its_mark(shown):
    factors = tuple(factor(f"layers/0/{name}", [1.25]) for name in "abc")
    card = ArithmeticCard()
    card.set_arithmetic(cell("sum", [Terms("product", factors)]))
    for width in range(220, 420, 4):
        shown(card, width, 100)
        last = card.operands_shown(0)
        if last < 3:
            mark = card.operand_rectangle(0, last).left() + 10  # pixels of “…”
            font = QFontMetricsF(current_theme().token_font(NUMBER_SIZE))
            value = font.horizontalAdvance(card.rows[0].value)
            assert mark < width - value - MARGIN, width


def test_short_names_leave_the_room_to_the_numbers(shown):
    """A cross-entropy in the narrow panel of Autodiff: weight and logarithm are both seen."""
    weights, logarithms = factor("y", [-1.0]), factor("ŷ", [0.7225], "log")
    arithmetic = cell("sum", [Terms("cell", (weights, logarithms))])
    card = ArithmeticCard()
    card.set_arithmetic(arithmetic, lambda source, index: f"{source}, 1", count=2)
    shown(card, 250, 120)
    assert card.operands_shown(0) == 2
    card.set_arithmetic(arithmetic, lambda source, index: f"a long name of {source}, channel 1", count=2)
    assert card.operands_shown(0) == 2


def test_a_name_without_parts_leaves_out_what_the_others_share(shown, monkeypatch):
    """In a narrow card eight lines said "norm 1, cha…", because the last was a bias."""
    weights, values = factor("query", [0.5, -2.0]), factor("norm 1", [1.0, 0.5])
    terms = [Terms("input", (values, weights)), Terms("bias", (factor("bias", [0.2]),))]
    card = shown(ArithmeticCard(), 400, 160)

    def name(source, index):
        return source if source == "bias" else f"{source}, channel 12{index[-1]}"

    card.set_arithmetic(cell("sum", terms), name)
    drawn: list[str] = []
    monkeypatch.setattr(Painter, "drawText", lambda _, *given: drawn.append(given[-1]))
    card.grab()
    while "norm 1, channel 121" in drawn:  # how wide a card is too narrow depends on the font
        card.resize(card.width() - 5, 160)
        drawn.clear()
        card.grab()
    assert {"channel 121", "channel 120", "bias"} <= set(drawn)


def test_numbers_without_room_are_said_wholly_at_the_pointer(card):
    card.resize(180, 200)
    card.grab()
    line = card.row_rectangle(0)
    assert card.operands_shown(0) < len(card.rows[0].operands)
    assert card.whole_at(QPointF(0.6 * line.width(), line.center().y())) == "3.00 × −1.00 = −3.00"


@pytest.mark.parametrize("width", [220, 260, 300, 360])
@pytest.mark.parametrize(
    "beginning", ["", "layer 2, ", "layer 2, head 1, values of the word at position ", "feed-forward unit "]
)
def test_what_tells_operands_apart_is_never_cut(shown, width: int, beginning: str):
    names = [f"{beginning}{rest}" for rest in ("stone, channel 12", "stone, channel 13", "bell, channel 12")]
    terms = Terms("sum", (factor("weights", [0.51, -2.12, 0.13]), factor("state", [1.234, 0.56, 0.42])))
    card = ArithmeticCard()
    card.set_arithmetic(cell("sum", [terms]), lambda source, index: names[index[-1]], count=3)
    shown(card, width, 200)
    drawn = card.names_shown()[:3]
    assert len({row.name for row in card.rows[:3]}) == 3
    assert len(set(drawn)) == 3, drawn


def test_of_what_a_number_is_stands_before_what_tells_it_apart(shown):
    places = (
        ("hidden, position 7 “in”", 9),
        ("hidden, position 7 “in”", 65),
        ("embedding, position 8 “the”", 121),
    )
    names = [f"{place}, unit {unit}" for place, unit in places]
    terms = Terms("sum", (factor("weights", [0.51, -2.12, 0.13]), factor("state", [1.234, 0.56, 0.42])))
    card = ArithmeticCard()
    card.set_arithmetic(cell("sum", [terms]), lambda source, index: names[index[-1]], count=3)
    shown(card, 240, 200)
    drawn = card.names_shown()[:3]
    assert sorted(name[:3] for name in drawn) == ["emb", "hid", "hid"], drawn
    assert len(set(drawn)) == 3, drawn

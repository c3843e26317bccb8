"""The explicit path on a made-up model: scans, shifts, and listeners that change what they hear."""

import pytest
import torch

from lmviz.models.explicit import ForwardPass
from lmviz.models.operations import Affine, Linear, Of, Product, Row, SumOfProducts, TokenLookup
from lmviz.models.tap import Tap, Value, Weight, inside

TABLE = torch.tensor([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
MATRIX = torch.tensor([[1.0, 10.0], [100.0, 1000.0]])
TOKENS = torch.tensor([[0, 1, 2]])


def run(*taps, listener=lambda tap, value, position: value):
    lookup = Tap("x", ("position", "channel"), TokenLookup(Weight("table.weight")))
    return ForwardPass(TOKENS, {"table.weight": TABLE, "map.weight": MATRIX}).run((lookup, *taps), listener)


def in_scan(address, operation):
    return Tap(address, ("position", "unit"), operation, scan="loop")


def mapped(*operands):
    return Affine(tuple(Linear("input", Row(operand), Weight("map.weight")) for operand in operands))


def test_a_scan_may_look_back_at_a_tap_before_it():
    found = run(in_scan("y", mapped(Value("x"), Value("x", shift=-1, width=2))))
    before = torch.cat([torch.zeros(1, 2), TABLE[:2]])
    torch.testing.assert_close(found["y"][0], (TABLE + before) @ MATRIX.T)


def test_a_scan_may_read_what_it_has_just_made():
    doubled = SumOfProducts((Product("once", (Of(Value("x")),)), Product("twice", (Of(Value("x")),))))
    found = run(in_scan("y", doubled), in_scan("z", mapped(Value("y"))))
    torch.testing.assert_close(found["z"][0], 2 * TABLE @ MATRIX.T)


def test_the_next_position_reads_what_a_listener_made_of_the_last():
    adding = SumOfProducts(
        (Product("new", (Of(Value("x")),)), Product("old", (Of(Value("sum", shift=-1, width=2)),)))
    )
    heard = []

    def listener(tap, value, position):
        heard.append((tap.address, position))
        return value * 0 if position == 1 else value

    found = run(in_scan("sum", adding), listener=listener)
    torch.testing.assert_close(found["sum"][0], torch.stack([TABLE[0], torch.zeros(2), TABLE[2]]))
    assert heard == [("x", None), ("sum", 0), ("sum", 1), ("sum", 2)]


def test_rows_of_a_parameter_can_be_an_operand():
    found = run(
        Tap("y", ("position", "unit"), Affine((Linear("", Row(Value("x")), Weight("map.weight", (1, 2))),)))
    )
    torch.testing.assert_close(found["y"][0], TABLE @ MATRIX[1:].T)


def backwards(address, operation):
    return Tap(address, ("position", "unit"), operation, scan="back", reverse=True)


def test_a_reversed_scan_goes_from_the_end_and_may_look_ahead():
    adding = SumOfProducts(
        (Product("new", (Of(Value("x")),)), Product("later", (Of(Value("sum", shift=1, width=2)),)))
    )
    heard = []

    def listener(tap, value, position):
        heard.append((tap.address, position))
        return value * 0 if position == 1 else value

    found = run(backwards("sum", adding), listener=listener)
    torch.testing.assert_close(found["sum"][0], torch.stack([TABLE[0], torch.zeros(2), TABLE[2]]))
    assert heard == [("x", None), ("sum", 2), ("sum", 1), ("sum", 0)]


def test_behind_the_last_position_there_are_zeros():
    found = run(backwards("y", mapped(Value("x"), Value("x", shift=1, width=2))))
    after = torch.cat([TABLE[1:], torch.zeros(1, 2)])
    torch.testing.assert_close(found["y"][0], (TABLE + after) @ MATRIX.T)


@pytest.mark.parametrize(("position", "expected"), [(-1, False), (0, True), (2, True), (3, False)])
def test_a_position_is_inside_a_text_or_not(position, expected):
    assert inside(position, 3) is expected

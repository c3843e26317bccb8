"""What an operation must declare, and what follows from it."""

from dataclasses import dataclass

import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.models.arithmetic import Arithmetic
from lmviz.models.explicit import ForwardPass
from lmviz.models.growth import ROWS, WHOLE
from lmviz.models.operations import Activation, Affine, Linear, Row, SumOfProducts, Window, sum_of
from lmviz.models.operations.elementwise import Of, Product
from lmviz.models.tap import Operation, Tap, Value, Weight

PARTS = {
    "growth": ROWS,
    "operands": (),
    "compute": lambda self, scope: torch.zeros(1, 1),
    "explain": lambda self, reader, address, index: Arithmetic(address, index, 0.0, "", "sum", ()),
}


@pytest.mark.parametrize("missing", PARTS)
def test_an_operation_that_leaves_something_out_cannot_be_made(missing):
    parts = {name: value for name, value in PARTS.items() if name != missing}
    assert type("Whole", (Operation,), PARTS)()
    with pytest.raises(TypeError, match=missing):
        type("Lacking", (Operation,), parts)()


def test_what_it_reads_and_how_it_grows_are_worked_out_once():
    asked = []

    class Made(type("Whole", (Operation,), PARTS)):
        @property
        def growth(self):
            asked.append("growth")
            return WHOLE

        @property
        def operands(self):
            asked.append("operands")
            return (Value("x"),)

    made = Made()
    for _ in range(2):
        assert (made.growth, made.operands) == (WHOLE, (Value("x"),))
    assert sorted(asked) == ["growth", "operands"]


def test_labels_are_no_operands():
    """A label may read like the address of a tap."""
    assert sum_of(embedding="x", hidden="y").operands == (Value("x"), Value("y"))
    linear = Linear("hidden", Row(Value("x")), Weight("embedding"), gate=Value("reset"))
    assert Affine((linear, linear)).operands == (Value("x"), Value("reset")) * 2


def test_an_affine_map_grows_as_what_it_reads():
    def affine(*inputs):
        return Affine(tuple(Linear("", read, Weight("w")) for read in inputs))

    assert affine(Row(Value("x"))).growth == ROWS
    assert affine(Row(Value("x")), Window("x", 3)).growth == WHOLE


@pytest.mark.parametrize(
    "operation",
    [
        Activation(Value("x", shift=-1, width=2), "tanh"),
        SumOfProducts((Product("", (Of(Value("x")), Of(Value("x", shift=-1, width=2)))),)),
    ],
)
def test_another_position_outside_a_scan_is_refused(operation):
    @dataclass(frozen=True, eq=False)
    class Made(Operation):
        growth = ROWS
        operands = ()

        def compute(self, scope):
            return torch.ones(1, 3, 2)

        def explain(self, reader, address, index):
            raise NotImplementedError

    axes = ("position", "channel")
    taps = (Tap("x", axes, Made()), Tap("y", axes, operation))
    with pytest.raises(LmvizError, match=r"x is read -1 positions away.*give the tap that reads it a scan"):
        ForwardPass(torch.tensor([[0, 1, 2]]), {}).run(taps, lambda tap, value, position: value)
    within = (taps[0], Tap("y", axes, operation, scan="loop"))
    weights = {"w": torch.ones(1)}
    ForwardPass(torch.tensor([[0, 1, 2]]), weights).run(within, lambda tap, value, position: value)

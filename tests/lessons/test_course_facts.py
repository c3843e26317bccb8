"""What lessons say of the sample models and no value of the lesson language can check."""

import pytest

import lmviz
from lmviz.inspection.reach import reach, state_address

HIDDEN_STONE = "Maya put the brown stone in the barrel. She opened it, and there lay the brown"


@pytest.mark.parametrize(("name", "factor"), [("stories-lstm", 0.91), ("stories-rnn", 0.87)])
def test_the_gradient_reaches_further_along_the_cell_of_an_lstm(name, factor):
    model = lmviz.open_model(name)
    found = lmviz.gradient(model, HIDDEN_STONE, "loss@-1")
    assert reach(found, state_address(model)).factor == pytest.approx(factor, abs=0.01)

"""An answer that grows: each part of it can be drawn, and the last is the whole."""

import numpy as np
import pytest

import lmviz
from lmviz.circuits import circuit as module
from lmviz.circuits.circuit import circuit, circuits
from lmviz.circuits.growing import Growing


@pytest.fixture(scope="module")
def asked():
    model = lmviz.open_model("stories-transformer")
    text = "Maya owned a brown {}. Later, Maya opened the barrel, and there lay the brown"
    return model, lmviz.contrast(text.format("stone"), text.format("bell"), measure="logit:stone-bell")


def test_a_circuit_grows_to_that_which_is_measured_at_once(asked, monkeypatch):
    monkeypatch.setattr(module, "AT_A_TIME", 0.0)
    steps = list(circuits(*asked, 8))
    whole = circuit(*asked, 8)
    assert steps[-1].parts == whole.parts
    assert steps[-1].edges == whole.edges
    assert steps[-1].kept == pytest.approx(whole.kept)
    tried = [step.of for step in steps]
    assert tried == sorted(tried)
    assert tried[0] < tried[-1] == whole.of
    early = [step for step in steps if step.of < whole.of]
    assert early
    assert all(np.isnan(step.kept) for step in early)
    assert not any(step.edges or len(step.curve.array) for step in early)
    numbers = [len(step.edges) for step in steps]
    assert 0 < numbers[len(steps) - 2] <= numbers[-1]


def test_what_grows_is_done_when_its_iterator_ends(asked):
    model, _ = asked
    growing = Growing(model, lambda _: iter([1, 2, 3]))
    assert (growing.found, growing.is_done) == (1, False)
    growing.go_on(model)
    assert (growing.found, growing.is_done) == (3, True)
    growing.go_on(model)
    assert growing.found == 3

"""Beam search, step by step, as the core does it."""

from __future__ import annotations

import threading

import pytest
from benches.sample import Bench

from lmviz.base.errors import LmvizError
from lmviz.decoding.beam import beam_search
from lmviz.decoding.options import BeamOptions


@pytest.mark.slow
def test_a_search_that_failed_can_be_run_again(
    bench: Bench, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        gate.wait()
        raise LmvizError("It cannot be searched.")

    bench.bring("beam_view")
    run = bench.find("beam_run_button")
    with monkeypatch.context() as patch:
        patch.setattr("lmviz.decoding.beam.grow_beam", fail)
        bench.click("beam_run_button")
        bench.wait(lambda: run.text() == "pause")
        gate.set()
        bench.wait(lambda: bench.says("beam_view", "It cannot be searched."))
        bench.wait(lambda: run.text() == "run")
    bench.click("beam_run_button")
    bench.wait(lambda: bench.session.beam.is_grown)
    assert not bench.says("beam_view", "It cannot be searched.")


def test_a_beam_grows_step_by_step_to_what_the_core_finds(bench: Bench) -> None:
    session = bench.session
    bench.bring("beam_view")
    bench.find("beam_width_spin").setValue(2)
    bench.find("beam_length_spin").setValue(3)
    options = BeamOptions(width=2, length=3)
    bench.click("beam_step_button")
    bench.wait(lambda: session.beam.tree is not None)
    assert session.beam.tree.depth == 1
    bench.settle()
    bench.click("beam_run_button")
    bench.wait(lambda: session.beam.is_grown)
    expected = beam_search(bench.model, "the cows", options)
    assert [(n.id, n.parent, n.state) for n in session.beam.tree.nodes] == [
        (n.id, n.parent, n.state) for n in expected.nodes
    ]
    assert session.beam.tree.best.score == pytest.approx(expected.best.score, abs=1e-5)
    assert any(node.state == "pruned" for node in session.beam.tree.nodes)


@pytest.mark.slow
def test_scores_can_be_normalised_as_transformers_does(bench: Bench) -> None:
    session = bench.session
    bench.bring("beam_view")
    formula = bench.find("beam_length_formula_picker")
    formula.setCurrentText("÷ n^α")
    formula.activated.emit(formula.currentIndex())
    assert session.beam.options.length_formula == "plain"
    bench.click("beam_step_button")
    bench.wait(lambda: session.beam.tree is not None)
    node = session.beam.tree.best
    assert node.score == pytest.approx(node.total / node.depth**0.6)


@pytest.mark.slow
def test_how_many_continuations_are_taken_is_a_setting_of_its_own(bench: Bench) -> None:
    session = bench.session
    bench.bring("beam_view")
    spin, choice = bench.find("beam_continuations_spin"), bench.find("beam_choice_picker")
    assert spin.text() == "= k"
    bench.find("beam_width_spin").setValue(2)
    spin.setValue(1)
    choice.setCurrentText("sampled")
    choice.textActivated.emit("sampled")
    bench.click("beam_step_button")
    bench.wait(lambda: session.beam.tree is not None)
    assert len(session.beam.tree.nodes) == 2  # one continuation of the prefix, and the prefix
    assert session.beam.options == BeamOptions(width=2, continuations=1, choice="sampled")

"""Sampling under interventions: all panels follow them, and say so."""

from __future__ import annotations

import numpy as np
import pytest
from benches.sample import Bench

from lmviz.decoding.beam import beam_search
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.sampling import greedy, sample
from lmviz.inspection.interventions import add, scale_head, zero

ONLY_PANELS = ("beam", "chain_rule", "distribution", "roll", "side_by_side")


@pytest.mark.parametrize("bench", ["transformer"], indirect=True)
def test_what_was_changed_by_surgery_rolls_searches_and_is_scored(bench: Bench) -> None:
    session = bench.session
    plain = bench.logits()
    session.writing.set_sampling(seed=5, seed_locked=True)
    session.surgery.add(scale_head(0, 0, 40.0))
    bench.wait_for_prospect()
    assert not np.allclose(session.writing.prospect.distribution.logits, plain, atol=1e-3)
    bench.roll()
    bench.roll()
    assert session.writing.branches.chosen() == tuple(
        step.id for step in sample(bench.changed, "the cows", 2, session.writing.sampling)
    )
    session.beam.set_options(width=2, length=2)
    while not session.beam.is_grown:
        session.beam.grow()
        bench.wait(lambda: not session.beam.is_searching)
    expected = beam_search(bench.changed, "the cows", session.beam.options)
    assert [node.id for node in session.beam.tree.nodes] == [node.id for node in expected.nodes]
    bits = text_log_probabilities(bench.changed, session.writing.branches.node.text).bits
    table = bench.find("chain_rule_view")
    bench.wait(
        lambda: table.likelihood is not None and table.likelihood.bits == pytest.approx(bits, abs=1e-3)
    )
    side = bench.bring("side_by_side_view")
    ids = [step.id for step in greedy(bench.changed, "the cows", 2)]
    bench.wait(lambda: "greedy" in side.outcomes and side.outcomes["greedy"].chosen == tuple(ids))


@pytest.mark.slow
def test_panels_say_what_was_changed_and_go_back_with_it(bench: Bench) -> None:
    session = bench.session
    plain = bench.logits()
    bench.bring("beam_view")
    bench.click("beam_step_button")
    bench.wait(lambda: session.beam.tree is not None)
    change = zero("layers/0/hidden", unit=1)
    session.surgery.add(change)
    bench.wait_for_prospect()
    bench.wait(lambda: bench.says("distribution_view", f"with {change.describe()} · entropy"))
    bench.wait(lambda: bench.says("beam_view", "without the changes"))
    session.surgery.undo()
    bench.wait_for_prospect()
    np.testing.assert_allclose(session.writing.prospect.distribution.logits, plain, atol=1e-6)


@pytest.mark.slow
def test_what_is_still_in_sight_is_not_named_after_a_change_that_came_later(bench: Bench) -> None:
    session, change = bench.session, zero("layers/0/hidden", unit=1)
    panels = [bench.find(name) for name in ("distribution_view", "roll_view", "chain_rule_view")]
    bench.wait(lambda: panels[2].likelihood is not None)
    session.surgery.add(change)
    for panel in panels:
        panel.refresh()  # the thread has not answered: its answers come when the window has its turn
        assert not bench.says(panel.objectName(), "with"), panel.objectName()
        assert "interventions" not in panel.recipe()
    for panel in panels:
        bench.wait(lambda panel=panel: bench.says(panel.objectName(), f"with {change.describe()}"))


@pytest.mark.slow
def test_a_change_at_one_position_is_there_alone_however_far_one_writes(bench: Bench) -> None:
    session = bench.session
    session.surgery.add(add("layers/0/hidden", 2.0, position=1))
    bench.wait_for_prospect()
    bench.roll()
    bench.roll()
    session.reading.set_prefix(
        session.writing.branches.node.text
    )  # reading what was written gives what was rolled from
    bench.wait(
        lambda: (
            session.reading.current is not None
            and session.reading.current.trace.text == session.reading.prefix
        )
    )
    bench.wait_for_prospect()
    np.testing.assert_allclose(
        session.writing.prospect.distribution.logits,
        session.reading.current.trace["logits"].array[-1],
        atol=1e-4,
    )


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["transformer"], indirect=True)
def test_the_same_roll_falls_on_what_was_expected_before_and_after(bench: Bench) -> None:
    session, die = bench.session, bench.find("die")
    session.surgery.add(scale_head(0, 0, 40.0))
    bench.wait_for_prospect()
    bench.wait(lambda: session.writing.prospect.before is not None)
    bench.roll()
    prospect = session.writing.prospect
    plain = next_distribution(Continuation.of(bench.model, "the cows").logits)
    np.testing.assert_allclose(prospect.before.probabilities, plain.probabilities, atol=1e-5)
    assert prospect.before.at_draw(prospect.draw) == plain.at_draw(prospect.draw)
    bench.wait(lambda: "the same roll" in die.sentence)
    before = bench.model.tokenizer.token(plain.at_draw(prospect.draw))
    after = bench.model.tokenizer.token(session.writing.branches.node.id)
    assert f"{before} before, {after} after" in die.sentence
    session.writing.set_sampling(temperature=0.5)
    assert session.writing.prospect.before.options.temperature == 0.5
    session.surgery.set_off(True)
    bench.wait(lambda: session.writing.prospect.before is None)
    bench.wait(lambda: die.landed_before == -1)

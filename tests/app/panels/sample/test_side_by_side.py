"""Three ways of decoding side by side, scored as the core does."""

from __future__ import annotations

import threading

import pytest
from benches.sample import Bench
from PySide6.QtCore import QTimer

from lmviz.app.panels.sample.side_by_side import PAUSE
from lmviz.base.errors import LmvizError
from lmviz.decoding.outcome import outcome
from lmviz.decoding.sampling import greedy


@pytest.mark.slow
def test_figures_that_cannot_be_computed_leave_no_others_in_their_place(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise LmvizError("It cannot be scored.")

    panel = bench.bring("side_by_side_view")
    bench.roll()
    bench.wait(lambda: "sampling" in panel.outcomes)
    with monkeypatch.context() as patch:
        patch.setattr("lmviz.app.panels.sample.side_by_side.outcome", fail)
        bench.roll()
        bench.wait(lambda: bench.says("side_by_side_view", "It cannot be scored."))
        assert "sampling" not in panel.outcomes
    bench.roll()
    bench.wait(lambda: "sampling" in panel.outcomes)
    assert panel.outcomes["sampling"].chosen == bench.session.writing.branches.chosen()
    assert not bench.says("side_by_side_view", "It cannot be scored.")


def test_three_ways_stand_side_by_side(bench: Bench) -> None:
    session, view = bench.session, bench.bring("side_by_side_view")
    session.beam.set_options(length=3, width=2)
    bench.roll()
    while not session.beam.is_grown:
        session.beam.grow()
        bench.wait(lambda: not session.beam.is_searching)
    bench.wait(lambda: len(view.outcomes) == 3)
    ways = {
        "greedy": [step.id for step in greedy(bench.model, "the cows", 3)],
        "sampling": session.writing.branches.chosen(),
        "beam search": [node.id for node in session.beam.tree.path(session.beam.tree.best)],
    }
    for way, ids in ways.items():
        bench.wait(
            lambda way=way, ids=ids: view.outcomes.get(way) and view.outcomes[way].chosen == tuple(ids)
        )
        expected = outcome(bench.model, "the cows", ids, session.beam.options.length_penalty)
        assert view.outcomes[way].log_probability == pytest.approx(expected.log_probability, abs=1e-5)
        assert view.outcomes[way].score == pytest.approx(expected.score, abs=1e-5)


@pytest.mark.slow
def test_a_pause_that_ends_after_the_last_token_adds_none(bench: Bench) -> None:
    session, view = bench.session, bench.bring("side_by_side_view")
    session.beam.set_options(length=3, width=2)
    bench.wait(lambda: "greedy" in view.outcomes and len(view.outcomes["greedy"].chosen) == 3)
    [pause] = [timer for timer in view.findChildren(QTimer) if timer.interval() == PAUSE]
    pause.timeout.emit()
    bench.wait(lambda: session.work.is_at_rest)
    session.surgery.changed.emit()
    bench.wait(lambda: not view.is_behind and view.is_up_to_date)
    assert len(view.outcomes["greedy"].chosen) == 3


@pytest.mark.slow
def test_figures_that_cannot_be_computed_of_a_model_that_was_closed_meanwhile_leave_nothing(
    bench: Bench, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        gate.wait()
        raise LmvizError("It cannot be scored.")

    session, panel = bench.session, bench.bring("side_by_side_view")
    bench.wait(lambda: "greedy" in panel.outcomes)
    monkeypatch.setattr("lmviz.app.panels.sample.side_by_side.outcome", fail)
    bench.roll()
    bench.wait(lambda: session.work.is_busy("outcome of sampling"))
    bench.window.show_perspective("polls")  # where it is told of nothing
    session.library.close(session.library.model)
    gate.set()
    bench.wait(lambda: session.work.is_at_rest)
    assert panel.outcomes == {}

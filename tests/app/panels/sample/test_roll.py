"""The roll: drawing, playing and stopping, as the core does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from benches.sample import LONG, Bench
from PySide6.QtCore import QObject, Qt
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.remarks import distribution_remark, draw_remark
from lmviz.decoding.sampling import greedy, sample

ONLY_PANELS = ("roll", "distribution")


def test_under_a_locked_seed_the_roll_is_that_of_the_core_and_repeats(bench: Bench) -> None:
    bench.find("seed_spin").setValue(7)
    bench.find("seed_lock").setChecked(True)
    options = SamplingOptions(seed=7, seed_locked=True, stop_at_end=False)
    bench.session.writing.set_sampling(stop_at_end=False)
    expected = list(sample(bench.model, "the cows", 4, options))
    for step in expected:
        bench.roll()
        assert bench.session.writing.branches.node.id == step.id
        assert bench.session.writing.branches.node.draws == (step.draw,)
        assert bench.session.writing.prospect.landed == step.id
    die = bench.find("die")
    assert bench.find("roll_view").is_playing is False
    assert die.accessibleDescription().startswith(f"{expected[-1].draw:.3f}")
    once = bench.session.writing.branches.current
    for _ in range(2):
        bench.click("sample_back_button")
    assert bench.session.writing.branches.chosen() == tuple(step.id for step in expected[:2])
    for _ in range(2):
        bench.roll()
    assert bench.session.writing.branches.current == once
    assert len(bench.session.writing.branches.nodes) == 5


@pytest.mark.slow
def test_without_a_lock_each_roll_is_a_new_draw(bench: Bench) -> None:
    for _ in range(2):
        bench.roll()
        bench.click("sample_back_button")
        bench.settle()
    draws = [draw for node in bench.session.writing.branches.nodes for draw in node.draws]
    assert len(set(draws)) == 2


def test_play_goes_to_the_chosen_length_and_space_pauses(bench: Bench) -> None:
    session = bench.session
    session.writing.set_sampling(stop_at_end=False)
    bench.find("pace_spin").setValue(30)
    bench.find("length_spin").setValue(5)
    bench.click("sample_play_button")
    bench.wait(lambda: not bench.find("roll_view").is_playing)
    bench.wait(lambda: not session.writing.is_choosing)
    assert len(session.writing.branches.path()) == 5
    bench.find("length_spin").setValue(2000)
    bench.qtbot.keyClick(bench.find("die"), Qt.Key.Key_Space)
    assert bench.find("roll_view").is_playing
    bench.wait(lambda: len(session.writing.branches.path()) > 6)
    bench.qtbot.keyClick(bench.find("die"), Qt.Key.Key_Space)
    assert not bench.find("roll_view").is_playing


@pytest.mark.slow
def test_play_stops_at_end(bench: Bench) -> None:
    session = bench.session
    end = bench.model.tokenizer.end_id
    session.writing.write(end)
    bench.wait(lambda: session.writing.branches.node.is_end)
    bench.settle()
    assert not bench.find("sample_step_button").isEnabled()
    bench.find("stop_at_end").setChecked(False)
    bench.wait(bench.find("sample_step_button").isEnabled)


@pytest.mark.slow
def test_greedy_takes_the_likeliest(bench: Bench) -> None:
    bench.find("sample_way").setCurrentText("greedy")
    expected = [step.id for step in greedy(bench.model, "the cows", 3, SamplingOptions(stop_at_end=False))]
    bench.session.writing.set_sampling(stop_at_end=False)
    for _ in expected:
        bench.roll()
    assert list(bench.session.writing.branches.chosen()) == expected


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["transformer"], indirect=True)
def test_a_transformer_writes_beyond_its_context(bench: Bench) -> None:
    bench.session.writing.set_sampling(seed=3, seed_locked=True, stop_at_end=False)
    options = SamplingOptions(seed=3, stop_at_end=False)
    expected = [step.id for step in sample(bench.model, "the cows", 9, options)]
    for _ in expected:
        bench.roll()
    assert list(bench.session.writing.branches.chosen()) == expected


@pytest.mark.slow
def test_an_ngram_can_be_sampled(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
) -> None:
    run = make_run("ngram", 1)
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    window.show_perspective("sample")
    session.reading.set_prefix("the cows")
    bench = Bench(window, session, run, drawn, answered, qtbot)
    bench.wait_for_prospect()
    bench.roll()
    step = next(sample(bench.model, "the cows", 1, SamplingOptions()))
    assert bench.session.writing.branches.node.id == step.id


def test_without_a_model_the_panels_say_what_to_do(
    window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    window.show_perspective("sample")
    step = window.perspective.findChild(QObject, "sample_step_button")
    qtbot.waitUntil(lambda: not step.isEnabled())
    assert session.writing.prospect is None


@pytest.mark.slow
def test_rolls_that_come_while_a_token_is_chosen_wait_for_their_turn(
    bench: Bench, gate: threading.Event, qtbot: QtBot
) -> None:
    """Whoever clicks faster than the model reads gets as many tokens as clicks."""
    session, button = bench.session, bench.find("sample_step_button")
    session.writing.set_sampling(stop_at_end=False)
    session.work.ask("held back", gate.wait, lambda _: None, pytest.fail)
    for _ in range(3):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert session.writing.branches.chosen() == ()
    gate.set()
    qtbot.waitUntil(lambda: len(session.writing.branches.chosen()) == 3, timeout=LONG)
    qtbot.waitUntil(lambda: not session.writing.is_choosing, timeout=LONG)
    assert len(session.writing.branches.chosen()) == 3


@pytest.mark.slow
def test_rolls_that_wait_are_dropped_with_the_text_they_were_for(
    bench: Bench, gate: threading.Event, answered: Callable[[], None], qtbot: QtBot
) -> None:
    session, button = bench.session, bench.find("sample_step_button")
    session.work.ask("held back", gate.wait, lambda _: None, pytest.fail)
    for _ in range(2):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    session.reading.set_prefix("the hens")
    gate.set()
    answered()
    answered()
    assert session.writing.branches.chosen() == ()


@pytest.mark.slow
def test_the_sentence_is_about_the_distribution_until_a_draw_falls_beyond_the_likeliest(bench: Bench) -> None:
    said = bench.find("roll_remark")
    assert said.sentence == distribution_remark(bench.session.writing.prospect.distribution)
    bench.session.writing.set_sampling(temperature=0.5, stop_at_end=False)
    bench.settle()
    found = bench.session.writing.prospect.distribution
    assert said.sentence == distribution_remark(found)
    for _ in range(30):
        bench.roll()
        prospect = bench.session.writing.prospect
        if prospect.landed != prospect.distribution.best:
            break
    assert said.sentence == draw_remark(prospect.distribution, prospect.draw) != ""

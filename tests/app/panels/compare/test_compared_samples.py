"""Samples of several models by the same draws, as the core draws them."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from benches.compare import LONG, PREFIX, bring_to_front, click, panel, wait_for_distributions
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.sampling import sample


def test_samples_fall_by_the_same_draws(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "compared_samples_view", qtbot)
    qtbot.waitUntil(lambda: len(view.samples) == 2 and all(s.is_over for s in view.samples), timeout=LONG)
    for folder, found in zip((transformer_run, lstm_run), view.samples, strict=True):
        steps = list(sample(open_model(folder), PREFIX, len(found.drawn), session.writing.sampling))
        assert [item.id for item in found.drawn] == [step.id for step in steps]
        assert [item.draw for item in found.drawn] == [step.draw for step in steps]
    before = view.samples
    click(compare, "new_draws_button", qtbot)
    qtbot.waitUntil(lambda: view.samples != before and all(s.is_over for s in view.samples), timeout=LONG)
    assert view.options.seed == session.writing.sampling.seed + 1


@pytest.mark.slow
def test_behind_another_tab_nothing_is_drawn(compare: MainWindow, session: Session, qtbot: QtBot) -> None:
    samples = panel(compare, "compared_samples_view")
    wait_for_distributions(compare, 2, qtbot)
    assert not samples.is_in_sight
    assert samples.samples == ()
    bring_to_front(compare, "compared_samples_view", qtbot)
    assert not panel(compare, "surprisal_view").is_in_sight
    qtbot.waitUntil(lambda: bool(samples.samples) and all(s.is_over for s in samples.samples), timeout=LONG)


@pytest.mark.slow
def test_samples_that_stopped_out_of_sight_go_on_when_they_are_seen_again(
    compare: MainWindow, session: Session, gate: threading.Event, answered: Callable[[], None], qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "compared_samples_view", qtbot)
    qtbot.waitUntil(lambda: len(view.samples) == 2 and all(s.is_over for s in view.samples), timeout=LONG)
    session.work.ask("held", gate.wait, lambda _: None, pytest.fail)
    click(compare, "new_draws_button", qtbot)
    qtbot.waitUntil(lambda: session.work.is_busy("samples"))
    compare.show_perspective("polls")
    gate.set()
    answered()
    assert not session.work.is_busy("samples")
    assert not all(s.is_over for s in view.samples)
    compare.show_perspective("compare")
    qtbot.waitUntil(lambda: all(s.is_over for s in view.samples), timeout=LONG)

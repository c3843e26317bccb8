"""Next-word distributions side by side, and how far they agree, as the core computes it."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benches.compare import (
    LONG,
    PREFIX,
    bring_to_front,
    core_distributions,
    open_all,
    panel,
    wait_for_distributions,
)
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.comparison import names_of_compared
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.comparison import jensen_shannon, overlap
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.remarks import compared_remark
from lmviz.decoding.shared_units import shared_units

ONLY_PANELS = (
    "compared_distributions",
    "compared_samples",
    "guess_word",
    "which_is_real",
    "scores",
    "surprisal",
)


def test_distributions_and_their_agreement_are_the_core_s(
    compare: MainWindow, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    expected = core_distributions((transformer_run, 2), (lstm_run, 6))
    for found, probabilities in zip(view.found, expected, strict=True):
        np.testing.assert_allclose(found.distribution.probabilities, probabilities, rtol=1e-4)
    assert (
        f"{100 * overlap(expected):.1f} % in common" in view.findChild(QWidget, "agreement").accessibleName()
    )
    table = np.stack([item.shares for item in view.found])
    names = names_of_compared(view.models)
    said = compared_remark(names, table, view.found[0].units.names)
    assert view.findChild(QWidget, "compared_remark").sentence == said
    assert (
        f"{float(jensen_shannon(expected)):.3f} bits" in view.findChild(QWidget, "agreement").accessibleName()
    )


@pytest.mark.slow
def test_a_hovered_word_is_marked_in_every_card_and_a_click_writes_it(
    compare: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    bars = view.cards[0].bars
    word = view.found[0].distribution.candidate(2).token
    bars.part_hovered.emit(1)
    for card, found in zip(view.cards, view.found, strict=True):
        id = session.library.models[0].tokenizer.id_of(word)
        assert card.readout.startswith(f"“{word}”")
        assert card.readout.endswith(f"rank {found.distribution.rank_of(id)}")
    bars.part_hovered.emit(-1)
    assert view.cards[0].readout == f"entropy {view.found[0].distribution.entropy:.2f} bits"
    bars.part_clicked.emit(1)
    assert session.reading.prefix == session.library.models[0].tokenizer.continue_text(
        PREFIX, view.found[0].distribution.candidate(2).id
    )


@pytest.mark.slow
def test_a_smaller_window_has_fewer_bars_and_nothing_to_scroll(compare: MainWindow, qtbot: QtBot) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    compare.resize(1440, 1100)
    qtbot.waitUntil(lambda: view.cards[0].room >= 10)
    compare.resize(1280, 720)
    area = view.findChild(QScrollArea)
    qtbot.waitUntil(lambda: view.cards[0].room < 10 and area.verticalScrollBar().maximum() == 0)


@pytest.mark.slow
def test_one_model_at_two_steps(compare: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot) -> None:
    first, last = session.library.model.snapshots[0], session.library.model.snapshots[-1]
    session.comparison.choose([(session.library.model, first)])
    view = wait_for_distributions(compare, 2, qtbot)
    assert [item.step for item in view.models] == [first, last]
    expected = core_distributions((lstm_run, first), (lstm_run, last))
    np.testing.assert_allclose(view.found[0].distribution.probabilities, expected[0], rtol=1e-4)
    np.testing.assert_allclose(view.found[1].distribution.probabilities, expected[1], rtol=1e-4)
    view.cards[0].step_chosen.emit(session.library.model.snapshots[1])
    assert session.comparison.chosen == ((session.library.model, session.library.model.snapshots[1]),)
    wait_for_distributions(compare, 2, qtbot)
    view.cards[0].removed.emit()
    assert session.comparison.chosen == ()


@pytest.mark.slow
def test_hovering_an_earlier_word_compares_what_follows_it(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    (expected, _) = core_distributions((transformer_run, 2), (lstm_run, 6), text="the cows")
    session.focus.hover_position(2)
    qtbot.waitUntil(
        lambda: (
            bool(view.found) and np.allclose(view.found[0].distribution.probabilities, expected, rtol=1e-4)
        ),
        timeout=LONG,
    )


@pytest.mark.slow
def test_models_of_different_tokens_are_compared_by_what_they_append(
    compare: MainWindow, session: Session, lstm_run: Path, character_run: Path, qtbot: QtBot
) -> None:
    open_all(session, qtbot, character_run)
    words = next(model for model in session.library.models if model.folder == lstm_run.resolve())
    session.comparison.choose([(words, words.snapshots[-1])])
    view = wait_for_distributions(compare, 2, qtbot)
    models = [open_model(lstm_run), open_model(character_run)]
    units = shared_units([model.tokenizer for model in models])
    rows = [next_distribution(Continuation.of(model, PREFIX).logits).probabilities for model in models]
    shares = [units.share(which, row) for which, row in enumerate(rows)]
    divergence = f"{float(jensen_shannon(shares)):.3f} bits"
    qtbot.waitUntil(lambda: divergence in view.findChild(QWidget, "agreement").accessibleName())
    assert "first characters" in view.findChild(QWidget, "agreement").accessibleName()
    curves = panel(compare, "surprisal_view")
    qtbot.waitUntil(lambda: curves.disagreement is not None, timeout=LONG)
    of_words = next(curve for curve in curves.curves if curve.name == words.name)
    assert of_words.values.sum() == pytest.approx(text_log_probabilities(models[0], PREFIX).bits, rel=1e-4)


@pytest.mark.slow
def test_an_answer_that_comes_when_all_models_have_been_closed_elsewhere_is_let_go(
    compare: MainWindow, session: Session, gate: threading.Event, answered: Callable[[], None], qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    session.work.ask("held back", gate.wait, lambda _: None, pytest.fail)
    session.reading.set_prefix("the dog")
    qtbot.waitUntil(lambda: view.is_up_to_date and session.work.is_busy("compare"))
    compare.show_perspective("corpus")
    for model in session.library.models:
        session.library.close(model)
    gate.set()
    answered()
    assert not view.found


@pytest.mark.slow
def test_without_models_and_texts_everything_says_what_to_do(window: MainWindow, qtbot: QtBot) -> None:
    window.show_perspective("compare")
    for name in ("surprisal_view", "compared_samples_view", "scores_view", "guess_view", "real_view"):
        bring_to_front(window, name, qtbot)
        view = panel(window, name)
        qtbot.waitUntil(
            lambda view=view: any(
                label.isVisible() and label.text().startswith("Open or train")
                for label in view.findChildren(QLabel)
            )
        )


def test_what_is_drawn_is_not_asked_again(
    compare: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    asked: list[str] = []
    ask = compare.session.work.ask_models
    monkeypatch.setattr(
        compare.session.work,
        "ask_models",
        lambda models, key, *rest: asked.append(key) or ask(models, key, *rest),
    )
    view.refresh_soon()
    qtbot.waitUntil(lambda: view.is_up_to_date)
    assert asked == []
    compare.session.reading.set_prefix("the hens")
    qtbot.waitUntil(lambda: asked.count("compare") == 1)

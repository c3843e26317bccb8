"""A model as it is changed, beside itself as it was trained."""

import threading
from pathlib import Path

import numpy as np
import pytest
from benches.compare import (
    LONG,
    PREFIX,
    bring_to_front,
    click,
    core_distributions,
    panel,
    wait_for_distributions,
)
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.comparison import jensen_shannon
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.sampling import sample
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import replace, swap_tokens
from lmviz.runs.evaluating import evaluate_corpus

ONLY_PANELS = ("compared_distributions", "surprisal", "compared_samples", "scores")


@pytest.mark.slow
def test_interventions_are_in_force_in_the_present_model_which_says_so(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    change = replace("layers/0/hidden", 0.9)
    session.surgery.add(change)
    changed = ChangedModel(open_model(lstm_run), [change])
    expected = next_distribution(Continuation.of(changed, PREFIX).logits).probabilities
    qtbot.waitUntil(
        lambda: (
            bool(view.found) and np.allclose(view.found[1].distribution.probabilities, expected, atol=1e-5)
        ),
        timeout=LONG,
    )
    (other, _) = core_distributions((transformer_run, 2), (lstm_run, 6))
    np.testing.assert_allclose(view.found[0].distribution.probabilities, other, rtol=1e-4)
    assert view.cards[1].readout.startswith(f"with {change.describe()}")
    assert "with" not in view.cards[0].readout
    curves = panel(compare, "surprisal_view")
    named = [False, True]
    qtbot.waitUntil(
        lambda: [curve.name.endswith(", changed") for curve in curves.curves] == named, timeout=LONG
    )
    bits = text_log_probabilities(changed, PREFIX).bits
    assert np.nansum(curves.curves[1].values) == pytest.approx(bits, rel=1e-4)
    samples = bring_to_front(compare, "compared_samples_view", qtbot)
    qtbot.waitUntil(
        lambda: len(samples.samples) == 2 and all(item.is_over for item in samples.samples), timeout=LONG
    )
    drawn = samples.samples[1].drawn
    steps = sample(changed, PREFIX, len(drawn), session.writing.sampling)
    assert [item.id for item in drawn] == [step.id for step in steps]
    scores = bring_to_front(compare, "scores_view", qtbot)
    qtbot.waitUntil(
        lambda: str(scores.findChild(TableView).model().index(1, 0).data()).endswith(", changed"),
        timeout=LONG,
    )
    click(compare, "measure_button", qtbot)
    moment = session.comparison.present
    qtbot.waitUntil(lambda: scores.score_of(moment, session.surgery.in_force) is not None, timeout=LONG)
    judged = evaluate_corpus(changed, session.text.corpus)
    found = scores.score_of(moment, session.surgery.in_force)
    assert found.negative_log_likelihood == pytest.approx(judged.negative_log_likelihood, rel=1e-5)
    assert scores.score_of(moment) is None, "nothing was measured of the model as it was trained"
    qtbot.waitUntil(lambda: not session.work.jobs, timeout=LONG)
    switch, table = scores.findChild(QComboBox, "scores_under_picker"), scores.findChild(TableView).model()
    rows = lambda: [str(table.index(at, 0).data()).partition(", ")[2] for at in range(table.rowCount())]  # noqa: E731
    for under in (["", "as trained"], ["", "changed", "as trained"]):
        qtbot.keyClick(switch, Qt.Key.Key_Down)
        qtbot.waitUntil(lambda under=under: rows() == under, timeout=LONG)
        said = any("without the changes" in line.text for line in scores.findChildren(MutedLine))
        assert said is (len(under) == 2)
    qtbot.keyClick(switch, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: rows() == ["", "changed"], timeout=LONG)
    session.surgery.add(replace("layers/0/hidden", 0.5, position=1))
    qtbot.waitUntil(
        lambda: any("without the changes" in line.text for line in scores.findChildren(MutedLine)),
        timeout=LONG,
    )
    assert not str(scores.findChild(TableView).model().index(1, 0).data()).endswith(", changed")


@pytest.mark.slow
def test_an_answer_is_named_after_what_was_asked_whatever_has_changed_since(
    compare: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    view, curves = wait_for_distributions(compare, 2, qtbot), panel(compare, "surprisal_view")
    qtbot.waitUntil(lambda: len(curves.curves) == 2, timeout=LONG)
    plain, change = open_model(lstm_run), replace("layers/0/hidden", 0.9)
    both = {"": plain, ", changed": ChangedModel(plain, [change])}
    bits = {f"{plain.name}{end}": text_log_probabilities(model, PREFIX).bits for end, model in both.items()}
    curves.refresh()
    view.refresh()
    answered = threading.Event()
    session.work.ask("after both", answered.set, lambda _: None, pytest.fail)
    answered.wait()  # both answers are there, but the window has not turned yet
    session.surgery.add(change)

    wrong: list[str] = []

    def is_changed() -> bool:
        curve, card = curves.curves[1], view.cards[1]
        if np.nansum(curve.values) != pytest.approx(bits[curve.name], rel=1e-4):
            wrong.append(f"{curve.name}: {np.nansum(curve.values):.3f} bits")
        if view.found and ("with" in card.readout) != bool(view.models[1].interventions):
            wrong.append(card.readout)
        return curve.name.endswith(", changed") and bool(view.found)

    QCoreApplication.processEvents()  # before the thread can have answered anew
    qtbot.waitUntil(is_changed, timeout=LONG)
    assert not wrong


def test_a_changed_model_stands_beside_itself_as_it_was_trained(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    button = compare.findChild(QPushButton, "add_twin_button")
    assert not button.isVisible(), "nothing is changed yet"
    change = replace("layers/0/hidden", 0.9)
    session.surgery.add(change)
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    wait_for_distributions(compare, 3, qtbot)
    assert not button.isVisible()
    plain, changed = open_model(lstm_run), ChangedModel(open_model(lstm_run), [change])
    models = [open_model(transformer_run), changed, plain]
    expected = [next_distribution(Continuation.of(model, PREFIX).logits).probabilities for model in models]
    for found, probabilities in zip(view.found, expected, strict=True):
        np.testing.assert_allclose(found.distribution.probabilities, probabilities, rtol=1e-4)
    assert [card.readout.partition(" · ")[0] for card in view.cards][1:] == [
        f"with {change.describe()}",
        "as trained",
    ]
    assert (
        f"{float(jensen_shannon(expected)):.3f} bits" in view.findChild(QWidget, "agreement").accessibleName()
    )
    curves = panel(compare, "surprisal_view")
    qtbot.waitUntil(lambda: len(curves.curves) == 3, timeout=LONG)
    assert [curve.name.partition(", ")[2] for curve in curves.curves] == ["", "changed", "as trained"]
    assert len({(curve.turn, curve.ink) for curve in curves.curves}) == 3
    for curve, model in zip(curves.curves, models, strict=True):
        bits = text_log_probabilities(model, PREFIX).bits
        assert np.nansum(curve.values) == pytest.approx(bits, rel=1e-4)
    samples = bring_to_front(compare, "compared_samples_view", qtbot)
    qtbot.waitUntil(
        lambda: len(samples.samples) == 3 and all(item.is_over for item in samples.samples), timeout=LONG
    )
    for sampled, model in zip(samples.samples, models, strict=True):
        steps = sample(model, PREFIX, len(sampled.drawn), session.writing.sampling)
        assert [item.id for item in sampled.drawn] == [step.id for step in steps]
    session.surgery.undo()
    wait_for_distributions(compare, 2, qtbot)
    session.surgery.redo()
    wait_for_distributions(compare, 3, qtbot)
    view.cards[2].removed.emit()
    wait_for_distributions(compare, 2, qtbot)
    assert session.comparison.chosen == ((session.library.models[0], 2),), "the others stay"


@pytest.mark.slow
def test_another_step_of_the_trained_twin_is_a_column_of_its_own(
    compare: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    session.surgery.add(replace("layers/0/hidden", 0.9))
    session.comparison.set_twin(True)
    wait_for_distributions(compare, 3, qtbot)
    earlier = session.library.model.snapshots[0]
    view.cards[2].step_chosen.emit(earlier)
    third = ComparedModel((session.library.model, earlier))
    qtbot.waitUntil(lambda: third in view.models and len(view.found) == 3, timeout=LONG)
    assert not session.comparison.has_twin
    assert session.library.step == session.library.model.snapshots[-1]


@pytest.mark.slow
def test_words_that_surgery_swaps_stand_under_their_own_surprisals(
    compare: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.comparison.choose([])
    curves = panel(compare, "surprisal_view")
    tokens = session.reading.encoding.tokens
    session.surgery.add(swap_tokens(1, 2))
    swapped = (tokens[2], tokens[1], *tokens[3:])
    qtbot.waitUntil(lambda: tuple(curves.exported_names().rows) == swapped, timeout=LONG)
    read = text_log_probabilities(ChangedModel(open_model(lstm_run), [swap_tokens(1, 2)]), PREFIX)
    bits = [token.surprisal for token in read.tokens]
    assert [token.token for token in read.tokens] == list(swapped)
    assert np.asarray(curves.curves[0].values) == pytest.approx(bits, rel=1e-4)

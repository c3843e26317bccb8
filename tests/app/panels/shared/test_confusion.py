"""Confusion: what the core counts, at each step; a click reads an example with that very mistake."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benches.compare import bring_to_front
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.confusion import ConfusionPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.matrix.confusion_grid import ConfusionGrid
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import replace
from lmviz.runs.evaluating import evaluate_corpus
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("confusion",)

SENTENCES = "the/d old/a man/n sails/v\nthe/d old/n man/v the/d boats/n\nboats/n sail/v\n" * 10
REVIEWS = "good\tthe film is good\nbad\tthe film is bad\ngood\tthe film is not bad\n" * 8


@pytest.fixture
def first_perspective() -> str:
    return "inside"


@pytest.fixture(scope="module")
def run_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """run_on(text): a small model that learned from two thirds of it, and from words read `least` times."""

    def make(text: str, least: int = 1) -> Path:
        from lmviz.api.training import train
        from lmviz.text.corpus import load_corpus

        folder = tmp_path_factory.mktemp("runs")
        (folder / "text.txt").write_text(text, encoding="utf-8")
        corpus = load_corpus(folder / "text.txt", validation=0.34, minimum_count=least)
        options = {"steps": 4, "batch": 4, "snapshots": 2, "validate_every": 0, "learning_rate": 0.03}
        train("rnn", corpus, folder / "run", width=6, **options)
        return folder / "run"

    return make


def open_both(session: Session, qtbot: QtBot, folder: Path) -> None:
    session.library.open(folder)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open(session.library.model.description.corpus["sources"][0], validation=0.34)
    qtbot.waitUntil(lambda: session.text.corpus is not None)


def core_confusion(session: Session) -> np.ndarray:
    import lmviz

    model, step = session.library.shown_moment
    return evaluate_corpus(lmviz.open_model(model.folder, step), session.text.corpus).confusion


@pytest.mark.slow
def test_a_click_on_a_mistake_reads_an_example_of_it(
    window: MainWindow, session: Session, run_on: Callable[[str], Path], qtbot: QtBot
) -> None:
    open_both(session, qtbot, run_on(SENTENCES))
    panel = bring_to_front(window, "confusion_view", qtbot)
    qtbot.waitUntil(lambda: panel.score is not None)  # few tags are judged without being asked
    counts = core_confusion(session)
    np.testing.assert_array_equal(panel.findChild(ConfusionGrid).counts, counts)
    right, given = next((int(a), int(b)) for a, b in np.argwhere(counts) if a != b)
    place = panel.findChild(ConfusionGrid).cell_rectangle(right, given).center().toPoint()
    qtbot.mouseClick(panel.findChild(ConfusionGrid), Qt.MouseButton.LeftButton, pos=place)
    wait_for_reading(session, qtbot)
    reading, position = session.reading.current, session.focus.position
    labels = session.library.model.predicts.names
    answers = window.prefix_bar.strip.answers
    assert reading.trace["probabilities"].array[position].argmax() == given
    assert answers[position].label == labels[given]
    assert labels[right] in answers[position].right.split(" or ")
    before = session.reading.prefix
    empty = next((int(a), int(b)) for a, b in np.argwhere(counts == 0))
    place = panel.findChild(ConfusionGrid).cell_rectangle(*empty).center().toPoint()
    qtbot.mouseClick(panel.findChild(ConfusionGrid), Qt.MouseButton.LeftButton, pos=place)
    assert session.reading.prefix == before
    assert panel.exported_arrays()["confusion"] is panel.score.confusion
    assert "confusion = scores[0].confusion" in panel.recipe()


@pytest.mark.slow
def test_of_many_labels_what_they_come_to_is_seen_above_the_counts_in_little_room(
    window: MainWindow, session: Session, run_on: Callable[[str], Path], qtbot: QtBot
) -> None:
    lines = (" ".join(f"w{at}/T{at}" for at in range(first, first + 6)) for first in range(12))
    open_both(session, qtbot, run_on("\n".join(lines) + "\n"))
    panel = ConfusionPanel(session)
    qtbot.addWidget(panel)
    panel.resize(340, 240)
    panel.show()
    qtbot.waitUntil(lambda: panel.score is not None)
    said, grid = panel.findChild(Label, "confusion_right"), panel.findChild(ConfusionGrid)
    assert len(panel.score.labels) == 17
    qtbot.waitUntil(
        lambda: (
            said.visibleRegion().boundingRect().height() == said.height()
            and said.mapTo(panel, said.rect().bottomLeft()).y() <= grid.mapTo(panel, QPoint()).y()
        )
    )


def test_each_label_and_each_kind_of_span_has_its_precision_recall_and_f1(
    window: MainWindow, session: Session, run_on: Callable[[str], Path], qtbot: QtBot
) -> None:
    names = "Ada/B-PER Byron/I-PER left/O\nAda/B-PER met/O Bea/B-PER\nBea/B-PER saw/O York/B-LOC\n" * 8
    open_both(session, qtbot, run_on(names + "Cleo/B-PER saw/O Hull/B-LOC\n" * 4, least=5))
    panel = bring_to_front(window, "confusion_view", qtbot)
    qtbot.waitUntil(lambda: panel.score is not None)
    page = panel.findChild(QComboBox, "confusion_page_picker")
    qtbot.keyClick(page, Qt.Key.Key_Down)
    table = panel.findChild(TableView)
    assert table.isVisible()
    shown = table.model()
    rows = [[shown.index(at, column).data() for column in range(5)] for at in range(shown.rowCount())]
    model, step = session.library.shown_moment
    expected = evaluate_corpus(open_model(model.folder, step), session.text.corpus)
    assert expected.spans is not None
    labels, kinds = list(expected.by_label), [f"spans of {kind}" for kind in expected.by_span]
    assert [row[0] for row in rows] == labels + kinds
    for row, item in zip(rows, (*expected.by_label.values(), *expected.by_span.values()), strict=True):
        assert row[2] == ("–" if item.precision is None else percentage(item.precision))
        assert row[4] == percentage(item.f1)
    assert rows[0][1:] == [
        str(expected.by_label[labels[0]].count),
        *map(percentage, (expected.by_label[labels[0]].precision, expected.by_label[labels[0]].accuracy)),
        percentage(expected.by_label[labels[0]].f1),
    ]
    said = [label.text() for label in panel.findChildren(Label)]
    assert any(f"F1 of whole spans (IOB2): {percentage(expected.spans.f1)}" in line for line in said)
    unknown = expected.unknown
    wanted = None if unknown is None else f"unknown words: {percentage(unknown.accuracy)} of {unknown.count}"
    assert wanted is not None
    assert any(wanted in line for line in said)


@pytest.mark.slow
def test_another_step_has_its_own_counts(
    window: MainWindow, session: Session, run_on: Callable[[str], Path], qtbot: QtBot
) -> None:
    open_both(session, qtbot, run_on(REVIEWS))
    panel = bring_to_front(window, "confusion_view", qtbot)
    qtbot.waitUntil(lambda: panel.score is not None)
    last = panel.score
    session.library.choose_step(0)
    qtbot.waitUntil(lambda: panel.score is not last)
    np.testing.assert_array_equal(panel.findChild(ConfusionGrid).counts, core_confusion(session))
    assert panel.findChild(ConfusionGrid).counts.sum() == len(session.text.corpus.validation_documents)


@pytest.mark.slow
def test_it_says_what_it_needs(
    window: MainWindow,
    session: Session,
    lstm_run: Path,
    run_on: Callable[[str], Path],
    text_file: Path,
    qtbot: QtBot,
) -> None:
    open_both(session, qtbot, run_on(REVIEWS))
    panel = bring_to_front(window, "confusion_view", qtbot)
    session.text.open(text_file)
    qtbot.waitUntil(lambda: "Open a text for classification" in panel.card.placeholder)
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model.family == "lstm")
    assert panel.out_of_place(session.library.model) == (
        "lstm predicts the next token. Open a tagger or a classifier to see what it takes for what."
    )


@pytest.mark.slow
def test_a_change_that_holds_for_any_text_is_an_experiment_on_the_whole_text(
    window: MainWindow, session: Session, run_on: Callable[[str], Path], qtbot: QtBot
) -> None:
    open_both(session, qtbot, run_on(SENTENCES))
    panel = bring_to_front(window, "confusion_view", qtbot)
    qtbot.waitUntil(lambda: panel.score is not None)
    plain = panel.score
    change = replace("layers/0/hidden", 0.0)
    session.surgery.add(change)
    qtbot.waitUntil(lambda: panel.score is not None and panel.score is not plain)
    model = open_model(session.library.model.folder)
    expected = evaluate_corpus(ChangedModel(model, [change]), session.text.corpus)
    np.testing.assert_array_equal(panel.findChild(ConfusionGrid).counts, expected.confusion)
    assert panel.score.negative_log_likelihood == pytest.approx(expected.negative_log_likelihood, rel=1e-5)
    assert panel.score.negative_log_likelihood != plain.negative_log_likelihood
    assert any(change.describe() in line.text for line in panel.findChildren(MutedLine))
    given: dict[str, Any] = {}
    exec(panel.recipe(), given)
    np.testing.assert_array_equal(given["confusion"], expected.confusion)
    session.surgery.undo()
    qtbot.waitUntil(lambda: panel.score is plain)


def choose_under(panel: Panel, choice: str, qtbot: QtBot) -> None:
    switch = panel.findChild(QComboBox, "confusion_under_picker")
    qtbot.waitUntil(switch.isVisible)
    while switch.currentText() != choice:
        qtbot.keyClick(switch, Qt.Key.Key_Down)


@pytest.mark.slow
def test_the_switch_shows_the_counts_with_the_changes_without_them_and_both(
    window: MainWindow, session: Session, run_on: Callable[[str], Path], qtbot: QtBot
) -> None:
    open_both(session, qtbot, run_on(SENTENCES))
    panel = bring_to_front(window, "confusion_view", qtbot)
    qtbot.waitUntil(lambda: panel.score is not None)
    plain = panel.score
    assert not panel.findChild(QComboBox, "confusion_under_picker").isVisible()  # there is nothing to choose
    session.surgery.add(replace("layers/0/hidden", 0.0))
    qtbot.waitUntil(lambda: panel.score is not None and panel.score is not plain)
    changed = panel.score
    choose_under(panel, "without", qtbot)
    qtbot.waitUntil(lambda: panel.scores == (plain,))
    [note] = [line.text for line in panel.findChildren(MutedLine) if "step" in line.text]
    assert note.startswith("without the changes · ")
    choose_under(panel, "both", qtbot)
    qtbot.waitUntil(lambda: panel.scores == (changed, plain))
    grids = [grid for grid in panel.findChildren(ConfusionGrid) if grid.isVisibleTo(panel)]
    for grid, score in zip(grids, (changed, plain), strict=True):
        np.testing.assert_array_equal(grid.counts, score.confusion)
    given: dict[str, Any] = {}
    exec(panel.recipe(), given)
    for name, counts in panel.exported_arrays().items():
        np.testing.assert_array_equal(given[name], counts)
    assert list(panel.exported_arrays()) == ["confusion", "confusion_as_trained"]
    [under] = [item for item in session.comparison.judged if item.is_twin]
    assert session.scores.score_of(under.moment, under.interventions) is plain


@pytest.mark.slow
def test_counts_of_another_question_do_not_stand_under_a_new_one(
    window: MainWindow,
    session: Session,
    run_on: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    """Where a text is too long to be judged without being asked."""
    monkeypatch.setattr("lmviz.app.panels.shared.confusion.FEW", 3)
    open_both(session, qtbot, run_on(SENTENCES))
    panel = bring_to_front(window, "confusion_view", qtbot)
    button = panel.findChild(QPushButton, "confusion_button")
    qtbot.waitUntil(button.isVisible)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.score is not None)
    plain = panel.score
    session.surgery.add(replace("layers/0/hidden", 0.0))
    qtbot.waitUntil(lambda: panel.score is None and button.isVisible())
    assert panel.card.placeholder == "Measure to see what is taken for what."
    choose_under(panel, "without", qtbot)
    qtbot.waitUntil(lambda: panel.score is plain)
    choose_under(panel, "both", qtbot)
    qtbot.waitUntil(lambda: panel.score is None and button.isVisible())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.scores) == 2)


@pytest.mark.slow
def test_a_change_of_one_word_has_no_place_in_other_texts_and_that_is_said(
    window: MainWindow, session: Session, run_on: Callable[[str], Path], qtbot: QtBot
) -> None:
    open_both(session, qtbot, run_on(SENTENCES))
    panel = bring_to_front(window, "confusion_view", qtbot)
    qtbot.waitUntil(lambda: panel.score is not None)
    plain = panel.score
    session.surgery.add(replace("layers/0/hidden", 0.0, position=1))
    qtbot.waitUntil(lambda: any("without the changes" in it.text for it in panel.findChildren(MutedLine)))
    assert panel.score is plain

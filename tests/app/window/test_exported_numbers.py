"""What leaves a panel as numbers is what its Python gives, perspective by perspective."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benches.exporting import LONG, choose, exported, shown
from covering import parametrize_few
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QLineEdit,
    QPushButton,
)
from pytestqt.qtbot import QtBot

from lmviz.app.board.exporting import choose_numbers, copy_recipe
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.inspection.interventions import zero
from lmviz.training.options import TrainingOptions


@pytest.mark.slow
def test_the_lines_behind_a_count_can_be_taken_along(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    text_file: Path,
    tmp_path: Path,
    monkeypatch,
    qtbot: QtBot,
) -> None:
    session.library.open(make_run("ngram", 3, order=3))
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(
        lambda: session.library.model is not None and session.text.corpus is not None, timeout=LONG
    )
    session.reading.set_prefix("the hens eat")
    qtbot.waitUntil(
        lambda: (
            session.reading.current is not None
            and session.reading.current.trace.text == session.reading.prefix
        ),
        timeout=LONG,
    )
    window.show_perspective("inside")
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == "evidence_view")
    panel.parentWidget().raise_()
    assert panel.recipe() == "", "nothing has been found yet"
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()), timeout=LONG)
    choose(tmp_path / "places.csv", monkeypatch)
    choose_numbers(panel)
    with (tmp_path / "places.csv").open(encoding="utf-8", newline="") as file:
        head, *written = csv.reader(file)
    assert head == ["position", "before", "match", "next token", "after"]
    copy_recipe(panel)
    scope: dict[str, object] = {}
    exec(QGuiApplication.clipboard().text(), scope)
    assert written == [[str(part) for part in place] for place in scope["places"]]
    text, (position, *_) = session.text.corpus.training_text, scope["places"][0]
    assert len(written) == text.count("hens eat")
    assert (
        session.text.corpus.tokenizer.decode(session.text.corpus.training[position : position + 2])
        == "hens eat"
    )
    session.focus.choose_position(1)  # another context
    qtbot.waitUntil(lambda: panel.recipe() not in ("", QGuiApplication.clipboard().text()), timeout=LONG)


@parametrize_few("is_changed", [False, True])
def test_what_is_predicted_leaves_as_numbers_and_as_python(
    window: MainWindow, read: Session, qtbot: QtBot, is_changed: bool
) -> None:
    if is_changed:
        read.surgery.add(zero("layers/0/hidden", unit=1))
        qtbot.waitUntil(
            lambda: not read.reading.is_busy and read.reading.current.baseline is not None, timeout=LONG
        )
    read.writing.set_sampling(temperature=0.7, top_k=5)
    panels = shown(window, "sample")
    arrays, scope = exported(panels["distribution_view"], qtbot)
    probabilities = scope["distribution"].probabilities
    np.testing.assert_allclose(arrays["probabilities"], probabilities[arrays["ids"]], rtol=1e-5)
    assert np.count_nonzero(probabilities) == 5
    arrays, scope = exported(panels["chain_rule_view"], qtbot)
    tokens = scope["likelihood"].tokens
    expected = [np.nan if token.surprisal is None else token.surprisal for token in tokens]
    np.testing.assert_allclose(arrays["bits"], expected, rtol=1e-5)
    read.beam.set_options(width=2, length=3)
    assert panels["beam_view"].recipe() == "", "nothing has been searched"
    qtbot.waitUntil(lambda: read.writing.can_write)
    while not read.beam.is_grown:
        with qtbot.waitSignal(read.beam.changed, timeout=LONG):
            read.beam.grow()
    arrays, scope = exported(panels["beam_view"], qtbot)
    np.testing.assert_allclose(arrays["score"], [node.score for node in scope["tree"].nodes[1:]], rtol=1e-5)


@pytest.mark.slow
@parametrize_few("is_changed", [False, True])
def test_what_was_rolled_leaves_as_numbers_and_as_python(
    window: MainWindow, read: Session, qtbot: QtBot, is_changed: bool
) -> None:
    if is_changed:
        read.surgery.add(zero("layers/0/hidden", unit=1))
    read.writing.set_sampling(temperature=1.5, top_p=0.95, seed=3)
    panels = shown(window, "sample")
    for count in range(1, 4):
        read.writing.roll()
        qtbot.waitUntil(lambda count=count: len(read.writing.branches.nodes) == 1 + count, timeout=LONG)
    arrays, scope = exported(panels["roll_view"], qtbot)
    found = scope["distribution"]
    np.testing.assert_allclose(arrays["probabilities"], found.probabilities[arrays["ids"]], rtol=1e-5)
    assert scope["landed"] == read.writing.branches.node.id == found.at_draw(arrays["draw"][0])
    arrays, scope = exported(panels["branches_view"], qtbot)
    assert [int(parent) for parent in arrays["parents"]] == [-1, 0, 1]
    np.testing.assert_allclose(arrays["probabilities"], scope["probabilities"], rtol=1e-4)
    panel = panels["side_by_side_view"]
    panel.parentWidget().raise_()
    qtbot.waitUntil(lambda: {"greedy", "sampling"} <= set(panel.outcomes), timeout=LONG)
    arrays, scope = exported(panel, qtbot)
    for way, outcome in scope["outcomes"].items():
        figures = [outcome.log_probability, outcome.score, outcome.perplexity]
        np.testing.assert_allclose(arrays[f"{way}/figures"], figures, rtol=1e-4)
        assert tuple(arrays[f"{way}/ids"]) == outcome.chosen == panel.outcomes[way].chosen


@pytest.mark.slow
def test_what_is_compared_leaves_as_numbers_and_as_python(
    window: MainWindow, read: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    first = read.library.model
    read.library.open(make_run("ngram", 3, order=3))
    qtbot.waitUntil(lambda: len(read.library.models) == 2 and not read.reading.is_busy, timeout=LONG)
    read.comparison.choose([(first, first.snapshots[-1])])
    panels = shown(window, "compare")
    qtbot.waitUntil(lambda: len(panels["compare_view"].found) == 2, timeout=LONG)
    arrays, scope = exported(panels["compare_view"], qtbot)
    for mine, theirs in zip(arrays.values(), scope["distributions"], strict=True):
        np.testing.assert_allclose(mine, theirs.probabilities, rtol=1e-4, atol=1e-7)
    qtbot.waitUntil(lambda: panels["surprisal_view"].disagreement is not None, timeout=LONG)
    arrays, scope = exported(panels["surprisal_view"], qtbot)
    divergence = arrays["disagreement"]
    assert np.nanmax(divergence) == pytest.approx(np.max(scope["found"].divergence[1:]), rel=1e-3)
    panel = panels["compared_samples_view"]
    panel.parentWidget().raise_()
    qtbot.waitUntil(
        lambda: len(panel.samples) == 2 and all(sample.is_over for sample in panel.samples), timeout=LONG
    )
    arrays, scope = exported(panel, qtbot)
    assert len(arrays) == 6
    for number, steps in enumerate(scope["samples"]):
        ids, probabilities, draws = list(arrays.values())[3 * number : 3 * number + 3]
        assert list(ids) == [step.id for step in steps]
        np.testing.assert_allclose(probabilities, [step.probability for step in steps], rtol=1e-3)
        assert list(draws) == [step.draw for step in steps]


@pytest.mark.slow
def test_scores_leave_as_numbers_and_as_python(
    window: MainWindow, read: Session, text_file: Path, qtbot: QtBot
) -> None:
    read.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: read.text.corpus is not None, timeout=LONG)
    panel = shown(window, "compare")["scores_view"]
    panel.parentWidget().raise_()
    assert panel.recipe() == "", "nothing has been measured"
    button = panel.findChild(QPushButton, "measure_button")
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled())
    button.click()
    arrays, scope = exported(panel, qtbot)
    [figures], [score] = arrays.values(), scope["scores"]
    assert list(figures) == pytest.approx(
        [
            score.tokens,
            score.perplexity,
            score.bits_per_character,
            score.unknown_share,
        ],
        rel=1e-5,
    )


def test_what_a_text_shows_leaves_as_numbers_and_as_python(
    window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    panels = shown(window, "corpus")
    arrays, scope = exported(panels["vocabulary_view"], qtbot)
    assert [(token, int(count)) for token, count in arrays["vocabulary"]] == scope["vocabulary"]
    panels["concordance_view"].findChild(QLineEdit).setText("the hens")
    arrays, scope = exported(panels["concordance_view"], qtbot)
    assert [(token, int(count)) for token, count in arrays["words"]] == scope["words"]
    assert scope["words"]
    session.text.choose_place(90)
    arrays, scope = exported(panels["corpus_text_view"], qtbot)
    assert list(arrays["ids"]) == list(scope["ids"])
    assert list(arrays["tokens"]) == scope["tokens"]
    assert len(scope["ids"]) > 90


@pytest.mark.slow
def test_a_text_half_merged_leaves_as_it_is_seen(
    window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.text.open(text_file, documents="line", tokenizer="bpe:300")
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    panel = shown(window, "corpus")["corpus_text_view"]
    slider = next(row for row in panel.findChildren(SliderRow) if row.isVisible())
    whole = exported(panel, qtbot)[0]
    slider.show_value(3, "")
    arrays, scope = exported(panel, qtbot)
    assert list(arrays["pieces"]) == scope["pieces"]
    assert len(scope["pieces"]) > len(whole["ids"]) / 3, "in smaller pieces than the page has tokens"


@pytest.mark.slow
def test_a_training_leaves_as_numbers_and_as_python(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    panels = shown(window, "train")
    _, scope = exported(panels["loss_view"], qtbot)
    lines = [line for line in read.library.model.run.metrics() if line.get("loss") is not None]
    assert scope["curves"][str(read.library.model.folder)]["loss"] == [
        (line["step"], line["loss"]) for line in lines
    ]
    panel = panels["over_time_view"]
    snapshots = set(read.library.model.snapshots)
    qtbot.waitUntil(lambda: set(panel.rows) == snapshots and panel.is_up_to_date, timeout=LONG)
    _, scope = exported(panel, qtbot)
    assert set(scope["probabilities"]) == set(panel.rows)
    for step, row in panel.rows.items():
        np.testing.assert_allclose(row, scope["probabilities"][step], rtol=1e-4, atol=1e-7)
    sample = panels["live_sample_view"]
    read.writing.set_sampling(stop_at_end=False)
    qtbot.waitUntil(lambda: len(sample.exported_arrays().get("ids", ())) >= 16, timeout=LONG)
    arrays, scope = exported(sample, qtbot)
    assert list(arrays["ids"]) == [step.id for step in scope["steps"]]
    np.testing.assert_allclose(
        arrays["probabilities"], [step.probability for step in scope["steps"]], rtol=1e-3
    )


@pytest.mark.slow
def test_what_is_measured_while_training_leaves_as_numbers_and_as_python(
    window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    panel = shown(window, "train")["health_view"]
    options = TrainingOptions(steps=3, batch=2, length=4)
    session.training.start("rnn", FAMILIES["rnn"].configuration(width=4), options)
    qtbot.waitUntil(lambda: session.training.state.phase == "finished", timeout=LONG)
    arrays, scope = exported(panel, qtbot)
    (curves,) = scope["curves"].values()
    for name, curve in curves.items():
        np.testing.assert_allclose(arrays[name], np.array(curve), rtol=1e-6)
    ratios = {
        f"update_over_weight/{name}": ratio
        for name, ratio in session.training.state.history.update_ratios.items()
    }
    assert ratios
    qtbot.waitUntil(lambda: ratios.items() <= panel.exported_arrays().items(), timeout=LONG)

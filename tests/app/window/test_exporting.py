"""Whatever a panel shows can leave the window: picture, numbers, and Python that gives the same numbers."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
)
from pytestqt.qtbot import QtBot

from lmviz.api import train
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.part import Part
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.window.exporting import choose_numbers, choose_picture, copy_recipe, fill_export_menu
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.inspection.interventions import zero
from lmviz.text.corpus import load_corpus
from lmviz.training.options import TrainingOptions

LONG = 30_000


@pytest.fixture
def panels(window: MainWindow, read: Session, qtbot: QtBot) -> dict[str, object]:
    """The panels of Inside on a small LSTM, a stage and a cell chosen."""
    window.show_perspective("inside")
    read.focus.choose_stage(2)
    read.focus.choose_cell(("layers/0/input", (1, 3)))
    found = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: found["why_view"].shown is not None, timeout=LONG)
    qtbot.waitUntil(lambda: found["state_view"].view.address == "layers/0/input", timeout=LONG)
    return found


def choose(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))


def test_a_picture_of_a_panel(panels: dict[str, object], tmp_path: Path, monkeypatch) -> None:
    choose(tmp_path / "state.png", monkeypatch)
    choose_picture(panels["state_view"])
    image = QImage(str(tmp_path / "state.png"))
    assert (image.width(), image.height()) == (
        2 * panels["state_view"].width(),
        2 * panels["state_view"].height(),
    )


def test_the_numbers_of_a_panel(
    panels: dict[str, object], read: Session, tmp_path: Path, monkeypatch
) -> None:
    choose(tmp_path / "state.csv", monkeypatch)
    choose_numbers(panels["state_view"])
    table = np.loadtxt(tmp_path / "state.csv", delimiter=",", ndmin=2)
    np.testing.assert_allclose(table, read.reading.current.trace["layers/0/input"].array.T, rtol=1e-6)


def test_several_arrays_are_offered_as_npz(panels: dict[str, object], tmp_path: Path, monkeypatch) -> None:
    offered = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: offered.append(given[2]) or ("", ""))
    choose_numbers(panels["state_view"])
    choose_numbers(panels["stage_view"])
    assert [Path(name).suffix for name in offered] == [".csv", ".npz"]


@pytest.mark.parametrize(("name", "bound"), [("state_view", "values"), ("why_view", "equation")])
def test_the_python_of_a_panel_gives_what_it_shows(
    panels: dict[str, object], read: Session, name: str, bound: str
) -> None:
    copy_recipe(panels[name])
    scope: dict[str, object] = {}
    exec(QGuiApplication.clipboard().text(), scope)
    if bound == "values":
        expected = read.reading.current.trace["layers/0/input"].array.T  # units by positions, as it is drawn
        np.testing.assert_allclose(scope["values"], expected, rtol=1e-5)
    else:
        value = read.reading.current.trace["layers/0/input"].array[1, 3]
        assert f"{value:.2f}".lstrip("0") in scope["equation"]


def test_what_cannot_be_written_is_a_sentence(
    panels: dict[str, object], read: Session, tmp_path: Path, monkeypatch, qtbot: QtBot
) -> None:
    choose(tmp_path / "state.bmp", monkeypatch)
    choose_picture(panels["state_view"])
    assert "bmp" in panels["state_view"].complaint


def test_the_menu_offers_only_what_there_is(panels: dict[str, object]) -> None:
    menu = QMenu()
    fill_export_menu(menu, panels["surgery_view"])
    assert [action.isEnabled() for action in menu.actions()] == [True, False, False]


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
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == "unit_view")
    assert panel.recipe() == "", "nothing has been found yet"
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()), timeout=LONG)
    choose(tmp_path / "places.csv", monkeypatch)
    choose_numbers(panel)
    with (tmp_path / "places.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.reader(file))
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


def exported(panel, qtbot: QtBot) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """What a panel exports as numbers, and what its Python binds."""
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()) and bool(panel.recipe()), timeout=LONG)
    scope: dict[str, object] = {}
    exec(panel.recipe(), scope)
    return panel.exported_arrays(), scope


def shown(window: MainWindow, perspective: str) -> dict[str, object]:
    window.show_perspective(perspective)
    return {panel.objectName(): panel for panel in window.perspective.panels}


@pytest.mark.parametrize("is_changed", [False, True])
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


@pytest.mark.parametrize("is_changed", [False, True])
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
        [score.tokens, score.negative_log_likelihood, score.perplexity, score.bits_per_character], rel=1e-5
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


def test_a_training_leaves_as_numbers_and_as_python(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    panels = shown(window, "train")
    _, scope = exported(panels["loss_view"], qtbot)
    lines = [line for line in read.library.model.run.metrics() if line.get("loss") is not None]
    assert scope["curves"][str(read.library.model.folder)]["loss"] == [
        (line["step"], line["loss"]) for line in lines
    ]
    panel = panels["over_time_view"]
    qtbot.waitUntil(lambda: set(panel.rows) == set(read.library.model.snapshots), timeout=LONG)
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


def test_the_terms_of_a_number_add_up_to_it_again(panels: dict[str, object]) -> None:
    arrays = panels["why_view"].exported_arrays()
    groups = [array for name, array in arrays.items() if name.startswith("terms/")]
    for group in groups:
        np.testing.assert_allclose(group[:, :-1].prod(axis=1), group[:, -1])
    argument = sum(group[:, -1].sum() for group in groups)
    assert 1 / (1 + np.exp(-argument)) == pytest.approx(arrays["value"][0], rel=1e-5), "a gate's sigmoid"


class Taken(QObject):
    """Opens the export menu of every panel, and takes all that it offers."""

    def __init__(self, panels: list[Panel]) -> None:
        super().__init__()
        self.panels, self.times = panels, 0

    @Slot()
    def take(self) -> None:
        self.times += 1
        for panel in self.panels:
            menu = QMenu()
            fill_export_menu(menu, panel)
            _, numbers, recipe = (action.isEnabled() for action in menu.actions())
            assert numbers == bool(panel.exported_arrays())
            assert recipe == bool(panel.recipe())


@pytest.mark.parametrize("perspective", [perspective.name for perspective in PERSPECTIVES])
def test_what_is_drawn_can_be_taken_along_in_the_midst_of_every_change(
    window: MainWindow,
    session: Session,
    text_file: Path,
    transformer_run: Path,
    tmp_path: Path,
    perspective: str,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    letters = load_corpus(text_file, documents="line", tokenizer="characters")
    train("gru", letters, tmp_path / "letters", steps=1, batch=2, length=8, width=8)
    panels = shown(window, perspective).values()
    taken = Taken(list(panels))
    for part in session.findChildren(Part):
        for name in dir(type(part)):
            if name.endswith("changed"):
                # At the beginning of the next turn, before any panel has drawn what is new.
                getattr(part, name).connect(taken.take, Qt.ConnectionType.QueuedConnection)
    session.text.open(text_file, documents="line", tokenizer="characters")
    session.library.open(tmp_path / "letters")
    qtbot.waitUntil(
        lambda: session.text.corpus is not None and session.library.model is not None, timeout=LONG
    )
    session.reading.set_prefix("the cows eat grass\nthe hens")
    drawn()
    session.focus.choose_cell(("logits", (4, 2)))
    session.comparison.choose([(session.library.model, session.library.model.snapshots[0])])
    session.writing.set_sampling(top_k=3)
    session.surgery.add(zero("embedding", position=2))
    drawn()
    session.reading.set_prefix("the")
    session.library.choose_step(session.library.model.snapshots[0])
    QApplication.processEvents()
    session.reading.set_prefix("")
    drawn()
    session.reading.set_prefix("the cows")
    session.library.open(transformer_run)  # of fewer tokens, and other taps
    qtbot.waitUntil(lambda: len(session.library.models) == 2, timeout=LONG)
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy, timeout=LONG)
    session.text.open(text_file, documents="line")
    session.library.choose(session.library.models[0])
    session.library.close(session.library.models[0])
    drawn()
    session.library.close(session.library.models[0])
    drawn()
    assert taken.times > 20


@pytest.mark.usefixtures("nothing_outside")
def test_a_right_click_on_the_text_of_a_sample_offers_to_export_it(
    window: MainWindow, read: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    panel = shown(window, "train")["live_sample_view"]
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()), timeout=LONG)
    asked: list[object] = []
    monkeypatch.setattr("lmviz.app.window.exporting.fill_export_menu", lambda menu, of: asked.append(of))
    page = panel.findChild(QPlainTextEdit).viewport()
    place = page.rect().center()
    right = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(page, QContextMenuEvent(right, place, page.mapToGlobal(place)))
    assert asked == [panel]


CONTROLS = {"plan_view", "texts_view", "surgery_view", "guess_view", "real_view"}
"""Panels of forms, lists and games, which draw no numbers of a model."""


@pytest.mark.parametrize("perspective", [perspective.name for perspective in PERSPECTIVES])
def test_every_panel_with_numbers_exports_them_and_none_fails_without_any(
    window: MainWindow, perspective: str
) -> None:
    for name, panel in shown(window, perspective).items():
        assert panel.exported_arrays() == {}, name
        assert panel.recipe() == "", name
        exports = {"exported_arrays", "recipe"} & set(vars(type(panel)))
        assert exports == {"exported_arrays", "recipe"} or name in CONTROLS, name

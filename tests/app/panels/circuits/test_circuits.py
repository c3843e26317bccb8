"""Circuits in the window: a question, the grid of patches, a head switched off, and a scrub back."""

import threading
from pathlib import Path

import numpy as np
import pytest
from covering import others_slow
from layout_faults import noted_texts
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from told import words_of

import lmviz
from lmviz.app.panels.circuits.attribution import AttributionPanel
from lmviz.app.panels.circuits.circuit import CircuitPanel
from lmviz.app.panels.circuits.contrast import ContrastPanel
from lmviz.app.panels.circuits.patching import PatchingPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.scatter_plot import ScatterPlot
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.snapshot_slider import SnapshotSlider
from lmviz.inspection.interventions import scale_head

ONLY_PANELS = ("contrast", "patching", "circuit", "attribution", "surgery")


def panel_of(window: MainWindow, kind):
    [panel] = [item for item in window.perspective.panels if isinstance(item, kind)]
    return panel


@pytest.fixture
def stories(window: MainWindow, session: Session, qtbot: QtBot) -> MainWindow:
    """The window at Circuits with the sample Transformer."""
    window.show_perspective("circuits")
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: session.reading.current is not None)
    return window


@pytest.fixture
def stone(stories: MainWindow, qtbot: QtBot) -> PatchingPanel:
    """The shipped question about the stone, all cells of the stream measured."""
    picker = stories.perspective.findChild(QComboBox, "circuit_question_picker")
    qtbot.waitUntil(lambda: picker.count() == 2)
    choose(stories, "circuit_question_picker", 1)
    panel = panel_of(stories, PatchingPanel)
    qtbot.waitUntil(lambda: is_whole(panel))
    return panel


def is_whole(panel: PatchingPanel) -> bool:
    return panel.patches is not None and panel.is_whole and panel.is_up_to_date


def choose(window: MainWindow, name: str, place: int) -> None:
    picker = window.perspective.findChild(QComboBox, name)
    picker.setCurrentIndex(place)
    picker.activated.emit(place)


def carry(window: MainWindow, kind: str, qtbot: QtBot) -> PatchingPanel:
    panel = panel_of(window, PatchingPanel)
    picker = panel.findChild(QComboBox, "carry_picker")
    choose(window, "carry_picker", picker.findText(kind))
    qtbot.waitUntil(lambda: is_whole(panel) and panel.patches.axes == ("layer", kind))
    return panel


def expected(session: Session, taps=None, **options):
    contrast = session.contrast
    asked = lmviz.contrast(session.reading.prefix, contrast.other, measure=contrast.measure)
    model = lmviz.open_model("stories-transformer", step=session.library.step)
    return lmviz.patch(model, asked, taps=taps, **options)


def test_a_shipped_question_is_asked_and_its_grid_is_what_python_gives(
    stone: PatchingPanel, stories: MainWindow, session: Session
):
    assert session.reading.prefix.startswith("Maya owned a brown stone")
    wanted = expected(session)
    assert stone.patches.array == pytest.approx(wanted.array, abs=1e-4)
    assert stone.patches.measure == "logit:stone-bell@25"
    assert "“brown²⁶” from layer 1 on" in words_of(stone, "patching_sentence")
    question = panel_of(stories, ContrastPanel)
    assert words_of(question, "contrast_sentence") == "26 tokens each, 1 differs: token 6, “stone” for “bell”"
    assert (
        words_of(question, "contrast_numbers") == f"text +{wanted.clean:.2f}   changed −{-wanted.changed:.2f}"
    )


@pytest.mark.slow
def test_the_whole_story_from_a_shipped_question_to_before_the_jump(
    stories: MainWindow, session: Session, qtbot: QtBot
):
    """Patch, click the strongest cell, switch that head off, keep the circuit alone, and scrub back."""
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("echo-transformer")
    questions = stories.perspective.findChild(QComboBox, "circuit_question_picker")
    qtbot.waitUntil(lambda: questions.findText("What followed last time") > 0)
    choose(stories, "circuit_question_picker", questions.findText("What followed last time"))
    panel = panel_of(stories, PatchingPanel)
    qtbot.waitUntil(lambda: is_whole(panel) and panel.patches.measure.startswith("logit:map-hat"))
    carry(stories, "head", qtbot)
    shares = panel.patches.array
    layer, head = (int(at) for at in np.unravel_index(shares.argmax(), shares.shape))
    assert shares[layer, head] > 0.9
    grid = panel.findChild(HeatmapView, "patching_grid")
    place = grid.cell_rectangle(len(shares) - 1 - layer, head).center().toPoint()
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=place)
    assert words_of(panel, "patching_sentence").startswith("Carried over alone, head 2·3 brings back 99 %")
    assert session.attention.head == (layer, head) == (1, 2)
    whole = panel.patches.clean

    off = panel.findChild(object, "switch_head_off")
    qtbot.mouseClick(off, Qt.MouseButton.LeftButton)
    assert session.surgery.in_force == (scale_head(layer, head),)
    qtbot.waitUntil(lambda: is_whole(panel) and panel.patches.array[layer, head] == 0)
    assert panel.patches.clean < whole / 4
    session.surgery.clear()

    stories.bring_in_front("circuit_view")
    circuit = panel_of(stories, CircuitPanel)
    qtbot.waitUntil(lambda: circuit.is_whole and circuit.found.clean == pytest.approx(whole, abs=1e-3))
    assert circuit.found.kept > 0.95
    assert str(circuit.found.parts[0]).startswith("head 1·2")
    assert words_of(circuit, "circuit_sentence").startswith(f"These 8 parts of {circuit.found.of} alone keep")

    slider = stories.findChild(SnapshotSlider)
    place = QPoint(round(slider.place_of(1000)), slider.height() // 2)
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=place)
    assert session.library.step == 1000
    stories.bring_in_front("patching_view")
    qtbot.waitUntil(lambda: is_whole(panel) and session.contrast.reading.step == 1000)
    qtbot.waitUntil(lambda: is_whole(panel) and panel.patches.clean < whole / 4)
    assert panel.patches.array[layer, head] < 0.1


@pytest.mark.slow
def test_the_fast_estimate_stands_beside_the_exact_shares_and_a_point_pins_its_cell(
    stone: PatchingPanel, stories: MainWindow, session: Session, qtbot: QtBot
):
    wanted = expected(session, estimate=True)
    plot = stone.findChild(ScatterPlot)
    apart = wanted.compared
    assert plot.points == pytest.approx(
        100 * np.column_stack([wanted.array[apart], wanted.estimate[apart]]), abs=1e-2
    )
    said = stone.findChild(QLabel, "patching_estimate").text()
    assert f"is wrong by {100 * wanted.error:.0f} percentage points on average" in said
    assert said.endswith(f"with a correlation of {wanted.agreement:.2f}.")
    at = int(np.abs(plot.points[:, 0] - plot.points[:, 1]).argmax())
    place = plot.place_of(*plot.points[at])
    plot.hover(at)
    title, lines = plot.readout(at)
    assert lines[-1].startswith("difference × gradient says ")
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.focus.position == np.argwhere(apart)[at][1]
    assert title.split(":")[0] in words_of(stone, "patching_sentence")
    choose(stories, "direction_picker", 1)
    qtbot.waitUntil(lambda: is_whole(stone) and stone.patches.into == "clean")
    assert plot.points[:, 1] == pytest.approx(100 * stone.patches.estimate[stone.patches.compared], abs=1e-6)


@pytest.mark.slow
def test_words_that_occur_twice_are_told_apart_in_the_grid(stone: PatchingPanel) -> None:
    texts: list = []
    with noted_texts(texts):
        stone.grab()
    written = {text for text, *_ in texts}
    assert {"brown⁵", "brown²⁶"} & written
    assert not {"brown", "Maya", "the"} & written, "each of them occurs twice"
    assert "owned" in written or "stone" in written


def test_the_bars_add_up_to_the_measure_and_a_head_shows_its_words(
    stone: PatchingPanel, stories: MainWindow, session: Session, qtbot: QtBot
):
    panel = panel_of(stories, AttributionPanel)
    qtbot.waitUntil(lambda: panel.found is not None and panel.is_up_to_date)
    bars = panel.findChild(SignedBars, "attribution_bars")
    assert bars.values[:-1].sum() == pytest.approx(bars.values[-1], abs=1e-4)  # of logits of size 10
    assert bars.labels[-1] == "“stone” − “bell”"
    heads = [at for at, label in enumerate(bars.labels) if label.startswith("head ")]
    words = panel.findChild(SignedBars, "attribution_words")
    bars.part_clicked.emit(heads[-1])
    layer, head = (int(number) - 1 for number in bars.labels[heads[-1]].removeprefix("head ").split("·"))
    assert words.values.sum() == pytest.approx(panel.found["head"].array[layer, head], abs=1e-5)


@pytest.mark.slow
def test_a_recurrent_answer_is_taken_apart_down_to_the_words(
    stories: MainWindow, session: Session, qtbot: QtBot
):
    panel, bars = panel_of(stories, AttributionPanel), stories.findChild(SignedBars, "attribution_bars")
    picker = panel.findChild(QComboBox, "attribution_depth_picker")
    qtbot.waitUntil(lambda: panel.found is not None)
    assert picker.isHidden()
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-gru")
    session.reading.set_prefix("Maya owned a brown stone.")
    qtbot.waitUntil(lambda: panel.found is not None and "unit" in panel.found and panel.is_up_to_date)
    assert [picker.itemText(at) for at in range(picker.count())] == ["the top layer", "the words"]
    choose(stories, "attribution_depth_picker", 1)
    qtbot.waitUntil(lambda: panel.found is not None and "word" in panel.found)
    contrast = session.contrast.found.contrast
    wanted = lmviz.attribute("stories-gru", contrast, through=1)
    assert panel.found["word"].array == pytest.approx(wanted["word"].array, abs=1e-4)
    assert "“brown”" in bars.labels
    assert bars.values[:-1].sum() == pytest.approx(bars.values[-1], abs=1e-4)
    assert words_of(panel, "attribution_sentence").endswith("The gates above them are held.")
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(panel.found.array, abs=1e-4)
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-lstm")
    qtbot.waitUntil(lambda: panel.found is not None and "unit" in panel.found)
    assert picker.currentIndex() == 0


@pytest.mark.slow
def test_texts_that_do_not_line_up_are_refused_in_a_sentence_and_the_text_alone_is_attributed(
    stone: PatchingPanel, stories: MainWindow, session: Session, qtbot: QtBot
):
    edit = stories.perspective.findChild(QLineEdit, "changed_edit")
    edit.selectAll()
    qtbot.keyClicks(edit, "Maya")
    question = panel_of(stories, ContrastPanel)
    qtbot.waitUntil(lambda: "do not line up" in question.complaint)
    stories.grab()
    shown = [each for each in question.findChildren(QWidget) if each.isVisible()]
    measure = question.findChild(QComboBox, "measure_picker")
    assert measure in shown
    assert edit.geometry().bottom() < measure.geometry().top()
    qtbot.waitUntil(lambda: stone.patches is None)
    assert stone.card.placeholder.startswith("Type a changed text")
    button = stone.findChild(QPushButton, "patching_question_button")
    assert button.isVisible()
    assert button.text() == "Ask “The stone that comes back”"
    panel = panel_of(stories, AttributionPanel)
    qtbot.waitUntil(lambda: panel.found is not None and panel.is_up_to_date and not panel.is_behind)
    measure = session.contrast.measure
    wanted = lmviz.attribute("stories-transformer", lmviz.contrast(session.reading.prefix, measure=measure))
    assert panel.found.array == pytest.approx(wanted.array, abs=1e-4)
    assert "do not line up" in question.complaint
    assert words_of(question, "contrast_numbers") == f"text +{wanted.total:.2f}"
    edit.clear()
    qtbot.keyClicks(edit, " ")
    qtbot.keyClick(edit, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: question.complaint == "")


@pytest.mark.slow
def test_another_measure_is_typed_and_an_empty_one_is_proposed(
    stone: PatchingPanel, stories: MainWindow, session: Session, qtbot: QtBot
):
    picker = stories.perspective.findChild(QComboBox, "measure_picker")
    picker.lineEdit().setText("probability:stone")
    picker.lineEdit().editingFinished.emit()
    qtbot.waitUntil(lambda: is_whole(stone) and stone.patches.measure == "probability:stone@25")
    assert 0 < stone.patches.clean < 1
    choose(stories, "measure_picker", 0)
    qtbot.waitUntil(lambda: is_whole(stone) and stone.patches.measure == "logit:stone-bell@25")
    assert session.contrast.measure == ""


@pytest.mark.slow
def test_the_measure_stands_in_words_until_it_is_to_be_typed(
    stone: PatchingPanel, stories: MainWindow, session: Session, qtbot: QtBot
):
    picker = stories.perspective.findChild(QComboBox, "measure_picker")
    assert picker.currentText() == "logit of “stone” − “bell”"
    stories.activateWindow()
    picker.setFocus()
    qtbot.waitUntil(lambda: picker.currentText() == session.contrast.measure == "logit:stone-bell")
    stories.prefix_bar.edit.setFocus()
    qtbot.waitUntil(lambda: picker.currentText() == "logit of “stone” − “bell”")
    assert session.contrast.measure == "logit:stone-bell"  # it was looked at, and nothing else was asked
    choose(stories, "measure_picker", picker.findText("probability of “stone” − “bell”"))
    qtbot.waitUntil(lambda: is_whole(stone) and stone.patches.measure.startswith("probability:stone-bell"))
    qtbot.waitUntil(lambda: picker.currentText() == "probability of “stone” − “bell”")


@pytest.mark.slow
def test_a_probability_is_no_sum_and_the_panel_says_so(
    stone: PatchingPanel, stories: MainWindow, session: Session, qtbot: QtBot
):
    session.contrast.set_measure("probability:stone")
    panel = panel_of(stories, AttributionPanel)
    qtbot.waitUntil(lambda: "is not a sum of what parts add" in panel.complaint)


def drop(window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    whole, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    place = window.rect().center()
    entered = QDragEnterEvent(place, Qt.DropAction.CopyAction, data, left, whole)
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(window, QDropEvent(place, Qt.DropAction.CopyAction, data, left, whole))


@pytest.mark.slow
def test_a_question_of_ones_own_is_dropped_on_the_window(
    stories: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
):
    mine = tmp_path / "mine.txt"
    mine.write_text(
        "# for my class\ntitle: The cat or the dog\ntext: Maya had a cat. She fed the\n"
        "changed: Maya had a dog. She fed the\nmeasure: logit:cat-dog\n",
        encoding="utf-8",
    )
    stories.show_perspective("attention")
    drop(stories, mine)
    assert stories.perspective.name == "circuits"
    assert session.reading.prefix == "Maya had a cat. She fed the"
    panel = panel_of(stories, PatchingPanel)
    qtbot.waitUntil(lambda: is_whole(panel) and panel.patches.measure == "logit:cat-dog@8")
    assert session.text.corpus is None
    picker = stories.perspective.findChild(QComboBox, "circuit_question_picker")
    assert picker.itemText(picker.count() - 1) == "The cat or the dog"


@pytest.mark.slow
def test_a_question_that_is_badly_written_is_refused_with_its_line(
    stories: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
):
    mine, before = tmp_path / "mine.txt", session.reading.prefix
    mine.write_text("title: The cat\ntext: the cat\nchanged: the dog\nmesure: logit:a-b\n", encoding="utf-8")
    drop(stories, mine)
    question = panel_of(stories, ContrastPanel)
    qtbot.waitUntil(lambda: "mine.txt: line 4 is none of “title: …”" in question.complaint)
    assert session.reading.prefix == before
    assert session.text.corpus is None


@pytest.mark.slow
def test_without_a_model_it_is_said_as_well(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
):
    mine = tmp_path / "mine.txt"
    mine.write_text("title: The cat\ntext: the cat\nmesure: logit:a-b\n", encoding="utf-8")
    drop(window, mine)
    qtbot.waitUntil(lambda: "line 3 is none of" in panel_of(window, ContrastPanel).card.complaint)


@pytest.mark.slow
def test_a_question_is_opened_from_the_menu(
    stories: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mine = tmp_path / "mine.txt"
    mine.write_text("title: A\ntext: the cat\nchanged: the dog\nmeasure: logit:a-b\n", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(mine), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(mine)], ""))
    for entry in ("Open a question for Circuits…", "Open text…"):
        session.reading.set_prefix("")
        stories.show_perspective("attention")
        next(action for action in stories.commands.all() if action.text() == entry).trigger()
        assert stories.perspective.name == "circuits"
        assert session.reading.prefix == "the cat"


@pytest.mark.slow
def test_a_choice_outlives_the_late_answer_to_the_one_before(
    stone: PatchingPanel, stories: MainWindow, session: Session, qtbot: QtBot
):
    picker = stone.findChild(QComboBox, "carry_picker")
    begun, ready, gate = threading.Event(), threading.Event(), threading.Event()
    session.work.ask("before", begun.wait, lambda _: None, pytest.fail)
    choose(stories, "carry_picker", picker.findText("attention"))
    stone.catch_up()
    session.work.ask("behind", lambda: (ready.set(), gate.wait()), lambda _: None, pytest.fail)
    begun.set()
    ready.wait()  # the answer waits until the window has time
    choose(stories, "carry_picker", picker.findText("head"))
    gate.set()
    qtbot.waitUntil(lambda: is_whole(stone) and not session.work.is_busy("behind"))
    assert picker.currentText() == "head"
    assert stone.patches.axes == ("layer", "head")
    choose(stories, "carry_picker", picker.findText("attention"))
    choose(stories, "carry_picker", picker.findText("head"))
    qtbot.waitUntil(lambda: is_whole(stone) and stone.patches.axes == ("layer", "head"))


@pytest.mark.slow
def test_where_there_is_little_room_it_is_the_grids(stone: PatchingPanel):
    checks = (stone.findChild(QLabel, "patching_estimate"), stone.findChild(ScatterPlot))
    for height, there in ((500, True), (200, False), (500, True)):
        stone.resize(stone.width(), height)
        assert [check.isVisibleTo(stone) for check in checks] == [there, there]


@pytest.mark.slow
def test_what_is_drawn_is_exported_with_its_recipe(stone: PatchingPanel, stories: MainWindow, qtbot: QtBot):
    assert stone.exported_arrays()["share"] == pytest.approx(stone.patches.array)
    assert stone.exported_names().rows == ["tokens", "1", "2", "3"]
    known: dict[str, object] = {}
    question = panel_of(stories, ContrastPanel)
    exec(question.recipe(), known)
    assert known["values"] == pytest.approx(question.exported_arrays()["measure"], abs=1e-4)
    assert list(question.exported_names().rows) == ["text", "changed"]
    exec(stone.recipe(), known)
    assert known["values"] == pytest.approx(stone.patches.array, abs=1e-4)
    panel = panel_of(stories, AttributionPanel)
    qtbot.waitUntil(lambda: panel.found is not None)
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(panel.found.array, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    others_slow(
        ["ambiguous-gru-both", "reviews-lstm", "twin-transformer", "twin-gru-short"],
        "reviews-lstm",
        "twin-transformer",
    ),
)
def test_every_task_has_a_question_and_a_grid(window: MainWindow, session: Session, qtbot: QtBot, name: str):
    window.show_perspective("circuits")
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(name)
    panel = panel_of(window, PatchingPanel)
    qtbot.waitUntil(lambda: len(session.contrast.offers()) == 1)
    session.contrast.open(session.contrast.offers()[0])
    qtbot.waitUntil(lambda: is_whole(panel))
    assert panel.patches.array.max() == pytest.approx(1, abs=0.05)
    found = panel_of(window, AttributionPanel)
    qtbot.waitUntil(lambda: found.found is not None and found.is_up_to_date)

"""One question to many texts, and the losses of a text, driven in the window; numbers of the core beside."""

import json
from pathlib import Path

import numpy as np
import pytest
from benches.compare import LONG, bring_to_front, open_all, panel
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.dot_rows import DotRows
from lmviz.app.widgets.text.loss_text import LossText
from lmviz.app.window.main_window import MainWindow
from lmviz.base.places import shipped

PATTERN = """the {animal} eats the
animal: cows, hens, dog
wanted: corn
other: grass
"""
ROWS = [
    {"text": "the cows eat", "changed": "the hens eat", "wanted": "grass", "other": "corn", "label": "cows"},
    {"text": "the dog sees the", "changed": "the hens sees the", "wanted": "cows", "other": "dog"},
    {"text": "the hens", "wanted": "two words"},
]


@pytest.fixture(scope="session")
def learned(make_run):
    """A small Transformer of two layers."""
    return make_run("transformer", 12, width=8, heads=2, layers=2, context=16)


@pytest.fixture
def texts(window: MainWindow, session: Session, learned: Path, qtbot: QtBot) -> MainWindow:
    """The window at Texts, with a model."""
    open_all(session, qtbot, learned)
    window.show_perspective("texts")
    return window


def run_recipe(view) -> dict:
    found: dict = {}
    exec(view.recipe(), found)
    return found


def press(qtbot: QtBot, window: MainWindow, name: str) -> None:
    button = window.findChild(QPushButton, name)
    qtbot.waitUntil(button.isEnabled, timeout=LONG)
    button.click()


def ask_rows(window: MainWindow, session: Session, qtbot: QtBot, path: Path) -> None:
    path.write_text("\n".join(map(json.dumps, ROWS)))
    session.many.open_file(path)
    qtbot.waitUntil(lambda: session.many.values is not None and session.many.values.done == 3, timeout=LONG)


@pytest.mark.slow
def test_a_pattern_is_asked_and_its_rows_measured(texts: MainWindow, session: Session, qtbot: QtBot) -> None:
    view = panel(texts, "text_rows_view")
    editor = view.findChild(QPlainTextEdit, "pattern_edit")
    editor.setPlainText(PATTERN)
    press(qtbot, texts, "use_pattern_button")
    many = session.many
    qtbot.waitUntil(lambda: many.values is not None and many.values.done == 3, timeout=LONG)
    model = lmviz.open_model(session.library.model.folder)
    asked = lmviz.contrasts(model, many.given)
    np.testing.assert_allclose(many.values.values, asked.values, atol=1e-5)
    qtbot.waitUntil(lambda: "measure" in view.exported_arrays(), timeout=LONG)
    np.testing.assert_allclose(run_recipe(view)["values"], view.exported_arrays()["measure"], atol=1e-5)
    dots = texts.findChild(DotRows, "row_dots")
    qtbot.waitUntil(lambda: len(dots.numbers) == 3, timeout=LONG)
    dots.part_clicked.emit(1)
    assert many.chosen == dots.numbers[1]


@pytest.mark.slow
def test_rows_that_cannot_be_asked_are_named(
    texts: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    ask_rows(texts, session, qtbot, tmp_path / "rows.jsonl")
    view = panel(texts, "text_rows_view")
    qtbot.waitUntil(lambda: "row 3" in view.findChild(object, "rows_left_out").text(), timeout=LONG)
    assert "two words" in view.findChild(object, "rows_left_out").text()


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(40, 40), Qt.DropAction.CopyAction, data, buttons, keys))


def test_a_file_of_rows_that_is_dropped_is_a_set_and_may_be_a_corpus(
    window: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("text,wanted,other\nthe cows eat,grass,corn\nthe dog sees the,cows,dog\n")
    window.show_perspective("corpus")
    drop(window, table)
    qtbot.waitUntil(lambda: session.many.given is not None, timeout=LONG)
    assert window.perspective_name == "texts"
    assert [(row.text, row.wanted) for row in session.many.given] == [
        ("the cows eat", "grass"),
        ("the dog sees the", "cows"),
    ]
    assert session.text.corpus is None
    assert "rows.csv is open as a set" in window.notice.sentence
    window.notice.findChild(QPushButton).click()
    assert window.perspective_name == "corpus"
    qtbot.waitUntil(lambda: session.text.corpus is not None or session.text.offer is not None, timeout=LONG)


@pytest.mark.slow
def test_what_may_be_either_is_a_set_in_texts_and_a_corpus_elsewhere(
    window: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "labelled.jsonl"
    path.write_text(
        "\n".join(
            json.dumps({"text": f"the cows eat {word} .", "label": word}) for word in ("corn", "hay") * 9
        )
    )
    window.show_perspective("corpus")
    drop(window, path)
    qtbot.waitUntil(lambda: session.text.corpus is not None or session.text.offer is not None, timeout=LONG)
    assert session.many.given is None
    window.show_perspective("texts")
    drop(window, path)
    qtbot.waitUntil(lambda: session.many.given is not None, timeout=LONG)
    assert session.many.given.labels == ("corn", "hay")


@pytest.mark.slow
@pytest.mark.parametrize("by", ["mean", "patch"])
def test_effects_grow_and_go_on_where_they_were_left(
    texts: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path, by: str
) -> None:
    many = session.many
    rows = [row | {"text": f"{row['text']}"} for row in ROWS[:2] for _ in range(12)]
    many.take(lmviz.text_set(rows))
    many.choose_way(by)
    qtbot.waitUntil(lambda: many.values is not None and many.values.done == 24, timeout=LONG)
    view = panel(texts, "row_effects_view")
    with qtbot.waitSignal(session.work.job_finished, timeout=LONG):
        many.start()
        qtbot.waitUntil(lambda: many.effects is not None, timeout=LONG)
        many.stop()
    qtbot.waitUntil(lambda: not many.is_trying, timeout=LONG)
    left = many.effects.done
    assert left >= 1
    many.start()
    qtbot.waitUntil(lambda: many.effects.done == 24 and not many.is_trying, timeout=LONG)
    model = lmviz.open_model(session.library.model.folder)
    asked = lmviz.contrasts(model, many.given)
    heads = "layers/*/attention/heads"
    whole = (
        lmviz.ablate(model, asked, heads, by="mean")
        if by == "mean"
        else lmviz.patch(model, asked, heads).means()
    )
    np.testing.assert_allclose(many.effects.effects.mean, whole.array, atol=1e-6)
    qtbot.waitUntil(lambda: "mean" in view.exported_arrays() and not view.is_behind, timeout=LONG)
    np.testing.assert_allclose(run_recipe(view)["values"], view.exported_arrays()["mean"], atol=1e-6)


@pytest.mark.slow
def test_a_row_is_opened_in_the_window_and_in_circuits(
    texts: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    ask_rows(texts, session, qtbot, tmp_path / "rows.jsonl")
    session.many.choose(0)
    view = panel(texts, "chosen_row_view")
    qtbot.waitUntil(lambda: ROWS[0]["text"] in view.findChild(object, "chosen_row_text").text(), timeout=LONG)
    press(qtbot, texts, "open_row_button")
    assert session.reading.prefix == ROWS[0]["text"]
    assert session.contrast.other == ROWS[0]["changed"]
    assert session.contrast.measure == "logit:grass-corn"


@pytest.mark.slow
def test_a_second_model_stands_beside_the_first(
    texts: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    ask_rows(texts, session, qtbot, tmp_path / "rows.jsonl")
    model = session.library.model
    session.comparison.choose(((model, model.snapshots[0]),))
    view = panel(texts, "second_model_view")
    many = session.many
    qtbot.waitUntil(lambda: many.second_values is not None and many.second_values.done == 3, timeout=LONG)
    qtbot.waitUntil(lambda: "B" in view.exported_arrays() and view.is_up_to_date, timeout=LONG)
    early = lmviz.contrasts(lmviz.open_model(model.folder, model.snapshots[0]), ROWS)
    np.testing.assert_allclose(view.exported_arrays()["B"], early.values, atol=1e-5)


def test_losses_are_shown_divided_and_opened(
    texts: MainWindow, session: Session, qtbot: QtBot, text_file: Path
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    for name in ("loss_map", "loss_cuts", "passages", "costly_words"):
        bring_to_front(texts, f"{name}_view", qtbot)
    press(qtbot, texts, "measure_losses_button")
    losses = session.many.losses
    qtbot.waitUntil(lambda: losses.map is not None and losses.share is None, timeout=LONG)
    model = lmviz.open_model(session.library.model.folder)
    same = lmviz.loss_map(model, session.text.corpus)
    np.testing.assert_allclose(losses.map.losses, same.losses, atol=1e-5)
    kinds = panel(texts, "loss_cuts_view")
    qtbot.waitUntil(lambda: "loss" in kinds.exported_arrays(), timeout=LONG)
    np.testing.assert_allclose(kinds.exported_arrays()["loss"], same.by_kind().means, atol=1e-4)
    text = texts.findChild(LossText, "loss_map_text")
    qtbot.waitUntil(lambda: text.painted > 0, timeout=LONG)
    text.part_clicked.emit(int(same.starts[0]) + 4)
    assert session.reading.prefix == same.text_of(int(same.starts[0]), int(same.starts[0]) + 4)
    model_now = session.library.model
    session.comparison.choose(((model_now, model_now.snapshots[0]),))
    texts.findChild(QComboBox, "loss_shown_picker").activated.emit(1)
    qtbot.waitUntil(lambda: losses.shows_difference, timeout=LONG)
    losses.measure()
    qtbot.waitUntil(lambda: losses.shown is not None, timeout=LONG)
    early = lmviz.loss_map(lmviz.open_model(model_now.folder, model_now.snapshots[0]), session.text.corpus)
    np.testing.assert_allclose(losses.shown.losses, same.minus(early).losses, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ambiguous-gru-both", "reviews-lstm", "twin-gru-attention-short"])
def test_labels_and_translations_have_a_map_too(
    window: MainWindow, session: Session, qtbot: QtBot, name: str
) -> None:
    open_all(session, qtbot, shipped("sample_models") / name)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open_text_of(session.library.model)
    window.show_perspective("texts")
    for view in ("loss_map", "loss_cuts", "passages", "costly_words"):
        bring_to_front(window, f"{view}_view", qtbot)
    press(qtbot, window, "measure_losses_button")
    losses = session.many.losses
    qtbot.waitUntil(lambda: losses.map is not None and losses.share is None, timeout=LONG)
    same = lmviz.loss_map(lmviz.open_model(name), session.text.corpus)
    np.testing.assert_allclose(losses.map.losses, same.losses, atol=1e-5)
    picker = window.findChild(QComboBox, "loss_division_picker")
    qtbot.waitUntil(lambda: picker.count() == len(same.divisions), timeout=LONG)
    if same.is_of_labels:
        picker.activated.emit(same.divisions.index("label"))
        cuts = panel(window, "loss_cuts_view")
        wanted = same.by_label().means
        qtbot.waitUntil(
            lambda: len(cuts.exported_arrays().get("loss", ())) == len(wanted) and cuts.is_up_to_date,
            timeout=LONG,
        )
        np.testing.assert_allclose(cuts.exported_arrays()["loss"], wanted, atol=1e-4)
        text = window.findChild(LossText, "loss_map_text")
        text.part_clicked.emit(int(same.starts[1]) + 1)
        assert session.reading.prefix == same.text_of(*same.span_of(1))


@pytest.mark.slow
def test_of_a_million_tokens_only_those_in_sight_are_painted(qtbot: QtBot) -> None:
    from lmviz.app.widgets.base.scrolling import scrolling

    text = LossText()
    area = scrolling(text)
    qtbot.addWidget(area)
    area.resize(500, 300)
    random = np.random.default_rng(0)
    ids = random.integers(0, 400, 1_000_000)
    words = [f"word{number}" for number in range(400)]
    text.set_text(ids, words, np.arange(0, 1_000_000, 1000), random.random(1_000_000))
    area.show()
    qtbot.waitUntil(lambda: 0 < text.painted < 600, timeout=LONG)
    bar = area.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    area.grab()
    assert 0 < text.painted < 600
    place = text.part_rectangle(500_000)
    assert text.index_at(place.center()) == 500_000
    assert text.top_of(500_000) == place.top()
    assert QPoint(0, bar.value()).y() > 1_000_000


@pytest.mark.slow
def test_a_model_of_labels_is_offered_what_it_can_be_asked(
    window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    session.library.open("reviews-lstm")
    window.show_perspective("texts")
    edit = window.findChild(QPlainTextEdit, "pattern_edit")
    qtbot.waitUntil(lambda: "wanted:bad" in edit.toPlainText() or "wanted:good" in edit.toPlainText())
    press(qtbot, window, "use_pattern_button")
    qtbot.waitUntil(lambda: session.many.values is not None and session.many.values.done == 36)
    assert not session.many.values.troubles
    session.many.take_pattern("the {a}\na: film, story\nwanted: nothing\n")
    shown = panel(window, "text_rows_view")
    qtbot.waitUntil(lambda: "is no label" in shown.complaint)
    assert session.many.given is None
    session.library.open("stories-gru")
    qtbot.waitUntil(lambda: shown.complaint == "")

"""Who taught the model a word, in the window: n-grams at once, gradients on a click, and the proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.inside.taught import TaughtPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.pushed_lines import PushedLinesView
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("taught",)
KIN = [("Mira", "her"), ("Tom", "his"), ("Ida", "her"), ("Leo", "his")]
TEXT = (
    "\n".join(
        f"{name} owned a {thing} that belonged to {whose} aunt."
        for name, whose in KIN
        for thing in ("horn", "drum", "doll")
    )
    + "\n"
)
PREFIX = "Ida owned a drum that belonged to"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small GRU that has nearly learned its text, and the text beside it."""
    folder = tmp_path_factory.mktemp("taught")
    (folder / "kin.txt").write_text(TEXT)
    corpus = lmviz.load_corpus(folder / "kin.txt", documents="line", validation=0.0)
    settings = {"steps": 30, "batch": 4, "snapshots": 6, "learning_rate": 0.02, "warmup": 2}
    return lmviz.train("gru", corpus, folder / "run", width=12, layers=1, **settings).folder


@pytest.fixture
def panel(window: MainWindow, session: Session, run: Path, qtbot: QtBot) -> TaughtPanel:
    """The panel, with the text open that the model learned from."""
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix(PREFIX)
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("taught_view")
    [panel] = window.findChildren(TaughtPanel)
    qtbot.waitUntil(lambda: panel.shown_look.aside == "learned from kin")
    assert panel.findChild(QPushButton, "open_taught_text_button").isVisible()
    session.text.open(run.parent / "kin.txt", documents="line", validation=0.0)
    qtbot.waitUntil(lambda: panel.found is not None)
    return panel


def press(panel: TaughtPanel, name: str, qtbot: QtBot) -> None:
    button = panel.findChild(QPushButton, name)
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled())
    button.click()


def choose(panel: TaughtPanel, word: str, qtbot: QtBot) -> None:
    """Ask about another of the words that are offered."""
    picker = panel.findChild(QComboBox, "taught_word_picker")
    place = picker.findText(word)
    assert place >= 0
    picker.setCurrentIndex(place)
    picker.activated.emit(place)
    qtbot.waitUntil(lambda: panel.found.answer.word == word)


@pytest.mark.slow
def test_n_grams_come_at_once_and_gradients_on_a_click(panel: TaughtPanel, run: Path, qtbot: QtBot) -> None:
    choose(panel, "her", qtbot)
    lines = panel.findChild(PushedLinesView)
    assert lines.rows[0].label == ("to", "her")
    assert lines.rows[0].times == "6"
    assert "stands her once in the whole text" in said_in(panel)
    assert lines.rows[0].said == "100.0 %"

    press(panel, "taught_read_button", qtbot)
    qtbot.waitUntil(lambda: panel.found.answer.products is not None and panel.found.answer.done)
    wanted = lmviz.influences(run, PREFIX, "her", tokens=None)
    found = panel.found.answer
    assert np.allclose(found.products, wanted.products, equal_nan=True)
    by_form = {row.label: row for row in lines.rows if not row.heading}
    for form in (*wanted.forms(8), *wanted.forms(6, against=True)):
        row = by_form[(form.before, form.learned)]
        assert float(row.said.replace("−", "-").removesuffix(" %")) == pytest.approx(
            100 * form.share, abs=0.05
        )
        assert bool(row.mark) is form.only_gradients
        assert len(row.said) <= len("−100.0 %")
    qtbot.waitUntil(lambda: not panel.findChild(QPushButton, "taught_read_button").isVisible())

    known: dict[str, object] = {}
    exec(panel.recipe(), known)  # - what the window hands out to be run
    assert np.array_equal(known["lines"], panel.exported_arrays()["lines"])  # type: ignore[arg-type]


def test_a_form_is_unfolded_and_a_line_leads_to_its_place(panel: TaughtPanel, qtbot: QtBot) -> None:
    choose(panel, "her", qtbot)
    lines = panel.findChild(PushedLinesView)
    lines.part_clicked.emit(0)
    inner = [row for row in lines.rows if row.inner]
    assert inner
    assert all("her" in row.tokens for row in inner)
    session = panel.session
    with qtbot.waitSignal(session.text.place_changed):
        lines.part_clicked.emit(1)
    line = panel.found.answer.forms(1, "overlap")[0].lines[0]
    assert session.text.place == line.line.start
    lines.part_clicked.emit(0)
    assert not any(row.inner for row in lines.rows)


@pytest.mark.slow
def test_training_without_the_lines_measures_what_they_gave(panel: TaughtPanel, qtbot: QtBot) -> None:
    choose(panel, "her", qtbot)
    press(panel, "taught_remove_button", qtbot)
    qtbot.waitUntil(lambda: panel.found.removal is not None and panel.found.removal.done)
    removal = panel.found.removal
    assert len(removal.lines) == 6
    said = panel.findChild(QLabel, "taught_removal").accessibleName() or said_in(panel)
    assert f"{-removal.lost.mean():+.2f}" in said
    assert "without as many others" in said


@pytest.mark.slow
def test_another_word_ends_what_is_read(panel: TaughtPanel, qtbot: QtBot) -> None:
    choose(panel, "her", qtbot)
    press(panel, "taught_read_button", qtbot)
    choose(panel, "his", qtbot)
    qtbot.waitUntil(lambda: not panel.session.work.jobs)
    assert panel.found.answer.word == "his"
    lines = panel.findChild(PushedLinesView)
    assert lines.rows[0].label == ("to", "his")


def said_in(panel: TaughtPanel) -> str:
    """All words of its labels."""
    return " ".join(f"{label.text()} {label.accessibleName()}" for label in panel.findChildren(QLabel))


@pytest.mark.slow
def test_a_word_of_the_text_itself_can_be_asked_about(
    panel: TaughtPanel, session: Session, qtbot: QtBot, drawn: Callable[[], None]
) -> None:
    session.focus.choose_position(3)  # after "a", where "drum" stands
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.answer.word == "drum")
    assert panel.found.answer.context[-1] == "a"


@pytest.mark.slow
def test_of_a_label_of_a_whole_text_only_gradients_say_what_taught_it(
    window: MainWindow, session: Session, label_runs: dict[str, Path], qtbot: QtBot
) -> None:
    """No words stand before it that could be compared with those of other lines."""
    session.library.open(label_runs["classifier"])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open(session.library.model.description.corpus["sources"][0])
    session.reading.set_prefix("the film is not bad")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("taught_view")
    [panel] = window.findChildren(TaughtPanel)
    qtbot.waitUntil(lambda: panel.found is not None)
    assert panel.found.answer.methods == ()
    assert "only gradients" in said_in(panel)
    press(panel, "taught_read_button", qtbot)
    qtbot.waitUntil(lambda: panel.found.answer.methods == ("gradients",))
    assert "only gradients" not in said_in(panel)

"""Units: brushed words, the places of the corpus, and the lines that an n-gram was counted from."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from dashes import has_dashed_edge
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.firing_units import firing_units, usual_threshold

ONLY_PANELS = ("unit", "evidence")

LONG = 30_000


def open_inside(
    window: MainWindow, session: Session, run: Path, text_file: Path | None, qtbot: QtBot
) -> dict[str, object]:
    if text_file is not None:
        with qtbot.waitSignal(session.text.changed, timeout=LONG):
            session.text.open(text_file, documents="line")
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat grass")
    qtbot.waitUntil(
        lambda: (
            session.reading.current is not None and session.reading.current.trace.text == "the cows eat grass"
        ),
        timeout=LONG,
    )
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    shown = panels["evidence_view" if session.library.model.family == "ngram" else "unit_view"]
    shown.parentWidget().raise_()  # it is behind another tab
    qtbot.waitUntil(lambda: shown.is_up_to_date)
    return panels


def test_brushing_words_finds_the_units_that_fire_there(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    address = "layers/0/forget"
    session.focus.choose_cell((address, (2, 1)))
    qtbot.waitUntil(lambda: panel.unit == (address, 1), timeout=LONG)
    panel.findChild(TokenStrip).tokens_brushed.emit(1, 2)
    expected = firing_units(session.reading.current.trace, address, (1, 3), panel.threshold)
    offered = [button.text() for button in panel.unit_buttons]
    assert offered == [f"{'−' if item.sign < 0 else ''}{item.unit + 1}" for item in expected[: len(offered)]]
    assert offered
    qtbot.mouseClick(panel.unit_buttons[-1], Qt.MouseButton.LeftButton)
    assert panel.unit == (address, expected[len(offered) - 1].unit)


def test_the_places_where_a_unit_fires_most_are_the_corpus_own(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    session.focus.choose_cell(("layers/0/hidden", (3, 2)))
    button = window.findChild(QPushButton, "unit_search_button")
    qtbot.waitUntil(lambda: panel.unit == ("layers/0/hidden", 2) and button.isEnabled(), timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.places) > 3 and not session.work.jobs, timeout=LONG)
    values = np.array([place.value for place in panel.places])
    assert (np.diff(np.abs(values)) <= 1e-6).all()
    tokens = session.text.corpus.tokenizer.tokens()
    for place in panel.places:
        assert place.token == tokens[session.text.corpus.training[place.position]]


@pytest.mark.slow
def test_a_higher_threshold_leaves_fewer_units(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    address = "layers/0/forget"
    session.focus.choose_cell((address, (2, 1)))
    qtbot.waitUntil(lambda: panel.unit == (address, 1), timeout=LONG)
    panel.findChild(TokenStrip).tokens_brushed.emit(1, 2)
    values = np.sort(session.reading.current.trace[address].array[1:3].min(axis=0))
    window.findChild(QDoubleSpinBox, "unit_threshold_spin").setValue(round(float(values[-2]), 2) - 0.01)
    expected = firing_units(session.reading.current.trace, address, (1, 3), panel.threshold)
    assert [button.text() for button in panel.unit_buttons] == [str(item.unit + 1) for item in expected]
    assert 2 <= len(expected) < len(values)


@pytest.mark.slow
def test_the_threshold_begins_in_the_scale_of_what_is_shown_and_stays_as_it_is_chosen(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    spin = window.findChild(QDoubleSpinBox, "unit_threshold_spin")

    def shows(address: str) -> bool:
        return panel.threshold == usual_threshold(session.reading.current.trace, address)

    for address in ("layers/0/forget", "layers/0/hidden"):
        session.focus.choose_cell((address, (2, 1)))
        qtbot.waitUntil(lambda address=address: shows(address), timeout=LONG)
    assert panel.threshold < 0.3, "a few steps leave the hidden state small"
    spin.setValue(0.11)
    session.reading.set_prefix("the cows eat grass the hens eat corn")
    qtbot.waitUntil(lambda: session.reading.current.trace.text == session.reading.prefix, timeout=LONG)
    session.focus.choose_cell(("layers/0/forget", (3, 1)))
    qtbot.waitUntil(lambda: shows("layers/0/forget"), timeout=LONG)
    session.focus.choose_cell(("layers/0/hidden", (2, 1)))
    qtbot.waitUntil(lambda: panel.threshold == 0.11, timeout=LONG)


def test_python_gives_the_unit_that_is_drawn(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    session.focus.choose_cell(("layers/0/cell", (1, 4)))
    qtbot.waitUntil(lambda: panel.unit == ("layers/0/cell", 4), timeout=LONG)
    found: dict[str, object] = {}
    exec(panel.recipe(), found)
    (drawn,) = panel.exported_arrays().values()
    np.testing.assert_allclose(found["values"], drawn, atol=1e-6)


@pytest.mark.slow
def test_the_text_a_model_learned_from_is_opened_to_search_it(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, None, qtbot)["unit_view"]
    session.focus.choose_cell(("layers/0/hidden", (3, 2)))
    button = window.findChild(QPushButton, "unit_search_button")
    qtbot.waitUntil(lambda: panel.unit == ("layers/0/hidden", 2) and button.isEnabled(), timeout=LONG)
    assert text_file.stem in button.toolTip()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.places) > 3 and not session.work.jobs, timeout=LONG)
    assert session.text.corpus.fingerprint == session.library.model.description.fingerprint


@pytest.mark.slow
@pytest.mark.parametrize("given_up", ["cancelled", "replaced", "another unit"])
def test_a_search_that_waits_for_its_text_is_given_up_with_it(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, given_up: str, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, None, qtbot)["unit_view"]
    session.focus.choose_cell(("layers/0/hidden", (3, 2)))
    button = window.findChild(QPushButton, "unit_search_button")
    qtbot.waitUntil(lambda: panel.unit == ("layers/0/hidden", 2) and button.isEnabled(), timeout=LONG)
    begun: list[str] = []
    session.work.job_started.connect(lambda job: begun.append(job.name))
    button.click()
    [reading] = session.work.jobs
    if given_up == "cancelled":
        reading.cancel()
        qtbot.waitUntil(lambda: not session.text.is_opening, timeout=LONG)
    elif given_up == "another unit":
        session.focus.choose_cell(("layers/0/hidden", (3, 1)))
    if given_up != "another unit":
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None and not session.work.jobs, timeout=LONG)
    assert not any("unit" in name for name in begun), begun
    button.click()
    qtbot.waitUntil(lambda: bool(panel.places) and not session.work.jobs, timeout=LONG)


@pytest.mark.slow
def test_another_text_is_searched_in_the_models_own_tokens(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("the dog eats the grass and the hens see it\n" * 40, encoding="utf-8")
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(other, tokenizer="characters")
    session.focus.choose_cell(("layers/0/hidden", (3, 2)))
    button = window.findChild(QPushButton, "unit_search_button")
    qtbot.waitUntil(lambda: panel.unit == ("layers/0/hidden", 2) and button.isEnabled(), timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.places) > 3 and not session.work.jobs, timeout=LONG)
    own, text = session.library.model.tokenizer, session.text.corpus.training_text
    ids = own.encode(text)
    assert [place.token for place in panel.places] == [own.token(int(ids[p.position])) for p in panel.places]


@pytest.fixture(scope="module")
def ngram_run(make_run: Callable[..., Path]) -> Path:
    """A small trigram model."""
    return make_run("ngram", 3, order=3)


@pytest.mark.slow
def test_an_n_gram_shows_the_lines_it_was_counted_from(
    window: MainWindow, session: Session, ngram_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panels = open_inside(window, session, ngram_run, text_file, qtbot)
    assert session.text.corpus.fingerprint == session.library.model.description.fingerprint
    places = panels["evidence_view"].findChild(ConcordanceList)
    context = session.reading.current.trace["orders/3/context"].array[session.reading.position]
    ids = session.text.corpus.training.tolist()
    wanted = [int(i) for i in context if i >= 0]
    found = sum(ids[n : n + len(wanted)] == wanted for n in range(len(ids) - len(wanted)))
    qtbot.waitUntil(lambda: places.accessibleDescription() == f"{min(found, 200)} places", timeout=LONG)


@pytest.mark.slow
def test_the_text_that_was_counted_is_opened_at_a_click_and_every_order_has_its_own_lines(
    window: MainWindow, session: Session, ngram_run: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, ngram_run, None, qtbot)["evidence_view"]
    places = panel.findChild(ConcordanceList)
    button = window.findChild(QPushButton, "open_evidence_button")
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: places.accessibleDescription() not in ("", "0 places"), timeout=LONG)
    assert not button.isVisible()
    found = places.accessibleDescription()
    stages = session.reading.current.trace.stages
    session.focus.choose_stage(next(n for n, stage in enumerate(stages) if stage.place == "orders/1"))
    panel.catch_up()
    assert places.accessibleDescription() == found, "the empty context has no lines: the longest keeps its"
    shorter = next(n for n, stage in enumerate(stages) if stage.place == "orders/2")
    session.focus.choose_stage(shorter)
    qtbot.waitUntil(lambda: panel.card.aside.startswith("“grass” ·"), timeout=LONG)
    session.focus.choose_stage(0)
    qtbot.waitUntil(lambda: panel.card.aside.startswith("“eat grass” ·"), timeout=LONG)
    assert places.accessibleDescription() == found


@pytest.mark.slow
def test_a_unit_that_a_narrower_model_lacks_is_let_go(
    window: MainWindow, session: Session, lstm_run: Path, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    wide = make_run("lstm", 1, width=24)
    panel = open_inside(window, session, wide, None, qtbot)["unit_view"]
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy, timeout=LONG)
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model.folder == lstm_run.resolve(), timeout=LONG)
    session.library.choose(session.library.models[0])
    qtbot.waitUntil(lambda: session.reading.current.model == session.library.models[0], timeout=LONG)
    session.library.choose(session.library.models[1])
    session.focus.choose_cell(
        ("layers/0/hidden", (1, 20))
    )  # in the reading of the wide one, which is still shown
    qtbot.waitUntil(lambda: session.reading.current.model == session.library.models[1], timeout=LONG)
    panel.catch_up()
    assert panel.unit == ("layers/0/hidden", 20)
    assert panel.exported_arrays() == {}
    assert panel.recipe() == ""


@pytest.mark.slow
def test_until_one_is_pinned_the_strongest_unit_is_shown(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, None, qtbot)["unit_view"]
    trace, card = session.reading.current.trace, panel.card
    stages = [stage.results[0] for stage in trace.stages]
    session.focus.choose_stage(stages.index("layers/0/cell"))
    for position in (1, 3):
        session.focus.choose_position(position)
        panel.catch_up()
        strongest = int(np.abs(trace["layers/0/cell"].array[position]).argmax())
        assert (card.title, has_dashed_edge(card), panel.unit) == (f"Unit {strongest + 1}", True, None)
        assert list(panel.exported_arrays()) == [f"layers/0/cell[:, {strongest}]"]
    session.focus.choose_stage(stages.index("probabilities"))
    panel.catch_up()
    assert card.title.startswith("Unit "), "a stage without units leaves those of a hidden state"
    session.focus.choose_cell(("layers/0/cell", (1, 4)))
    panel.catch_up()
    assert (card.title, has_dashed_edge(card)) == ("Unit 5", False)


@pytest.mark.slow
def test_an_unseen_context_leaves_the_lines_of_the_longest_that_was_seen(
    window: MainWindow, session: Session, ngram_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, ngram_run, text_file, qtbot)["evidence_view"]
    session.reading.set_prefix("the grass dog")
    qtbot.waitUntil(lambda: session.reading.current.trace.text == session.reading.prefix, timeout=LONG)
    assert (session.reading.current.trace["orders/3/context"].array[-1] < 0).all()
    session.focus.choose_stage(0)
    places = panel.findChild(ConcordanceList)
    qtbot.waitUntil(lambda: panel.card.aside.startswith("“dog”"), timeout=LONG)
    assert places.accessibleDescription() not in ("", "0 places")


@pytest.mark.slow
def test_lines_that_come_when_their_model_is_closed_are_those_of_what_was_looked_for(
    window: MainWindow,
    session: Session,
    ngram_run: Path,
    text_file: Path,
    gate: threading.Event,
    answered: Callable[[], None],
    qtbot: QtBot,
) -> None:
    panel = open_inside(window, session, ngram_run, text_file, qtbot)["evidence_view"]
    qtbot.waitUntil(lambda: panel.card.aside.startswith("“eat grass” ·"), timeout=LONG)
    session.work.ask("held", gate.wait, lambda _: None, pytest.fail)
    session.focus.choose_position(2)
    qtbot.waitUntil(lambda: session.work.is_busy("evidence"))
    window.show_perspective("polls")  # where it is told of nothing
    session.library.close(session.library.model)
    qtbot.waitUntil(lambda: session.reading.current is None)
    gate.set()
    answered()
    assert panel.card.aside == ""  # what is out of sight lets go of a closed model

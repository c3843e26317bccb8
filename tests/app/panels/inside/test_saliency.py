"""Saliency: what the gradient says of erasing each word, beside what erasing it does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import in_turn, parametrize_few
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot
from told import words_of

from lmviz.api import training as api
from lmviz.app.panels.inside.saliency import SaliencyPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.interventions import scale
from lmviz.inspection.names import told_apart
from lmviz.inspection.saliency import agreement_sentence, saliencies
from lmviz.text.corpus import load_corpus
from lmviz.training.run import Run

ONLY_PANELS = ("saliency", "picture")

WORDS = "the cows eat grass the hens"


@pytest.fixture
def panel(window: MainWindow, read: Session, qtbot: QtBot) -> SaliencyPanel:
    """The panel in front, with a text read by a small LSTM."""
    found = raised(window)
    read.reading.set_prefix(WORDS)
    qtbot.waitUntil(lambda: len(found.words.words) == 7)
    return found


def raised(window: MainWindow) -> SaliencyPanel:
    window.show_perspective("inside")
    [panel] = [item for item in window.perspective.panels if isinstance(item, SaliencyPanel)]
    panel.parentWidget().raise_()
    return panel


def model_of(session: Session):
    return open_run_model(Run.open(session.library.model.folder))


def expected(session: Session, of, **further):
    model, trace = model_of(session), session.reading.current.trace
    return saliencies(model, gradient(model, trace.text, of, interventions=trace.interventions, **further))


def usual(session: Session):
    trace = session.reading.current.trace
    last = len(trace) - 1
    return "logits", (last, int(trace["probabilities"].array[last].argmax()))


def picker(panel: SaliencyPanel) -> QComboBox:
    return panel.findChild(QComboBox, "saliency_of_picker")


@pytest.mark.slow
def test_until_words_are_erased_the_panel_says_what_it_does(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    panel = raised(window)
    panel.catch_up()
    assert words_of(panel, "saliency_sentence").startswith("Each word is erased in turn")
    assert not panel.words.isVisible()
    qtbot.waitUntil(panel.words.isVisible)
    assert not words_of(panel, "saliency_sentence").startswith("Each word")


@pytest.mark.slow
def test_while_the_words_of_a_long_text_are_erased_other_questions_have_their_turn(
    panel: SaliencyPanel, read: Session, qtbot: QtBot
) -> None:
    read.reading.set_prefix(" ".join([WORDS] * 20))
    done_by_then: list[int] = []

    def ask() -> None:
        read.reading.ask(
            "another", lambda _: None, lambda _: done_by_then.append(len(panel.words.words)), print
        )

    qtbot.waitUntil(lambda: read.work.is_busy("saliency") and len(read.reading.current.trace) > 100)
    ask()
    qtbot.waitUntil(lambda: len(panel.words.words) > 100)
    assert done_by_then == [7], "it is answered before all words have been erased"
    measured = panel.found[0].measured.copy()
    [found] = expected(read, usual(read))
    np.testing.assert_allclose(measured, found.measured, atol=1e-6)


@pytest.mark.slow
def test_words_are_not_erased_for_a_panel_out_of_sight_and_go_on_when_it_is_seen(
    panel: SaliencyPanel, window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    read.reading.set_prefix(" ".join([WORDS] * 20))
    qtbot.waitUntil(lambda: read.work.is_busy("saliency") and len(read.reading.current.trace) > 100)
    window.show_perspective("train")
    qtbot.waitUntil(lambda: not read.work.is_busy("saliency"))
    assert len(panel.words.words) == 7
    raised(window)
    qtbot.waitUntil(lambda: len(panel.words.words) > 100)


def test_each_word_has_what_the_gradient_says_and_what_erasing_it_does(
    panel: SaliencyPanel, read: Session
) -> None:
    [found] = expected(read, usual(read))
    shown = panel.words.words
    assert [word.word for word in shown] == list(told_apart(["⟨start⟩", *WORDS.split()]))
    np.testing.assert_allclose([word.predicted for word in shown], found.predicted, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose([word.measured for word in shown], found.measured, rtol=1e-3, atol=1e-6)
    assert words_of(panel, "saliency_sentence").endswith(agreement_sentence([found]))
    assert words_of(panel, "saliency_sentence").startswith("Logit of “")
    assert panel.source_words.isHidden()


def test_words_are_linked_with_the_position(panel: SaliencyPanel, read: Session, qtbot: QtBot) -> None:
    def place(index: int) -> QPoint:
        return panel.words.part_rectangle(index).center().toPoint()

    qtbot.mouseMove(panel.words, place(2))
    qtbot.waitUntil(lambda: read.focus.hovered_position == 2)
    qtbot.mouseClick(panel.words, Qt.MouseButton.LeftButton, pos=place(3))
    assert read.focus.position == 3
    qtbot.waitUntil(lambda: not any(word.measured for word in panel.words.words[4:]))
    assert panel.words.words[3].measured


@pytest.mark.slow
def test_another_number_is_chosen_and_surgery_counts(
    panel: SaliencyPanel, read: Session, qtbot: QtBot
) -> None:
    place = picker(panel).findText("loss of “hens”")
    picker(panel).setCurrentIndex(place)
    picker(panel).activated.emit(place)
    qtbot.waitUntil(lambda: words_of(panel, "saliency_sentence").startswith("Loss of “hens”: "))
    [plain] = expected(read, "loss@-1")
    measured = np.array([word.measured for word in panel.words.words])
    np.testing.assert_allclose(measured, plain.measured, rtol=1e-3, atol=1e-6)
    read.surgery.add(scale("layers/0/hidden", 0.3))
    qtbot.waitUntil(lambda: panel.words.words[5].measured != measured[5])
    [changed] = expected(read, "loss@-1")
    np.testing.assert_allclose(
        [word.measured for word in panel.words.words], changed.measured, rtol=1e-3, atol=1e-6
    )


@pytest.mark.slow
def test_while_gradients_are_shown_it_is_their_number(
    panel: SaliencyPanel, read: Session, qtbot: QtBot
) -> None:
    read.gradients.choose("loss@3")
    qtbot.waitUntil(lambda: words_of(panel, "saliency_sentence").startswith("Loss of “eat”: "))
    assert picker(panel).currentText() == "loss of “eat”"
    place = picker(panel).findText("all losses")
    picker(panel).activated.emit(place)
    assert read.gradients.of == "loss"
    qtbot.waitUntil(lambda: words_of(panel, "saliency_sentence").startswith("All losses: "))
    read.gradients.show(False)
    qtbot.waitUntil(lambda: words_of(panel, "saliency_sentence").startswith("Logit of “"))


def test_python_gives_the_numbers_that_are_drawn(panel: SaliencyPanel) -> None:
    scope: dict[str, dict[str, np.ndarray]] = {}
    exec(panel.recipe(), scope)  # type: ignore[arg-type]
    arrays = panel.exported_arrays()
    np.testing.assert_allclose(
        scope["predicted"]["text"], arrays["gradient × embedding"], rtol=1e-4, atol=1e-7
    )
    np.testing.assert_allclose(scope["measured"]["text"], arrays["erased"], rtol=1e-4, atol=1e-7)
    assert len(panel.exported_names().rows) == 7


@pytest.mark.slow
def test_what_counts_says_that_it_has_no_gradient(
    panel: SaliencyPanel, read: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    read.library.open(make_run("ngram", 2))
    qtbot.waitUntil(lambda: read.library.model.family == "ngram" and not read.reading.is_busy)
    assert "nothing in it has a gradient" in panel.out_of_place(read.library.model)
    qtbot.waitUntil(lambda: not panel.is_in_sight)  # another, which has something to show, is in front
    assert not panel.complaint


PAIRS = "the cows eat\tles vaches mangent\nthe hens eat\tles poules mangent\n" * 4
LINES = {
    "tagging": ("the/d cows/n eat/v grass/n\n" * 8, "the cows eat grass"),
    "classification": ("good\tthe film is good\nbad\tthe film is bad\n" * 8, "the film is good"),
    "translation": (PAIRS, "les vaches"),
}


def open_small(session: Session, folder: Path, task: str, family: str, qtbot: QtBot) -> None:
    """Train a small model of a task, and have it read a prefix."""
    lines, prefix = LINES[task]
    (folder / "text.txt").write_text(lines, encoding="utf-8")
    corpus = load_corpus(folder / "text.txt", task=task)
    settings = {"heads": 2, "layers": 1, "context": 16} if family == "transformer" else {}
    run = folder / "run"
    api.train(family, corpus, run, steps=2, batch=2, validate_every=0, width=8, device="cpu", **settings)
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    if task == "translation":
        session.reading.set_source("the cows eat")
    session.reading.set_prefix(prefix)
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)


@pytest.mark.slow
@parametrize_few(("task", "family"), in_turn(LINES, ("gru", "transformer")))
def test_other_tasks_have_theirs(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot, task: str, family: str
) -> None:
    panel = raised(window)
    open_small(session, tmp_path, task, family, qtbot)
    qtbot.waitUntil(lambda: bool(panel.words.words) and session.reading.current is not None)
    trace = session.reading.current.trace
    qtbot.waitUntil(lambda: len(panel.words.words) == len(trace))
    answers = trace["probabilities"].array
    best = int(answers.reshape(-1, answers.shape[-1])[-1].argmax())
    of = ("logits", (best,) if answers.ndim == 1 else (len(trace) - 1, best))
    found = expected(session, of, **trace.beside)
    assert panel.complaint == ""
    for item, rows in zip(found, (panel.words, panel.source_words), strict=False):
        measured = [word.measured for word in rows.words]
        np.testing.assert_allclose(measured, item.measured, rtol=1e-3, atol=1e-6)
        assert any(measured)
    assert panel.source_words.isHidden() == (task != "translation")


@pytest.mark.slow
@pytest.mark.parametrize(("task", "family"), in_turn(LINES, ("transformer", "lstm"), among=[*LINES][:1]))
def test_every_panel_of_inside_shows_the_gradients_of_other_tasks(
    window: MainWindow,
    session: Session,
    tmp_path: Path,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    task: str,
    family: str,
) -> None:
    window.show_perspective("inside")
    open_small(session, tmp_path, task, family, qtbot)
    said: list[str] = []
    session.work.any_failed.connect(said.append)
    session.gradients.show(True)
    qtbot.waitUntil(lambda: session.gradients.current is not None)
    for panel in window.perspective.panels:
        panel.parentWidget().raise_()
        drawn()
        answered()
        drawn()
        assert panel.complaint == "", panel.objectName()
    assert said == []


@pytest.mark.slow
def test_words_that_occur_twice_carry_their_position(panel: SaliencyPanel) -> None:
    assert [row.word for row in panel.words.words] == list(told_apart(panel.found[0].tokens))
    assert {"the²", "the⁶"} <= {row.word for row in panel.words.words}

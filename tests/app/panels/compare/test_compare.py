"""The Compare perspective: moments side by side, and two games, each number held to the core's."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api import open_model
from lmviz.app.panels.panel import Panel
from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.text.passage_view import PassageView
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.comparison import disagreement, jensen_shannon, overlap, surprisal_over
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.sampling import sample
from lmviz.decoding.shared_units import shared_units
from lmviz.decoding.which_is_real import HeldOutPassage, invent
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import replace
from lmviz.text.corpus import load_corpus
from lmviz.training.held_out import evaluate_documents

LONG = 30_000
PREFIX = "the cows eat"


@pytest.fixture(scope="session")
def ngram_run(make_run: Callable[..., Path]) -> Path:
    return make_run("ngram", 2)


@pytest.fixture(scope="session")
def character_run(tmp_path_factory: pytest.TempPathFactory, text_file: Path) -> Path:
    """A run whose tokens are characters, of the same text."""
    from lmviz.api import train

    folder = tmp_path_factory.mktemp("runs") / "letters"
    corpus = load_corpus(text_file, "characters", documents="line")
    train("gru", corpus, folder, steps=2, batch=2, length=8, validate_every=0, width=8)
    return folder


@pytest.fixture
def compare(
    window: MainWindow, session: Session, text_file: Path, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> MainWindow:
    """The window at Compare with a text, a prefix, and two models side by side."""
    window.show_perspective("compare")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    open_all(session, qtbot, transformer_run, lstm_run)
    session.reading.set_prefix(PREFIX)
    session.comparison.choose([(session.library.models[0], 2)])
    return window


def open_all(session: Session, qtbot: QtBot, *folders: Path) -> None:
    for folder in folders:
        session.library.open(folder)
        qtbot.waitUntil(
            lambda folder=folder: (
                session.library.model is not None and session.library.model.folder == folder.resolve()
            ),
            timeout=LONG,
        )


def panel(window: MainWindow, name: str) -> Panel:
    return next(found for found in window.perspective.panels if found.objectName() == name)


def bring_to_front(window: MainWindow, name: str, qtbot: QtBot) -> Panel:
    found = panel(window, name)
    found.parentWidget().raise_()
    qtbot.waitUntil(lambda: found.is_in_sight)
    return found


def click(window: MainWindow, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(window.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


def wait_for_distributions(window: MainWindow, count: int, qtbot: QtBot) -> Panel:
    view = panel(window, "compare_view")
    qtbot.waitUntil(lambda: len(view.found) == count == len(view.cards), timeout=LONG)
    return view


def core_distributions(*runs: tuple[Path, int], text: str = PREFIX) -> list[np.ndarray]:
    models = [open_model(folder, step) for folder, step in runs]
    return [next_distribution(Continuation.of(model, text).logits).probabilities for model in models]


def test_distributions_and_their_agreement_are_the_core_s(
    compare: MainWindow, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    expected = core_distributions((transformer_run, 2), (lstm_run, 6))
    for found, probabilities in zip(view.found, expected, strict=True):
        np.testing.assert_allclose(found.distribution.probabilities, probabilities, rtol=1e-4)
    assert f"{100 * overlap(expected):.1f} % in common" in view.agreement
    assert f"{float(jensen_shannon(expected)):.3f} bits" in view.agreement


def test_a_hovered_word_is_marked_in_every_card_and_a_click_writes_it(
    compare: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = wait_for_distributions(compare, 2, qtbot)
    bars = view.cards[0].bars
    word = view.found[0].distribution.candidate(2).token
    bars.bar_hovered.emit(1)
    for card, found in zip(view.cards, view.found, strict=True):
        id = session.library.models[0].tokenizer.id_of(word)
        assert card.readout.startswith(f"“{word}”")
        assert card.readout.endswith(f"rank {found.distribution.rank_of(id)}")
    bars.bar_hovered.emit(-1)
    assert view.cards[0].readout == f"entropy {view.found[0].distribution.entropy:.2f} bits"
    bars.bar_clicked.emit(1)
    assert session.reading.prefix == session.library.models[0].tokenizer.continue_text(
        PREFIX, view.found[0].distribution.candidate(2).id
    )


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


def test_surprisal_and_disagreement_are_the_core_s(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = panel(compare, "surprisal_view")
    qtbot.waitUntil(lambda: view.disagreement is not None and len(view.curves) == 2, timeout=LONG)
    models = [open_model(transformer_run), open_model(lstm_run)]
    spans = [(0, 3), (4, 8), (9, 12)]
    for curve, model in zip(view.curves, models, strict=True):
        expected = surprisal_over(text_log_probabilities(model, PREFIX), spans)
        np.testing.assert_allclose(curve.values, expected, rtol=1e-4)
    found = disagreement(models, PREFIX, shared_units([model.tokenizer for model in models]))
    assert found.places.tolist() == [0, 3, 8, 12]
    np.testing.assert_allclose(view.disagreement, found.divergence[1:], atol=1e-5)
    view.plot.word_hovered.emit(0)
    assert session.focus.hovered_position == 1  # after START


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
    assert f"{float(jensen_shannon(shares)):.3f} bits" in view.agreement
    assert "first characters" in view.agreement
    curves = panel(compare, "surprisal_view")
    qtbot.waitUntil(lambda: curves.disagreement is not None, timeout=LONG)
    of_words = next(curve for curve in curves.curves if curve.name == words.name)
    assert of_words.values.sum() == pytest.approx(text_log_probabilities(models[0], PREFIX).bits, rel=1e-4)


def test_samples_fall_by_the_same_draws(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "compared_samples_view", qtbot)
    qtbot.waitUntil(lambda: len(view.samples) == 2 and all(s.is_over for s in view.samples), timeout=LONG)
    for folder, found in zip((transformer_run, lstm_run), view.samples, strict=True):
        steps = list(sample(open_model(folder), PREFIX, len(found.drawn), session.writing.sampling))
        assert [item.id for item in found.drawn] == [step.id for step in steps]
        assert [item.draw for item in found.drawn] == [step.draw for step in steps]
    before = view.samples
    click(compare, "new_draws_button", qtbot)
    qtbot.waitUntil(lambda: view.samples != before and all(s.is_over for s in view.samples), timeout=LONG)
    assert view.options.seed == session.writing.sampling.seed + 1


def test_scores_are_measured_once_on_the_same_text(
    compare: MainWindow, session: Session, lstm_run: Path, character_run: Path, qtbot: QtBot
) -> None:
    open_all(session, qtbot, character_run)
    words = next(model for model in session.library.models if model.folder == lstm_run.resolve())
    session.comparison.choose([(words, 6)])
    view = bring_to_front(compare, "scores_view", qtbot)
    qtbot.waitUntil(lambda: view.table.rows_shown == (0, 1), timeout=LONG)
    moments = [(words, 6), (session.library.model, session.library.step)]
    click(compare, "measure_button", qtbot)
    qtbot.waitUntil(lambda: all(view.score_of(moment) for moment in moments), timeout=LONG)
    documents = session.text.corpus.validation_documents
    for moment, folder in zip(moments, (lstm_run, character_run), strict=True):
        expected = evaluate_documents(open_model(folder), documents)
        score = view.score_of(moment)
        assert score.tokens == expected.tokens
        assert score.perplexity == pytest.approx(expected.perplexity, rel=1e-5)
        assert score.bits_per_character == pytest.approx(expected.bits_per_character, rel=1e-5)
    button = compare.findChild(QPushButton, "measure_button")
    qtbot.waitUntil(lambda: not session.work.jobs and not button.isEnabled(), timeout=LONG)


def test_one_button_opens_and_compares_the_three_families(
    window: MainWindow,
    session: Session,
    lstm_run: Path,
    ngram_run: Path,
    transformer_run: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = {"a": ngram_run, "b": lstm_run, "c": transformer_run}
    monkeypatch.setattr("lmviz.api.sample_models", lambda: tuple(folders))
    monkeypatch.setattr("lmviz.api.find_run", lambda name: folders.get(str(name), Path(name)))
    window.show_perspective("compare")
    open_all(session, qtbot, transformer_run)
    session.reading.set_prefix(PREFIX)
    button = window.findChild(QPushButton, "compare_trio_button")
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    assert button.text() == "Compare ngram, lstm and transformer"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    view = wait_for_distributions(window, 3, qtbot)
    assert {item.model.family for item in view.models} == {"ngram", "lstm", "transformer"}
    assert session.library.model.family == "transformer"
    assert len({item.model.color_index for item in view.models}) == 3
    expected = core_distributions((transformer_run, 2), (ngram_run, 2), (lstm_run, 6))
    for found, probabilities in zip(view.found, expected, strict=True):
        np.testing.assert_allclose(found.distribution.probabilities, probabilities, rtol=1e-4)
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    assert session.text.corpus.fingerprint == session.library.model.description.fingerprint


def test_guessing_is_scored_beside_the_models(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = panel(compare, "guess_view")
    qtbot.waitUntil(lambda: compare.findChild(QPushButton, "guess_play_button").isVisible(), timeout=LONG)
    click(compare, "guess_play_button", qtbot)
    own = compare.findChild(QLineEdit, "guess_edit")
    qtbot.waitUntil(lambda: own.isVisible() and own.isEnabled(), timeout=LONG)
    shown = view.round
    assert shown.answer not in compare.findChild(QLabel, "guess_passage").text().removeprefix(
        f"“…{shown.text}"
    )
    offered = [button for button in view.findChildren(QPushButton) if button.property("guess")]
    right = next(button for button in offered if button.property("guess") == shown.answer)
    qtbot.mouseClick(right, Qt.MouseButton.LeftButton)
    answer = view.game.answers[0]
    assert answer.is_right
    assert answer.bits["you"] == pytest.approx(shown.player_bits(shown.answer, 0.5))
    for name, folder in (("transformer", transformer_run), ("lstm", lstm_run)):
        assert answer.bits[name] == pytest.approx(shown.model_bits(open_model(folder)), rel=1e-4)

    qtbot.waitUntil(lambda: compare.findChild(QPushButton, "guess_next_button").isVisible())
    click(compare, "guess_next_button", qtbot)
    qtbot.waitUntil(lambda: own.isVisible() and own.isEnabled(), timeout=LONG)
    own.setText("zebra")
    qtbot.keyClick(own, Qt.Key.Key_Return)
    first, second = view.game.answers
    assert not second.is_right
    assert view.game.mean_bits["lstm"] == pytest.approx((first.bits["lstm"] + second.bits["lstm"]) / 2)


def test_the_real_passage_is_held_out_and_the_other_is_the_model_s(
    compare: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "real_view", qtbot)
    qtbot.waitUntil(lambda: compare.findChild(QPushButton, "real_play_button").isVisible(), timeout=LONG)
    click(compare, "real_play_button", qtbot)
    qtbot.waitUntil(lambda: view.pair is not None, timeout=LONG)
    pair = view.pair
    assert pair.beginning + pair.real in session.text.corpus.validation_text
    first = compare.findChild(PassageView, "real_first")
    qtbot.waitUntil(lambda: first.isVisible() and first.text.endswith(pair.shown[0].strip()))
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert view.game.found == (pair.real_first,)
    qtbot.waitUntil(lambda: first.verdict != "")
    assert (first.verdict == "real") == pair.real_first
    again = invent(open_model(lstm_run), HeldOutPassage(pair.beginning, pair.real), view.options_of(0))
    assert again == pair
    second = compare.findChild(PassageView, "real_second")
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert len(view.game.found) == 1  # what is judged stays judged


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


def test_behind_another_tab_nothing_is_drawn(compare: MainWindow, session: Session, qtbot: QtBot) -> None:
    samples = panel(compare, "compared_samples_view")
    wait_for_distributions(compare, 2, qtbot)
    assert not samples.is_in_sight
    assert samples.samples == ()
    bring_to_front(compare, "compared_samples_view", qtbot)
    assert not panel(compare, "surprisal_view").is_in_sight
    qtbot.waitUntil(lambda: bool(samples.samples) and all(s.is_over for s in samples.samples), timeout=LONG)


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
        lambda: any("without the interventions" in line.text for line in scores.findChildren(MutedLine)),
        timeout=LONG,
    )


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
    assert answered.wait(LONG / 1000), "both answers are there, but the window has not turned yet"
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
    assert f"{float(jensen_shannon(expected)):.3f} bits" in view.agreement
    curves = panel(compare, "surprisal_view")
    qtbot.waitUntil(lambda: len(curves.curves) == 3, timeout=LONG)
    assert [curve.name.partition(", ")[2] for curve in curves.curves] == ["", "changed", "as trained"]
    assert len({(curve.turn, curve.color.name()) for curve in curves.curves}) == 3
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

"""Taggers, classifiers and translators side by side; only models of one task are compared."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benches.compare import bring_to_front, open_all, panel, wait_for_distributions
from covering import parametrize_few
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.questions import next_token
from lmviz.api.training import open_model
from lmviz.app.session.comparison import Obstacle, obstacle_between
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.widgets.text.label_table import LabelTable
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.labels import label

REVIEWS = "good\tthe film is good\nbad\tthe film is bad\ngood\tthe film is not bad\n" * 8
PAIRS = "one two\tuno dos\ntwo three\tdos tres\nthree\ttres\none three\tuno tres\n" * 4
LINE = "time flies like an arrow"
RUNS = {
    "tagger": ("four-sentences", {"direction": "both"}),
    "other tagger": ("four-sentences", {}),
    "classifier": ("reviews", {}),
    "other classifier": ("reviews", {"pooling": "mean"}),
    "translator": ("pairs", {"attention": "dot"}),
    "other translator": ("pairs", {"attention": "none"}),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two small models of each task."""
    from lmviz.api.training import train
    from lmviz.text.corpus import load_corpus

    folder = tmp_path_factory.mktemp("tasks")
    for name, text in (("reviews", REVIEWS), ("pairs", PAIRS)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    corpora = {"four-sentences": load_corpus("four-sentences")}
    corpora |= {name: load_corpus(folder / f"{name}.txt") for name in ("reviews", "pairs")}
    for name, (text, options) in RUNS.items():
        train("gru", corpora[text], folder / name, steps=3, batch=2, width=6, validate_every=0, **options)
    return {name: folder / name for name in RUNS}


def begin(session: Session, qtbot: QtBot, text: str, *folders: Path) -> list[OpenedModel]:
    """Open models, the last one shown, and the text that they learned from."""
    open_all(session, qtbot, *folders)
    with qtbot.waitSignal(session.text.changed):
        session.text.open(session.library.model.description.corpus["sources"][0])
    session.reading.set_prefix(text)
    return list(session.library.models)


@pytest.mark.slow
def test_models_of_other_tasks_are_greyed_and_do_not_take_part(
    window: MainWindow, session: Session, runs: dict[str, Path], lstm_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("compare")
    language, classifier, other, shown = begin(
        session, qtbot, LINE, lstm_run, runs["classifier"], runs["other tagger"], runs["tagger"]
    )
    session.comparison.choose([(model, model.snapshots[-1]) for model in (language, classifier, other)])
    assert [model for model, _ in session.comparison.moments] == [other, shown]
    for button in ("add_model_button", "compare_picker"):
        menu = window.findChild(QPushButton, button).menu()
        menu.aboutToShow.emit()
        entries = {model: _entry(menu.actions(), model) for model in session.library.models}
        assert not entries[language].isEnabled()
        assert entries[language].toolTip() == paragraph(
            "tagger predicts one of 4 labels for each token, and lstm predicts the next token."
        )
        assert "next token" in entries[language].text()
        assert menu.toolTipsVisible()
        assert not entries[classifier].isEnabled()
    assert _entry(menu.actions(), other).isEnabled()
    session.library.choose(language)
    assert [model for model, _ in session.comparison.moments] == [language]


def test_taggers_that_have_no_label_in_common_are_not_compared() -> None:
    def tagger(name: str, *labels: str) -> OpenedModel:
        described = SimpleNamespace(task="tagging", labels=labels, source_vocabulary_size=None)
        run = SimpleNamespace(description=described)
        return OpenedModel(Path(name), name, "rnn", (0,), run, lambda: None, None, 1)  # type: ignore[arg-type]

    shown = tagger("shown", "n", "v")
    assert obstacle_between(shown, tagger("other", "v", "d")) is None
    assert obstacle_between(shown, tagger("other", "NOUN", "VERB")) == Obstacle(
        "other labels", "shown has the labels n, v, and other has NOUN, VERB: they have none in common."
    )


def _entry(actions: list[QAction], model: OpenedModel) -> QAction:
    return next(action for action in actions if action.text().startswith(model.name))


@parametrize_few(
    ("first", "second", "text", "title"),
    [
        ("other tagger", "tagger", LINE, "The tag of “like”"),
        ("other classifier", "classifier", "the film is not bad", "The label of the text"),
    ],
)
def test_labels_stand_side_by_side(
    window: MainWindow,
    session: Session,
    runs: dict[str, Path],
    qtbot: QtBot,
    first: str,
    second: str,
    text: str,
    title: str,
) -> None:
    window.show_perspective("compare")
    other, _ = begin(session, qtbot, text, runs[first], runs[second])
    session.comparison.choose([(other, other.snapshots[-1])])
    session.focus.choose_position(2)
    view = wait_for_distributions(window, 2, qtbot)
    qtbot.waitUntil(lambda: view.title == title)
    answers = [label(open_model(runs[name]), text) for name in (first, second)]
    wanted = [
        found.probabilities[2] if found.probabilities.ndim == 2 else found.probabilities for found in answers
    ]

    def as_the_core_has_it() -> bool:
        shown = [found.distribution.probabilities for found in view.found]
        return all(np.allclose(one, other, 1e-4) for one, other in zip(shown, wanted, strict=True))

    qtbot.waitUntil(as_the_core_has_it)
    assert all(found.distribution.tokens == answers[0].names for found in view.found)
    assert "in common" in view.findChild(QWidget, "agreement").accessibleName()
    view.cards[0].bars.part_clicked.emit(0)  # a label is no word to go on with
    assert session.reading.prefix == text


@pytest.mark.slow
def test_translators_are_compared_given_the_same_source(
    window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    window.show_perspective("compare")
    other, _ = begin(session, qtbot, "uno", runs["other translator"], runs["translator"])
    session.comparison.choose([(other, other.snapshots[-1])])

    def wanted(source: str) -> list[np.ndarray]:
        models = (open_model(runs[name]) for name in ("other translator", "translator"))
        return [next_token(model, "uno", source=source).probabilities for model in models]

    view = panel(window, "compare_view")
    for source in ("one two", "one three"):
        session.reading.set_source(source)
        qtbot.waitUntil(
            lambda source=source: (
                len(view.found) == 2
                and all(
                    found.distribution is not None
                    and np.allclose(found.distribution.probabilities, right, 1e-4)
                    for found, right in zip(view.found, wanted(source), strict=True)
                )
            )
        )
    for name in ("guess_view", "real_view"):
        game = bring_to_front(window, name, qtbot)
        qtbot.waitUntil(lambda game=game: game.is_up_to_date)
        assert "translates" in game.out_of_place(session.library.model)
    curves = bring_to_front(window, "surprisal_view", qtbot)
    qtbot.waitUntil(lambda: len(curves.curves) == 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "column", "measure"),
    [
        ("other tagger", "tagger", "accuracy", "accuracy"),
        ("other classifier", "classifier", "nats", "negative_log_likelihood"),
        ("other translator", "translator", "exact match", "exact_match"),
    ],
)
def test_each_task_has_its_scores(
    window: MainWindow,
    session: Session,
    runs: dict[str, Path],
    qtbot: QtBot,
    first: str,
    second: str,
    column: str,
    measure: str,
) -> None:
    from lmviz.runs.evaluating import evaluate_corpus, part_to_judge

    window.show_perspective("compare")
    other, _ = begin(session, qtbot, "", runs[first], runs[second])
    session.comparison.choose([(other, other.snapshots[-1])])
    view = bring_to_front(window, "scores_view", qtbot)
    qtbot.waitUntil(lambda: view.findChild(TableView).model().rowCount() == 2)
    moments, button = session.comparison.moments, window.findChild(QPushButton, "measure_button")

    def is_measured() -> bool:
        """Ask for what is missing, as soon as that can be done: Confusion may be measuring some unasked."""
        if button.isVisible() and button.text() == "Measure":  # and not "Cancel"
            button.click()
        return all(view.score_of(moment) for moment in moments)

    qtbot.waitUntil(is_measured)
    corpus, model = session.text.corpus, view.findChild(TableView).model()
    headers = [model.headerData(place, Qt.Orientation.Horizontal) for place in range(model.columnCount())]
    for row, name in enumerate((first, second)):
        score = evaluate_corpus(open_model(runs[name]), corpus, part_to_judge(corpus))
        found = getattr(view.score_of(moments[row]), measure)
        assert found == pytest.approx(getattr(score, measure), rel=1e-5)
        qtbot.waitUntil(lambda row=row: model.index(row, headers.index(column)).data() != "–")
    headers = [model.headerData(place, Qt.Orientation.Horizontal) for place in range(model.columnCount())]
    if "tagger" in first:
        assert set(corpus.labels) <= set(headers)
        known = f"{100 * score.known.accuracy:.1f} %"
        assert model.index(row, next(at for at, it in enumerate(headers) if "known" in it)).data() == known
        assert not any("spans" in header for header in headers)  # its tags make none
        label = corpus.labels[0]
        assert model.index(row, headers.index(label)).data() == percentage(score.by_label[label].f1)
    assert sum(map(len, view.exported_arrays().values())) >= 8
    assert "evaluate_corpus" in view.recipe()


@pytest.mark.slow
def test_scores_say_which_text_they_need(
    window: MainWindow, session: Session, runs: dict[str, Path], text_file: Path, qtbot: QtBot
) -> None:
    window.show_perspective("compare")
    begin(session, qtbot, LINE, runs["tagger"])
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file)
    view = bring_to_front(window, "scores_view", qtbot)
    qtbot.waitUntil(lambda: "open tagged text under Corpus" in view.card.placeholder)
    assert not window.findChild(QPushButton, "measure_button").isVisible()


@pytest.mark.slow
def test_tags_stand_under_their_words_for_each_model(
    window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    window.show_perspective("compare")
    other, _ = begin(session, qtbot, LINE, runs["other tagger"], runs["tagger"])
    session.comparison.choose([(other, other.snapshots[-1])])
    view = bring_to_front(window, "compared_labels_view", qtbot)
    qtbot.waitUntil(
        lambda: len(view.findChild(LabelTable).rows) == 2 and len(view.findChild(LabelTable).gold) == 5
    )
    answers = [label(open_model(runs[name]), LINE) for name in ("other tagger", "tagger")]
    for row, answer in zip(view.findChild(LabelTable).rows, answers, strict=True):
        assert tuple(found.label for found in row.labels) == answer.labels
        shares = [found.probability for found in row.labels]
        np.testing.assert_allclose(shares, answer.probabilities.max(axis=1), rtol=1e-4)
    pairs = zip(*(answer.labels for answer in answers), strict=True)
    apart = [place for place, (one, two) in enumerate(pairs) if one != two]
    assert list(view.findChild(LabelTable).disagreements) == apart
    assert apart, "these models should disagree somewhere"
    assert f"disagree at {len(apart)} of 5" in view.card.aside
    assert view.findChild(LabelTable).gold[0] == "n"
    assert {view.findChild(LabelTable).gold[1], view.findChild(LabelTable).gold[2]} == {"n or v", "p or v"}
    for row in view.findChild(LabelTable).rows:
        for found, right in zip(row.labels, view.findChild(LabelTable).gold, strict=True):
            assert found.wrong == (found.label not in right.split(" or "))
    place = view.findChild(LabelTable).part_rectangle(3).center().toPoint()
    qtbot.mouseClick(view.findChild(LabelTable), Qt.MouseButton.LeftButton, pos=place)
    assert session.focus.position == 3
    assert len(view.exported_arrays()) == 2
    for model in session.library.models:
        session.library.close(model)
    qtbot.waitUntil(lambda: view.exported_arrays() == {})
    assert view.recipe() == ""


@pytest.mark.slow
def test_the_label_of_each_beginning_stands_under_its_last_word(
    window: MainWindow, session: Session, runs: dict[str, Path], qtbot: QtBot
) -> None:
    text = "the film is not bad"
    window.show_perspective("compare")
    begin(session, qtbot, text, runs["classifier"])
    view = bring_to_front(window, "compared_labels_view", qtbot)
    qtbot.waitUntil(
        lambda: len(view.findChild(LabelTable).rows) == 1 and len(view.findChild(LabelTable).gold) == 5
    )
    [row], model, words = view.findChild(LabelTable).rows, open_model(runs["classifier"]), text.split()
    wanted = [label(model, " ".join(words[: place + 1])).labels[0] for place in range(5)]
    assert [found.label for found in row.labels] == wanted
    assert view.findChild(LabelTable).gold == ("", "", "", "", "good")
    assert row.labels[-1].wrong == (wanted[-1] != "good")

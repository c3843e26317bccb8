"""The Labels panel: tags beside the right ones, a direction silenced, and how a class comes about."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.panels.inside.labels import LabelsPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("labels", "why")

REVIEWS = "good\tthe film is good\nbad\tthe film is bad\ngood\tthe film is not bad\n" * 8
SENTENCE = "time flies like an arrow"  # in four-sentences twice: "flies" and "like" with two taggings


@pytest.fixture(scope="module")
def train_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """train_on(corpus, steps): the folder of a small GRU of both directions."""

    def make(source: str | Path, steps: int) -> Path:
        from lmviz.api.training import train
        from lmviz.text.corpus import load_corpus

        folder = tmp_path_factory.mktemp("runs") / "gru"
        options = {"steps": steps, "batch": 4, "learning_rate": 0.05, "validate_every": 0}
        train("gru", load_corpus(source), folder, width=8, direction="both", **options)
        return folder

    return make


@pytest.fixture
def opened(window: MainWindow, session: Session, qtbot: QtBot) -> Callable[[Path, str], LabelsPanel]:
    """opened(folder, prefix): the panel in front, with the model, its text and a prefix."""

    def open_it(folder: Path, prefix: str) -> LabelsPanel:
        session.library.open(folder)
        qtbot.waitUntil(lambda: session.library.model is not None)
        session.text.open(session.library.model.description.corpus["sources"][0])
        qtbot.waitUntil(lambda: session.text.corpus is not None)
        session.reading.set_prefix(prefix)
        wait_for_reading(session, qtbot)
        panel = window.findChild(QWidget, "labels_view")
        assert isinstance(panel, LabelsPanel)
        panel.parentWidget().raise_()
        qtbot.waitUntil(lambda: panel.is_in_sight and len(panel.words.words) == len(prefix.split()))
        return panel

    return open_it


@pytest.mark.slow
def test_a_silenced_direction_changes_the_tags_and_a_second_click_brings_them_back(
    opened: Callable[[Path, str], LabelsPanel], train_on: Callable[..., Path], session: Session, qtbot: QtBot
) -> None:
    panel = opened(train_on("four-sentences", 40), SENTENCE)
    tagged = panel.words.words
    assert [row.word for row in tagged] == SENTENCE.split()
    assert tagged[0].note == "gold n"
    assert tagged[1].note in ("gold n or v", "gold v or n")
    assert all(row.wrong == (row.label not in row.note.removeprefix("gold ").split(" or ")) for row in tagged)
    assert panel.card.aside == f"{sum(not row.wrong for row in tagged)} right of 5"
    button = panel.findChild(QPushButton, "silence_backward_button")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.reading.current.baseline is not None)
    qtbot.waitUntil(lambda: panel.words.words != tagged)
    trace = session.reading.current.trace
    assert not trace["layers/0/backward/hidden"].array.any()
    assert trace["layers/0/forward/hidden"].array.any()
    shown = [row.probability for row in panel.words.words]
    assert shown == pytest.approx(trace["probabilities"].array.max(axis=1).tolist())
    assert shown != pytest.approx([row.probability for row in tagged])
    assert button.isChecked()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.words.words == tagged)
    assert not session.surgery.interventions


def test_why_this_tag_is_said_from_the_left_and_from_the_right(
    opened: Callable[[Path, str], LabelsPanel],
    window: MainWindow,
    train_on: Callable[..., Path],
    session: Session,
    qtbot: QtBot,
) -> None:
    opened(train_on("four-sentences", 40), SENTENCE)
    why = window.findChild(QWidget, "why_view")
    why.parentWidget().raise_()
    session.focus.choose_cell(("logits", (2, 1)))
    sheet = why.findChild(ArithmeticCard)
    qtbot.waitUntil(
        lambda: [row.name for row in sheet.rows if row.heads] == ["from the left", "from the right"]
    )
    trace, weights = session.reading.current.trace, open_model(session.library.model.folder).output.weight[1]
    joined = trace["layers/0/joined"].array[2] * weights.numpy()
    headings = [row.value for row in sheet.rows if row.heads]
    assert headings == [signed_figure(float(part.sum())) for part in np.split(joined, 2)]
    below = [row for row in sheet.rows if row.side == "right" and row.operands]
    assert all(int(row.name.rsplit(" ", 1)[1]) > 8 for row in below), "the second half of the units"


@pytest.mark.slow
def test_a_classifier_says_what_it_thinks_word_by_word_and_what_each_word_adds(
    opened: Callable[[Path, str], LabelsPanel],
    train_on: Callable[..., Path],
    session: Session,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    from lmviz.decoding.labels import label

    path = tmp_path / "reviews.txt"
    path.write_text(REVIEWS, encoding="utf-8")
    folder = train_on(path, 30)
    panel = opened(folder, "the film is bad")
    model, words = open_model(folder), ["the", "film", "is", "bad"]
    whole = label(model, " ".join(words))
    best = int(whole.probabilities.argmax())
    assert panel.card.title.startswith(f"Label: {whole.labels[0]}")
    assert panel.card.aside == "gold bad"
    assert label(model, "the film").labels[0] != whole.labels[0], "so that a row could name another"
    arrays = panel.exported_arrays()
    for place in range(len(words)):
        beginning = label(model, " ".join(words[: place + 1]))
        row = panel.words.words[place]  # of what the model says when it has read so far
        assert row.label == beginning.labels[0]
        assert row.probability == pytest.approx(beginning.probabilities.max())
        assert arrays["beginnings"][place] == pytest.approx(beginning.probabilities)
        without = label(model, " ".join(words[:place] + words[place + 1 :])).probabilities
        assert arrays["without"][place] == pytest.approx(without)
        change = 100 * (without[best] - whole.probabilities[best])
        wanted = "0 %" if abs(change) < 0.5 else f"{change:+.0f} %".replace("-", "−")
        assert panel.words.words[place].note == wanted
    assert np.ptp(arrays["beginnings"][:, best]) > 0


@pytest.mark.slow
def test_a_language_model_has_no_labels_and_says_so(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    panel = window.findChild(QWidget, "labels_view")
    panel.parentWidget().raise_()
    sentence = "lstm predicts the next token. Open a tagger or a classifier to see its labels."
    qtbot.waitUntil(lambda: panel.is_in_sight and panel.is_up_to_date)
    texts = [child.text() for child in panel.findChildren(QWidget, "out_of_place")]
    assert texts == [sentence]

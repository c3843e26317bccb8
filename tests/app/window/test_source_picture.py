"""The picture that a captioner begins with: painted in the prefix bar, and seen wherever it is read."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.attention.attention import AttentionPanel
from lmviz.app.session.current_reading import FIRST_PICTURE
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.examples_view import ExamplesView
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.source_picture import SourcePicture
from lmviz.text.pictures import PIXELS, picture_of, pixels_of

BLANK = picture_of([False] * PIXELS)


@pytest.fixture
def first_perspective() -> str:
    """One that has the prefix bar."""
    return "attention"


@pytest.fixture
def captioning(window: MainWindow, read: Session, captioner_run: Path, qtbot: QtBot) -> Session:
    """The session with the captioner open, after another model."""
    read.reading.set_source("a text for a translator")
    read.library.open(captioner_run)
    qtbot.waitUntil(lambda: read.reading.has_picture)
    read.reading.set_prefix("square above")
    qtbot.waitUntil(lambda: not read.reading.is_busy and "picture" in read.reading.current.trace)
    return read


def click(picture: SourcePicture, index: int, qtbot: QtBot) -> None:
    place = picture.part_rectangle(index).center().toPoint()
    qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=place)


def test_a_painted_pixel_changes_what_comes_next(
    window: MainWindow, captioning: Session, captioner_run: Path, qtbot: QtBot
) -> None:
    picture = window.prefix_bar.picture
    assert picture.isVisible()
    assert not window.findChild(QLineEdit, "source_edit").isVisible()
    assert picture.pixels == pixels_of(FIRST_PICTURE)
    before = captioning.reading.current.trace
    with qtbot.waitSignal(captioning.reading.changed):
        click(picture, 24, qtbot)
    qtbot.waitUntil(lambda: not captioning.reading.is_busy)
    painted = picture_of(picture.pixels)
    assert pixels_of(painted)[24] != pixels_of(FIRST_PICTURE)[24]
    trace = captioning.reading.current.trace
    assert trace["picture"].array.tolist() == [float(pixel) for pixel in picture.pixels]
    assert (trace["probabilities"].array != before["probabilities"].array).any(axis=1).all()
    wanted = lmviz.next_token(captioner_run, "square above", source=painted).probabilities
    np.testing.assert_allclose(trace["probabilities"].array[-1], wanted, atol=1e-6)


@pytest.mark.slow
def test_a_picture_is_cleared_and_kept_apart_from_a_text(
    window: MainWindow, captioning: Session, lstm_run: Path, captioner_run: Path, qtbot: QtBot
) -> None:
    qtbot.mouseClick(window.findChild(QPushButton, "blank_button"), Qt.MouseButton.LeftButton)
    assert captioning.reading.source == BLANK
    captioning.library.open(lstm_run)
    qtbot.waitUntil(lambda: not captioning.reading.has_source)
    assert not window.prefix_bar.picture.isVisible()
    assert not window.findChild(QPushButton, "blank_button").isVisible()
    assert captioning.reading.source == "a text for a translator"
    captioning.library.open(captioner_run)
    qtbot.waitUntil(lambda: captioning.reading.has_picture)
    assert captioning.reading.source == BLANK
    assert not any(window.prefix_bar.picture.pixels)


@pytest.mark.slow
def test_the_pictures_of_a_text_are_drawn_and_read(
    window: MainWindow, captioning: Session, captioner_run: Path, qtbot: QtBot
) -> None:
    captioning.text.open("pictures")
    qtbot.waitUntil(lambda: captioning.text.corpus is not None and captioning.text.corpus.name == "pictures")
    corpus = captioning.text.corpus
    qtbot.mouseClick(window.findChild(QPushButton, "example_button"), Qt.MouseButton.LeftButton)
    assert captioning.reading.source == corpus.validation_documents[0]
    assert window.prefix_bar.picture.pixels == pixels_of(corpus.validation_documents[0])
    assert captioning.reading.prefix == corpus.target_tokenizer.decode(corpus.validation_examples.target[0])
    window.show_perspective("corpus")
    examples = window.findChild(ExamplesView, "examples_view")
    qtbot.waitUntil(lambda: bool(examples.examples))
    first = examples.examples[0]
    assert first.pixels == pixels_of(corpus.training_documents[0])


@pytest.mark.slow
def test_inside_shows_where_the_picture_enters_and_which_pixels_matter(
    window: MainWindow, captioning: Session, captioner_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    unrolled = panels["picture_view"].unrolled
    qtbot.waitUntil(lambda: bool(unrolled.picture))
    assert unrolled.picture == pixels_of(FIRST_PICTURE)
    assert captioning.reading.current.trace.stages[0].results == ("picture",)
    saliency = panels["saliency_view"]
    raise_page_of(saliency)
    qtbot.waitUntil(lambda: saliency.picture.isVisible())
    measured, predicted = saliency.picture.measured, saliency.picture.predicted
    assert measured.pixels == pixels_of(FIRST_PICTURE)
    of_picture = next(item for item in saliency.found if item.sequence == "source")
    assert measured.values.tolist() == of_picture.measured.tolist()
    assert predicted.values.tolist() == of_picture.predicted.tolist()
    assert not measured.values[[not pixel for pixel in measured.pixels]].any()
    assert not saliency.source_words.isVisible()


def raise_page_of(panel: QWidget) -> None:
    panel.parentWidget().raise_()


@pytest.mark.slow
def test_gradients_colour_the_picture(window: MainWindow, captioning: Session, qtbot: QtBot) -> None:
    picture = window.prefix_bar.picture
    assert picture.values is None
    captioning.gradients.show(True)
    qtbot.waitUntil(lambda: picture.values is not None)
    wanted = captioning.gradients.current["picture"].array
    assert picture.values.tolist() == wanted.tolist()
    captioning.gradients.show(False)
    qtbot.waitUntil(lambda: captioning.gradients.current is None and picture.values is None)


@pytest.mark.slow
def test_attention_says_what_would_show_it(window: MainWindow, captioning: Session) -> None:
    panel = AttentionPanel(captioning)
    said = panel.out_of_place(captioning.library.model)
    assert "writes captions for pictures, which it reads once" in said
    panel.close()


@pytest.mark.slow
def test_keys_paint_in_every_perspective(window: MainWindow, captioning: Session, qtbot: QtBot) -> None:
    picture, position = window.prefix_bar.picture, captioning.focus.position
    for name in ("inside", "sample"):
        window.show_perspective(name)
        picture.setFocus()
        qtbot.keyClick(picture, Qt.Key.Key_Backspace)
        for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Space):
            qtbot.keyClick(picture, key)
        assert sum(picture.pixels) == 1
        assert captioning.reading.source == picture_of(picture.pixels)
        assert captioning.focus.position == position

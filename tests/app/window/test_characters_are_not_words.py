"""Where a text is read character by character, nothing in the window calls its characters words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from covering import others_slow, walk_through
from layout_faults import noted_texts
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAccessible, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.kit.pointing import Parts
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus import load_corpus
from lmviz.text.tokenizer import of_units
from tests.app.conftest import wait_for_reading

FAMILIES: dict[str, dict[str, int]] = {
    "transformer": {"width": 8, "heads": 2, "layers": 2, "context": 24},
    "lstm": {"width": 6},
    "window": {"width": 6},
    "ngram": {"order": 3},
}
WORD = re.compile(r"(?i)\bwords?\b")
ALLOWED = {
    "texts_view": "names the kinds of tokens to choose from, and describes texts that are made of words",
    "poll_view": "asks about a text of its own, which is made of words",
    "order_view": "exchanges two words of its own",
    "measure_picker": "WORD stands for what is to be typed: logit:WORD",
    "quality_measure_box": "“word for word” is how a translation is the same",
    "across tokenizers": "speaks of models side by side, of which others read words",
}
"""Panels, controls and sentences that may say it, and why."""
TEXT = "the cows eat the cow"
EVERY = 16  # pixels from one place that is pointed at to the next


@pytest.fixture(scope="module")
def letter_runs(tmp_path_factory: pytest.TempPathFactory, text_file: Path) -> Callable[[str], Path]:
    """Call it for the run of a small model of a family whose tokens are characters."""
    from lmviz.api.training import train

    corpus = load_corpus(text_file, "characters", documents="line")

    def make(family: str) -> Path:
        folder = tmp_path_factory.mktemp("letters") / family
        training = {} if family == "ngram" else {"steps": 4, "batch": 2, "length": 8, "validate_every": 2}
        train(family, corpus, folder, **training, **FAMILIES[family])
        return folder

    return make


def said_by(root: QWidget) -> Iterator[tuple[str, str]]:
    """All that can be read, pointed at or heard now in a widget, each with where."""
    painted: list[tuple[str, QPolygonF, bool]] = []
    with noted_texts(painted):
        root.grab()
    yield from ((root.objectName(), text) for text, _, _ in painted)
    for each in (root, *root.findChildren(QWidget)):
        if each.isVisibleTo(root):
            place = each.objectName() or each.accessibleName()
            yield from ((place, text) for text in (*_named(each), *_written(each), *_pointed(each)))


def _named(each: QWidget) -> Iterator[str]:
    yield each.toolTip()
    interface = QAccessible.queryAccessibleInterface(each)
    if interface is not None:
        yield interface.text(QAccessible.Text.Name)
        yield interface.text(QAccessible.Text.Description)


def _written(each: QWidget) -> Iterator[str]:
    """What Qt's own widgets write."""
    match each:
        case QLabel() | QAbstractButton():
            yield each.text()
        case QLineEdit():
            yield each.placeholderText()
        case QComboBox():
            yield from (each.itemText(at) for at in range(each.count()))
        case QTabBar():
            yield from (each.tabText(at) for at in range(each.count()))
            yield from (each.tabToolTip(at) for at in range(each.count()))
        case QAbstractItemView() if each.model() is not None and not isinstance(each, QHeaderView):
            model, role = each.model(), Qt.ItemDataRole.DisplayRole
            for column in range(model.columnCount()):
                yield str(model.headerData(column, Qt.Orientation.Horizontal, role) or "")


def _pointed(each: QWidget) -> Iterator[str]:
    """What the hover card says of the parts of a picture."""
    if not isinstance(each, Parts):
        return
    for x in range(EVERY // 2, each.width(), EVERY):
        for y in range(EVERY // 2, each.height(), EVERY):
            part = each.index_at(QPointF(x, y))
            words = None if part == each.nowhere else each.readout(part)
            if words is not None:
                yield words[0]
                yield from words[1]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("family", others_slow(FAMILIES, "transformer"))
@pytest.mark.parametrize("text", others_slow([TEXT, ""], TEXT), ids=["text", "no text"])
@walk_through("sample")
def test_no_panel_calls_characters_words(
    window: MainWindow,
    session: Session,
    letter_runs: Callable[[str], Path],
    text_file: Path,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    family: str,
    text: str,
    perspectives: tuple[str, ...],
) -> None:
    window.resize(1440, 900)
    session.text.open(text_file, tokenizer="characters", documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.library.open(letter_runs(family))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix(text)
    if text:
        wait_for_reading(session, qtbot)
        session.contrast.set_other("the cows eat the cog")
    wrong: set[tuple[str, ...]] = set()
    for name in perspectives:
        window.show_perspective(name)
        drawn()
        for panel in window.perspective.panels:
            window.perspective.bring_forward(panel.objectName())
            qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
            drawn()
            answered()
            drawn()
            wrong |= {(panel.objectName(), *found) for found in said_by(panel)}
        bars = window.perspective.findChildren(QTabBar)
        wrong |= {(name, *found) for bar in bars for found in said_by(bar)}
    around = (window.transport, window.prefix_bar)
    wrong |= {("window", *found) for part in around for found in said_by(part)}
    wrong = {found for found in wrong if WORD.search(found[-1]) and not is_allowed(found)}
    assert not wrong, "\n".join(" | ".join(found) for found in sorted(wrong))


def is_allowed(found: tuple[str, ...]) -> bool:
    return any(allowed in part for allowed in ALLOWED for part in found)


def test_a_sentence_about_words_is_told_of_what_the_tokens_are() -> None:
    assert of_units("Words after {word}: a word, 2 words, reworded", "character") == (
        "Characters after {word}: a character, 2 characters, reworded"
    )
    assert of_units("click a word", "word") == of_units("click a word", "token") == "click a word"

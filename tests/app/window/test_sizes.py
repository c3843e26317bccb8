"""At every size and in every look no word is cut, and no panel in sight is blank."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from covering import others_slow, walk_through
from in_sight import all_have_drawn
from pixels import pixels_of
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionFrame,
    QTabBar,
    QWidget,
)
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.tables.figure_delegate import FigureHeader
from lmviz.app.window.main_window import MainWindow
from tests.app.blank_panels import leaves_it_to_another
from tests.app.conftest import wait_for_reading

SIZES = ((1000, 640), (1280, 720), (1440, 900), (1920, 1080), (2560, 1440))
NAMES = [perspective.name for perspective in PERSPECTIVES]
SMALL = {"width": 8}
MODELS = {
    "ngram": {"order": 3},
    "window": SMALL,
    "rnn": SMALL,
    "lstm": SMALL,
    "gru": SMALL,
    "transformer": {**SMALL, "heads": 2, "layers": 2, "context": 16},
}
LOOKS = ("light", "dark", "projector")
LOOKED_BEHIND = ((1000, 640), (1440, 900))
TEXTS = {
    "tagger": "time flies like an arrow",
    "classifier": "the film is not bad",
    "translator": "rouge voiture",
    "captioner": "2 dots",
}
TASKS = ("next-token", *TEXTS)
HEAD = 44  # pixels at scale 1 in which a card says what it is
TAB = 8  # pixels beside the words of a tab, at least
HEADING = 12  # the size of type above columns
PADDING, OWN_PADDING = 18, 8  # pixels at scale 1 beside it, and where a table draws its headings itself
PREFIX = "the cows eat grass the hens"


def cut_words(window: MainWindow) -> list[str]:
    """What stands in labels, buttons, tabs, headings, hints and notes without the room to be read."""
    return [f"{text!r} of {type(widget).__name__}" for widget, text in _cut(window)]


def _cut(window: MainWindow) -> Iterator[tuple[QWidget, str]]:
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or widget.visibleRegion().isEmpty():
            continue
        words = widget.fontMetrics()
        if isinstance(widget, QTabBar):
            for place in filter(widget.isTabVisible, range(widget.count())):
                text = widget.tabText(place)
                if words.horizontalAdvance(text) + TAB > widget.tabRect(place).width():
                    yield widget, text
        elif isinstance(widget, QComboBox):
            option = QStyleOptionComboBox()
            widget.initStyleOption(option)
            edit = QStyle.SubControl.SC_ComboBoxEditField
            room = widget.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, edit, widget)
            if words.horizontalAdvance(widget.currentText()) > room.width():
                yield widget, widget.currentText()
        elif isinstance(widget, QHeaderView):
            yield from ((widget, heading) for heading in _cut_headings(widget))
        elif isinstance(widget, QLineEdit) and not widget.text():
            if words.horizontalAdvance(widget.placeholderText()) > _room_of_hint(widget):
                yield widget, widget.placeholderText()
        elif isinstance(widget, MutedLine):
            if not _ends_with_a_word(widget):
                yield widget, widget.shown
        elif isinstance(widget, QAbstractButton | QLabel) and widget.text():
            is_plain = not isinstance(widget, QLabel) or not (widget.wordWrap() or "<" in widget.text())
            if is_plain and widget.sizeHint().width() > widget.width() + 1:
                yield widget, widget.text()


def _cut_headings(header: QHeaderView) -> Iterator[str]:
    """The headings above columns that are wider than these."""
    padding = OWN_PADDING if isinstance(header, FigureHeader) else PADDING * current_theme().scale
    for section in range(header.count()):
        heading = str(header.model().headerData(section, header.orientation()))
        if isinstance(header, FigureHeader):
            heading = header.title_of(section)
        widest = max(metrics(HEADING).horizontalAdvance(line) for line in heading.split("\n"))
        if not header.isSectionHidden(section) and widest + padding > header.sectionSize(section):
            yield heading


def _room_of_hint(edit: QLineEdit) -> int:
    """The pixels in which a line to type in says what for."""
    option = QStyleOptionFrame()
    edit.initStyleOption(option)
    return edit.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, edit).width() - 4


def _ends_with_a_word(line: MutedLine) -> bool:
    """Whether what is left of a note ends where one of its words does, and is not dots alone."""
    shown = line.shown.removesuffix("…")
    rest = line.text.removeprefix(shown)
    return line.shown == line.text or not line.shown or (bool(shown) and rest.startswith(" "))


def is_blank(panel: Panel) -> bool:
    """Whether nothing is drawn below the head of a panel's card."""
    card = panel.findChild(Card)
    image = (card or panel).grab().toImage()
    inner = pixels_of(image)[round(HEAD * image.devicePixelRatio()) : -4, 4:-4]
    return bool((inner == inner[0, 0]).all())


@pytest.fixture
def opened(
    window: MainWindow, session: Session, make_run: Callable[..., Path], text_file: Path, qtbot: QtBot
) -> Callable[[str], None]:
    """Call it with a family to open a small model of it, a text and a prefix."""

    def open_family(family: str) -> None:
        session.text.open(text_file, documents="line")
        session.library.open(make_run(family, 3, **MODELS[family]))
        qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
        session.reading.set_prefix(PREFIX)
        qtbot.waitUntil(
            lambda: session.reading.current is not None and session.reading.current.trace.text == PREFIX
        )

    return open_family


def look_at(window: MainWindow, perspective: str, size: tuple[int, int], qtbot: QtBot) -> None:
    window.resize(*size)
    window.show_perspective(perspective)
    inspect(window, qtbot)


def inspect(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until all in sight has drawn; fail where a word stays cut or a panel blank."""

    def found() -> list[str]:
        seen[:] = cut_words(window) or [
            panel.objectName()
            for panel in window.perspective.panels
            if panel.is_in_sight and is_blank(panel) and not leaves_it_to_another(panel)
        ]
        return seen

    seen: list[str] = []
    qtbot.waitUntil(lambda: all_have_drawn(window.perspective))
    with suppress(TimeoutError):  # which would not say what
        qtbot.waitUntil(lambda: not found())
    assert not seen, f"{window.perspective.name} at {window.size().toTuple()}"


def look_behind(window: MainWindow, qtbot: QtBot) -> None:
    """The same for every panel behind another tab."""
    for panel in window.perspective.panels:
        if not panel.is_in_sight:
            window.perspective.bring_forward(panel.objectName())
            qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
            inspect(window, qtbot)


@pytest.mark.slow
@pytest.mark.parametrize("perspective", others_slow(NAMES, "train"))
def test_no_word_is_cut_and_no_panel_blank_in_the_smallest_window(
    window: MainWindow, opened: Callable[[str], None], perspective: str, qtbot: QtBot
) -> None:
    opened("transformer")
    look_at(window, perspective, SIZES[0], qtbot)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("look", LOOKS)
def test_no_word_is_cut_and_no_panel_blank_at_any_size(
    window: MainWindow, opened: Callable[[str], None], family: str, look: str, qtbot: QtBot
) -> None:
    opened(family)
    go_through(window, look, qtbot)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("task", TEXTS)
@pytest.mark.parametrize("look", LOOKS)
def test_no_word_is_cut_and_no_panel_blank_with_models_of_other_tasks(
    window: MainWindow, session: Session, label_runs: dict[str, Path], task: str, look: str, qtbot: QtBot
) -> None:
    session.library.open(label_runs[task])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open(session.library.model.description.corpus["sources"][0])
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.reading.set_source("blue car")
    session.reading.set_prefix(TEXTS[task])
    wait_for_reading(session, qtbot)
    go_through(window, look, qtbot)


def go_through(window: MainWindow, look: str, qtbot: QtBot) -> None:
    """Every perspective at every size, at two of them also what stands behind another tab."""
    window.set_theme("dark" if look == "dark" else "light")
    window.set_projector(look == "projector")
    for size in SIZES:
        for perspective in NAMES:
            look_at(window, perspective, size, qtbot)
            if size in LOOKED_BEHIND:
                look_behind(window, qtbot)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("task", others_slow(["none", *TASKS], "none"))
@walk_through("corpus", "inside", "compare")
def test_before_anything_is_typed_every_panel_says_what_will_stand_there(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    label_runs: dict[str, Path],
    task: str,
    qtbot: QtBot,
    perspectives: tuple[str, ...],
) -> None:
    if task != "none":
        session.library.open(label_runs[task] if task in TEXTS else make_run("ngram", 3, order=3))
        qtbot.waitUntil(lambda: session.library.model is not None)
        session.reading.set_prefix("")
        session.reading.set_source("")
    for perspective in perspectives:
        look_at(window, perspective, SIZES[0], qtbot)
        look_behind(window, qtbot)

"""Bands between two lines of words: a word of either line leaves only its own strong."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.text.alignment_arcs import SOURCE, TARGET, AlignmentArcs

TO, FROM = ["la", "vache", "brune"], ["the", "brown", "cow", "⟨end⟩"]
WEIGHTS = np.array([[1, 0, 0, 0], [0, 0.25, 0.75, 0], [0, 1, 0, 0]])


@pytest.fixture
def view(shown):
    view = AlignmentArcs()
    view.set_alignment(TO, FROM, WEIGHTS)
    return shown(view, 560, 200)


def strength(view, target, source):
    """How far the colour in the middle of the band between two words is from the background's."""
    picture = view.grab().toImage()
    ends = view.token_place(TARGET, target), view.token_place(SOURCE, source)
    place = (ends[0] + ends[1]) / 2 * picture.devicePixelRatio()
    color, paper = picture.pixelColor(place.toPoint()), view.theme.background
    return max(abs(one - other) for one, other in zip(color.getRgb(), paper.getRgb(), strict=True))


def test_the_words_of_both_lines_answer_to_the_pointer(view, qtbot):
    with qtbot.waitSignal(view.target_hovered) as signal:
        QTest.mouseMove(view, view.token_place(TARGET, 1).toPoint())
    assert signal.args == [1]
    card = view.window().findChild(HoverCard)
    assert (card.title, card.lines) == ("vache looks at", ("75.0 %  cow", "25.0 %  brown"))
    with qtbot.waitSignals([view.target_hovered, view.source_hovered]):
        QTest.mouseMove(view, view.token_place(SOURCE, 1).toPoint())
    assert (card.title, card.lines) == ("brown is looked at by", ("100.0 %  brune", "25.0 %  vache"))
    with qtbot.waitSignal(view.source_hovered) as signal:
        QTest.mouseMove(view, QPoint(1, view.height() // 2))
    assert signal.args == [-1]
    assert view.marked is None


def test_the_marked_word_leaves_only_its_own_bands_strong(view):
    everywhere = strength(view, 0, 0), strength(view, 2, 1)
    view.suggest(0)
    assert strength(view, 0, 0) == everywhere[0]
    assert 0 < strength(view, 2, 1) < everywhere[1] / 2
    view.suggest(-1)
    QTest.mouseMove(view, view.token_place(SOURCE, 1).toPoint())
    assert strength(view, 2, 1) >= everywhere[1] - 20
    assert strength(view, 0, 0) < everywhere[0] / 2


def test_a_click_says_which_word_and_arrow_keys_walk_along_the_target(view, qtbot):
    with qtbot.waitSignal(view.source_clicked) as signal:
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.token_place(SOURCE, 3).toPoint())
    assert signal.args == [3]
    with qtbot.waitSignal(view.target_clicked) as signal:
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.token_place(TARGET, 1).toPoint())
    assert signal.args == [1]
    with qtbot.waitSignal(view.target_clicked) as signal:
        qtbot.keyClick(view, Qt.Key.Key_Right)
    assert signal.args == [2]
    assert "100.0 %  brown" in view.accessibleDescription()


def test_a_longer_text_forgets_what_was_pointed_at(view):
    QTest.mouseMove(view, view.token_place(TARGET, 2).toPoint())
    view.set_alignment([*TO, "dort"], FROM, np.eye(4))
    assert view.marked is None
    view.set_alignment((), (), np.zeros((0, 0)))
    view.grab()
    QTest.mouseMove(view, QPointF(100, 190).toPoint())
    assert view.marked is None


def test_a_text_that_is_too_long_for_one_line_is_wrapped(view, qtbot):
    source = [f"word{index}" for index in range(24)]
    view.set_alignment(TO, source, np.full((3, 24), 1 / 24))
    assert view.minimumSizeHint().width() < view.width()
    view.resize(view.width(), view.heightForWidth(view.width()))
    places = [view.token_place(SOURCE, index) for index in range(24)]
    rows = sorted({place.y() for place in places})
    assert len(rows) > 1
    assert rows[-1] < view.token_place(TARGET, 0).y()
    for index, place in enumerate(places):
        assert 0 < place.x() < view.width()
        with qtbot.waitSignal(view.source_clicked) as signal:
            qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place.toPoint())
        assert signal.args == [index]


def test_type_grows_smaller_before_a_text_is_wrapped(view):
    def rows(count: int) -> int:
        view.set_alignment(TO, ["brown"] * count, np.full((3, count), 1 / count))
        return len({view.token_place(SOURCE, index).y() for index in range(count)})

    counts = [rows(count) for count in range(4, 20)]
    assert counts == sorted(counts)
    longest = counts.count(1) + 3
    rows(longest)
    assert view.sizeHint().width() > view.width(), "the usual size of type would not fit"

"""Heatmaps: the pointer meets the right cell, zoomed or not; keys move; nothing unrelated stays lit."""

import itertools

import numpy as np
import pytest
from layout_faults import faults_of, noted_texts
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.matrix import crossfade
from lmviz.app.widgets.matrix.crossfade import Crossfade
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.matrix.heatmap_labels import SIZE

WORDS = ["the", "bat", "made", "noise", "at", "night"]


@pytest.fixture
def view(shown):
    view = HeatmapView()
    view.set_matrix(np.arange(24, dtype=float).reshape(4, 6) / 24, scale="share", rows="abcd", columns=WORDS)
    return shown(view, 400, 300)


def wheel(view, place, *, control=True, turns=1):
    modifier = Qt.KeyboardModifier.ControlModifier if control else Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        place,
        view.mapToGlobal(place),
        QPoint(0, 0),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        modifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)
    return event.isAccepted()


def color_at(view, row, column):
    picture = view.grab().toImage()
    place = view.cell_rectangle(row, column).center() + QPointF(0, 8)
    return picture.pixelColor((place * picture.devicePixelRatio()).toPoint())


def test_every_cell_answers_with_its_place_and_value(view, point):
    hovered = []
    view.cell_hovered.connect(lambda row, column: hovered.append((row, column)))
    for row in range(4):
        for column in range(6):
            QTest.mouseMove(view, view.cell_rectangle(row, column).center().toPoint())
            assert hovered[-1] == (row, column)
            card = view.window().findChild(HoverCard)
            assert card.title == f"{'abcd'[row]} · {WORDS[column]} = {(6 * row + column) / 24:.3f}"


def test_leaving_the_cells_says_so(view, point, qtbot):
    QTest.mouseMove(view, view.cell_rectangle(1, 1).center().toPoint())
    with qtbot.waitSignal(view.left):
        QTest.mouseMove(view, QPoint(2, 298))
    assert not view.window().findChild(HoverCard).isVisible()


def test_arrow_keys_walk_and_enter_pins(view):
    clicked, hovered = [], []
    view.cell_clicked.connect(lambda row, column: clicked.append((row, column)))
    view.cell_hovered.connect(lambda row, column: hovered.append((row, column)))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.cell_rectangle(2, 4).center().toPoint())
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Return):
        QTest.keyClick(view, key)
    assert hovered[-3:] == [(2, 5), (3, 5), (3, 4)]
    assert view.window().findChild(HoverCard).isVisible()
    assert clicked == [(2, 4), (3, 4)]


def test_the_keyboard_is_seen_and_leaves_nothing_pointed_at(view, qtbot):
    left = []
    view.left.connect(lambda: left.append(True))
    view.activateWindow()
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.hasFocus)
    QTest.keyClick(view, Qt.Key.Key_Right)
    picture = view.grab().toImage()
    middle = picture.height() // 2
    assert any(picture.pixelColor(across, middle) == view.theme.accent for across in (0, 1))
    view.clearFocus()
    assert left == [True]
    assert not view.window().findChild(HoverCard).isVisible()


def test_walking_brings_cells_of_a_zoomed_picture_into_sight(view):
    wheel(view, view.cell_rectangle(0, 0).center(), turns=6)
    assert view.zoom > 1
    for _ in range(6):
        QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.rect().contains(view.cell_rectangle(0, 5).center().toPoint())
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=view.cell_rectangle(0, 5).center().toPoint())
    assert view.zoom == 1


def test_zooming_keeps_the_cell_under_the_pointer(view):
    place = view.cell_rectangle(3, 4).center()
    for _ in range(30):
        wheel(view, place, turns=1)
    assert view.zoom > 1
    hovered = []
    view.cell_hovered.connect(lambda row, column: hovered.append((row, column)))
    QTest.mouseMove(view, place.toPoint())
    assert hovered == [(3, 4)]
    QTest.keyClick(view, Qt.Key.Key_0)
    assert view.zoom == 1


def test_the_wheel_scrolls_only_what_is_zoomed(view):
    place = view.cell_rectangle(0, 0).center()
    before = view.cell_rectangle(0, 0)
    wheel(view, place, control=False, turns=-1)
    assert view.cell_rectangle(0, 0) == before
    wheel(view, place, turns=3)
    zoomed = view.cell_rectangle(0, 0)
    wheel(view, place, control=False, turns=-1)
    assert view.cell_rectangle(0, 0).top() < zoomed.top()


def test_a_hovered_cell_fades_all_but_its_row_and_column(view):
    view.set_style(values="none")
    view.set_matrix(np.ones((4, 6)), scale="share", rows="abcd", columns=WORDS)
    plain = color_at(view, 3, 5).lightness()
    view.set_hovered((3, 5))
    row, column, other = (color_at(view, *place).lightness() for place in ((3, 1), (1, 5), (1, 1)))
    assert plain <= row == column < other


def test_highlights_have_three_strengths(view):
    view.set_style(values="none")
    view.set_matrix(np.ones((4, 6)), scale="share", rows="abcd", columns=WORDS)
    full = color_at(view, 0, 0)
    view.set_lights(np.arange(4)[:, None] * np.ones(6, dtype=np.int8))
    shades = [color_at(view, row, 2).lightness() for row in (3, 2, 1, 0)]
    assert shades[0] == full.lightness()
    assert shades == sorted(shades)
    assert len(set(shades)) == 4


def test_one_stage_gives_way_to_the_next_gradually(view, qtbot):
    view.set_style(values="none")
    view.set_matrix(np.zeros((4, 6)), scale="share")
    nothing = color_at(view, 0, 0)
    view.set_matrix(np.ones((4, 6)), scale="share", crossfade=True)
    assert (
        color_at(view, 0, 0).lightness() > (nothing.lightness() + current_theme().share_all.lightness()) / 2
    )
    qtbot.waitUntil(lambda: color_at(view, 0, 0) == current_theme().share_all, timeout=10_000)


def test_masked_cells_are_plain(view):
    values = np.where(np.tri(4, 6, dtype=bool), 0.5, -np.inf)
    view.set_matrix(values, scale="share", rows="abcd", columns=WORDS)
    assert color_at(view, 0, 5) == current_theme().background


def test_dragging_asks_for_another_value_only_when_editable(view, qtbot):
    dragged = []
    view.cell_dragged.connect(lambda row, column, value: dragged.append((row, column, value)))
    start = view.cell_rectangle(2, 2).center().toPoint()

    def drag():
        QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(view, start - QPoint(0, 12))
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start - QPoint(0, 12))

    drag()
    assert dragged == []
    view.set_editable(True)
    with qtbot.waitSignal(view.drag_finished):
        drag()
    assert dragged == [(2, 2, pytest.approx(14 / 24 + 0.1))]


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (1, 1), (1, 2000), (2000, 1)])
def test_any_shape_is_drawn_and_pointed_at(shown, shape):
    view = shown(HeatmapView(), 300, 200)
    view.set_matrix(np.zeros(shape))
    view.grab()
    QTest.mouseMove(view, QPoint(150, 100))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(150, 100))
    QTest.keyClick(view, Qt.Key.Key_Right)


def test_another_shape_forgets_marks(view):
    view.set_pinned((3, 5))
    view.set_selection(3, 5)
    view.set_matrix(np.zeros((2, 2)))
    view.grab()
    hovered = []
    view.cell_hovered.connect(lambda row, column: hovered.append((row, column)))
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert hovered == [(0, 0)]


def test_a_matrix_of_another_shape_comes_at_once_and_whole(view):
    view.grab()
    wheel(view, view.cell_rectangle(1, 1).center(), turns=3)
    assert view.zoom > 1
    view.set_matrix(np.zeros((3, 3)), crossfade=True)
    assert view.findChild(Crossfade).before is None
    assert view.zoom == 1


def test_the_wheel_over_what_is_in_sight_as_a_whole_is_left_to_the_page(view):
    middle = view.cell_rectangle(1, 1).center()
    assert not wheel(view, middle, control=False), "the page may scroll"
    wheel(view, middle, turns=3)
    assert wheel(view, middle, control=False)


def test_a_cell_is_told_once_however_the_pointer_moves_in_it(view, point):
    told = []
    middle = view.cell_rectangle(1, 1).center().toPoint()
    QTest.mouseMove(view, middle)
    view.cell_hovered.connect(lambda *cell: told.append(cell))
    QTest.mouseMove(view, middle + QPoint(3, 3))
    assert told == []


def test_only_the_left_button_pins(view):
    clicked = []
    view.cell_clicked.connect(lambda *cell: clicked.append(cell))
    for button in (Qt.MouseButton.RightButton, Qt.MouseButton.LeftButton):
        QTest.mouseClick(view, button, pos=view.cell_rectangle(2, 3).center().toPoint())
    assert clicked == [(2, 3)]


def test_a_drag_ends_with_the_button_and_never_begins_on_what_is_masked(view):
    values = np.ones((4, 6))
    values[0, 1] = -np.inf
    view.set_matrix(values, scale="share")
    view.set_editable(True)
    dragged = []
    view.cell_dragged.connect(lambda row, column, value: dragged.append((row, column)))
    for row, column in ((0, 1), (2, 2)):
        middle = view.cell_rectangle(row, column).center().toPoint()
        QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=middle)
        QTest.mouseMove(view, middle - QPoint(0, 10))
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=middle - QPoint(0, 10))
        QTest.mouseMove(view, middle)
    assert dragged == [(2, 2)]


def test_a_logarithmic_scale_shows_what_a_linear_one_leaves_plain(view):
    def shade(floor):
        view.set_matrix(np.array([[0.9, 0.01], [0.05, 0.04]]), scale="share", floor=floor)
        picture = view.grab().toImage()
        place = view.cell_rectangle(0, 1).center().toPoint() * picture.devicePixelRatio()
        return picture.pixelColor(place).lightness()

    assert shade(1e-4) < shade(0.0) - 40


def test_names_of_rows_have_room_in_larger_type_too(view):
    names = ["(start)", "barrel", "opened", "brown"]
    view.set_matrix(np.zeros((4, 6)), scale="share", rows=names, columns=WORDS)
    view.resize(700, 300)
    view.grab()
    theme_switch().set_projector(True)
    view.grab()
    longest = metrics(SIZE, token=True, bold=True).horizontalAdvance("(start)")
    assert view.cell_rectangle(0, 0).left() >= longest + 8 * current_theme().scale


def ink_of(view, row, column):
    """How wide and how high what is written in a cell is, in pixels."""
    picture, cell = (
        view.grab().toImage(),
        view.cell_rectangle(row, column).toAlignedRect().adjusted(2, 2, -2, -2),
    )
    ratio = picture.devicePixelRatio()
    ground = picture.pixelColor((QPointF(cell.topLeft()) * ratio).toPoint())
    found = [
        (x, y)
        for x in range(cell.left(), cell.right())
        for y in range(cell.top(), cell.bottom())
        if picture.pixelColor((QPointF(x, y) * ratio).toPoint()) != ground
    ]
    across, down = zip(*found, strict=True)
    return max(across) - min(across), max(down) - min(down)


def test_words_in_cells_stand_upright_where_they_would_be_cut(shown):
    view = HeatmapView()
    words = [["castle", "harbour"] * 6] * 3
    view.set_matrix(np.zeros((3, 12)), scale="token", words=words)
    shown(view, 1200, 300)
    whole = metrics(11, token=True).horizontalAdvance("harbour")
    wide, high = ink_of(view, 1, 1)
    assert wide > high
    assert wide == pytest.approx(whole, abs=8)
    view.resize(330, 300)
    wide, high = ink_of(view, 1, 1)
    assert high > wide
    assert high == pytest.approx(whole, abs=8)


def columns_named(view):
    """The columns above which something is written; a name is wider than its own."""
    picture, columns = view.grab().toImage(), range(view.shape[1])
    ratio, top = picture.devicePixelRatio(), view.cell_rectangle(0, 0).top()

    def colors(column):
        x = view.cell_rectangle(0, column).center().x()
        return {
            picture.pixelColor(round((x + dx) * ratio), round(y * ratio)).rgb()
            for dx in range(-4, 5)
            for y in range(max(0, int(top) - 16), int(top) - 2)
        }

    return [column for column in columns if len(colors(column)) > 1]


def test_with_few_columns_cells_are_larger_and_marked_ones_alone_are_named(view):
    words = [f"word {count}" for count in range(12)]
    view.set_matrix(np.eye(12), scale="share", rows=words, columns=words)
    view.set_style(square=True)
    usual = view.cell_rectangle(0, 0).width()
    view.set_style(square=True, few_columns=True)
    assert view.cell_rectangle(0, 0).width() > usual + 1
    assert columns_named(view) == []
    view.set_suggested((3, 2))
    assert np.mean(columns_named(view)) == 2
    view.set_hovered((2, 8))
    assert np.mean(columns_named(view)) == 8


@pytest.mark.parametrize("labels_below", [True, False])
def test_the_first_name_stands_whole_however_low_the_rows_are(shown, labels_below):
    around = QWidget()
    view = HeatmapView(around)
    view.set_style(labels_below=labels_below)
    view.set_matrix(np.ones((25, 4)), rows=[str(row + 1) for row in reversed(range(25))], columns="1234")
    for height in (60, 80, 120, 300):
        view.resize(400, height)
        assert faults_of(shown(around, 400, height)) == []


@pytest.mark.parametrize("height", [72, 95])
@pytest.mark.parametrize("labels_below", [True, False])
def test_each_row_of_a_low_matrix_has_its_name_however_long_those_of_columns_are(shown, labels_below, height):
    around = QWidget()
    view = HeatmapView(around)
    rows, columns = ["head 3 at −1", "fixed weight"], ["(start)", *(f"word-{at}" for at in range(11))]
    view.set_style(labels_below=labels_below)
    view.set_matrix(np.ones((2, 12)), scale="share", limit=1.0, rows=rows, columns=columns)
    view.set_selection(column=11)
    view.resize(620, height)
    shown(around, 620, height)
    texts = []
    with noted_texts(texts):
        view.grab()
    assert {*rows, "(start)", "word-10"} <= {text for text, _, _ in texts}
    assert view.cell_rectangle(1, 0).height() >= 13
    assert faults_of(around) == []


def test_a_low_matrix_without_names_of_rows_keeps_cells_between_names_and_scale(shown):
    view = HeatmapView()
    view.set_matrix(np.ones((12, 6)), scale="share", columns=[f"a long name {at}" for at in range(6)])
    shown(view, 400, 80)
    assert view.cell_rectangle(0, 0).united(view.cell_rectangle(11, 5)).height() > 30


def test_names_of_rows_are_whole_where_cells_stay_comfortable(shown):
    view = HeatmapView()
    view.set_matrix(np.ones((2, 3)), scale="share", rows=["1 attention", "1 feed-forward"])
    texts = []
    with noted_texts(texts):
        shown(view, 256, 100).grab()
    assert {"1 attention", "1 feed-forward"} <= {text for text, _, _ in texts}
    assert view.cell_rectangle(0, 0).width() > 40


def test_stairs_lie_on_the_first_cells_and_say_what_they_mean(view):
    view.set_stairs([2, 0, 3, 3, 1, 4], "known from here on")
    picture = view.grab().toImage()
    ratio, orange = picture.devicePixelRatio(), current_theme().key

    def is_over(row, column):
        place = view.cell_rectangle(row, column)
        return any(
            picture.pixelColor(((QPointF(place.center().x(), place.top() + dy)) * ratio).toPoint()) == orange
            for dy in (-1, 0, 1)
        )

    assert [[row for row in range(4) if is_over(row, column)] for column in range(5)] == [
        [2],
        [0],
        [3],
        [3],
        [1],
    ]
    assert "known from here on: the c, bat a, made d" in view.accessibleDescription()
    view.set_matrix(np.eye(3), scale="share")
    assert "known" not in view.accessibleDescription()
    picture = view.grab().toImage()
    assert not any(picture.pixelColor(x, y) == orange for x in range(400) for y in range(300))


def test_notes_stand_beside_the_rows_under_their_head(view):
    right = view.cell_rectangle(0, 5).right()
    view.set_notes("%", ["12", "3", "0.4", "0.02"])
    picture = view.grab().toImage()
    ratio, edge = picture.devicePixelRatio(), view.cell_rectangle(0, 5).right()
    assert edge < right

    def ink(area):
        columns = range(round((edge + 4) * ratio), picture.width())
        rows = range(round(area.top() * ratio), round(area.bottom() * ratio))
        return len({picture.pixel(x, y) for x in columns for y in rows}) > 1

    cells = [view.cell_rectangle(row, 5) for row in range(4)]
    assert all(map(ink, cells))
    assert ink(cells[0].translated(0, -cells[0].height()))  # the head
    view.set_notes("", ())
    assert view.cell_rectangle(0, 5).right() == right


def test_in_low_rows_those_that_are_named_have_their_words(shown):
    names, view = [str(row) for row in range(30)], HeatmapView()
    view.set_matrix(np.zeros((30, 2)), scale="token", rows=names, words=[["castle", "harbour"]] * 30)
    shown(view, 400, 230)  # a row is half as high as a word
    picture = view.grab().toImage()
    ratio, area = picture.devicePixelRatio(), view.cell_rectangle(0, 0).united(view.cell_rectangle(29, 0))
    lines = [
        any(picture.pixelColor(x, y).lightness() < 150 for x in range(*span))
        for y in range(picture.height())
        for span in [(round(area.left() * ratio), round(area.right() * ratio))]
    ]
    words = sum(is_ink and not before for before, is_ink in itertools.pairwise(lines))
    assert 8 <= words <= 15


def test_in_low_rows_words_stand_where_names_do_also_beside_a_marked_one(shown):
    view = HeatmapView()
    view.set_matrix(np.zeros((4, 2)), scale="token", rows=list("1234"), words=[["castle", "harbour"]] * 4)
    shown(view, 400, 54)
    low, last = view.cell_rectangle(0, 0).height(), 3
    assert 7 < low < 9
    view.set_selection(last)  # where no regular name stands
    picture = view.grab().toImage()
    ratio = picture.devicePixelRatio()

    def dark(row: int) -> int:
        """The dark pixels on the middle line of a row's cells."""
        place = view.cell_rectangle(row, 0).united(view.cell_rectangle(row, 1))
        span = range(round((place.left() + 4) * ratio), round((place.right() - 4) * ratio))
        return sum(picture.pixelColor(x, round(place.center().y() * ratio)).lightness() < 150 for x in span)

    assert dark(last) > 10
    assert dark(last - 1) == 0 == dark(last - 2)


@pytest.fixture
def long(shown):
    view = HeatmapView()
    view.set_style(square=True)
    view.set_matrix(np.tril(np.full((200, 200), 0.005)), scale="share", by_row=True)
    return shown(view, 420, 420)


def test_cells_that_are_dragged_over_are_shown_large_and_a_click_still_pins(long):
    clicked = []
    long.cell_clicked.connect(lambda row, column: clicked.append((row, column)))
    start, end = (long.cell_rectangle(*cell).center().toPoint() for cell in ((100, 20), (139, 59)))
    QTest.mousePress(long, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(long, end)
    QTest.mouseRelease(long, Qt.MouseButton.LeftButton, pos=end)
    assert clicked == []
    assert long.zoom == pytest.approx(5, rel=0.05)
    corner = long.cell_rectangle(100, 20).topLeft()
    assert corner.x() == pytest.approx(long.cell_rectangle(100, 20).left())
    for cell in ((100, 20), (139, 59)):
        assert QRectF(long.rect()).contains(long.cell_rectangle(*cell))
    QTest.mouseClick(long, Qt.MouseButton.LeftButton, pos=long.cell_rectangle(120, 40).center().toPoint())
    assert clicked == [(120, 40)]
    QTest.keyClick(long, Qt.Key.Key_0)
    QTest.mouseClick(long, Qt.MouseButton.LeftButton, pos=start)
    assert clicked[1:] == [(100, 20)]


def test_the_last_rows_and_columns_alone(long):
    long.show_last(50)
    assert long.zoom == pytest.approx(4, rel=0.02)
    assert QRectF(long.rect()).contains(long.cell_rectangle(199, 199))
    assert not QRectF(long.rect()).contains(long.cell_rectangle(140, 140))
    long.show_last(0)
    assert long.zoom == 1


def test_a_share_of_a_hundredth_can_be_seen_by_row(long):
    strongest = color_at(long, 120, 40)
    long.set_matrix(np.tril(np.full((200, 200), 0.005)), scale="share")
    assert color_at(long, 120, 40).lightness() > strongest.lightness() + 40


def test_the_darkest_column_has_its_name_and_no_name_lies_over_another(shown):
    view = HeatmapView()
    view.set_style(square=True, row_role="query", column_role="key")
    names = [f"word-{at}" for at in range(40)]
    values = np.tril(np.full((40, 40), 0.01))
    values[39, 17] = values[30, 16] = 0.9
    values[20, 3] = 0.8
    view.set_matrix(values, scale="share", rows=names, columns=names)
    shown(view, 420, 420)
    above = view.cell_rectangle(0, 0).top()

    def named() -> list[str]:
        """The names of columns, as they are written."""
        texts = []
        with noted_texts(texts):
            view.grab()
        return [text for text, area, _ in texts if area.boundingRect().bottom() < above]

    found = named()
    assert "word-3" in found
    assert len({"word-16", "word-17"} & set(found)) == 1, "they would lie over each other"
    view.set_hovered((39, 18))
    found = named()
    assert "word-18" in found
    assert not {"word-16", "word-17", "word-19"} & set(found)


def test_a_cell_that_is_pinned_again_has_nothing_described_anew(view):
    view.set_pinned((1, 2))
    view.setAccessibleDescription("as it was")
    view.set_pinned((1, 2))
    assert view.accessibleDescription() == "as it was"
    view.set_pinned(None)
    assert "the strongest" in view.accessibleDescription()


def test_stages_too_fast_to_be_seen_fading_come_at_once(view, monkeypatch):
    def painted():
        picture = view.grab().toImage()
        picture.setDevicePixelRatio(1.0)
        return picture

    monkeypatch.setattr(crossfade, "SHORTEST", 10**9)  # milliseconds: each is too fast but the first
    view.set_matrix(np.ones((4, 6)), scale="share", crossfade=True)
    painted()
    view.set_matrix(np.zeros((4, 6)), scale="share", crossfade=True)
    at_once = painted()
    view.set_matrix(np.zeros((4, 6)), scale="share")
    assert at_once == painted()


def test_a_picture_that_has_been_pointed_at_looks_like_a_new_one(shown):
    """What is kept for the next move of the pointer never outlives what it was made for."""
    chance = np.random.default_rng(0)
    names = [f"name{index}" * (1 + index % 3) for index in range(40)]

    def draw(view, number):
        view.set_matrix(chance.random((40, 40 - number)), scale="share", rows=names, columns=names[number:])
        view.set_hovered((7, 9))

    view = shown(HeatmapView(), 300, 300)
    for number, size in enumerate(((300, 300), (180, 260), (180, 260), (420, 330))):
        draw(view, number)
        view.grab()
        view.resize(*size)
        theme_switch().set_choice("dark" if number % 2 else "light")
        theme_switch().set_type_size(125 if number == 2 else 100)
        for cell in ((3, 4), (30, 21)):
            view.set_hovered(cell)
            other = HeatmapView()
            shown(other, *size)
            other.set_matrix(view._cells.values, scale="share", rows=names, columns=names[number:])
            other.set_hovered(cell)
            assert view.grab().toImage() == other.grab().toImage(), (number, cell)

"""The graph fits the width of its panel: equations and wide gradients give way before type grows small."""

import math
from itertools import combinations, pairwise, product

import pytest
from covering import in_turn, others_slow, parametrize_few
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QScrollArea

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.diagrams import network_picture
from lmviz.app.widgets.diagrams.editable_numbers import LEGIBLE
from lmviz.app.widgets.diagrams.network_boxes import CELL_SIZE, place_boxes
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.diagrams.unit_picture import CELL_SIZE as UNIT_CELL_SIZE
from lmviz.app.widgets.diagrams.unit_picture import UnitPicture
from lmviz.app.widgets.text import typesetting
from lmviz.app.widgets.text.agreeing_digits import AgreeingDigits
from lmviz.autodiff.node import COMPUTED

READABLE = ("lecture", "diamond", "dot_attention", "bilinear_attention", "layer_norm")
LARGE = ("lstm", "poll")
SMALLEST_TYPE = 12  # pixels of a figure
STATES = {"summation": "h", "comparison": "h", "recurrence_tanh": "h", "both_ways": "left"}
UNITS = tuple(product(("unrolled", "folded"), ("summation", "comparison", "recurrence_tanh", "both_ways")))
LOOKS = ("light", "projector")
ROOMS = (*LOOKS, "light beside a lesson", "projector beside a lesson")


@pytest.fixture
def typeset(qtbot):
    typesetting.load_in_background()
    qtbot.waitUntil(typesetting.ready)


@pytest.fixture
def fitted(request, scene, typeset):
    """The perspective as a window of 1280 × 720 has it, and as that is projected, with fewer panels."""
    look, _, beside = request.param.partition(" ")
    if look == "projector":
        theme_switch().set_projector(True)
        scene.view.show_only("graph", "tape")
    scene.view.set_in_lesson(bool(beside))
    scene.view.resize(840 if beside else 1166, 620)
    yield scene
    theme_switch().set_projector(False)


@pytest.fixture
def fitted_beside(scene, typeset):
    """The perspective beside a lesson, in a window of 1440 × 900."""
    scene.view.set_in_lesson(True)
    scene.view.resize(1000, 780)
    return scene


def area_of(picture) -> QScrollArea:
    area = picture.parentWidget().parentWidget()
    assert isinstance(area, QScrollArea)
    return area


def sideways(picture) -> int:
    """How far its scroll area can be scrolled sideways."""
    return area_of(picture).horizontalScrollBar().maximum()


def is_laid_out(picture) -> bool:
    """Whether it has got the height that it asks for."""
    return picture.height() >= picture.minimumSizeHint().height()


def needed(picture) -> int:
    """How high all of it is, as large as it is drawn."""
    return math.ceil(picture.natural_size().height() * picture.zoom)


def wheel(picture, place: QPoint, notches: int) -> None:
    """Turn the wheel with Ctrl held down."""
    QApplication.sendEvent(
        picture,
        QWheelEvent(
            QPointF(place),
            QPointF(picture.mapToGlobal(place)),
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.ControlModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


@pytest.mark.parametrize(
    ("name", "fitted"), in_turn(READABLE, LOOKS, among=("bilinear_attention",)), indirect=["fitted"]
)
def test_small_networks_show_figures_of_12_pixels_and_scroll_sideways_only_a_little(fitted, qtbot, name):
    fitted.session.network.open_shipped(name)
    fitted.settle()
    picture = fitted.picture

    def shows_all() -> bool:
        boxes = [picture.box_rectangle(node.name).toRect() for node in fitted.session.network.current]
        return is_laid_out(picture) and all(map(picture.rect().contains, boxes))

    qtbot.waitUntil(shows_all)
    assert sideways(picture) < area_of(picture).width() / 2
    assert picture.zoom * CELL_SIZE >= SMALLEST_TYPE - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", others_slow(STATES, "comparison", "both_ways"))
@pytest.mark.parametrize("fitted", ["light beside a lesson"], indirect=True)
def test_recurrences_scroll_rather_than_be_an_overview(fitted, qtbot, name):
    fitted.session.network.open_shipped(name)
    fitted.settle()
    picture = fitted.picture
    qtbot.waitUntil(
        lambda: picture.zoom >= LEGIBLE and picture.width() >= picture.natural_size().width() * LEGIBLE
    )
    assert sideways(picture) < area_of(picture).width()
    assert area_of(picture).verticalScrollBar().maximum() > 0


@pytest.mark.slow
def test_gradients_lie_below_their_matrices_where_it_is_narrow(scene, qtbot, typeset):
    scene.session.network.run_backward()
    scene.view.resize(1600, 780)
    scene.settle()
    qtbot.waitUntil(lambda: scene.place("β", (0, 0), True).x() > scene.place("β", (0, 1), False).x())
    assert scene.place("β", (0, 0), True).y() == scene.place("β", (0, 0), False).y()
    scene.view.resize(960, 780)
    qtbot.waitUntil(lambda: scene.place("β", (0, 0), True).x() == scene.place("β", (0, 0), False).x())
    assert scene.place("β", (0, 0), True).y() > scene.place("β", (2, 0), False).y()

    def read_it():
        assert scene.read("β", (1, 0), gradient=True) == pytest.approx(-0.138756, abs=5e-7)

    qtbot.waitUntil(read_it)  # the panels around it are still finding their places


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fitted"), in_turn(STATES, LOOKS, among=("both_ways",)), indirect=["fitted"]
)
def test_steps_that_have_no_room_side_by_side_go_downwards_and_show_figures(fitted, qtbot, name):
    network, picture = fitted.session.network, fitted.picture
    network.open_shipped(name)
    network.run_backward()
    fitted.settle()
    qtbot.waitUntil(lambda: area_of(picture).verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: picture.width() >= picture.natural_size().width() * LEGIBLE)
    assert picture.is_readable
    assert picture.zoom >= LEGIBLE
    assert sideways(picture) < area_of(picture).width() / 2, "little beside figures of 12 pixels"
    frames = {node.name: picture.box_rectangle(node.name) for node in network.current}
    for one, other in combinations(frames, 2):
        assert not frames[one].intersects(frames[other]), (one, other)
        assert picture.rect().contains(frames[one].toRect()), one
    state = STATES[name]
    assert [frames[f"{state}[{t}]"].y() < frames[f"{state}[{t + 1}]"].y() for t in (1, 2)] == [True, True]
    first = min(frames[node.name].y() for node in network.current if node.kind == COMPUTED)
    assert frames["W"].bottom() < first
    assert fitted.read("W", index := (0,) * len(network.current["W"].shape)) == pytest.approx(
        float(network.current["W"].value[index])
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", others_slow(["summation", "recurrence_tanh", "both_ways"], "both_ways"))
def test_beside_a_lesson_the_recurrences_can_be_read(fitted_beside, qtbot, name):
    fitted_beside.session.network.open_shipped(name)
    fitted_beside.settle()
    qtbot.waitUntil(lambda: sideways(fitted_beside.picture) == 0)
    assert fitted_beside.picture.is_readable


@pytest.mark.parametrize("name", others_slow(["lecture", "diamond", "summation"], "lecture", "summation"))
def test_in_the_smallest_window_the_text_gives_its_room_to_the_graph_and_figures_are_read(scene, qtbot, name):
    scene.view.resize(880, 520)
    scene.session.network.open_shipped(name)
    scene.settle()
    picture = scene.picture
    qtbot.waitUntil(lambda: picture.natural_size().width() * LEGIBLE <= area_of(picture).viewport().width())
    qtbot.waitUntil(lambda: is_laid_out(picture) and sideways(picture) == 0)
    assert picture.is_readable
    assert picture.zoom * CELL_SIZE >= SMALLEST_TYPE - 0.01


@pytest.mark.slow
def test_where_there_is_room_steps_stand_side_by_side(scene, qtbot):
    scene.view.resize(2400, 780)
    scene.session.network.open_shipped("summation")
    scene.settle()
    qtbot.waitUntil(lambda: scene.place("h[1]", (), False).y() == scene.place("h[2]", (), False).y())
    assert scene.place("h[1]", (), False).x() < scene.place("h[2]", (), False).x()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fitted"), in_turn(LARGE, ROOMS, among=("poll",)), indirect=["fitted"])
def test_large_networks_show_figures_and_are_wholly_in_sight_where_that_is_wanted(fitted, qtbot, name):
    network, picture = fitted.session.network, fitted.picture
    network.open_shipped(name)
    network.run_backward()
    fitted.settle()
    area = area_of(picture)
    down = area.verticalScrollBar()
    qtbot.waitUntil(lambda: picture.is_readable and is_laid_out(picture))
    picture.fit()

    def stands() -> bool:
        boxes = [picture.box_rectangle(node.name).toRect() for node in network.current]
        inside = sideways(picture) == 0 and all(map(picture.rect().contains, boxes))
        nothing_below = picture.height() <= max(area.viewport().height(), needed(picture))
        return inside and nothing_below and (picture.is_readable or down.maximum() == 0)

    qtbot.waitUntil(stands)
    last = list(network.current)[-1]
    index = (0,) * len(last.shape)
    assert fitted.read(last.name, index) == pytest.approx(float(last.value[index]), abs=5e-7)


@pytest.mark.slow
def test_beside_a_lesson_a_part_of_an_lstm_is_read_and_the_next_module_is_in_it(fitted_beside, qtbot):
    network, picture = fitted_beside.session.network, fitted_beside.picture
    network.open_shipped("lstm")
    network.rewind()
    fitted_beside.settle()

    def sees(name: str) -> bool:
        return picture.visibleRegion().contains(picture.box_rectangle(name).toRect().center())

    first = network.current.tape.modules[0].name
    qtbot.waitUntil(lambda: sideways(picture) > 0 and is_laid_out(picture) and sees(first))
    assert picture.zoom * CELL_SIZE >= SMALLEST_TYPE - 0.01
    network.run_forward()
    qtbot.waitUntil(lambda: sees(network.current.tape.modules[-1].name))
    fitted_beside.click("network_picture_fit")
    qtbot.waitUntil(lambda: sideways(picture) == 0)
    network.open_shipped("poll")
    network.open_shipped("lstm")
    qtbot.waitUntil(lambda: sideways(picture) > 0)


@pytest.mark.slow
@pytest.mark.parametrize(("drawn", "fitted"), in_turn(UNITS, LOOKS, among=UNITS[5:6]), indirect=["fitted"])
def test_figures_of_units_have_12_pixels_and_all_units_are_in_sight_where_that_is_wanted(
    fitted, qtbot, drawn
):
    drawing, name = drawn
    fitted.session.network.open_shipped(name)
    fitted.settle()
    picker = fitted.find(QComboBox, "network_drawing_picker")
    picker.setCurrentText(drawing)
    picker.activated.emit(picker.currentIndex())
    fitted.settle()
    units = fitted.find(UnitPicture)
    qtbot.waitUntil(lambda: is_laid_out(units))
    assert units.zoom * UNIT_CELL_SIZE >= SMALLEST_TYPE - 0.01
    units.fit()
    qtbot.waitUntil(lambda: sideways(units) == 0)
    assert units.is_readable == (units.zoom * UNIT_CELL_SIZE >= SMALLEST_TYPE - 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("fitted", others_slow(LOOKS, "projector"), indirect=True)
def test_the_first_turn_of_the_wheel_brings_figures_and_keeps_the_place(fitted, qtbot):
    fitted.session.network.open_shipped("lstm")
    fitted.settle()
    picture = fitted.picture
    picture.fit()
    qtbot.waitUntil(lambda: sideways(picture) == 0 and is_laid_out(picture))
    under = fitted.place("c′", (0,) * len(fitted.session.network.current["c′"].shape), False)
    before = picture.mapTo(area_of(picture), under)
    wheel(picture, under, 1)
    assert picture.is_readable
    cell = ValueCell("c′", (0,) * len(fitted.session.network.current["c′"].shape), False)
    after = picture.mapTo(area_of(picture), picture.cell_rectangle(cell).center().toPoint())
    assert (after - before).manhattanLength() < 60  # six decimals make boxes a little wider
    assert sideways(picture) > 0
    wheel(picture, picture.visibleRegion().boundingRect().center(), -20)
    qtbot.waitUntil(lambda: sideways(picture) == 0)
    assert picture.is_fitted


def test_buttons_and_keys_draw_larger_and_fit_again(scene, qtbot):
    picture, seen = scene.picture, []
    scene.click("network_picture_larger")
    seen.append(picture.zoom)
    picture.setFocus()
    for key in ("+", "-", "-"):
        QTest.keyClicks(picture, key)
        seen.append(picture.zoom)
    assert [after > before for before, after in pairwise(seen)] == [True, False, False]
    scene.click("network_picture_larger")
    assert not picture.is_fitted
    QTest.keyClicks(picture, "0")
    assert picture.is_fitted
    scene.click("network_picture_larger")
    scene.click("network_picture_fit")
    assert picture.is_fitted


@pytest.mark.slow
def test_the_background_of_what_is_drawn_larger_is_dragged(scene, qtbot):
    scene.session.network.open_shipped("lstm")
    scene.settle()
    scene.click("network_picture_larger")
    picture, bar = scene.picture, area_of(scene.picture).horizontalScrollBar()
    start = QPoint(bar.value() + 40, 8)
    assert picture.touched(QPointF(start)) is None
    before = bar.value()
    QTest.mousePress(picture, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(picture, start - QPoint(50, 0))
    assert bar.value() == before + 50
    QTest.mouseRelease(picture, Qt.MouseButton.LeftButton, pos=start - QPoint(50, 0))


@pytest.mark.slow
@parametrize_few("how", ["a wide window", "drawn larger"])
def test_cells_show_six_decimals_where_there_is_room(scene, qtbot, typeset, how):
    scene.session.network.run_backward()
    scene.settle()
    cell = ValueCell("J", (), False)
    assert scene.picture.figure(cell) == "0.3251"
    if how == "drawn larger":
        scene.click("network_picture_larger")
    else:
        scene.view.resize(2400, 1300)
    qtbot.waitUntil(lambda: scene.picture.figure(cell) == "0.325054")
    assert scene.picture.figure(ValueCell("β", (1, 0), True)) == "−0.138756"
    room = scene.picture.cell_rectangle(ValueCell("β", (1, 0), True)).width() / scene.picture.zoom
    assert metrics(CELL_SIZE, token=True).horizontalAdvance("−0.138756") <= room - 4


@pytest.mark.slow
@pytest.mark.parametrize("swept", others_slow([False, True], True), ids=["before", "after the sweep"])
@pytest.mark.parametrize("width", [1166, 840], ids=["1280 × 720", "beside a lesson"])
def test_no_title_button_or_verdict_is_cut(scene, typeset, width, swept, qtbot):
    scene.view.resize(width, 620)
    scene.session.network.open_shipped("both_ways")
    if swept:
        scene.session.network.run_backward()
    else:
        scene.session.network.rewind()
    scene.settle()
    assert scene.panel("graph_view").card.title == ("Backward 22 of 22" if swept else "Forward 0 of 22")
    titles = [label for label in scene.view.findChildren(QLabel) if label.property("role") == "title"]
    digits = scene.view.findChildren(AgreeingDigits)
    shown = [part for part in (*titles, *scene.view.findChildren(QPushButton), *digits) if part.isVisible()]
    assert len(shown) > 12

    def check():
        for part in shown:
            needed = part.sizeHint() if isinstance(part, QLabel) else part.minimumSizeHint()
            assert part.width() >= needed.width(), part.accessibleName() or part.text()

    qtbot.waitUntil(check, timeout=6000)


@pytest.mark.slow
def test_another_network_is_fitted_however_the_one_before_was_drawn(scene):
    scene.session.network.open_shipped("recurrence_tanh")
    scene.settle()
    scene.picture.magnify(4)
    scene.session.network.write(scene.session.network.text.replace("U = 0.9", "U = 0.8"))
    scene.settle()
    assert not scene.picture.is_fitted, "the same network with another number stays as it is looked at"
    scene.session.network.open_shipped("lstm")
    scene.settle()
    assert scene.picture.is_fitted


@pytest.mark.slow
def test_equations_stand_beside_the_graph_in_a_lecture_hall_too(scene, qtbot, typeset):
    scene.view.show_only("graph", "tape")
    scene.view.resize(1180, 620)  # what a window of 1280 × 720 leaves
    scene.session.network.open_shipped("lecture")
    scene.settle()
    qtbot.waitUntil(lambda: scene.picture._boxes.equations > 0)
    assert scene.picture.zoom >= LEGIBLE


@pytest.mark.slow
def test_equations_stand_beside_the_graph_beside_a_lesson_too(scene, qtbot, typeset):
    """The text of the network gives its room to the graph, and is a tab away."""
    scene.session.network.open_shipped("lecture")
    scene.view.resize(1160, 780)  # what a window of 1600 × 900 leaves
    scene.settle()
    narrow = scene.panel("graph_view").width()
    scene.view.set_in_lesson(True)
    scene.settle()
    qtbot.waitUntil(lambda: scene.picture._boxes.equations > 0)
    assert scene.picture.zoom >= LEGIBLE
    assert scene.panel("network_why_view").is_in_sight
    scene.view.bring_forward("autodiff_editor")
    seen = [panel.objectName() for panel in scene.view.panels if panel.is_in_sight]
    assert {"autodiff_editor_view", "graph_view", "tape_view"} <= set(seen)
    scene.view.set_in_lesson(False)
    qtbot.waitUntil(lambda: scene.panel("graph_view").width() == narrow)
    assert scene.panel("autodiff_editor_view").is_in_sight
    assert scene.panel("network_why_view").is_in_sight


@pytest.mark.slow
def test_beside_a_lesson_a_wide_window_keeps_the_text_of_the_network_in_its_place(scene, qtbot):
    scene.view.set_in_lesson(True)
    scene.view.resize(1400, 780)
    qtbot.waitUntil(lambda: scene.panel("network_why_view").is_in_sight)
    assert scene.panel("autodiff_editor_view").is_in_sight
    scene.view.resize(1000, 780)
    qtbot.waitUntil(lambda: not scene.panel("autodiff_editor_view").is_in_sight)
    scene.view.resize(1400, 780)
    qtbot.waitUntil(lambda: scene.panel("autodiff_editor_view").is_in_sight)


@pytest.mark.slow
def test_another_width_lays_out_only_what_is_drawn_then(scene, monkeypatch):
    """How large each arrangement is was found for the first width."""
    scene.session.network.open_shipped("summation")
    scene.settle()
    asked = []

    def counted(values, arrangement):
        asked.append(arrangement)
        return place_boxes(values, arrangement)

    monkeypatch.setattr(network_picture, "place_boxes", counted)
    drawn = [scene.picture.natural_size()]
    for width in (900, 1166, 900):
        scene.view.resize(width, 620)
        scene.settle()
        drawn.append(scene.picture.natural_size())
    assert len(asked) < len(drawn), "more than the arrangement that is chosen"

"""The Attention perspective: what is drawn is the trace; hover, pin, solo, badges; surgery and its undo."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.widgets.controls.change_list import ChangeList
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.attention import combine_heads
from lmviz.inspection.head_badges import head_badges
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import add, scale_head, zero
from lmviz.inspection.tracing import trace
from lmviz.places import shipped
from lmviz.training.run import Run

LONG = 30_000
TEXT = "the cows eat grass the cows"


@pytest.fixture(scope="module")
def blind_run(make_run: Callable[..., Path]) -> Path:
    """A Transformer without any position embedding, two layers of two heads."""
    return make_run("transformer", 3, width=8, heads=2, layers=2, context=16, positions="none")


@pytest.fixture(scope="module")
def run(make_run: Callable[..., Path]) -> Path:
    """A Transformer with learned positions, two layers of two heads."""
    return make_run("transformer", 3, width=8, heads=2, layers=2, context=16)


def is_drawn(panels: dict[str, object]) -> bool:
    return panels["attention_view"].shown.size > 0 and len(panels["heads_view"].badges) > 0


def show(window: MainWindow, session: Session, folder: Path, qtbot: QtBot) -> dict[str, object]:
    session.library.open(folder)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix(TEXT)
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == TEXT,
        timeout=LONG,
    )
    window.show_perspective("attention")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: is_drawn(panels), timeout=LONG)
    return panels


@pytest.fixture
def panels(window: MainWindow, session: Session, run: Path, qtbot: QtBot) -> dict[str, object]:
    """The panels of the Attention perspective on a small Transformer."""
    return show(window, session, run, qtbot)


def reread(session: Session, qtbot: QtBot, act: Callable[[], None]) -> None:
    with qtbot.waitSignal(session.reading.changed, timeout=LONG):
        act()


def test_every_step_of_every_head_is_drawn_as_the_trace_has_it(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    picker, panel = window.findChild(QComboBox, "attention_step_picker"), panels["attention_view"]
    for step in range(picker.count()):
        picker.setCurrentIndex(step)
        for layer in range(2):
            for head in range(2):
                session.attention.choose_head(layer, head)
                panel.refresh()
                address = f"layers/{layer}/attention/{picker.itemData(step)}"
                expected = session.reading.current.trace[address].array[head]
                np.testing.assert_array_equal(panel.shown, expected)


def test_several_heads_are_combined(panels: dict[str, object], session: Session, qtbot: QtBot) -> None:
    panel = panels["attention_view"]
    panels["heads_view"].mosaic.head_toggled.emit(1, 1)
    assert session.attention.heads == ((0, 0), (1, 1))
    panel.refresh()
    np.testing.assert_allclose(
        panel.shown, combine_heads(session.reading.current.trace, [(0, 0), (1, 1)], "mean")
    )
    panels["heads_view"].mosaic.head_double_clicked.emit(0, 1)
    assert (session.attention.head, session.attention.heads) == ((0, 1), ())


def test_hovering_a_cell_shows_its_position_everywhere_and_explains_it(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    matrix = panels["attention_view"].matrix
    place = matrix.cell_rectangle(4, 2).center()
    qtbot.mouseMove(matrix, QPoint(2, 2))
    qtbot.mouseMove(matrix, place.toPoint() if hasattr(place, "toPoint") else place)
    qtbot.waitUntil(lambda: session.focus.hovered_position == 4, timeout=LONG)
    assert session.focus.hovered_cell == ("layers/0/attention/weights", (0, 4, 2))
    why = panels["why_view"]
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.index == (0, 4, 2), timeout=LONG)
    weight = session.reading.current.trace["layers/0/attention/weights"].array[0, 4, 2]
    assert why.shown.value == pytest.approx(float(weight), rel=1e-5)
    assert why.shown.evaluate() == pytest.approx(float(weight), rel=1e-4)


def test_the_hovered_row_prints_nothing_in_masked_cells(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    matrix = panels["attention_view"].matrix
    for value_step in range(2):  # weights are 0 there, not −∞
        matrix.set_hovered((1 + value_step, 0))
        picture = matrix.grab().toImage()
        area = matrix.cell_rectangle(1 + value_step, 4).adjusted(4, 4, -4, -4).toRect()
        colors = {
            picture.pixel(x, y)
            for x in range(area.left(), area.right())
            for y in range(area.top(), area.bottom())
        }
        assert len(colors) == 1
    title, *_ = card_of(matrix, (1, 4), qtbot)
    assert title == "masked"


def card_of(matrix: QWidget, cell: tuple[int, int], qtbot: QtBot) -> tuple[str, ...]:
    """What the hover card says of a cell that the pointer is brought to."""
    qtbot.mouseMove(matrix, QPoint(2, 2))
    qtbot.mouseMove(matrix, matrix.cell_rectangle(*cell).center().toPoint())
    qtbot.waitUntil(lambda: shown_card(matrix) is not None, timeout=LONG)
    card = shown_card(matrix)
    return card.title, *card.lines


def shown_card(widget: QWidget) -> HoverCard | None:
    return next((card for card in widget.window().findChildren(HoverCard) if card.isVisible()), None)


def test_the_hover_card_says_the_number_that_a_dragged_cell_has_now(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    panel = panels["attention_view"]
    matrix = panel.matrix
    before = card_of(matrix, (4, 2), qtbot)[0]
    qtbot.mouseClick(window.findChild(QPushButton, "paint_button"), Qt.MouseButton.LeftButton)
    place = matrix.cell_rectangle(4, 2).center().toPoint()
    qtbot.mousePress(matrix, Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseMove(matrix, place + QPoint(0, -60))
    qtbot.waitUntil(lambda: panel.shown[4, 2] > 0.4, timeout=LONG)
    qtbot.waitUntil(lambda: shown_card(matrix).title == number(float(panel.shown[4, 2])), timeout=LONG)
    assert shown_card(matrix).title != before
    qtbot.mouseRelease(matrix, Qt.MouseButton.LeftButton, pos=place + QPoint(0, -60))


@pytest.mark.parametrize("size", [(1000, 640), (1280, 720), (1920, 1080)])
def test_surgery_keeps_its_buttons_in_the_panel_and_counts_from_one(
    panels: dict[str, object], window: MainWindow, session: Session, size: tuple[int, int], qtbot: QtBot
) -> None:
    window.resize(*size)
    surgery = panels["surgery_view"]
    session.focus.choose_cell(("layers/1/attention/weights", (0, 4, 2)))
    pinned = window.findChild(QLabel, "pinned_cell")
    qtbot.waitUntil(pinned.isVisible)
    assert pinned.text() == "Pinned: layer 2, attention weights, head 1, query 5 “grass”, key 3 “cows”"
    area = surgery.findChild(QuietScrollArea)
    qtbot.waitUntil(lambda: area.widget().width() <= area.viewport().width())
    for button in area.findChildren(QPushButton):
        assert "[" not in button.text()
        assert button.mapTo(area.viewport(), button.rect().topRight()).x() < area.viewport().width()


def test_a_weight_leads_to_its_query_and_key_channel_by_channel(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    panel, why, trace = panels["attention_view"], panels["why_view"], session.reading.current.trace
    strips, place = panel.strips, "layers/0/attention"
    products = window.findChild(QComboBox, "attention_step_picker").findData("products")
    window.findChild(QComboBox, "attention_step_picker").setCurrentIndex(products)
    session.focus.choose_cell((f"{place}/products", (0, 4, 2)))
    qtbot.waitUntil(lambda: len(strips.lights) == 4, timeout=LONG)
    drawn = [(view.address, view.fixed["position"]) for view in strips.views]
    taps = ("query", "key", "value", "mixed")
    assert drawn == [(f"{place}/{tap}", at) for tap, at in zip(taps, (4, 2, 2, 4), strict=True)]
    for view, strip in zip(strips.views, strips.strips, strict=True):
        np.testing.assert_array_equal(strip.values, trace[view.address].array[0, view.fixed["position"]])
    products = trace[f"{place}/query"].array[0, 4] * trace[f"{place}/key"].array[0, 2]
    strongest = int(np.abs(products).argmax())
    assert [int(lit[0, strongest]) for lit in strips.lights] == [3, 3, 0, 0]

    qtbot.mouseMove(strips, QPoint(1, 1))
    qtbot.mouseMove(strips, strips.cell_rectangle(1, strongest).center().toPoint())
    cell = (f"{place}/key", (0, 2, strongest))
    qtbot.waitUntil(lambda: session.focus.hovered_cell == cell, timeout=LONG)
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.address == cell[0], timeout=LONG)
    assert why.shown.value == pytest.approx(float(trace[cell[0]].array[cell[1]]), rel=1e-5)
    assert strips.views[1].fixed["position"] == 2
    here = strips.cell_rectangle(1, strongest).center().toPoint()
    qtbot.mouseClick(strips, Qt.MouseButton.LeftButton, pos=here)
    assert session.focus.cell == cell
    qtbot.mouseMove(strips, QPoint(1, 1))
    assert [view.fixed["position"] for view in strips.views] == [4, 2, 2, 4]


def test_an_operand_leads_back_to_its_head_and_its_position(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    session.focus.choose_cell(("layers/1/attention/output", (5, 3)))
    panels["why_view"].follow_operand("layers/1/attention/mixed", (1, 5, 2))
    assert (session.attention.head, session.focus.position) == ((1, 1), 5)
    panels["why_view"].follow_operand("layers/1/attention/value", (1, 2, 2))
    assert (session.attention.head, session.focus.position) == ((1, 1), 2)
    assert session.focus.cell == ("layers/1/attention/value", (1, 2, 2))


def test_a_word_under_the_pointer_is_isolated_in_the_matrix(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    matrix = panels["attention_view"].matrix
    session.focus.hover_position(3)
    assert (matrix.lights[3] == 3).all()
    assert not np.delete(matrix.lights, 3, axis=0).any()
    session.attention.show_looked_at(True)
    assert (matrix.lights[:, 3] == 3).all()
    assert not np.delete(matrix.lights, 3, axis=1).any()
    session.focus.hover_position(None)
    assert matrix.lights is None


def test_the_two_words_of_a_pinned_weight_change_places(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    tokens = list(session.reading.current.trace.tokens)
    session.focus.choose_cell(("layers/1/attention/weights", (0, 5, 1)))
    panels["surgery_view"].refresh()
    swap = window.findChild(QPushButton, "swap_words_button")
    reread(session, qtbot, lambda: qtbot.mouseClick(swap, Qt.MouseButton.LeftButton))
    tokens[1], tokens[5] = tokens[5], tokens[1]
    assert list(session.reading.current.trace.tokens) == tokens


def test_a_double_click_solos_a_head_and_another_brings_the_rest_back(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    mosaic, control = panels["heads_view"].mosaic, Qt.KeyboardModifier.ControlModifier

    def press(head: tuple[int, int], *, twice: bool = False, gather: bool = False) -> None:
        """What Qt sends for a click, and for a double click: the first click comes before it."""
        place = mosaic.tile_rectangle(*head).center().toPoint()
        modifier = control if gather else Qt.KeyboardModifier.NoModifier
        qtbot.mouseClick(mosaic, Qt.MouseButton.LeftButton, modifier, place)
        if twice:
            qtbot.mouseDClick(mosaic, Qt.MouseButton.LeftButton, pos=place)

    press((1, 1), twice=True)
    assert (session.attention.head, session.attention.heads) == ((1, 1), ())
    press((1, 1), twice=True)
    assert session.attention.heads == ((1, 0), (1, 1))
    press((0, 0))
    press((1, 1), gather=True)
    assert session.attention.heads == ((0, 0), (1, 1))
    press((0, 1), twice=True)
    assert (session.attention.head, session.attention.heads) == ((0, 1), ())
    press((0, 1), twice=True)
    assert session.attention.heads == ((0, 0), (1, 1))


@pytest.mark.parametrize(
    ("intervention", "crossed_out"),
    [
        (scale_head(1, 0, 0.0), {(1, 0)}),
        (zero("layers/0/attention/mixed", head=(0, 1)), {(0, 0), (0, 1)}),
        (zero("layers/0/attention/mixed", head=slice(1, None)), {(0, 1)}),
        (zero("layers/0/attention/mixed", head=-1), {(0, 1)}),
        (zero("layers/*/attention/mixed", head=1), {(0, 1), (1, 1)}),
        (add("layers/0/attention/mixed", 0.0, head=1), set()),
    ],
    ids=["one", "several", "a slice", "from the end", "every layer", "unchanged"],
)
def test_each_head_that_an_intervention_zeroes_is_crossed_out(
    panels: dict[str, object],
    session: Session,
    intervention: Intervention,
    crossed_out: set[tuple[int, int]],
    qtbot: QtBot,
) -> None:
    mosaic = panels["heads_view"].mosaic
    session.surgery.add(intervention)
    assert mosaic.faded == crossed_out
    qtbot.waitUntil(lambda: session.reading.current.trace.interventions == (intervention,), timeout=LONG)
    assert mosaic.faded == crossed_out


def test_a_head_under_the_pointer_says_where_it_looks(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    mosaic = panels["heads_view"].mosaic
    qtbot.mouseMove(mosaic, QPoint(1, 1))
    qtbot.mouseMove(mosaic, mosaic.tile_rectangle(1, 0).center().toPoint())
    card = mosaic.window().findChild(HoverCard)
    assert card.title == "layer 2, head 1"
    scores = head_badges(session.reading.current.trace)[1][0].scores
    known = {kind: score for kind, score in scores.items() if score is not None}
    assert card.lines == tuple(f"{kind}: {percentage(score)}" for kind, score in known.items())
    assert known


def test_python_gives_the_numbers_that_are_drawn(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    reread(session, qtbot, lambda: session.surgery.add(scale_head(0, 1, 0.5)))
    session.attention.choose_head(1, 1)
    for name in ("heads_view", "attention_view", "attention_text_view"):
        panels[name].refresh()
        found: dict[str, object] = {}
        exec(panels[name].recipe(), found)
        drawn = panels[name].exported_arrays()
        values = found["values"] if "values" in found else found["weights"]
        values = values if isinstance(values, dict) else dict.fromkeys(drawn, values)
        assert values.keys() == drawn.keys()
        for key, array in drawn.items():
            np.testing.assert_allclose(values[key], array, atol=1e-6)


def test_badges_are_those_of_the_text_and_follow_it(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    heads = panels["heads_view"]
    assert heads.badges == head_badges(session.reading.current.trace)
    reread(session, qtbot, lambda: session.reading.set_prefix(TEXT + " eat"))
    qtbot.waitUntil(lambda: heads.badges == head_badges(session.reading.current.trace), timeout=LONG)


def test_surgery_is_the_cores_and_every_step_can_be_undone(
    panels: dict[str, object], window: MainWindow, session: Session, run: Path, qtbot: QtBot
) -> None:
    model = open_run_model(Run.open(run)).eval()
    before = session.reading.current.trace["logits"].array
    session.attention.choose_head(1, 0)
    surgery = panels["surgery_view"].findChild(ChangeList)
    panels["surgery_view"].refresh()
    zero = window.findChild(QPushButton, "zero_head_button")
    reread(session, qtbot, lambda: qtbot.mouseClick(zero, Qt.MouseButton.LeftButton))
    expected = trace(model, TEXT, interventions=[scale_head(1, 0, 0.0)])["logits"].array
    np.testing.assert_allclose(session.reading.current.trace["logits"].array, expected, atol=1e-5)
    np.testing.assert_allclose(session.reading.current.baseline["logits"].array, before, atol=1e-6)
    assert not np.allclose(expected, before)

    qtbot.waitUntil(lambda: surgery.titles == ("head 2·1 off",), timeout=LONG)
    reread(session, qtbot, surgery.findChild(Switch).click)
    np.testing.assert_allclose(session.reading.current.trace["logits"].array, before, atol=1e-6)

    session.focus.choose_cell(("layers/0/feedforward/activation", (2, 3)))
    panels["surgery_view"].refresh()
    unit = window.findChild(QPushButton, "zero_unit_button")
    reread(session, qtbot, lambda: qtbot.mouseClick(unit, Qt.MouseButton.LeftButton))
    activation = session.reading.current.trace["layers/0/feedforward/activation"].array
    assert (activation[:, 3] == 0).all()
    for _ in range(3):
        reread(session, qtbot, session.surgery.undo)
    assert session.surgery.interventions == ()
    np.testing.assert_allclose(session.reading.current.trace["logits"].array, before, atol=1e-6)


def test_a_painted_row_still_sums_to_one(panels: dict[str, object], session: Session, qtbot: QtBot) -> None:
    matrix = panels["attention_view"].matrix
    reread(session, qtbot, lambda: matrix.cell_dragged.emit(4, 1, 0.8))
    row = session.reading.current.trace["layers/0/attention/weights"].array[0, 4]
    assert row[1] == pytest.approx(0.8)
    assert row.sum() == pytest.approx(1.0)
    reread(session, qtbot, lambda: matrix.cell_dragged.emit(4, 1, 0.3))
    matrix.drag_finished.emit()
    reread(session, qtbot, session.surgery.undo)
    assert session.surgery.interventions == ()


def test_without_positions_swapped_words_leave_the_last_attention_output_as_it_was(
    window: MainWindow, session: Session, blind_run: Path, qtbot: QtBot
) -> None:
    show(window, session, blind_run, qtbot)
    address = "layers/0/attention/output"
    before = session.reading.current.trace[address].array[-1]
    panel = next(p for p in window.perspective.panels if p.objectName() == "surgery_view")
    session.focus.choose_position(2)
    panel.refresh()
    swap = window.findChild(QPushButton, "swap_words_button")
    reread(session, qtbot, lambda: qtbot.mouseClick(swap, Qt.MouseButton.LeftButton))
    ids, plain = session.reading.current.trace.ids, session.reading.current.baseline.ids
    assert (ids[1], ids[2]) == (plain[2], plain[1])
    np.testing.assert_allclose(session.reading.current.trace[address].array[-1], before, atol=1e-6)
    assert not np.allclose(
        session.reading.current.trace[address].array[1], session.reading.current.baseline[address].array[1]
    )


def test_a_text_grows_arcs_only_for_the_chosen_head(panels: dict[str, object], session: Session) -> None:
    text = panels["attention_text_view"]
    session.attention.choose_head(1, 1)
    text.refresh()
    expected = session.reading.current.trace["layers/1/attention/weights"].array[1]
    np.testing.assert_allclose(text.weights, expected)


def test_shift_over_a_word_of_the_prefix_shows_who_looks_at_it(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    drawn = panels["attention_text_view"]
    qtbot.keyPress(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert not session.attention.looked_at  # a capital letter is being typed
    qtbot.keyRelease(window.prefix_bar.edit, Qt.Key.Key_Shift)
    before = drawn.grab().toImage()
    session.focus.hover_position(1)
    qtbot.waitUntil(lambda: drawn.grab().toImage() != before)
    looks = drawn.grab().toImage()
    qtbot.keyPress(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert session.attention.looked_at
    qtbot.waitUntil(lambda: drawn.grab().toImage() != looks)
    qtbot.keyRelease(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert not session.attention.looked_at
    qtbot.waitUntil(lambda: drawn.grab().toImage() == looks)


def test_nothing_of_a_longer_matrix_is_marked_once_a_shorter_text_is_read(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    """Between a new reading and its drawing the matrix is still that of the text before."""
    drawn, marked = panels["attention_view"], []

    def look() -> None:
        positions = len(session.reading.current.trace.tokens)
        marked.append(positions < len(drawn.shown))
        session.focus.fit_positions(0)  # as between two models: no position can be chosen
        session.focus.position_changed.emit()
        session.focus.fit_positions(positions)

    session.reading.changed.connect(look)
    session.reading.set_prefix("")
    qtbot.waitUntil(lambda: bool(marked), timeout=LONG)
    session.reading.changed.disconnect(look)
    assert all(marked), "the matrix was drawn before anything could mark it"
    qtbot.waitUntil(lambda: len(drawn.shown) == len(session.reading.current.trace.tokens), timeout=LONG)


def test_where_there_is_no_attention_it_says_why_and_a_button_opens_a_model_that_has_it(
    window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    if not (shipped("sample_models") / "stories-transformer").exists():
        pytest.skip("no sample models in this checkout")
    window.show_perspective("attention")
    offer = window.findChild(QPushButton, "attention_invitation")
    said = offer.parentWidget().findChild(EmptyText)
    qtbot.waitUntil(lambda: offer.isVisible() and said.text().startswith("Open a Transformer"))
    session.library.open(make_run("ngram", 3, order=2))
    session.reading.set_prefix(TEXT)
    qtbot.waitUntil(
        lambda: offer.isVisible() and said.text().startswith("In this model no word"), timeout=LONG
    )
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.library.model.family == "transformer", timeout=LONG)
    qtbot.waitUntil(lambda: not offer.isVisible(), timeout=LONG)
    assert window.findChild(QWidget, "attention_view").shown.size

"""The matrix of attention: what is drawn is the trace, and what is pointed at is explained."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.panels.attention import attention
from lmviz.app.panels.attention.attention import AttentionPanel
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.export import save_arrays
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.remark import Remark
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.text.arithmetic_card import ResultLine
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.interventions import scale_head
from lmviz.inspection.remarks import AttentionRemark
from lmviz.inspection.trace import Trace

ONLY_PANELS = ("attention", "attention_text", "heads", "attention_why")
LONG = 60_000  # milliseconds


def test_every_step_of_every_head_is_drawn_as_the_trace_has_it(
    panels: dict[str, Panel], window: MainWindow, session: Session
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


def test_hovering_a_cell_shows_its_position_everywhere_and_explains_it(
    panels: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    matrix = panels["attention_view"].matrix
    place = matrix.cell_rectangle(4, 2).center()
    qtbot.mouseMove(matrix, QPoint(2, 2))
    qtbot.mouseMove(matrix, place.toPoint() if hasattr(place, "toPoint") else place)
    qtbot.waitUntil(lambda: session.focus.hovered_position == 4)
    assert session.focus.hovered_cell == ("layers/0/attention/weights", (0, 4, 2))
    why = panels["why_view"]
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.index == (0, 4, 2))
    weight = session.reading.current.trace["layers/0/attention/weights"].array[0, 4, 2]
    assert why.shown.value == pytest.approx(float(weight), rel=1e-5)
    assert why.shown.evaluate() == pytest.approx(float(weight), rel=1e-4)


@pytest.mark.slow
def test_the_hovered_row_prints_nothing_in_masked_cells(panels: dict[str, Panel], qtbot: QtBot) -> None:
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
    qtbot.waitUntil(lambda: shown_card(matrix) is not None)
    card = shown_card(matrix)
    return card.title, *card.lines


def shown_card(widget: QWidget) -> HoverCard | None:
    return next((card for card in widget.window().findChildren(HoverCard) if card.isVisible()), None)


@pytest.mark.slow
def test_the_hover_card_says_the_number_that_a_dragged_cell_has_now(
    panels: dict[str, Panel], window: MainWindow, qtbot: QtBot
) -> None:
    panel = panels["attention_view"]
    matrix = panel.matrix
    before = card_of(matrix, (4, 2), qtbot)[0]
    qtbot.mouseClick(window.findChild(QPushButton, "paint_button"), Qt.MouseButton.LeftButton)
    place = matrix.cell_rectangle(4, 2).center().toPoint()
    qtbot.mousePress(matrix, Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseMove(matrix, place + QPoint(0, -60))
    qtbot.waitUntil(lambda: panel.shown[4, 2] > 0.4)
    qtbot.waitUntil(lambda: shown_card(matrix).title == number(float(panel.shown[4, 2])))
    assert shown_card(matrix).title != before
    qtbot.mouseRelease(matrix, Qt.MouseButton.LeftButton, pos=place + QPoint(0, -60))


@pytest.mark.slow
def test_a_weight_leads_to_its_query_and_key_channel_by_channel(
    panels: dict[str, Panel], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    panel, why, trace = panels["attention_view"], panels["why_view"], session.reading.current.trace
    strips, place = panel.strips, "layers/0/attention"
    products = window.findChild(QComboBox, "attention_step_picker").findData("products")
    window.findChild(QComboBox, "attention_step_picker").setCurrentIndex(products)
    session.focus.choose_cell((f"{place}/products", (0, 4, 2)))
    qtbot.waitUntil(lambda: len(strips.lights) == 4)
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
    qtbot.waitUntil(lambda: session.focus.hovered_cell == cell)
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.address == cell[0])
    assert why.shown.value == pytest.approx(float(trace[cell[0]].array[cell[1]]), rel=1e-5)
    assert strips.views[1].fixed["position"] == 2
    here = strips.cell_rectangle(1, strongest).center().toPoint()
    qtbot.mouseClick(strips, Qt.MouseButton.LeftButton, pos=here)
    assert session.focus.cell == cell
    qtbot.mouseMove(strips, QPoint(1, 1))
    assert [view.fixed["position"] for view in strips.views] == [4, 2, 2, 4]


@pytest.mark.slow
def test_an_operand_leads_back_to_its_head_and_its_position(
    panels: dict[str, Panel], session: Session
) -> None:
    session.focus.choose_cell(("layers/1/attention/output", (5, 3)))
    panels["why_view"].follow_operand("layers/1/attention/mixed", (1, 5, 2))
    assert (session.attention.head, session.focus.position) == ((1, 1), 5)
    panels["why_view"].follow_operand("layers/1/attention/value", (1, 2, 2))
    assert (session.attention.head, session.focus.position) == ((1, 1), 2)
    assert session.focus.cell == ("layers/1/attention/value", (1, 2, 2))


@pytest.mark.slow
def test_a_word_under_the_pointer_is_isolated_in_the_matrix(
    panels: dict[str, Panel], session: Session
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


def test_python_gives_the_numbers_that_are_drawn(
    panels: dict[str, Panel], session: Session, reread: Callable[[Callable[[], object]], None]
) -> None:
    reread(lambda: session.surgery.add(scale_head(0, 1, 0.5)))
    session.attention.choose_head(1, 1)
    for name in ("heads_view", "attention_view", "attention_text_view"):
        panels[name].refresh()
        found: dict[str, Panel] = {}
        exec(panels[name].recipe(), found)
        drawn = panels[name].exported_arrays()
        values = found["values"] if "values" in found else found["weights"]
        values = values if isinstance(values, dict) else dict.fromkeys(drawn, values)
        assert values.keys() == drawn.keys()
        for key, array in drawn.items():
            np.testing.assert_allclose(values[key], array, atol=1e-6)


@pytest.mark.slow
def test_nothing_of_a_longer_matrix_is_marked_once_a_shorter_text_is_read(
    panels: dict[str, Panel], session: Session, qtbot: QtBot
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
    qtbot.waitUntil(lambda: bool(marked))
    session.reading.changed.disconnect(look)
    assert all(marked), "the matrix was drawn before anything could mark it"
    qtbot.waitUntil(lambda: len(drawn.shown) == len(session.reading.current.trace.tokens))


@pytest.mark.slow
def test_where_there_is_no_attention_it_says_why_and_a_button_opens_a_model_that_has_it(
    window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    offer = window.findChild(QPushButton, "attention_invitation")
    said = offer.parentWidget().findChild(EmptyText)
    qtbot.waitUntil(lambda: offer.isVisible() and said.text().startswith("Open a Transformer"))
    session.library.open(make_run("ngram", 3, order=2))
    session.reading.set_prefix("the cows eat grass the cows")
    qtbot.waitUntil(
        lambda: offer.isVisible() and said.text().startswith("In this model no word"),
    )
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.library.model.family == "transformer")
    qtbot.waitUntil(lambda: not offer.isVisible())
    assert window.findChild(QWidget, "attention_view").shown.size


@pytest.mark.slow
def test_a_model_without_attention_is_not_asked_for_a_prefix(
    window: MainWindow, session: Session, label_runs: dict[str, Path], qtbot: QtBot
) -> None:
    said = window.findChild(QPushButton, "attention_invitation").parentWidget().findChild(EmptyText)
    session.library.open(label_runs["tagger"])
    qtbot.waitUntil(lambda: session.library.model is not None)
    qtbot.waitUntil(lambda: session.reading.prefix != "")  # an example
    session.reading.set_prefix("")
    qtbot.waitUntil(lambda: said.text().startswith("In this model no word"))


@pytest.mark.slow
def test_what_is_unseen_is_what_the_model_masks(
    make_run: Callable[..., Path], show_text: Callable[[Path], dict[str, Panel]], qtbot: QtBot
) -> None:
    run = make_run("transformer", 3, width=8, heads=2, layers=1, context=16, causal=False)
    panel = show_text(run)["attention_view"]
    title, words = card_of(panel.matrix, (1, 4), qtbot)
    weight = panel.shown[1, 4]
    assert weight > 0
    assert (title, "looks at" in words) == (number(float(weight)), True)


@pytest.mark.slow
def test_a_masked_cell_has_no_gradient_in_the_picture_nor_in_the_export(
    panels: dict[str, Panel], session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    panel = panels["attention_view"]
    session.gradients.show(True)
    qtbot.waitUntil(lambda: "gradient/layers/0/attention/weights" in panel.exported_arrays())
    later = np.triu(np.ones(panel.shown.shape, dtype=bool), 1)
    np.testing.assert_array_equal(np.isnan(panel.shown), later)
    save_arrays(panel.exported_arrays(), tmp_path / "gradient.csv")
    written = np.genfromtxt(tmp_path / "gradient.csv", delimiter=",", skip_header=1)
    np.testing.assert_array_equal(np.isnan(written), later)
    assert card_of(panel.matrix, (1, 4), qtbot)[0] == "masked"
    session.focus.choose_cell(("gradient/layers/0/attention/weights", (0, 1, 4)))
    why = panels["why_view"]
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.index == (0, 1, 4))
    assert "does not enter" in why.shown.terms[0].label
    qtbot.waitUntil(lambda: why.findChild(Card).title == "Why no gradient?")
    assert why.findChild(ResultLine).row.name == "masked: it does not enter the computation"


def test_strips_that_come_after_the_panel_has_its_size_have_room(
    session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    panel = AttentionPanel(session)
    qtbot.addWidget(panel)
    panel.resize(650, 460)
    panel.show()
    qtbot.waitUntil(lambda: panel.is_up_to_date)
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat grass")
    qtbot.waitUntil(lambda: len(panel.strips.views) == 4)
    qtbot.waitUntil(lambda: panel.strips.height() >= panel.strips.minimumSizeHint().height() > 0)


@pytest.fixture
def long_text(
    window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> AttentionPanel:
    """The panel with a text of 160 tokens, over which no weight is large."""
    window.show_perspective("attention")
    session.library.open(make_run("transformer", 2, width=8, heads=2, layers=1, context=256))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix(" ".join(["the cows eat grass and the hens eat corn"] * 18))
    qtbot.waitUntil(lambda: session.reading.current is not None and len(session.reading.current.trace) > 150)
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, AttentionPanel))
    qtbot.waitUntil(lambda: panel.shown.shape[-1:] > (150,))
    return panel


def chosen(panel: AttentionPanel, name: str, words: str) -> None:
    picker = panel.findChild(QComboBox, name)
    assert picker.isVisibleTo(panel)
    picker.setCurrentText(words)
    picker.activated.emit(picker.currentIndex())
    panel.catch_up()


@pytest.mark.slow
def test_the_attention_of_a_long_text_is_no_white_square(long_text: AttentionPanel) -> None:
    matrix, count = long_text.matrix, long_text.shown.shape[-1]

    def ink() -> int:
        """How dark the middle of the last rows is, from 0 to 255."""
        picture, place = matrix.grab().toImage(), matrix.cell_rectangle(count - 8, count // 2)
        across = range(round(place.left()), round(place.left()) + 20)
        return max(255 - picture.pixelColor(x, round(place.top())).lightness() for x in across)

    found = {}
    for words in ("by row", "by matrix", "logarithmic", "0 to 1"):
        chosen(long_text, "attention_color_picker", words)
        found[words] = ink()
    assert found["by row"] > 80
    assert found["logarithmic"] > 60
    assert found["0 to 1"] < 25


@pytest.mark.slow
def test_the_last_tokens_alone_fill_the_matrix(long_text: AttentionPanel) -> None:
    chosen(long_text, "attention_stretch_picker", "last 32")
    count = long_text.shown.shape[-1]
    assert long_text.matrix.zoom == pytest.approx(count / 32, rel=0.02)
    long_text.session.focus.choose_position(count - 3)
    long_text.catch_up()
    assert long_text.matrix.zoom > 4, "another position leaves what is in sight"
    chosen(long_text, "attention_stretch_picker", "all tokens")
    assert long_text.matrix.zoom == 1


def test_the_row_of_the_position_is_written_in_words(long_text: AttentionPanel, qtbot: QtBot) -> None:
    bars = long_text.findChild(BarsView, "attention_row_bars")
    assert bars.isVisibleTo(long_text)
    row = long_text.shown[-1]
    strongest = int(row.argmax())
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=bars.part_rectangle(0).center().toPoint())
    position = long_text.session.reading.position
    assert long_text.session.focus.cell == ("layers/0/attention/weights", (0, position, strongest))


@pytest.mark.slow
def test_a_short_text_has_none_of_this(panels: dict[str, Panel]) -> None:
    panel = panels["attention_view"]
    for name in ("attention_color_picker", "attention_stretch_picker", "attention_row_bars"):
        assert not panel.findChild(QWidget, name).isVisibleTo(panel)


@pytest.mark.slow
def test_a_low_panel_leaves_its_room_to_the_matrix(
    panels: dict[str, Panel], drawn: Callable[[], None]
) -> None:
    shown = panels["attention_view"]
    remark = shown.findChild(QWidget, "attention_remark")
    shown.setFixedHeight(300)
    drawn()
    assert remark.isVisible()
    shown.setFixedHeight(200)
    drawn()
    assert not remark.isVisible()
    shown.setFixedHeight(300)
    drawn()
    assert remark.isVisible()


class Seen(QObject):
    """Keeps which events of some types a widget has had: by default that it is painted, or resized."""

    def __init__(self, widget: QWidget, *types: QEvent.Type) -> None:
        super().__init__(widget)
        self.types = types or (QEvent.Type.Paint, QEvent.Type.Resize)
        self.seen: list[QEvent.Type] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in self.types:
            self.seen.append(event.type())
        return False


def test_a_word_more_has_the_matrix_painted_once_and_what_is_said_of_it_stays_until_then(
    panels: dict[str, Panel],
    session: Session,
    reread: Callable[[Callable[[], object]], None],
    drawn: Callable[[], None],
    qapp: QApplication,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def remark(trace: Trace, position: int, noun: str) -> AttentionRemark:
        return AttentionRemark(1, 1, f"Layer 2, head 2 looks from {position} at 1.")

    monkeypatch.setattr(attention, "attention_remark", remark)
    monkeypatch.setattr("lmviz.app.panels.panel.LATE", LONG)  # what is late is paled, and painted once more
    panel = panels["attention_view"]
    panel.refresh()
    drawn()
    panel.grab()  # with which all is laid out
    qapp.processEvents()
    said, link = panel.findChild(Remark), panel.findChild(LinkButton, "attention_remark_link")
    painted, before = Seen(panel.matrix), said.sentence
    session.reading.set_prefix(f"{session.reading.prefix} eat")
    assert panel.awaits_answer
    assert (said.sentence, link.isHidden()) == (before, False)
    reread(lambda: None)
    drawn()
    assert said.sentence not in ("", before)
    qtbot.waitUntil(lambda: bool(painted.seen))
    qapp.processEvents()
    assert painted.seen == [QEvent.Type.Paint]


def test_a_cell_under_the_pointer_has_its_strips_made_once_and_lays_nothing_out(
    panels: dict[str, Panel],
    window: MainWindow,
    session: Session,
    answered: Callable[[], None],
    qapp: QApplication,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel = panels["attention_view"]
    made: list[str] = []
    monkeypatch.setattr(panel.strips, "set_views", lambda named, reading: made.append(named[0].name))
    panel.grab()
    qapp.processEvents()
    laid_out = Seen(window.prefix_bar, QEvent.Type.LayoutRequest)
    for cell in ((4, 2), (3, 1)):
        panel.matrix.hover(cell)
    words = session.reading.current.trace.names("query")
    assert made == [f"q “{words[4]}”", f"q “{words[3]}”"]
    assert session.focus.hovered_position == 3
    answered()
    qapp.processEvents()
    assert not laid_out.seen


@pytest.mark.slow
def test_a_word_more_offers_the_same_ends_of_a_long_text(long_text: AttentionPanel, qtbot: QtBot) -> None:
    stretch, reading = long_text.findChild(QComboBox, "attention_stretch_picker"), long_text.session.reading
    chosen(long_text, "attention_stretch_picker", "last 32")
    offered: list[object] = []
    stretch.model().rowsInserted.connect(lambda *where: offered.append(where))
    count = long_text.shown.shape[-1]
    reading.set_prefix(f"{reading.prefix} the")
    qtbot.waitUntil(lambda: long_text.shown.shape[-1] == count + 1)
    assert not offered
    assert stretch.currentText() == "last 32"
    assert long_text.matrix.zoom == pytest.approx((count + 1) / 32, rel=0.02)

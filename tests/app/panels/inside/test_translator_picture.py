"""The picture of a model that translates: encoder and decoder, layer by layer and unrolled."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.picture import PicturePanel
from lmviz.app.panels.inside.unrolled_page import UnrolledPage
from lmviz.app.session.session import Session
from lmviz.app.widgets.diagrams.unrolled_handover import UnrolledHandover
from lmviz.app.widgets.diagrams.unrolled_values import UnrolledCell
from lmviz.app.widgets.kit.picture import Spot


@pytest.fixture
def panel(session: Session, qtbot: QtBot) -> PicturePanel:
    made = PicturePanel(session)
    qtbot.addWidget(made)
    made.resize(700, 800)
    made.show()
    return made


def drawn(panel: PicturePanel, qtbot: QtBot) -> UnrolledPage:
    qtbot.waitUntil(lambda: isinstance(panel.page, UnrolledPage) and not panel.is_behind)
    assert isinstance(panel.page, UnrolledPage)
    return panel.page


def test_the_encoder_stands_over_the_source_and_the_decoder_over_the_text(
    panel: PicturePanel, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run)
    page, trace = drawn(panel, qtbot), session.reading.current.trace
    text, encoder, decoder = page.views
    assert (text.isHidden(), encoder.isHidden(), decoder.isHidden()) == (True, False, False)
    for view, place in ((encoder, "encoder"), (decoder, "decoder")):
        address = f"{place}/layers/0/hidden"
        states = [layer.rows[0].values for layer in view.layers if layer.direction != "backward"][:1]
        if address in trace.arrays:
            np.testing.assert_array_equal(states[0], trace[address].array)
    assert page.unrolled is decoder


def test_a_click_on_a_state_of_the_encoder_goes_to_its_stage_and_pins_it(
    panel: PicturePanel, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run)
    encoder, before = drawn(panel, qtbot).views[1], session.focus.position
    encoder.part_clicked.emit(UnrolledCell(1, 0, 0, 2))
    address, index = session.focus.cell
    assert (address.startswith("encoder/layers/0"), index) == (True, (1, 2))
    trace = session.reading.current.trace
    assert address in trace.stages[session.focus.stage].results
    assert (session.focus.source, session.focus.position) == (1, before)
    assert before != 1


def test_pointing_at_a_word_of_the_source_leaves_the_position_of_the_translation(
    panel: PicturePanel, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run)
    _, encoder, decoder = drawn(panel, qtbot).views
    before = session.focus.shown_position
    encoder.part_hovered.emit(UnrolledCell(0, 0, 0, 2))
    assert session.focus.hovered_cell is not None
    assert session.focus.shown_position == before
    decoder.part_hovered.emit(UnrolledCell(0, 0, 0, 2))
    assert session.focus.shown_position == 0 != before


def test_a_source_that_is_longer_than_the_text_moves_no_position(
    panel: PicturePanel, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run, source="abcabcabc", text="c")
    encoder, before = drawn(panel, qtbot).views[1], session.focus.position
    encoder.part_clicked.emit(UnrolledCell(8, 0, 0, 0))
    encoder.part_hovered.emit(UnrolledCell(8, 0, 0, 0))
    assert session.focus.position == before
    assert session.focus.hovered_position is None
    assert session.focus.cell[1] == (8, 0)


def test_a_head_of_the_attention_to_the_source_can_be_clicked(
    panel: PicturePanel, heads_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(heads_run)
    address, last = "decoder/layers/0/cross/weights", 1

    def is_drawn() -> bool:
        shown = None if panel.page is None else panel.page.shown
        return shown is not None and shown.squares[address].values.shape[1] == len(
            session.reading.current.trace
        )

    qtbot.waitUntil(is_drawn)
    panel.whole.set_open("decoder/layers/0")
    spot = Spot(f"{address}#{address}#{last}", 0, 1)
    place = panel.whole.rectangle(spot).center()
    assert panel.whole.index_at(place) == spot
    qtbot.mouseClick(panel.whole, Qt.MouseButton.LeftButton, pos=place.toPoint())
    assert session.focus.cell == (address, (last, 0, 1))
    assert session.attention.head == (0, last)


def test_another_model_leaves_no_encoder_behind(
    panel: PicturePanel, attending_run: Path, lstm_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run)
    page = drawn(panel, qtbot)
    session.library.open(lstm_run)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(lambda: bool(page.views[0].layers))
    assert [bool(view.layers) for view in page.views] == [True, False, False]
    assert [view.isHidden() for view in page.views] == [False, True, True]


def test_what_the_encoder_hands_on_is_what_the_decoder_begins_with(
    panel: PicturePanel, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    read_pair(attending_run)
    page = drawn(panel, qtbot)
    _, encoder, decoder = page.views
    last = len(encoder.in_sight) - 1
    qtbot.waitUntil(lambda: bool(panel.findChild(UnrolledHandover).ways()))
    for way in panel.findChild(UnrolledHandover).ways():
        start, end = (corner.toPoint() for corner in (way[0], way[-1]))
        first = decoder.cell_rectangle(0, 0).translated(decoder.pos())
        assert abs(end.x() - first.left()) <= 1
        assert first.top() < end.y() < first.bottom()
        sources = [
            encoder.cell_rectangle(0 if layer.direction == "backward" else last, number)
            for number, layer in enumerate(encoder.layers)
        ]
        touched = [area.translated(encoder.pos()).adjusted(-1, -1, 1, 1) for area in sources]
        assert any(area.contains(start) for area in touched)
    # Each word of the decoder is joined by a context, which is made of all states of the encoder.
    context = panel.findChild(UnrolledHandover).context()
    assert context[0].y() == encoder.gathered.y1() + encoder.y()
    assert context[-1].x() == pytest.approx(
        decoder.cell_rectangle(decoder.in_sight[-1], 0).center().x() + decoder.x()
    )


def test_without_attention_the_last_state_is_all_that_is_handed_on(
    panel: PicturePanel, translator_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    read_pair(translator_run)
    page = drawn(panel, qtbot)
    _, encoder, decoder = page.views
    qtbot.waitUntil(lambda: bool(panel.findChild(UnrolledHandover).ways()))
    assert all(not layer.read_at for layer in encoder.layers)
    assert all(layer.read_at is not None for layer in encoder.layers)
    assert encoder.gathered.isNull()
    assert panel.findChild(UnrolledHandover).context()[-1].x() > decoder.x()

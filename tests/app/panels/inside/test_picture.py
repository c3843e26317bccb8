"""The Picture panel: which picture a model gets, and that every number in it is the trace's."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from small_models import small_settings

from lmviz.app.panels.inside.page import read_out
from lmviz.app.panels.inside.picture import PicturePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.picture import Picture, Spot
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.logit_lens import logit_lens
from lmviz.text.tokenizer import visible
from lmviz.training.run import Run

TEXT = "the cows eat grass and the"


@pytest.fixture
def picture_of(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    qtbot: QtBot,
    answered: Callable[[], None],
    drawn: Callable[[], None],
) -> Callable[..., PicturePanel]:
    """Open a small run of a family and show its picture, of a text that has been read."""

    def show(family: str, text: str = TEXT, **settings: object) -> PicturePanel:
        window.show_perspective("inside")
        session.library.open(make_run(family, 3, **(small_settings(family) | settings)))
        qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.family == family)
        session.reading.set_prefix(text)
        qtbot.waitUntil(
            lambda: session.reading.current is not None and session.reading.current.trace.text == text
        )
        drawn()
        answered()
        return next(panel for panel in window.perspective.panels if isinstance(panel, PicturePanel))

    return show


def click(view: Picture, spot: Spot, qtbot: QtBot) -> None:
    area = view.rectangle(spot)
    assert not area.isEmpty(), spot
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=area.center().toPoint())


def point(view: Picture, spot: Spot, qtbot: QtBot) -> None:
    qtbot.mouseMove(view, view.rect().bottomLeft())
    qtbot.mouseMove(view, view.rectangle(spot).center().toPoint())


def made_by(session: Session) -> tuple[str, ...]:
    """The taps of the stage one is at."""
    return session.reading.current.trace.stages[session.focus.stage].results


@pytest.mark.parametrize("family", ["transformer", "lstm", "gru", "rnn"])
def test_every_place_says_what_the_lens_says(
    picture_of: Callable[..., PicturePanel],
    session: Session,
    make_run: Callable[..., Path],
    qtbot: QtBot,
    family: str,
) -> None:
    picture, reading = picture_of(family), session.reading.current
    model = open_run_model(Run.open(make_run(family, 3, **small_settings(family))))
    expected = logit_lens(model, reading.trace, 5, [session.reading.position])
    shown = picture.page.shown
    np.testing.assert_array_equal(shown.lens.ids, expected.ids)
    view, tokenizer = picture.whole, reading.model.tokenizer
    for row, place in enumerate(expected.places):
        if view.row_rectangle(place).isEmpty():
            continue  # in a folded layer
        qtbot.mouseMove(view, view.rect().bottomLeft())
        qtbot.mouseMove(view, view.row_rectangle(place).topLeft().toPoint() + QPoint(2, 1))
        said = visible(tokenizer.token(int(expected.ids[row, 0, 0])))
        share = percentage(float(expected.probabilities[row, 0, 0]))
        assert view.window().findChild(HoverCard).title == f"{said}  {share}"


@pytest.mark.parametrize(
    ("family", "address"),
    [
        ("transformer", "layers/0/attention/value"),
        ("transformer", "layers/0/attention/weights"),
        ("transformer", "layers/0/feedforward/activation"),
        ("lstm", "layers/0/forget"),
        ("gru", "layers/0/candidate"),
        ("rnn", "layers/0/preactivation"),
    ],
)
def test_a_number_under_the_pointer_is_the_traces_and_a_click_pins_it(
    picture_of: Callable[..., PicturePanel],
    session: Session,
    drawn: Callable[[], None],
    qtbot: QtBot,
    family: str,
    address: str,
) -> None:
    picture = picture_of(family)
    view, traced = picture.whole, session.reading.current.trace[address]
    last, head = session.reading.position, 1 if "head" in traced.axes else 0
    place = {"head": head, "position": last, "query": last, "key": 2}
    spot = Spot(f"{address}#{address}#{head}", last if "query" in traced.axes else 0, 2)
    index = tuple(place.get(axis, 2) for axis in traced.axes)
    point(view, spot, qtbot)
    assert session.focus.hovered_cell == (address, index)
    card = view.window().findChild(HoverCard)
    assert card.title == number(float(traced.array[index]))
    assert card.title == read_out(session.reading.current, (address, index))[0]
    click(view, spot, qtbot)
    assert session.focus.cell == (address, index)
    assert address in made_by(session)
    drawn()
    assert view.current == address
    if "head" in traced.axes:
        assert session.attention.head == (0, head)


def test_the_picture_follows_the_position_and_the_stage(
    picture_of: Callable[..., PicturePanel], session: Session, answered: Callable[[], None],
    drawn: Callable[[], None],
) -> None:  # fmt: skip
    picture = picture_of("transformer")
    session.focus.choose_position(1)
    drawn()
    answered()
    assert picture.page.shown.position == 1
    titles = [stage.title for stage in session.reading.current.trace.stages]
    for title, row in (
        ("Queries", "layers/0/attention/query"),
        ("Scaled scores", "layers/0/attention/weights"),
        ("Final normalisation", "verdict"),
    ):
        session.focus.choose_stage(titles.index(title))
        drawn()
        assert picture.whole.current == row
    places = [stage.place for stage in session.reading.current.trace.stages]
    session.focus.choose_stage(places.index("layers/1/attention"))
    drawn()
    assert picture.whole.open_block == "layers/1"


def test_the_last_word_leads_to_its_probability(
    picture_of: Callable[..., PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture = picture_of("transformer")
    click(picture.whole, Spot("verdict"), qtbot)
    position, best = (
        session.reading.position,
        session.reading.current.trace["probabilities"].array[-1].argmax(),
    )
    assert session.focus.cell == ("probabilities", (position, best))
    assert made_by(session) == ("probabilities",)


def test_a_recurrence_shows_its_cell_below_its_state_at_every_word(
    picture_of: Callable[..., PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture = picture_of("lstm")
    view, array = picture.unrolled, session.reading.current.trace["layers/0/cell"].array
    cell = view.row_rectangle(1, 0, 1)
    qtbot.mouseMove(view, view.rect().bottomLeft())
    place = cell.topLeft().toPoint()
    qtbot.mouseMove(view, place + QPoint(2, 2))
    assert session.focus.hovered_cell == ("layers/0/cell", (1, 0))
    assert session.focus.hovered_position == 1
    assert view.window().findChild(HoverCard).title == number(float(array[1, 0]))
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place + QPoint(2, 2))
    assert session.focus.position == 1
    assert session.focus.cell == ("layers/0/cell", (1, 0))
    assert "layers/0/cell" in made_by(session)

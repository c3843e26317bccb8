"""With gradients on, every number in the Picture panel is the gradient's."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.picture import PicturePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.word_window import WordWindowView
from lmviz.app.widgets.kit.picture import Spot
from lmviz.families import open_run_model
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.reach import reach
from lmviz.training.run import Run
from tests.app.panels.inside.conftest import TEXT, click, made_by, point

ONLY_PANELS = ("picture",)


@pytest.fixture
def differentiated(
    picture_of: Callable[..., PicturePanel],
    session: Session,
    answered: Callable[[], None],
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> Callable[[str], PicturePanel]:
    """The picture of a family at the last word but one, with the gradient of the last loss in it."""

    def show(family: str) -> PicturePanel:
        picture = picture_of(family)
        session.focus.choose_position(session.reading.current.last - 1)
        session.gradients.show(True)
        qtbot.waitUntil(lambda: session.gradients.current is not None)
        drawn()
        answered()
        drawn()
        return picture

    return show


def gradient_of(session: Session):
    return gradient(open_run_model(Run.open(session.library.model.folder)), TEXT, "loss@-1")


@pytest.mark.parametrize(
    ("family", "address"),
    [
        pytest.param("transformer", "layers/0/attention/value", marks=pytest.mark.slow),
        ("transformer", "layers/0/attention/weights"),
        pytest.param("transformer", "layers/0/feedforward/activation", marks=pytest.mark.slow),
        ("lstm", "layers/0/forget"),
        pytest.param("gru", "layers/0/candidate", marks=pytest.mark.slow),
        ("rnn", "layers/0/preactivation"),
    ],
)
def test_with_gradients_a_number_is_the_gradients_and_a_click_pins_that(
    differentiated: Callable[[str], PicturePanel], session: Session, qtbot: QtBot, family: str, address: str
) -> None:
    view = differentiated(family).whole
    traced, last = gradient_of(session)[address], session.reading.position
    head = 1 if "head" in traced.axes else 0
    place = {"head": head, "position": last, "query": last, "key": 2}
    spot = Spot(f"{address}#{address}#{head}", last if "query" in traced.axes else 0, 2)
    index = tuple(place.get(axis, 2) for axis in traced.axes)
    point(view, spot, qtbot)
    assert session.focus.hovered_cell == (f"gradient/{address}", index)
    shown = float(session.gradients.current[address].array[index])
    assert view.window().findChild(HoverCard).title == number(shown)
    assert shown == pytest.approx(float(traced.array[index]), rel=1e-3, abs=1e-7)
    assert shown
    click(view, spot, qtbot)
    assert session.focus.cell == (f"gradient/{address}", index)
    assert address in made_by(session)


@pytest.mark.slow
def test_with_gradients_the_unrolled_network_shows_the_wave(
    differentiated: Callable[[str], PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture, found = differentiated("lstm"), gradient_of(session)
    layer = picture.unrolled.layers[0]
    norms = reach(found, "layers/0/cell").norms
    np.testing.assert_allclose(layer.wave, norms / norms.max(), rtol=1e-3, atol=1e-7)
    assert [row.letter for row in layer.rows] == ["∂h", "∂c", "∂f", "∂i", "∂o"]
    assert {row.scale for row in layer.rows} == {"signed"}
    np.testing.assert_allclose(layer.rows[1].values, found["layers/0/cell"].array, rtol=1e-3, atol=1e-7)
    before = picture.unrolled.sizeHint()
    place = picture.unrolled.row_rectangle(2, 0, 1).topLeft().toPoint() + QPoint(2, 2)
    qtbot.mouseClick(picture.unrolled, Qt.MouseButton.LeftButton, pos=place)
    assert session.focus.cell == ("gradient/layers/0/cell", (2, 0))
    session.gradients.show(False)
    qtbot.waitUntil(lambda: picture.unrolled.layers[0].wave is None)
    assert picture.unrolled.layers[0].rows[2].scale == "share"
    assert picture.unrolled.sizeHint() == before  # nothing jumps


@pytest.mark.slow
def test_with_gradients_the_window_shows_them(
    differentiated: Callable[[str], PicturePanel], session: Session, qtbot: QtBot
) -> None:
    view, at = differentiated("window").findChild(WordWindowView), session.reading.position
    found = gradient_of(session)
    hidden = found["hidden"].array[at]
    np.testing.assert_allclose(view.picture.hidden.values[0], hidden, rtol=1e-3, atol=1e-7)
    for place, word in enumerate(view.picture.words):
        expected = found["embedding"].array[at - 2 + place]
        np.testing.assert_allclose(word.embedding.values[0], expected, rtol=1e-3, atol=1e-7)
    click(view, Spot("joined", 0, 1), qtbot)
    assert session.focus.cell == ("gradient/embedding", (at - 2, 1))


@pytest.mark.slow
def test_the_ladder_says_that_counts_have_no_gradient(
    picture_of: Callable[..., PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture = picture_of("ngram")
    session.gradients.show(True)
    qtbot.waitUntil(lambda: picture.is_up_to_date and not picture.is_behind)
    assert picture.card.aside == "counts have no gradient"
    assert picture.page.shown is not None

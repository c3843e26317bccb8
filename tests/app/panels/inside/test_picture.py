"""The Picture panel: which picture a model gets, and that every number in it is the trace's."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import parametrize_few
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from small_models import small_settings

from lmviz.app.panels.inside.page import read_out
from lmviz.app.panels.inside.picture import PicturePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.ladder import LadderView
from lmviz.app.widgets.diagrams.word_window import WordWindowView
from lmviz.app.widgets.kit.picture import Spot
from lmviz.families import open_run_model
from lmviz.inspection.logit_lens import logit_lens
from lmviz.text.tokenizer import visible
from lmviz.training.run import Run
from tests.app.panels.inside.conftest import click, made_by, point

ONLY_PANELS = ("picture",)


@parametrize_few("family", ["transformer", "lstm", "gru", "rnn"], quick=2)
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
        pytest.param("transformer", "layers/0/attention/weights", marks=pytest.mark.slow),
        ("transformer", "layers/0/feedforward/activation"),
        pytest.param("lstm", "layers/0/forget", marks=pytest.mark.slow),
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
    rows = [picture.whole.row_rectangle(f"layers/{layer}/attention/query") for layer in (0, 1)]
    assert [row.isEmpty() for row in rows] == [True, False], "the second layer is unfolded"


@pytest.mark.slow
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


def test_the_ladder_draws_the_counts_weights_and_words_of_the_trace(
    picture_of: Callable[..., PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture = picture_of("ngram", order=3)
    trace, at = session.reading.current.trace, session.reading.position
    view, drawn = picture.findChild(LadderView), picture.findChild(LadderView).picture
    assert [rung.order for rung in drawn.rungs] == [3, 2, 1]
    tokenizer = session.library.model.tokenizer
    for rung in drawn.rungs:
        place = f"orders/{rung.order}"
        assert rung.total == trace[f"{place}/total"].array[at]
        assert rung.share == pytest.approx(float(trace[f"{place}/weight"].array[at]))
        for bar in rung.bars:
            id = int(bar.key.split()[-1])
            assert bar.word == visible(tokenizer.token(id))
            assert bar.count == trace[f"{place}/counts"].array[at, id]
    assert sum(rung.share for rung in drawn.rungs) + drawn.ground[1] == pytest.approx(1.0)
    for word in drawn.words:
        id = int(word.key.split()[-1])
        assert sum(word.parts) == pytest.approx(float(trace["probabilities"].array[at, id]), abs=1e-6)
    assert [column.word for column in drawn.columns] == [visible(token) for token in trace.tokens]
    key = drawn.rungs[-1].bars[0].key
    point(view, Spot(key), qtbot)
    assert view.window().findChild(HoverCard).title == number(drawn.rungs[-1].bars[0].count)
    click(view, Spot(key), qtbot)
    assert session.focus.cell == ("orders/1/counts", (at, int(key.split()[-1])))
    assert "orders/1/counts" in made_by(session)


@pytest.mark.slow
def test_a_rung_says_in_numbers_how_a_word_gets_its_probability_there(
    picture_of: Callable[..., PicturePanel],
    session: Session,
    answered: Callable[[], None],
    drawn: Callable[[], None],
) -> None:
    picture = picture_of("ngram", order=3)
    trace, at = session.reading.current.trace, session.reading.position
    titles = [stage.place for stage in trace.stages]
    session.focus.choose_stage(titles.index("orders/2"))
    rare = int(trace["orders/2/counts"].array[at].argmax())
    session.focus.choose_cell(("orders/2/counts", (at, rare)))
    drawn()
    answered()
    order, formula = picture.findChild(LadderView).current
    assert order == 2
    assert formula.startswith(visible(session.library.model.tokenizer.token(rare)) + ":")
    assert formula.endswith(f"= {percentage(float(trace['orders/2/probabilities'].array[at, rare]))}")
    left, _, _ = formula.partition(" = ")
    terms = left.split(": ", 1)[1].replace("−", "-").replace(" %", " / 100").replace("×", "*")
    assert eval(terms) == pytest.approx(float(trace["orders/2/probabilities"].array[at, rare]), abs=1e-3)


@pytest.mark.slow
def test_a_column_of_the_ladder_leads_to_its_word(
    picture_of: Callable[..., PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture = picture_of("ngram", order=3)
    picture.findChild(LadderView).resize(600, 640)
    click(picture.findChild(LadderView), Spot("position 1"), qtbot)
    assert session.focus.position == 1


def test_the_window_shows_what_it_joins_and_what_it_cannot_see(
    picture_of: Callable[..., PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture = picture_of("window")
    trace, at = session.reading.current.trace, session.reading.position
    view, drawn = picture.findChild(WordWindowView), picture.findChild(WordWindowView).picture
    assert [word.word for word in drawn.words] == [visible(token) for token in trace.tokens[at - 2 : at + 1]]
    for place, word in enumerate(drawn.words):
        np.testing.assert_array_equal(word.embedding.values[0], trace["embedding"].array[at - 2 + place])
    np.testing.assert_array_equal(drawn.hidden.values[0], trace["hidden"].array[at])
    assert [word.word for word in drawn.unseen] == [visible(token) for token in trace.tokens[: at - 2]]
    assert drawn.change == 0.0
    for key, address, index in (
        (Spot("hidden", 0, 3), "hidden", (at, 3)),
        (Spot("joined", 0, 1), "embedding", (at - 2, 1)),
        (Spot(f"embedding {at}", 0, 2), "embedding", (at, 2)),
    ):
        point(view, key, qtbot)
        assert session.focus.hovered_cell == (address, index)
        card = view.window().findChild(HoverCard)
        assert card.title == number(float(trace[address].array[index]))
    click(view, Spot("hidden", 0, 3), qtbot)
    assert session.focus.cell == ("hidden", (at, 3))
    assert view.unit == 3
    assert made_by(session) == ("hidden",)


@pytest.mark.slow
def test_a_word_says_what_replacing_it_changed(
    picture_of: Callable[..., PicturePanel], session: Session, qtbot: QtBot
) -> None:
    picture = picture_of("window")
    at, view = session.reading.position, picture.findChild(WordWindowView)
    changes = picture.page.shown.influence
    point(view, Spot(f"seen {at}"), qtbot)
    card = view.window().findChild(HoverCard)
    assert card.title == number(float(changes.logits[changes.words.index(at)]))
    assert float(card.title) > 0
    point(view, Spot(f"unseen {at - 3}"), qtbot)
    assert card.title == "0.000"


@pytest.mark.slow
@pytest.mark.parametrize("family", ["transformer", "lstm", "ngram", "window"])
def test_another_model_at_the_same_place_leaves_nothing_of_the_one_before(
    picture_of: Callable[..., PicturePanel], session: Session, family: str
) -> None:
    picture_of("gru")
    picture = picture_of(family)
    assert picture.unrolled.isVisible() == (family == "lstm")
    assert picture.findChild(LadderView).isVisible() == (family == "ngram")
    assert picture.findChild(WordWindowView).isVisible() == (family == "window")
    assert picture.page.shown is not None

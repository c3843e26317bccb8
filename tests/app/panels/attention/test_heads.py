"""The mosaic of heads: badges, what is solo, what is crossed out."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import parametrize_few
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from lmviz.app.panels.attention import heads as drawing
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.attention import combine_heads
from lmviz.inspection.head_badges import head_badges
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import add, scale_head, zero

ONLY_PANELS = ("heads", "attention", "attention_text")


@pytest.mark.slow
@parametrize_few(("panel", "words"), [("heads_view", "no heads"), ("attention_text_view", "no attention")])
def test_a_model_without_heads_is_not_asked_for_a_text(
    window: MainWindow,
    session: Session,
    label_runs: dict[str, Path],
    drawn: Callable[[], None],
    panel: str,
    words: str,
    qtbot: QtBot,
) -> None:
    session.library.open(label_runs["tagger"])
    qtbot.waitUntil(lambda: session.library.model is not None)
    qtbot.waitUntil(lambda: session.reading.prefix != "")  # an example
    session.reading.set_prefix("")
    window.show_perspective("attention")
    drawn()
    [shown] = [found for found in window.perspective.panels if found.objectName() == panel]
    [said] = shown.findChildren(EmptyText, "out_of_place")
    assert said.isVisible()
    assert said.text().startswith(f"{session.library.model.name} has {words}: ")


@pytest.mark.slow
def test_several_heads_are_combined(panels: dict[str, Panel], session: Session) -> None:
    panel = panels["attention_view"]
    panels["heads_view"].findChild(HeadMosaic).head_toggled.emit(1, 1)
    assert session.attention.heads == ((0, 0), (1, 1))
    panel.refresh()
    np.testing.assert_allclose(
        panel.shown, combine_heads(session.reading.current.trace, [(0, 0), (1, 1)], "mean")
    )
    panels["heads_view"].findChild(HeadMosaic).head_double_clicked.emit(0, 1)
    assert (session.attention.head, session.attention.heads) == ((0, 1), ())


@pytest.mark.slow
def test_a_double_click_solos_a_head_and_another_brings_the_rest_back(
    panels: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    mosaic, control = panels["heads_view"].findChild(HeadMosaic), Qt.KeyboardModifier.ControlModifier

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


@parametrize_few(
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
    panels: dict[str, Panel],
    session: Session,
    intervention: Intervention,
    crossed_out: set[tuple[int, int]],
    qtbot: QtBot,
) -> None:
    mosaic = panels["heads_view"].findChild(HeadMosaic)
    session.surgery.add(intervention)
    assert mosaic.faded == crossed_out
    qtbot.waitUntil(lambda: session.reading.current.trace.interventions == (intervention,))
    assert mosaic.faded == crossed_out


@pytest.mark.slow
def test_a_head_under_the_pointer_says_where_it_looks(
    panels: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    mosaic = panels["heads_view"].findChild(HeadMosaic)
    qtbot.mouseMove(mosaic, QPoint(1, 1))
    qtbot.mouseMove(mosaic, mosaic.tile_rectangle(1, 0).center().toPoint())
    card = mosaic.window().findChild(HoverCard)
    assert card.title == "layer 2, head 1"
    scores = head_badges(session.reading.current.trace)[1][0].scores
    known = {kind: score for kind, score in scores.items() if score is not None}
    assert card.lines == tuple(f"{kind}: {percentage(score)}" for kind, score in known.items())
    assert known


@pytest.mark.slow
def test_badges_are_those_of_the_text_and_follow_it(
    panels: dict[str, Panel], session: Session, qtbot: QtBot, reread: Callable[[Callable[[], object]], None]
) -> None:
    heads = panels["heads_view"]
    assert heads.badges == head_badges(session.reading.current.trace)
    reread(lambda: session.reading.set_prefix(session.reading.prefix + " eat"))
    qtbot.waitUntil(lambda: heads.badges == head_badges(session.reading.current.trace))


def test_numbers_code_and_page_are_of_the_heads_that_are_drawn(
    panels: dict[str, Panel],
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    gate: threading.Event,
    reread: Callable[[Callable[[], object]], None],
    qtbot: QtBot,
) -> None:
    """Above some thousand weights they are drawn when the next text has been read for long."""
    heads, begun, whole = panels["heads_view"], threading.Event(), drawing.thumbnails

    def held(*arguments: object, **options: object) -> np.ndarray:
        begun.set()
        gate.wait()
        return whole(*arguments, **options)

    def handed_out() -> tuple[set[int], str, str]:
        (page,) = heads.page_results()
        lengths = {array.shape[-1] for array in heads.exported_arrays().values()}
        return lengths, heads.recipe(), page.trace.text

    monkeypatch.setattr(drawing, "AT_ONCE", 0)
    monkeypatch.setattr(drawing, "thumbnails", held)
    before = handed_out()
    reread(lambda: session.reading.set_prefix(session.reading.prefix + " eat"))
    qtbot.waitUntil(begun.is_set)
    assert handed_out() == before
    gate.set()
    text = session.reading.prefix
    qtbot.waitUntil(lambda: handed_out()[2] == text)
    assert text in handed_out()[1]
    assert handed_out()[0] == {len(session.reading.current.trace)}

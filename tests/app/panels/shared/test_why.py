"""Why this number? is never blank: until a cell is pinned it explains the strongest that is drawn."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from dashes import has_dashed_edge
from made_features import made_features
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from small_models import small_settings

import lmviz
from lmviz.app.panels.shared.why import WhyPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard, ResultLine
from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.features.score_pairs import pairs_in_words
from lmviz.inspection.strongest import likeliest_answer, strongest_cell

ONLY_PANELS = ("state", "why", "attention_why", "attention")

LONG = 30_000
QUICK = ("gru",)
WHERE = [
    pytest.param((family, "inside"), marks=() if family in QUICK else pytest.mark.slow) for family in FAMILIES
] + [("transformer", "attention"), pytest.param(("lstm", "attention"), marks=pytest.mark.slow)]


@pytest.fixture
def why(
    request: pytest.FixtureRequest,
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    qtbot: QtBot,
) -> WhyPanel:
    """The card in a perspective, with a small model of a family open, and a prefix read."""
    family, perspective = request.param
    session.library.open(make_run(family, 3, **small_settings(family)))
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy, timeout=LONG)
    window.show_perspective(perspective)
    [found] = [panel for panel in window.perspective.panels if isinstance(panel, WhyPanel)]
    qtbot.waitUntil(lambda: found.shown is not None and is_explained(found, session), timeout=LONG)
    return found


def is_explained(why: WhyPanel, session: Session) -> bool:
    """Whether the card shows what is to be explained now."""
    shown = why.shown
    return (
        shown is not None
        and why.is_up_to_date
        and (shown.address, tuple(shown.index)) == session.explanation.cell
        and session.explanation.reading is session.reading.current
    )


@pytest.mark.parametrize("why", WHERE, indirect=True, ids="-".join)
def test_the_card_explains_the_strongest_cell_and_says_that_nobody_chose_it(
    why: WhyPanel, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    state = {panel.objectName(): panel for panel in window.perspective.panels}.get("state_view")
    trace, result = session.reading.current.trace, why.findChild(ResultLine)
    for stage in range(len(trace.stages)) if state is not None else (0,):
        session.focus.choose_stage(stage)
        address = trace.stages[stage].results[0]
        qtbot.waitUntil(lambda at=address: state is None or state.view.address == at, timeout=LONG)
        qtbot.waitUntil(lambda: is_explained(why, session), timeout=LONG)
        if state is not None and state.view.scale == "token":
            assert (why.shown.address, why.shown.index) == likeliest_answer(trace, session.reading.position)
        elif state is not None:
            place = strongest_cell(state.view, session.reading.position)
            assert (why.shown.address, why.shown.index) == (address, state.view.index(*place))
            assert state.findChild(HeatmapView).suggested == place
        assert has_dashed_edge(why.card)
        assert why.card.title == f"Why {number(why.shown.value)}?"
        assert result.row.value == number(why.shown.value)
        assert result.isVisible()
    session.focus.choose_cell(("logits", (1, 2)))
    qtbot.waitUntil(lambda: is_explained(why, session), timeout=LONG)
    assert (why.shown.address, has_dashed_edge(why.card)) == ("logits", False)
    assert all(view.suggested is None for view in window.perspective.findChildren(HeatmapView))
    session.focus.release()
    qtbot.waitUntil(lambda: is_explained(why, session) and has_dashed_edge(why.card), timeout=LONG)


@pytest.mark.slow
@pytest.mark.parametrize("why", [("lstm", "attention")], indirect=True, ids="-".join)
def test_where_nothing_is_drawn_it_explains_the_likeliest_next_word(
    why: WhyPanel, session: Session, qtbot: QtBot
) -> None:
    for text in ("the cows eat grass", "the"):
        session.reading.set_prefix(text)
        qtbot.waitUntil(lambda text=text: session.reading.current.trace.text == text, timeout=LONG)
        qtbot.waitUntil(lambda: is_explained(why, session), timeout=LONG)
        cell = likeliest_answer(session.reading.current.trace, session.reading.position)
        assert (why.shown.address, why.shown.index) == cell


@pytest.mark.slow
@pytest.mark.parametrize("why", [("transformer", "attention")], indirect=True, ids="-".join)
def test_the_strongest_weight_of_the_chosen_word_is_marked_with_dashes(
    why: WhyPanel, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    matrix = panels["attention_view"].matrix
    layer, head = session.attention.head
    weights = session.reading.current.trace[f"layers/{layer}/attention/weights"].array[head]
    session.focus.choose_position(1)
    qtbot.waitUntil(lambda: matrix.suggested == (1, int(np.argmax(weights[1]))), timeout=LONG)
    qtbot.waitUntil(lambda: is_explained(why, session), timeout=LONG)
    window.show_perspective("sample")
    qtbot.waitUntil(lambda: session.explanation.cell is None, timeout=LONG)


@pytest.mark.slow
@pytest.mark.parametrize("why", [("gru", "inside")], indirect=True, ids=["gru"])
def test_one_click_takes_gradients_of_the_pinned_number(
    why: WhyPanel, session: Session, qtbot: QtBot
) -> None:
    link = why.findChild(LinkButton, "gradient_of_cell_button")
    assert not link.isVisible()
    cell = ("layers/0/hidden", (3, 1))
    session.focus.choose_cell(cell)
    qtbot.waitUntil(link.isVisible)
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.gradients.current is not None, timeout=LONG)
    found = session.gradients.current
    assert (found.scalar.address, found.scalar.cells) == (cell[0], (cell[1],))
    assert found["layers/0/hidden"].array[3, 1] == 1
    qtbot.waitUntil(lambda: not link.isVisible())
    session.focus.choose_cell(("gradient/layers/0/update", (2, 0)))  # of what its value is
    qtbot.waitUntil(link.isVisible)
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert session.gradients.of == ("layers/0/update", (2, 0))


@pytest.mark.slow
@pytest.mark.parametrize("why", [("lstm", "inside")], indirect=True, ids=["lstm"])
def test_where_a_gradient_does_not_reach_the_word_the_strongest_of_all_words_is_explained(
    why: WhyPanel, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_G)
    qtbot.waitUntil(lambda: session.gradients.current is not None, timeout=LONG)
    assert not session.gradients.current["embedding"].array[-1].any(), "the last word is read too late"
    qtbot.waitUntil(
        lambda: is_explained(why, session) and why.shown.address == "gradient/embedding", timeout=LONG
    )
    array = session.gradients.current["embedding"].array
    assert why.shown.index == np.unravel_index(np.abs(array).argmax(), array.shape)
    assert why.shown.value != 0


@pytest.mark.slow
@pytest.mark.parametrize("why", [("transformer", "attention")], indirect=True, ids="-".join)
def test_of_terms_along_the_text_the_words_own_is_named_by_its_word_too(
    why: WhyPanel, session: Session, qtbot: QtBot
) -> None:
    session.gradients.choose(("logits", (3, 1)))
    qtbot.waitUntil(lambda: session.gradients.current is not None, timeout=LONG)
    session.focus.choose_cell(("gradient/layers/0/attention/value", (0, 1, 0)))
    qtbot.waitUntil(lambda: is_explained(why, session), timeout=LONG)
    written = [row.name for row in why.findChild(ArithmeticCard).rows if row.operands]
    words = session.reading.current.trace.tokens
    for place, word in enumerate(words[1:], start=2):  # every word that may look at the second
        assert any(f"{place} “{word}”" in name for name in written), (word, written)


@pytest.mark.slow
def test_before_anything_is_explained_it_asks_for_a_model_only_where_none_is_read(
    window: MainWindow, session: Session, transformer_run: Path, gate: threading.Event, qtbot: QtBot
) -> None:
    window.show_perspective("inside")
    [why] = [panel for panel in window.perspective.panels if isinstance(panel, WhyPanel)]
    words = why.findChild(QLabel, "explained_cell")
    qtbot.waitUntil(lambda: words.text().startswith("Open a model"))
    window.show_perspective("train")
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.reading.current is not None and session.explanation.arithmetic is None)
    session.work.ask("hold", gate.wait, lambda _: None, print)
    window.show_perspective("inside")
    qtbot.waitUntil(lambda: words.text().startswith("Click a number"))
    assert why.is_behind
    gate.set()


@pytest.mark.slow
@pytest.mark.parametrize("why", [("gru", "inside")], indirect=True, ids=["gru"])
def test_a_number_of_a_word_that_is_gone_is_no_step_of_the_way_back(
    why: WhyPanel, session: Session, qtbot: QtBot
) -> None:
    crumbs = why.findChild(Breadcrumbs)

    def steps() -> int:
        return len(crumbs.accessibleDescription().split(" › "))

    cells = [("layers/0/hidden", (position, 1)) for position in (3, 2, 1)]
    for cell in cells:
        session.focus.choose_cell(cell)
    qtbot.waitUntil(lambda: steps() == 3)
    session.reading.changed.connect(lambda: crumbs.step_clicked.emit(0))  # before it is drawn anew
    with qtbot.waitSignal(session.reading.changed):
        session.reading.set_prefix("the cows")
    assert session.focus.cell == cells[-1]
    qtbot.waitUntil(lambda: steps() == 2)
    crumbs.step_clicked.emit(0)
    assert session.focus.cell == cells[1]


@pytest.mark.slow
@pytest.mark.parametrize("why", [("transformer", "inside")], indirect=True)
def test_a_pinned_score_is_said_as_pairs_of_the_open_features(
    why: WhyPanel, session: Session, tmp_path: Path, qtbot: QtBot
):
    said, address = why.findChild(QLabel, "score_as_pairs"), "layers/0/attention/scaled"
    session.focus.choose_cell((address, (0, 2, 1)))
    qtbot.waitUntil(lambda: is_explained(why, session))
    assert not said.isVisible()
    model = lmviz.open_model(session.library.model.folder)
    made = made_features(model, "embedding/sum", "the cows eat")
    session.features.open_file(made.save(tmp_path / "drawn.safetensors"))
    qtbot.waitUntil(lambda: said.isVisible() and bool(said.text()))
    pairs = lmviz.score_pairs(model, "the cows eat", made, 0, 0, 1, 2)
    assert said.text() == pairs_in_words(pairs)
    session.focus.choose_cell(("layers/0/attention/weights", (0, 2, 1)))
    qtbot.waitUntil(lambda: not said.isVisible())

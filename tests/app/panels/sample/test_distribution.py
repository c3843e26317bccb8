"""The distribution that is looked at, its filters and its numbers, as the core computes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benches.sample import Bench
from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent, QTextDocument
from PySide6.QtWidgets import QDoubleSpinBox, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.api.questions import next_token
from lmviz.app.panels.attention.attention import AttentionPanel
from lmviz.app.panels.inside.picture import PicturePanel
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.sample.distribution import DistributionPanel
from lmviz.app.session.library import MODEL_OFFER
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution

ONLY_PANELS = ("distribution", "roll", "chain_rule")


def test_the_distribution_follows_what_is_typed(bench: Bench) -> None:
    for length in range(len("the hens"), len("the hens eat") + 1):
        bench.session.reading.set_prefix("the hens eat"[:length])
    bench.wait_for_prospect()
    expected = next_distribution(Continuation.of(bench.model, "the hens eat").logits)
    panel = bench.find("distribution_view")
    np.testing.assert_allclose(panel.distribution.probabilities, expected.probabilities, atol=1e-7)
    assert panel.distribution.entropy == pytest.approx(expected.entropy)
    bench.settle()
    assert list(panel.ids_shown[:5]) == list(expected.order[:5])


@pytest.mark.slow
def test_an_empty_prefix_is_read_from_start(bench: Bench) -> None:
    bench.session.reading.set_prefix("")
    bench.wait_for_prospect()
    assert bench.find("distribution_view").distribution is not None


def test_controls_change_the_pipeline_as_the_core_does(bench: Bench) -> None:
    bench.find("temperature_spin").setValue(0.8)
    bench.find("top_k_spin").setValue(7)
    bench.find("top_p_spin").setValue(0.9)
    bench.find("min_p_spin").setValue(0.05)
    expected = next_distribution(bench.logits(), 0.8, 7, 0.9, 0.05)
    shown = bench.session.writing.prospect.distribution
    np.testing.assert_allclose(shown.probabilities, expected.probabilities, atol=1e-7)
    np.testing.assert_allclose(shown.cumulative, expected.cumulative, atol=1e-7)
    bench.settle()
    table = bench.find("pipeline_table")
    columns = (at for at in range(table.model().columnCount()) if not table.isColumnHidden(at))
    titles = {table.model().headerData(at, Qt.Orientation.Horizontal) for at in columns}
    assert {"top-k 7", "top-p 0.9"} <= titles


def test_the_vocabulary_can_be_searched_and_sorted(bench: Bench) -> None:
    panel, tokens = bench.find("distribution_view"), bench.model.tokenizer.tokens()
    bench.find("distribution_search").setText("EN")
    bench.wait(lambda: len(panel.ids_shown) < len(tokens))
    assert {tokens[id] for id in panel.ids_shown} == {token for token in tokens if "en" in token.casefold()}
    bench.find("distribution_search").setText("")
    table = bench.find("pipeline_table")
    table.title_clicked.emit("token")
    bench.wait(lambda: [tokens[id] for id in panel.ids_shown] == sorted(tokens, key=str.casefold))
    table.title_clicked.emit("logit")
    table.title_clicked.emit("logit")
    bench.wait(lambda: panel.ids_shown[-1] == panel.distribution.best)


@pytest.mark.slow
def test_a_search_follows_the_text_and_outlasts_the_temperature(bench: Bench) -> None:
    session, panel, tokens = bench.session, bench.find("distribution_view"), bench.model.tokenizer.tokens()
    bench.find("distribution_search").setText("e")
    found = {id for id, token in enumerate(tokens) if "e" in token.casefold()}
    for text, temperature in [("the cows", 1.0), ("the cows", 0.3), ("the hens eat", 0.3), ("the", 2.0)]:
        session.reading.set_prefix(text)
        bench.wait_for_prospect()
        session.writing.set_sampling(temperature=temperature)
        bench.settle()
        order = panel.distribution.order.tolist()
        assert panel.distribution.options.temperature == temperature
        assert panel.ids_shown.tolist() == [id for id in order if id in found]


@pytest.mark.slow
def test_a_number_says_how_it_came_about(bench: Bench) -> None:
    bench.session.writing.set_sampling(temperature=0.5)
    bench.settle()
    table = bench.find("pipeline_table")
    place = table.cell_rectangle(1, "scaled").center()
    moved = QMouseEvent(
        QMouseEvent.Type.MouseMove,
        place,
        table.mapToGlobal(place),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    table.mouseMoveEvent(moved)
    candidate = bench.session.writing.prospect.distribution.candidate(2)
    card = bench.window.findChild(HoverCard)
    assert card.title == f"{candidate.logit:.3f} ÷ 0.5 = {candidate.scaled:.4f}".replace("-", "−")
    assert bench.session.writing.hovered_token == candidate.id


@pytest.mark.slow
def test_a_pinned_or_hovered_word_shows_what_came_after_it_until_one_writes_or_escapes(bench: Bench) -> None:
    session, panel = bench.session, bench.find("distribution_view")
    session.reading.set_prefix("the cows eat")
    bench.wait_for_prospect()

    def shows(text: str) -> bool:
        expected = Continuation.of(bench.model, text).logits
        return panel.distribution is not None and np.allclose(panel.distribution.logits, expected, atol=1e-4)

    session.focus.choose_position(1)
    bench.wait(lambda: shows("the") and bench.says("distribution_view", "Escape returns to the end"))
    assert bench.says("distribution_view", "after “the”")
    session.focus.hover_position(2)
    bench.wait(lambda: shows("the cows"))
    session.writing.set_sampling(top_k=2)
    bench.wait(lambda: panel.distribution.choices == 2)
    session.focus.hover_position(None)
    bench.wait(lambda: shows("the"))
    bench.qtbot.keyClick(bench.window, Qt.Key.Key_Escape)
    bench.wait(lambda: shows("the cows eat"))
    assert not bench.says("distribution_view", "Escape")
    session.focus.choose_position(1)
    bench.wait(lambda: shows("the"))
    bench.roll()  # writes at the end, and shows it
    assert session.writing.branches.node.text.startswith("the cows eat")
    assert not session.focus.is_position_pinned
    bench.wait(lambda: shows("the cows eat"))


@pytest.mark.slow
def test_a_word_clicked_where_one_looks_back_goes_on_from_there(bench: Bench) -> None:
    session = bench.session
    bench.roll()
    session.focus.choose_position(1)
    bench.wait(lambda: session.writing.prospect.position == 1)
    id = session.library.model.tokenizer.id_of("hens")
    session.writing.write(id)
    assert session.reading.prefix == "the hens"
    bench.wait_for_prospect()
    assert len(session.writing.branches.nodes) == 1


@pytest.mark.slow
def test_the_foot_s_tooltip_shows_what_was_typed_as_it_was_typed(bench: Bench) -> None:
    bench.session.reading.set_prefix("the <b>cows</b>")
    bench.wait_for_prospect()
    feet = [line for line in bench.window.findChildren(MutedLine) if "<b>cows</b>" in line.text]
    tips = [label.toolTip() for label in feet if label.toolTip()]
    assert tips
    for tip in tips:
        shown = QTextDocument()
        shown.setHtml(tip)
        assert "<b>cows</b>" in shown.toPlainText()


@pytest.mark.slow
def test_another_source_gives_another_distribution_and_begins_the_writing_anew(
    window: MainWindow,
    read_pair: Callable[..., Session],
    make_translator: Callable[..., Path],
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    run = make_translator(width=8, attention="dot", steps=40)
    session = read_pair(run, "abc", "c")
    window.show_perspective("sample")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    for source in ("abc", "ca"):
        session.reading.set_source(source)
        expected = next_token(lmviz.open_model(run), "c", source=source).probabilities

        def is_shown(expected: np.ndarray = expected) -> bool:
            found, chain = panels["distribution_view"].distribution, panels["chain_rule_view"].likelihood
            die = panels["roll_view"].exported_arrays()
            return (
                found is not None
                and np.allclose(found.probabilities, expected, atol=1e-6)
                and np.allclose(die["probabilities"], expected[die["ids"]], atol=1e-6)
                and chain is not None
                and not panels["chain_rule_view"].is_behind
            )

        qtbot.waitUntil(is_shown)
        chain = panels["chain_rule_view"].likelihood
        first = next_token(lmviz.open_model(run), "", source=source)
        known = [first.candidate(rank) for rank in range(1, len(first.order) + 1)]
        expected_first = next(item.probability for item in known if item.token == "c")
        assert chain.tokens[-1].probability == pytest.approx(expected_first, abs=1e-6)
        session.writing.roll()
        qtbot.waitUntil(lambda: len(session.writing.branches.chosen()) == 1)
    session.reading.set_source("abc")
    assert session.writing.branches.chosen() == ()


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["transformer"], indirect=True)
@pytest.mark.parametrize("kind", [DistributionPanel, AttentionPanel, PicturePanel])
def test_settings_are_right_and_no_model_is_offered_while_an_answer_is_awaited(
    bench: Bench, kind: type[Panel], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def is_offered() -> bool:
        buttons = waiting.findChildren(QPushButton)
        return any(button.text() == MODEL_OFFER and button.isVisibleTo(waiting) for button in buttons)

    monkeypatch.setattr(type(bench.session.reading), "current", None)
    with monkeypatch.context() as nothing_is_open:
        nothing_is_open.setattr(kind, "awaits_answer", False)
        nothing_is_open.setattr(type(bench.session.library), "model", None)
        nothing_is_open.setattr(type(bench.session.writing), "prospect", None)
        waiting = kind(bench.session)
        qtbot.addWidget(waiting)
        waiting.catch_up()
        assert is_offered()
    monkeypatch.setattr(kind, "awaits_answer", True)
    bench.session.writing.set_sampling(temperature=0.7)
    waiting.refresh_soon()
    waiting.catch_up()
    assert not waiting.is_up_to_date
    assert not is_offered()
    assert all(box.value() == 0.7 for box in waiting.findChildren(QDoubleSpinBox, "temperature_spin"))

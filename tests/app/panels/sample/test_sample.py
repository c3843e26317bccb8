"""The Sample perspective, clicked through: type, roll, force, walk back, branch, search, as the core does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api import open_model
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding import likelihood
from lmviz.decoding.beam import beam_search
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.options import BeamOptions, SamplingOptions
from lmviz.decoding.outcome import outcome
from lmviz.decoding.sampling import greedy, sample
from lmviz.errors import LmvizError
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import add, scale_head, swap_tokens, zero
from lmviz.models.model import Model

LONG = 20_000


class Bench:
    """The window at the Sample perspective, and the same model read without it."""

    def __init__(
        self,
        window: MainWindow,
        session: Session,
        run: Path,
        settle: Callable[[], None],
        answered: Callable[[], None],
        qtbot: QtBot,
    ) -> None:
        self.window, self.session, self.qtbot = window, session, qtbot
        self.settle, self.answered = settle, answered
        self.model: Model = open_model(run)

    def find(self, name: str) -> QWidget:
        found = self.window.perspective.findChild(QObject, name)
        assert found is not None, name
        return found

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=LONG)

    def click(self, name: str) -> None:
        self.qtbot.mouseClick(self.find(name), Qt.MouseButton.LeftButton)

    def logits(self) -> np.ndarray:
        """What the core says comes next where one stands."""
        branches = self.session.writing.branches
        return Continuation.of(self.changed, branches.prefix, branches.chosen()).logits

    @property
    def changed(self) -> Model:
        """The core's model with the interventions in force."""
        return ChangedModel(self.model, self.session.surgery.interventions)

    def says(self, view: str, sentence: str) -> bool:
        found = self.find(view)
        said = [label.text() for label in found.findChildren(QLabel)]
        said += [line.text for line in found.findChildren(MutedLine)]
        return any(sentence in text for text in said)

    def wait_for_prospect(self) -> None:
        """Until what comes next where one stands is shown."""
        session = self.session

        def shown() -> bool:
            prospect = session.writing.prospect
            return (
                prospect is not None
                and prospect.node == session.writing.branches.current
                and np.allclose(prospect.distribution.logits, self.logits(), atol=1e-6)
            )

        self.wait(shown)

    def roll(self) -> None:
        before = self.session.writing.branches
        self.click("sample_step_button")
        self.wait(
            lambda: self.session.writing.branches is not before and not self.session.writing.is_choosing
        )
        self.settle()


@pytest.fixture(params=["lstm"])
def bench(
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    request: pytest.FixtureRequest,
    qtbot: QtBot,
) -> Bench:
    run = request.getfixturevalue(f"{request.param}_run")
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    window.show_perspective("sample")
    session.reading.set_prefix("the cows")
    made = Bench(window, session, run, drawn, answered, qtbot)
    made.wait_for_prospect()
    made.settle()
    return made


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
    assert {"top_k", "top_p"} <= set(bench.find("pipeline_table").columns_shown)


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


def test_under_a_locked_seed_the_roll_is_that_of_the_core_and_repeats(bench: Bench) -> None:
    bench.find("seed_spin").setValue(7)
    bench.find("seed_lock").setChecked(True)
    options = SamplingOptions(seed=7, seed_locked=True, stop_at_end=False)
    bench.session.writing.set_sampling(stop_at_end=False)
    expected = list(sample(bench.model, "the cows", 4, options))
    for step in expected:
        bench.roll()
        assert bench.session.writing.branches.node.id == step.id
        assert bench.session.writing.branches.node.draws == (step.draw,)
        assert bench.session.writing.prospect.landed == step.id
    die = bench.find("die")
    assert bench.find("roll_view").is_playing is False
    assert die.accessibleDescription().startswith(f"{expected[-1].draw:.3f}")
    once = bench.session.writing.branches.current
    for _ in range(2):
        bench.click("sample_back_button")
    assert bench.session.writing.branches.chosen() == tuple(step.id for step in expected[:2])
    for _ in range(2):
        bench.roll()
    assert bench.session.writing.branches.current == once
    assert len(bench.session.writing.branches.nodes) == 5


def test_without_a_lock_each_roll_is_a_new_draw(bench: Bench) -> None:
    for _ in range(2):
        bench.roll()
        bench.click("sample_back_button")
        bench.settle()
    draws = [draw for node in bench.session.writing.branches.nodes for draw in node.draws]
    assert len(set(draws)) == 2


def test_a_click_on_a_word_writes_it_and_one_can_branch_and_return(bench: Bench) -> None:
    session, table = bench.session, bench.find("pipeline_table")
    ids = bench.find("distribution_view").ids_shown[:3]
    place = table.line_rectangle(2).center().toPoint()
    bench.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    bench.wait(lambda: session.writing.branches.node.id == ids[2])
    assert session.writing.branches.node.way == "forced"
    bench.wait_for_prospect()
    first = session.writing.branches.current
    bench.click("sample_back_button")
    bench.wait_for_prospect()
    bench.settle()
    die = bench.find("die")
    bench.qtbot.mouseClick(die, Qt.MouseButton.LeftButton, pos=QPoint(die.width() // 4, 32))
    bench.wait(lambda: session.writing.branches.node.id == ids[0])
    assert {child.index for child in session.writing.branches.children(0)} == {
        first,
        session.writing.branches.current,
    }
    bench.settle()
    view, tree = bench.find("branches_view"), bench.find("branches_tree")
    tree.node_clicked.emit(view.goals.index((first, None)))
    bench.wait_for_prospect()
    assert session.writing.branches.current == first


def test_a_word_that_was_not_taken_can_be_written_from_the_tree(bench: Bench) -> None:
    bench.roll()
    view = bench.find("branches_view")
    bench.wait(lambda: any(id is not None for _, id in view.goals))
    node, (parent, id) = next((n, goal) for n, goal in enumerate(view.goals) if goal[1] is not None)
    bench.find("branches_tree").node_clicked.emit(node)
    bench.wait(lambda: bench.session.writing.branches.node.id == id)
    assert bench.session.writing.branches.node.parent == parent


def test_after_a_roll_another_word_is_written_instead(bench: Bench) -> None:
    bench.roll()
    drawn = bench.session.writing.branches.node
    other = next(id for id in bench.session.writing.prospect.distribution.order if id != drawn.id)
    bench.session.writing.write(int(other))
    bench.wait(lambda: bench.session.writing.branches.node.id == other)
    assert bench.session.writing.branches.node.parent == drawn.parent


def test_the_tree_leaves_the_prefix_alone_until_it_is_adopted(bench: Bench) -> None:
    bench.session.writing.write(bench.model.tokenizer.id_of("eat"))
    bench.wait(lambda: bench.session.writing.branches.current > 0)
    bench.settle()
    text = bench.session.writing.branches.node.text
    assert bench.session.reading.prefix == "the cows"
    bench.click("use_as_prefix_button")
    assert bench.session.reading.prefix == text
    assert len(bench.session.writing.branches.nodes) == 1


def test_play_goes_to_the_chosen_length_and_space_pauses(bench: Bench) -> None:
    session = bench.session
    session.writing.set_sampling(stop_at_end=False)
    bench.find("pace_spin").setValue(30)
    bench.find("length_spin").setValue(5)
    bench.click("sample_play_button")
    bench.wait(lambda: not bench.find("roll_view").is_playing)
    bench.wait(lambda: not session.writing.is_choosing)
    assert len(session.writing.branches.path()) == 5
    bench.find("length_spin").setValue(2000)
    bench.qtbot.keyClick(bench.find("die"), Qt.Key.Key_Space)
    assert bench.find("roll_view").is_playing
    bench.wait(lambda: len(session.writing.branches.path()) > 6)
    bench.qtbot.keyClick(bench.find("die"), Qt.Key.Key_Space)
    assert not bench.find("roll_view").is_playing


def test_play_stops_at_end(bench: Bench) -> None:
    session = bench.session
    end = bench.model.tokenizer.end_id
    session.writing.write(end)
    bench.wait(lambda: session.writing.branches.node.is_end)
    bench.settle()
    assert not bench.find("sample_step_button").isEnabled()
    bench.find("stop_at_end").setChecked(False)
    bench.wait(bench.find("sample_step_button").isEnabled)


def test_greedy_takes_the_likeliest(bench: Bench) -> None:
    bench.find("sample_way").setCurrentText("greedy")
    expected = [step.id for step in greedy(bench.model, "the cows", 3, SamplingOptions(stop_at_end=False))]
    bench.session.writing.set_sampling(stop_at_end=False)
    for _ in expected:
        bench.roll()
    assert list(bench.session.writing.branches.chosen()) == expected
    assert bench.session.writing.branches.node.way == "greedy"


def test_the_chain_rule_is_that_of_the_core_and_goes_on_with_the_branch(bench: Bench) -> None:
    panel = bench.find("chain_rule_view")

    def same(ids: list[int]) -> bool:
        found, expected = panel.likelihood, text_log_probabilities(bench.model, ids)
        return (
            found is not None
            and [token.id for token in found.tokens] == [token.id for token in expected.tokens]
            and np.isclose(found.log_probability, expected.log_probability)
            and [token.rank for token in found.tokens] == [token.rank for token in expected.tokens]
        )

    ids = list(bench.model.tokenizer.encode_prefix("the cows").ids)
    bench.wait(lambda: same(ids))
    bench.roll()
    bench.wait(lambda: same([*ids, *bench.session.writing.branches.chosen()]))
    bench.find("chain_rule_table").row_clicked.emit(0)
    assert bench.session.focus.position == panel.likelihood.tokens[0].position


def test_the_chain_rule_scores_swapped_words_as_they_are_read_and_says_so(bench: Bench) -> None:
    session, panel = bench.session, bench.find("chain_rule_view")
    session.reading.set_prefix("the cows eat corn")
    bench.wait_for_prospect()
    session.surgery.add(swap_tokens(2, 3))
    expected = text_log_probabilities(bench.model, "the eat cows corn")
    bench.wait(lambda: panel.likelihood is not None and panel.likelihood.differs)
    assert [token.token for token in panel.likelihood.tokens] == ["the", "eat", "cows", "corn"]
    assert panel.likelihood.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
    assert bench.says("chain_rule_view", "of the words as read")
    session.surgery.undo()
    bench.wait(lambda: not panel.likelihood.differs)
    assert not bench.says("chain_rule_view", "of the words as read")


def test_a_beam_grows_step_by_step_to_what_the_core_finds(bench: Bench) -> None:
    session = bench.session
    bench.find("beam_width_spin").setValue(2)
    bench.find("beam_length_spin").setValue(3)
    options = BeamOptions(width=2, length=3)
    bench.click("beam_step_button")
    bench.wait(lambda: session.beam.tree is not None)
    assert session.beam.tree.depth == 1
    bench.settle()
    bench.click("beam_run_button")
    bench.wait(lambda: session.beam.is_grown)
    expected = beam_search(bench.model, "the cows", options)
    assert [(n.id, n.parent, n.state) for n in session.beam.tree.nodes] == [
        (n.id, n.parent, n.state) for n in expected.nodes
    ]
    assert session.beam.tree.best.score == pytest.approx(expected.best.score, abs=1e-5)
    assert any(node.state == "pruned" for node in session.beam.tree.nodes)


def test_three_ways_stand_side_by_side(bench: Bench) -> None:
    session, view = bench.session, bench.find("side_by_side_view")
    session.beam.set_options(length=3, width=2)
    bench.roll()
    while not session.beam.is_grown:
        session.beam.grow()
        bench.wait(lambda: not session.beam.is_searching)
    bench.wait(lambda: len(view.outcomes) == 3)
    ways = {
        "greedy": [step.id for step in greedy(bench.model, "the cows", 3)],
        "sampling": session.writing.branches.chosen(),
        "beam search": [node.id for node in session.beam.tree.path(session.beam.tree.best)],
    }
    for way, ids in ways.items():
        bench.wait(
            lambda way=way, ids=ids: view.outcomes.get(way) and view.outcomes[way].chosen == tuple(ids)
        )
        expected = outcome(bench.model, "the cows", ids, session.beam.options.length_penalty)
        assert view.outcomes[way].log_probability == pytest.approx(expected.log_probability, abs=1e-5)
        assert view.outcomes[way].score == pytest.approx(expected.score, abs=1e-5)


@pytest.mark.parametrize("bench", ["transformer"], indirect=True)
def test_a_transformer_writes_beyond_its_context(bench: Bench) -> None:
    bench.session.writing.set_sampling(seed=3, seed_locked=True, stop_at_end=False)
    options = SamplingOptions(seed=3, stop_at_end=False)
    expected = [step.id for step in sample(bench.model, "the cows", 9, options)]
    for _ in expected:
        bench.roll()
    assert list(bench.session.writing.branches.chosen()) == expected


def test_an_ngram_can_be_sampled(
    window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    run = make_run("ngram", 1)
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    window.show_perspective("sample")
    session.reading.set_prefix("the cows")
    bench = Bench(window, session, run, qtbot)
    bench.wait_for_prospect()
    bench.roll()
    step = next(sample(bench.model, "the cows", 1, SamplingOptions()))
    assert bench.session.writing.branches.node.id == step.id


def test_another_snapshot_keeps_the_tree_and_changes_what_comes_next(bench: Bench) -> None:
    session = bench.session
    bench.roll()
    bench.click("sample_back_button")
    bench.wait_for_prospect()
    late = session.writing.prospect.distribution.probabilities
    session.library.choose_step(session.library.model.snapshots[0])
    bench.wait(lambda: not np.allclose(session.writing.prospect.distribution.probabilities, late))
    assert len(session.writing.branches.nodes) == 2


def test_another_prefix_begins_another_tree(bench: Bench) -> None:
    bench.roll()
    bench.session.reading.set_prefix("the hens")
    assert (bench.session.writing.branches.prefix, len(bench.session.writing.branches.nodes)) == (
        "the hens",
        1,
    )
    bench.wait_for_prospect()


def test_without_a_model_the_panels_say_what_to_do(
    window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    window.show_perspective("sample")
    step = window.perspective.findChild(QObject, "sample_step_button")
    qtbot.waitUntil(lambda: not step.isEnabled())
    assert session.writing.prospect is None


def test_an_answer_about_the_tree_before_does_not_come_to_the_next(bench: Bench) -> None:
    session = bench.session
    bench.window.show_perspective("corpus")  # where nobody looks ahead
    bench.settle()
    session.writing.roll()
    bench.wait(lambda: len(session.writing.branches.nodes) == 2)
    session.writing.look_ahead()
    session.reading.set_prefix("the hens")
    seen = []
    session.writing.prospect_changed.connect(lambda: seen.append(session.writing.prospect))
    bench.wait(lambda: not session.reading.is_busy)
    bench.answered()
    assert all(prospect is None or prospect.node == 0 for prospect in seen)


@pytest.mark.parametrize("bench", ["transformer"], indirect=True)
def test_what_was_changed_by_surgery_rolls_searches_and_is_scored(bench: Bench) -> None:
    session = bench.session
    plain = bench.logits()
    session.writing.set_sampling(seed=5, seed_locked=True)
    session.surgery.add(scale_head(0, 0, 40.0))
    bench.wait_for_prospect()
    assert not np.allclose(session.writing.prospect.distribution.logits, plain, atol=1e-3)
    bench.roll()
    bench.roll()
    assert session.writing.branches.chosen() == tuple(
        step.id for step in sample(bench.changed, "the cows", 2, session.writing.sampling)
    )
    session.beam.set_options(width=2, length=2)
    while not session.beam.is_grown:
        session.beam.grow()
        bench.wait(lambda: not session.beam.is_searching)
    expected = beam_search(bench.changed, "the cows", session.beam.options)
    assert [node.id for node in session.beam.tree.nodes] == [node.id for node in expected.nodes]
    bits = text_log_probabilities(bench.changed, session.writing.branches.node.text).bits
    table = bench.find("chain_rule_view")
    bench.wait(
        lambda: table.likelihood is not None and table.likelihood.bits == pytest.approx(bits, abs=1e-3)
    )
    side = bench.find("side_by_side_view")
    ids = [step.id for step in greedy(bench.changed, "the cows", 2)]
    bench.wait(lambda: "greedy" in side.outcomes and side.outcomes["greedy"].chosen == tuple(ids))


def test_panels_say_what_was_changed_and_go_back_with_it(bench: Bench) -> None:
    session = bench.session
    plain = bench.logits()
    bench.click("beam_step_button")
    bench.wait(lambda: session.beam.tree is not None)
    change = zero("layers/0/hidden", unit=1)
    session.surgery.add(change)
    bench.wait_for_prospect()
    bench.wait(lambda: bench.says("distribution_view", f"with {change.describe()} · entropy"))
    bench.wait(lambda: bench.says("beam_view", "without the interventions"))
    session.surgery.undo()
    bench.wait_for_prospect()
    np.testing.assert_allclose(session.writing.prospect.distribution.logits, plain, atol=1e-6)


def test_what_is_still_in_sight_is_not_named_after_a_change_that_came_later(bench: Bench) -> None:
    session, change = bench.session, zero("layers/0/hidden", unit=1)
    panels = [bench.find(name) for name in ("distribution_view", "roll_view", "chain_rule_view")]
    bench.wait(lambda: panels[2].likelihood is not None)
    session.surgery.add(change)
    for panel in panels:
        panel.refresh()  # the thread has not answered: its answers come when the window has its turn
        assert not bench.says(panel.objectName(), "with"), panel.objectName()
        assert "interventions" not in panel.recipe()
    for panel in panels:
        bench.wait(lambda panel=panel: bench.says(panel.objectName(), f"with {change.describe()}"))


def test_a_change_at_one_position_is_there_alone_however_far_one_writes(bench: Bench) -> None:
    session = bench.session
    session.surgery.add(add("layers/0/hidden", 2.0, position=1))
    bench.wait_for_prospect()
    bench.roll()
    bench.roll()
    session.reading.set_prefix(
        session.writing.branches.node.text
    )  # reading what was written gives what was rolled from
    bench.wait(
        lambda: (
            session.reading.current is not None
            and session.reading.current.trace.text == session.reading.prefix
        )
    )
    bench.wait_for_prospect()
    np.testing.assert_allclose(
        session.writing.prospect.distribution.logits,
        session.reading.current.trace["logits"].array[-1],
        atol=1e-4,
    )


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


def test_a_text_that_cannot_be_read_is_said_beside_the_chain_rule(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = bench.find("chain_rule_view")
    bench.wait(lambda: table.likelihood is not None)

    def refuse(model: object, text: object) -> None:
        raise LmvizError("No word of this is known.")

    monkeypatch.setattr(likelihood, "text_log_probabilities", refuse)
    bench.session.reading.set_prefix("the hens see")
    bench.wait(lambda: bench.says("chain_rule_view", "No word of this is known."))
    assert table.likelihood is None
    assert table.recipe() == ""

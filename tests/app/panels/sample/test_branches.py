"""The tree of branches: write, walk back, branch, adopt; and what it survives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benches.sample import Bench
from layout_faults import noted_texts
from PySide6.QtCore import Qt
from PySide6.QtGui import QPolygonF

from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.text.corpus import load_corpus


@pytest.fixture(scope="module")
def letters_run(tmp_path_factory: pytest.TempPathFactory, text_file: Path) -> Path:
    """A model whose tokens are characters."""
    from lmviz.api.training import train

    folder = tmp_path_factory.mktemp("runs") / "letters"
    train("ngram", load_corpus(text_file, "characters", documents="line"), folder, order=3)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["letters"], indirect=True)
def test_characters_are_not_called_words(bench: Bench) -> None:
    assert bench.find("distribution_view").card.title == "From logits to a character"
    said = [line.text for line in bench.find("branches_view").findChildren(MutedLine)]
    assert any("click a character" in line for line in said)
    bench.roll()
    texts: list[tuple[str, QPolygonF, bool]] = []
    with noted_texts(texts):
        bench.find("branches_tree").grab()
    written = {text for text, _, _ in texts}
    assert "character" in written
    assert "word" not in written


ONLY_PANELS = ("branches", "distribution", "roll")


def test_a_click_on_a_word_writes_it_and_one_can_branch_and_return(bench: Bench) -> None:
    session, table = bench.session, bench.find("pipeline_table")
    ids = bench.find("distribution_view").ids_shown[:3]
    place = table.line_rectangle(2).center().toPoint()
    bench.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    bench.wait(lambda: session.writing.branches.node.id == ids[2])
    assert session.writing.branches.node.draws == ()
    bench.wait_for_prospect()
    first = session.writing.branches.current
    bench.click("sample_back_button")
    bench.wait_for_prospect()
    bench.settle()
    die = bench.find("die")
    bench.qtbot.mouseClick(die, Qt.MouseButton.LeftButton, pos=die.part_rectangle(0).center().toPoint())
    bench.wait(lambda: session.writing.branches.node.id == ids[0])
    assert {child.index for child in session.writing.branches.children(0)} == {
        first,
        session.writing.branches.current,
    }
    bench.settle()
    view, tree = bench.find("branches_view"), bench.find("branches_tree")
    tree.part_clicked.emit(view.goals.index((first, None)))
    bench.wait_for_prospect()
    assert session.writing.branches.current == first


@pytest.mark.slow
def test_a_word_that_was_not_taken_can_be_written_from_the_tree(bench: Bench) -> None:
    bench.roll()
    view = bench.find("branches_view")
    bench.wait(lambda: any(id is not None for _, id in view.goals))
    node, (parent, id) = next((n, goal) for n, goal in enumerate(view.goals) if goal[1] is not None)
    bench.find("branches_tree").part_clicked.emit(node)
    bench.wait(lambda: bench.session.writing.branches.node.id == id)
    assert bench.session.writing.branches.node.parent == parent


@pytest.mark.slow
def test_after_a_roll_another_word_is_written_instead(bench: Bench) -> None:
    bench.roll()
    drawn = bench.session.writing.branches.node
    other = next(id for id in bench.session.writing.prospect.distribution.order if id != drawn.id)
    bench.session.writing.write(int(other))
    bench.wait(lambda: bench.session.writing.branches.node.id == other)
    assert bench.session.writing.branches.node.parent == drawn.parent


@pytest.mark.slow
def test_the_tree_leaves_the_prefix_alone_until_it_is_adopted(bench: Bench) -> None:
    bench.session.writing.write(bench.model.tokenizer.id_of("eat"))
    bench.wait(lambda: bench.session.writing.branches.current > 0)
    bench.settle()
    text = bench.session.writing.branches.node.text
    assert bench.session.reading.prefix == "the cows"
    bench.click("use_as_prefix_button")
    assert bench.session.reading.prefix == text
    assert len(bench.session.writing.branches.nodes) == 1


@pytest.mark.slow
def test_another_snapshot_keeps_the_tree_and_changes_what_comes_next(bench: Bench) -> None:
    session = bench.session
    bench.roll()
    bench.click("sample_back_button")
    bench.wait_for_prospect()
    late = session.writing.prospect.distribution.probabilities
    session.library.choose_step(session.library.model.snapshots[0])
    bench.wait(lambda: not np.allclose(session.writing.prospect.distribution.probabilities, late))
    assert len(session.writing.branches.nodes) == 2


@pytest.mark.slow
def test_another_prefix_begins_another_tree(bench: Bench) -> None:
    bench.roll()
    bench.session.reading.set_prefix("the hens")
    assert (bench.session.writing.branches.prefix, len(bench.session.writing.branches.nodes)) == (
        "the hens",
        1,
    )
    bench.wait_for_prospect()


@pytest.mark.slow
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


@pytest.mark.slow
def test_before_the_first_word_it_is_said_that_a_text_begins(bench: Bench) -> None:
    bench.session.reading.set_prefix("")
    bench.wait_for_prospect()
    lines = bench.find("distribution_view").findChildren(MutedLine)
    bench.wait(lambda: any(line.text.startswith("at the beginning · entropy") for line in lines))
    bench.wait(lambda: bench.find("branches_tree").accessibleDescription() == "⟨start⟩")

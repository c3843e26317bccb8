"""Every head of a deep model, sorted by what it looks at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from foreign_models import LLAMA
from foreign_tokenizers import byte_pairs, write_tokenizer
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QTabBar
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.attention.every_head import EveryHeadPanel
from lmviz.app.panels.attention.heads import HeadsPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.score_strips import ScoreStrips
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection import head_badges as head_badges_of
from lmviz.inspection.head_badges import DUPLICATE, PREVIOUS, head_badges
from tests.app.conftest import wait_for_reading


def deep_model(folder: Path, layers: int) -> Path:
    transformers = pytest.importorskip("transformers")
    backend = byte_pairs()
    sizes = LLAMA | {"vocab_size": backend.get_vocab_size(), "num_hidden_layers": layers}
    transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).save_pretrained(folder)
    return write_tokenizer(folder, backend)


def panel(window: MainWindow) -> EveryHeadPanel:
    window.perspective.bring_forward("every_head_view")
    [found] = window.findChildren(EveryHeadPanel)
    return found


def test_they_are_sorted_by_the_scores_of_their_badges(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_paths([deep_model(tmp_path / "deep", 26)])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("The capital of France is Paris.")
    wait_for_reading(session, qtbot)
    shown = panel(window)
    assert shown.out_of_place(session.library.shown_moment[0]) == ""
    qtbot.waitUntil(lambda: len(shown.wall.order()) == 26 * 6)
    sort = window.findChild(QComboBox, "sort_heads_picker")
    assert sort is not None
    sort.setCurrentText("previous word")
    badges = head_badges(session.reading.current.trace)
    scores = {(head.layer, head.head): head.scores[PREVIOUS] for layer in badges for head in layer}
    ordered = [scores[head] for head in shown.wall.order()]
    assert ordered == sorted(ordered, reverse=True)
    assert shown.wall.order() != sorted(scores)
    layer, head = shown.wall.order()[0]
    shown.wall.head_clicked.emit(layer, head)
    assert session.attention.head == (layer, head)
    known: dict[str, object] = {}
    exec(shown.recipe(), known)  # - what the window hands out to be run
    assert known["badges"] == badges
    exported = shown.exported_arrays()["previous_word"]
    assert np.allclose(exported[layer, head], ordered[0])


@pytest.mark.slow
def test_the_chosen_head_has_its_place_among_all(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_paths([deep_model(tmp_path / "deep", 26)])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("The capital of France is the capital of Paris.")
    wait_for_reading(session, qtbot)
    shown = panel(window)
    qtbot.waitUntil(lambda: len(shown.wall.order()) == 26 * 6)
    strips = shown.findChild(ScoreStrips)
    assert [strip.name for strip in strips.strips] == [
        "previous word",
        "the same word before",
        "what followed it",
        "first word",
        "one other word",
    ]
    assert not strips.isVisible()
    sort = window.findChild(QComboBox, "sort_heads_picker")
    sort.setCurrentText("the same word before")
    assert strips.isVisible()
    session.attention.choose_head(3, 2)
    assert strips.current == 3 * 6 + 2
    same = shown.scores(DUPLICATE)
    assert strips.strips[1].scores == pytest.approx(same.ravel())
    assert strips.strips[1].rank(20) == 1 + (same > same[3, 2]).sum()
    best = int(same.argmax())
    qtbot.mouseClick(strips, Qt.MouseButton.LeftButton, pos=strips.place_of(1, best).toPoint())
    chosen = session.attention.head
    assert same[chosen] == pytest.approx(same.max(), abs=0.01)
    assert strips.readout((1, best))[0] == f"layer {best // 6 + 1}, head {best % 6 + 1}"
    heads = [head for layer in head_badges(session.reading.current.trace) for head in layer]
    resting = sum(head.rests_on is not None for head in heads)
    said = shown.findChild(QLabel, "resting_heads_sentence").text()
    assert said.startswith(
        f"{resting} of 156 heads look mostly at one word: "
        if resting
        else "None of the 156 heads looks mostly"
    )
    assert shown.wall.order()[0] == divmod(best, 6)


@pytest.mark.slow
def test_it_has_the_room_of_what_shows_less_and_gives_it_back(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_paths([deep_model(tmp_path / "deep", 26)])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("The capital of France is Paris.")
    wait_for_reading(session, qtbot)
    board = window.perspective
    [few] = window.findChildren(HeadsPanel)
    assert few.isVisible()
    shown = panel(window)
    qtbot.waitUntil(lambda: len(shown.wall.order()) == 26 * 6 and not few.isVisible())
    usual = shown.width()
    assert usual > window.width() / 2
    board.bring_forward("heads_view")  # as the palette and lessons do
    qtbot.waitUntil(few.isVisible)
    board.bring_forward("every_head_view")
    qtbot.waitUntil(lambda: not few.isVisible())
    assert shown.width() == usual
    [bar] = [
        bar for bar in board.findChildren(QTabBar) if "Every head" in map(bar.tabText, range(bar.count()))
    ]
    bar.setCurrentIndex(0)
    qtbot.waitUntil(few.isVisible)


@pytest.mark.slow
def test_signs_are_explained_where_there_are_some(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(head_badges_of.THRESHOLDS, DUPLICATE, 0.0)
    monkeypatch.setattr(head_badges_of, "ABOVE_CHANCE", 0.0)
    window.open_paths([deep_model(tmp_path / "deep", 26)])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("The capital of France is the capital of Paris.")
    wait_for_reading(session, qtbot)
    shown = panel(window)
    qtbot.waitUntil(lambda: len(shown.wall.order()) == 26 * 6)
    said = shown.findChild(QLabel, "head_signs").accessibleName()
    assert "= the same word before: 156" in said
    assert "what followed it" not in said


@pytest.mark.slow
def test_the_few_heads_of_a_small_model_are_sorted_as_well(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat the cows")
    wait_for_reading(session, qtbot)
    shown = panel(window)
    assert shown.out_of_place(session.library.shown_moment[0]) == ""
    qtbot.waitUntil(lambda: bool(shown.wall.order()))
    sort = window.findChild(QComboBox, "sort_heads_picker")
    sort.setCurrentText("the same word before")
    same = shown.scores(DUPLICATE)
    wanted = [
        tuple(map(int, np.unravel_index(at, same.shape)))
        for at in np.argsort(-same, axis=None, kind="stable")
    ]
    assert [same[head] for head in shown.wall.order()] == [same[head] for head in wanted]
    sort.setCurrentIndex(sort.count() - 1)
    effects = np.abs(lmviz.ablate(transformer_run, lmviz.contrast("the cows eat the cows"), by="mean").array)
    qtbot.waitUntil(lambda: "effect" in shown.exported_arrays())
    assert shown.wall.order()[0] == np.unravel_index(effects.argmax(), effects.shape)


@pytest.mark.slow
def test_they_are_sorted_by_their_effect_on_the_answer_and_weak_ones_are_left_out(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = deep_model(tmp_path / "deep", 26)
    window.open_paths([folder])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("The capital of France")
    wait_for_reading(session, qtbot)
    shown = panel(window)
    qtbot.waitUntil(lambda: len(shown.wall.order()) == 26 * 6)
    which = window.findChild(QComboBox, "shown_heads_picker")
    assert not which.isEnabled(), "by layer all are drawn"
    window.findChild(QComboBox, "sort_heads_picker").setCurrentText("effect on the answer")
    qtbot.waitUntil(lambda: "effect" in shown.exported_arrays())
    effects = np.abs(shown.exported_arrays()["effect"])
    opened = lmviz.open_model(folder)
    asked = lmviz.contrast("The capital of France", measure=_proposed(opened))
    wanted = lmviz.ablate(opened, asked, by="mean").array
    np.testing.assert_allclose(effects, np.abs(wanted), atol=1e-4)
    ordered = [effects[head] for head in shown.wall.order()]
    assert ordered == sorted(ordered, reverse=True)
    which.setCurrentIndex(2)
    assert len(shown.wall.order()) == int((effects >= effects.max() / 2).sum()) < effects.size
    which.setCurrentIndex(0)
    session.reading.set_prefix("The capital of Italy")
    wait_for_reading(session, qtbot)

    def is_of_the_other_text() -> bool:
        found = shown.exported_arrays().get("effect")
        return found is not None and not np.allclose(np.abs(found), effects)

    qtbot.waitUntil(is_of_the_other_text)


def _proposed(model: object) -> str:
    """The two likeliest words, of whose logits the difference is asked about."""
    first, second = lmviz.next_token(model, "The capital of France").top(2)
    return f"logit:{first.token}-{second.token}"

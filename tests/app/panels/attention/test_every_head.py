"""Every head of a deep model, sorted by what it looks at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from foreign_models import LLAMA
from foreign_tokenizers import byte_pairs, write_tokenizer
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from lmviz.app.panels.attention.every_head import EveryHeadPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.head_badges import PREVIOUS, head_badges
from tests.app.conftest import wait_for_reading


@pytest.fixture
def first_perspective() -> str:
    """Where heads are."""
    return "attention"


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


def test_a_shallow_model_needs_it_not(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_paths([deep_model(tmp_path / "shallow", 2)])
    qtbot.waitUntil(lambda: session.library.model is not None)
    assert "All heads" in panel(window).out_of_place(session.library.shown_moment[0])

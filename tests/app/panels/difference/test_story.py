"""What fine-tuning did, from beginning to end: opened, tuned, scrubbed, found, transplanted, exported."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from benches.compare import LONG, bring_to_front, panel
from benches.exporting import choose
from foreign_models import add_tokenizer, saved
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.board.exporting import choose_numbers
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow

TOKENS = torch.arange(8)[None]
STEPS = 80


@pytest.mark.slow
def test_what_fine_tuning_did_is_seen_from_beginning_to_end(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    checkpoint = add_tokenizer(saved("gpt2", tmp_path / "small-gpt2"))
    text, other = tmp_path / "words.txt", tmp_path / "other.txt"
    text.write_text(" ".join(f"w{place * 3 % 40 + 1}" for place in range(800)))
    other.write_text(" ".join(f"w{place * 7 % 30 + 1}" for place in range(200)))

    # Open a checkpoint of another program, and a text.
    window.show_perspective("train")
    session.library.open(checkpoint)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.text.open(text, documents="file")
    qtbot.waitUntil(lambda: session.text.corpus is not None and session.work.is_ready, timeout=LONG)

    # Tune it for some steps, a second text beside.
    options = replace(
        session.tuning.options, steps=STEPS, batch=4, length=16, learning_rate=0.03, validate_every=20
    )
    session.tuning.change(options=options)
    tuning = bring_to_front(window, "tuning_view", qtbot)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(other), ""))
    qtbot.mouseClick(tuning.findChild(QPushButton, "second_text_button"), Qt.MouseButton.LeftButton)
    assert session.tuning.second == other
    button = tuning.findChild(QPushButton, "tune_button")
    qtbot.waitUntil(button.isEnabled, timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.training.state.phase == "finished", timeout=LONG)
    folder = session.training.state.folder
    qtbot.waitUntil(
        lambda: session.library.model.folder == folder and STEPS in session.library.model.snapshots,
        timeout=LONG,
    )
    plot = window.findChild(LinePlot, "loss_plot")
    qtbot.waitUntil(lambda: {"its own, written before", "second text"} <= set(plot.points()), timeout=LONG)
    history = session.training.history_of(session.library.model)
    assert history.validation_loss.values[-1] < history.validation_loss.values[0]

    # Scrub it: at step 0 it is the checkpoint.
    prefix = "w1 w4 w7"
    session.reading.set_prefix(prefix)
    for step, model in ((0, checkpoint), (STEPS, folder)):
        session.library.choose_step(step)
        qtbot.waitUntil(
            lambda step=step: (
                session.reading.current is not None
                and session.reading.current.step == step
                and session.reading.current.trace.text == prefix
            ),
            timeout=LONG,
        )
        wanted = lmviz.trace(lmviz.open_model(model), prefix)["logits"].array
        assert np.allclose(session.reading.current.trace["logits"].array, wanted, atol=1e-4)

    # Find the words that rose.
    window.show_perspective("difference")
    session.pair.choose_before((session.library.model, 0))
    words = panel(window, "changed_words_view")
    qtbot.waitUntil(lambda: "after" in words.exported_arrays() and not words.is_behind, timeout=LONG)
    before, after = lmviz.open_model(checkpoint), lmviz.open_model(folder)
    rose = np.argmax(words.exported_arrays()["after"] - words.exported_arrays()["before"])
    shares = [lmviz.next_token(model, prefix).probabilities for model in (before, after)]
    assert rose == np.argmax(shares[1] - shares[0])
    assert session.reading.tokenizer.token(int(rose)) == "w10", "what the text goes on with"

    # Transplant: which part carries it.
    transplant = bring_to_front(window, "transplant_view", qtbot)
    qtbot.waitUntil(lambda: transplant.found is not None and transplant.found.is_done, timeout=LONG)
    moved = lmviz.transplant(before, after, prefix)
    assert transplant.exported_arrays()["alone"] == pytest.approx(moved.array, abs=1e-3)
    assert transplant.exported_arrays()["from below"][-1] == 1.0

    # Export: the numbers, and the model for other programs.
    choose(tmp_path / "moved.csv", monkeypatch)
    choose_numbers(transplant)
    with (tmp_path / "moved.csv").open(encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == len(moved.parts) + 1
    choose(tmp_path / "adapter", monkeypatch)
    window.commands.choosing.save_model()
    qtbot.waitUntil(lambda: (tmp_path / "adapter" / "adapter_config.json").exists(), timeout=LONG)
    qtbot.waitUntil(lambda: not session.work.jobs, timeout=LONG)
    assert torch.equal(lmviz.open_model(tmp_path / "adapter")(TOKENS), after(TOKENS))

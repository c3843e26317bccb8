"""An opened checkpoint that is trained further from the window: planned, tuned, scrubbed, written."""

import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from foreign_models import add_tokenizer, saved
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.train.before_after import BeforeAfterPanel
from lmviz.app.panels.train.forgetting import ForgettingPanel
from lmviz.app.panels.train.tuning import TuningPanel
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.session.tuning import NO_MODEL, NO_TEXT
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.controls.measured_cards import MeasuredCards
from lmviz.app.widgets.diagrams.thin_product import ThinProduct
from lmviz.app.widgets.plots.answer_columns import AnswerColumns
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow
from lmviz.training.forgetting import Forgetting
from tests.app.conftest import open_other_text

ONLY_PANELS = ("tuning", "loss", "forgetting", "before_after")

LONG = 60_000
TOKENS = torch.arange(8)[None]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints") / "small-gpt2"
    return add_tokenizer(saved("gpt2", folder))


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "words.txt"
    path.write_text(" ".join(f"w{place * 3 % 40 + 1}" for place in range(800)))
    return path


@pytest.fixture
def panel(window: MainWindow, session: Session, checkpoint: Path, words: Path, qtbot: QtBot) -> TuningPanel:
    """The panel, in front, with a checkpoint and a text open, and small steps planned."""
    window.show_perspective("train")
    found = window.findChild(TuningPanel)
    found.parentWidget().raise_()
    assert found.session.tuning.obstacle == NO_MODEL
    session.library.open(checkpoint)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert session.tuning.obstacle == NO_TEXT
    session.tuning.change(options=replace(session.tuning.options, steps=6, batch=2, length=8))
    session.text.open(words, documents="file")
    qtbot.waitUntil(lambda: session.text.corpus is not None and session.work.is_ready, timeout=LONG)
    return found


def has_plans(session: Session) -> bool:
    known = session.tuning.known
    return known is not None and len(known.plans) == 3 and all(plan.seconds for plan in known.plans.values())


def tune(panel: TuningPanel, session: Session, qtbot: QtBot) -> None:
    """Press the button, and wait until the training has ended and its run is shown."""
    button = panel.findChild(QPushButton, "tune_button")
    qtbot.waitUntil(button.isEnabled, timeout=LONG)
    before = session.training.state.folder
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: session.training.state.phase == "finished" and session.training.state.folder != before,
        timeout=LONG,
    )
    folder = session.training.state.folder
    qtbot.waitUntil(lambda: session.library.model.folder == folder, timeout=LONG)
    qtbot.waitUntil(lambda: 6 in session.library.model.snapshots, timeout=LONG)


@pytest.mark.slow
def test_each_way_says_what_it_takes_before_anything_begins(
    panel: TuningPanel, window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    ways = panel.findChild(MeasuredCards, "tuning_ways")
    qtbot.waitUntil(lambda: has_plans(session), timeout=LONG)
    qtbot.waitUntil(lambda: all(bar.share is not None for card in ways.cards for bar in card.bars))
    assert [card.title for card in ways.cards] == ["all weights", "last 2 of 2 layers", "LoRA, rank 8"]
    whole, _, lora = (card.bars[0] for card in ways.cards)
    assert whole.share == 1.0
    assert lora.share < 1
    plans = session.tuning.known.plans
    assert plans["lora"].trained == 2 * 8 * ((24 + 72) + (24 + 24) + (24 + 96) + (96 + 24))
    thin = panel.findChild(ThinProduct, "thin_product")
    assert thin.shape == (96, 24, 8)  # that of the feed-forward network
    kept, second, first = thin.areas()
    assert second.width() / kept.width() == pytest.approx(8 / 24)
    assert first.height() / kept.height() == pytest.approx(8 / 96)
    text = panel.findChild(QWidget, "tuning_text").text
    assert f"{len(session.tuning.known.corpus.training)}" in text
    panel.findChild(ConfigurationForm, "tuning_form").field("rank").control.setValue(4)
    qtbot.waitUntil(lambda: has_plans(session), timeout=LONG)
    assert session.tuning.known.plans["lora"].trained == plans["lora"].trained // 2
    assert not session.library.model.run.snapshots()[1:]
    as_it_reads = weakref.ref(session.tuning.known.corpus)
    window.show_perspective("corpus")  # where nothing measures anew
    open_other_text(session, text_file, qtbot)
    assert as_it_reads() is None


@pytest.mark.slow
def test_a_checkpoint_is_tuned_scrubbed_and_written(
    window: MainWindow, panel: TuningPanel, session: Session, checkpoint: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    ways = panel.findChild(MeasuredCards, "tuning_ways")
    qtbot.waitUntil(lambda: has_plans(session), timeout=LONG)
    base = session.library.model
    tune(panel, session, qtbot)
    assert session.library.model.name.startswith("small-gpt2 + LoRA, rank 8 on words")
    plot = window.findChild(LinePlot, "loss_plot")
    qtbot.waitUntil(lambda: "its own, written before" in plot.points(), timeout=LONG)

    session.library.choose_step(0)
    session.reading.set_prefix("w1 w4 w7")
    qtbot.waitUntil(
        lambda: (
            session.reading.current is not None
            and session.reading.current.step == 0
            and session.reading.current.trace.text == "w1 w4 w7"
        ),
        timeout=LONG,
    )
    wanted = lmviz.trace(lmviz.open_model(checkpoint), "w1 w4 w7")["logits"].array
    assert np.allclose(session.reading.current.trace["logits"].array, wanted, atol=1e-5)

    first = session.library.model
    see_before_and_after(window, session, first, qtbot)
    session.library.choose(base)
    place = ways.part_rectangle(0).center().toPoint()
    qtbot.mouseClick(ways, Qt.MouseButton.LeftButton, pos=place)
    assert session.tuning.chosen.adapter == "all"
    assert session.tuning.options.learning_rate == 0.0001
    tune(panel, session, qtbot)

    answers = window.findChild(BeforeAfterPanel)
    answers.parentWidget().raise_()
    qtbot.waitUntil(lambda: len(answers.exported_arrays().get("probabilities", ())) == 3, timeout=LONG)
    names = answers.exported_names().rows
    assert [name.partition(",")[0] for name in names] == ["before", "all weights", "LoRA"]

    plane = window.findChild(ForgettingPanel)
    plane.parentWidget().raise_()
    qtbot.waitUntil(lambda: len(plane.exported_arrays()) == 2, timeout=LONG)
    assert {name.partition(",")[0] for name in plane.exported_arrays()} == {"all weights", "LoRA"}
    written = lmviz.convert(first.folder, tmp_path / "adapter")
    assert torch.equal(lmviz.open_model(written)(TOKENS), lmviz.open_model(first.folder)(TOKENS))


def see_before_and_after(window: MainWindow, session: Session, run: OpenedModel, qtbot: QtBot) -> None:
    """What the base and the tuned model say to the same beginnings, against single questions to each."""
    view = window.findChild(BeforeAfterPanel)
    session.library.choose_step(6)
    view.parentWidget().raise_()
    qtbot.waitUntil(
        lambda: (
            view.found is not None and len(view.found.texts) == 2 and view.asked.subject[1].moment == (run, 6)
        ),
        timeout=LONG,
    )
    prompts = list(view.exported_names().columns)
    assert 0 < len(prompts) <= 6  # of what the model wrote itself, for it knows no English
    models = [lmviz.open_model(run.folder, step) for step in (0, 6)]
    before = [lmviz.next_token(models[0], prompt).top(1)[0] for prompt in prompts]
    after = [lmviz.next_token(models[1], prompt) for prompt in prompts]
    shares = [[one.probability for one in before]]
    shares += [[one.probabilities[word.id] for one, word in zip(after, before, strict=True)]]
    assert np.allclose(view.exported_arrays()["probabilities"], shares, atol=1e-5)
    found: dict = {}
    exec(view.recipe(), found)
    assert np.allclose(found["values"], view.exported_arrays()["probabilities"], atol=1e-6)

    qtbot.mouseClick(view.findChild(QPushButton, "keep_prompt_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: list(view.exported_names().columns) == ["w1 w4 w7"], timeout=LONG)
    qtbot.mouseClick(view.findChild(QPushButton, "usual_prompts_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: list(view.exported_names().columns) == prompts, timeout=LONG)
    view.findChild(AnswerColumns).part_clicked.emit(0)
    assert session.reading.prefix == prompts[0]


def test_what_no_model_can_learn_is_said(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("train")
    panel = window.findChild(TuningPanel)
    panel.parentWidget().raise_()
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert "no Transformer" in session.tuning.obstacle
    qtbot.waitUntil(
        lambda: any("no Transformer" in label.text() for label in panel.findChildren(QLabel)), timeout=LONG
    )


def test_the_plane_compares_at_the_same_gain() -> None:
    path = Forgetting.between(([0, 2, 4, 6], [4.0, 3.5, 3.6, 3.0]), ([0, 2, 4, 6], [1.0, 1.2, 1.3, 1.8]))
    learned, forgotten = path.path()
    assert learned.tolist() == [0, 0.5, 1.0]
    assert np.allclose(forgotten, [0, 0.2, 0.8])
    assert path.forgotten_at(0.75) == pytest.approx(0.5)
    assert path.forgotten_at(1.5) is None
    assert Forgetting.between(([2], [1.0]), ([2], [1.0])) is None

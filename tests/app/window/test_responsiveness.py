"""The window stays quick while it trains, and training quick behind the window."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from patience import patience
from pytestqt.qtbot import QtBot
from ticking import check_ticking

from lmviz.api.training import prepare_training
from lmviz.app.session.reading import ReadingQuestion, read
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.tracing import trace
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.text.corpus import load_corpus
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

LONG = 30_000
TICKS = 60
STEPS = 30
ROUNDS = 9
SMALL = {"layers": 2, "heads": 2, "width": 64, "context": 32}


@pytest.fixture
def training(window: MainWindow, session: Session, text_file: Path, options: TrainingOptions, qtbot: QtBot):
    """The window with the Train perspective on a training that goes on, and a prefix to look at."""
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    window.show_perspective("train")
    options = replace(options, batch=8, length=32)
    session.training.start("transformer", TransformerConfiguration(**SMALL), options)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(lambda: session.reading.current is not None, timeout=LONG)
    return session


def test_a_timer_keeps_ticking_while_the_window_trains(training: Session, qtbot: QtBot) -> None:
    check_ticking(qtbot, TICKS)


@pytest.mark.slow
def test_training_in_the_window_is_not_much_slower_than_headless(
    training: Session, text_file: Path, options: TrainingOptions, tmp_path: Path, qtbot: QtBot
) -> None:
    corpus = load_corpus(text_file, documents="line")
    settings = options.to_values() | {"batch": 8, "length": 32} | SMALL
    prepared = prepare_training("transformer", corpus, tmp_path / "run", **settings)
    next(prepared.progress)
    rates: list[float] = []
    least = 0.3 / patience()  # other work on the machine comes and goes
    while len(rates) < ROUNDS and max(rates, default=0.0) <= least:
        training.training.resume()
        first, began = training.training.state.progress.step, time.perf_counter()
        qtbot.waitUntil(lambda first=first: training.training.state.progress.step >= first + STEPS)
        training.training.pause()
        windowed = (training.training.state.progress.step - first) / (time.perf_counter() - began)
        qtbot.waitUntil(lambda: training.training.state.phase == "paused")
        began = time.perf_counter()
        for _ in range(STEPS):
            next(prepared.progress)
        rates.append(windowed / (STEPS / (time.perf_counter() - began)))
    prepared.progress.close()
    assert max(rates) > least


def test_reading_on_takes_over_what_was_read_and_says_the_same(
    make_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.open(make_run("transformer", 2, width=8, heads=2, layers=2, context=16))
    model = open_run_model(run)
    opened = SimpleNamespace(folder=run.folder)
    first = read(model, ReadingQuestion(opened, 2, "the cows eat"))
    fresh = trace(model, "the cows eat grass")
    monkeypatch.setattr(model, "listen", None)  # which a fresh trace would need
    longer = read(model, ReadingQuestion(opened, 2, "the cows eat grass"), first).trace
    for address, traced in fresh.arrays.items():
        assert longer[address].array == pytest.approx(traced.array, abs=1e-5)

"""Drawing what is large: a whole vocabulary, all heads of a Transformer, a training run as a film."""

from __future__ import annotations

import random
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.apart import once_apart
from benchmarks.keystrokes import measured
from benchmarks.limits import of_plain_frame
from benchmarks.rows import Measured, Row
from lmviz.families import open_run_model

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QWidget

    from benchmarks.opened_window import OpenedWindow

TEMPERATURES = 120
HEADS, POSITIONS = 12, 512
TEXTS, HOVERS = 5, 200
BETWEEN_MOVES = 0.02  # seconds
SNAPSHOTS = 200
WALKS = 5
SAMPLE_MODEL = "shakespeare-transformer"
SAMPLE_PREFIX = "First Citizen:\nBefore we proceed any further, hear me speak. Al"


def _temperature() -> list[float]:
    """Seconds from each temperature to the repainted table of the vocabulary, ascending."""
    from benchmarks.made_models import make_run, text
    from benchmarks.opened_window import OpenedWindow
    from lmviz.app.widgets.tables.figures_table import FiguresTable
    from lmviz.models.transformer_configuration import TransformerConfiguration

    with tempfile.TemporaryDirectory() as folder:
        configuration = TransformerConfiguration(layers=2, heads=4, width=64, context=64)
        opened = OpenedWindow(Path(folder))
        opened.open_model(make_run(Path(folder) / "run", configuration), text(16))
        opened.show("sample")
        session, table = opened.session, opened.view("distribution_view", FiguresTable)
        session.writing.set_sampling(top_k=40, top_p=0.9)
        opened.settle()
        taken = []
        for number in range(TEMPERATURES):
            act = partial(session.writing.set_sampling, temperature=0.4 + number / 100)
            taken.append(
                opened.seconds_until_painted(act, [table.viewport()], session.writing.sampling_changed)
            )
        opened.close()
    return sorted(taken)


def _attention() -> tuple[list[float], list[float]]:
    """Seconds from a trace to all its heads drawn, and from a move of the pointer to its answer."""
    from benchmarks.made_models import make_run, text
    from benchmarks.opened_window import OpenedWindow
    from lmviz.app.widgets.matrix.heatmap import HeatmapView
    from lmviz.app.widgets.matrix.mosaic import HeadMosaic
    from lmviz.app.widgets.text.attention_text import AttentionText
    from lmviz.models.transformer_configuration import TransformerConfiguration

    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        configuration = TransformerConfiguration(
            layers=HEADS, heads=HEADS, width=16 * HEADS, context=POSITIONS
        )
        opened = OpenedWindow(Path(folder))
        opened.open_model(make_run(Path(folder) / "run", configuration), text(8))
        opened.show("attention")
        matrix = opened.view("attention_view", HeatmapView)
        views = [
            matrix,
            opened.view("attention_text_view", AttentionText),
            opened.view("heads_view", HeadMosaic),
        ]
        drawn = [_drawn(opened, text(POSITIONS, seed), views) for seed in range(TEXTS)]
        hovered = []
        for _ in range(HOVERS):
            key = chance.randrange(POSITIONS)
            place = matrix.cell_rectangle(chance.randrange(key, POSITIONS), key).center().toPoint()
            if matrix.rect().contains(place):
                hovered.append(opened.seconds_until_painted(partial(_move, matrix, place), [matrix]))
                opened.live(BETWEEN_MOVES)
        opened.close()
    return sorted(drawn), sorted(hovered)


def _move(widget: QWidget, place: QPoint) -> None:
    """The pointer's arrival at a place of a widget."""
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    none = Qt.MouseButton.NoButton
    everywhere = (QPointF(place), QPointF(widget.mapToGlobal(place)))
    event = QMouseEvent(QEvent.Type.MouseMove, *everywhere, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, event)


def _drawn(opened: OpenedWindow, text: str, views: list[QWidget]) -> float:
    """Seconds from the arrival of a new text's trace until all views have been painted with it."""
    arrived: list[float] = []

    def note() -> None:
        arrived.append(time.perf_counter())

    session, mosaic = opened.session, views[-1]
    panel = opened.panel("heads_view")
    before = panel.badges
    session.reading.changed.connect(note)
    opened.seconds_until_painted(
        partial(session.reading.set_prefix, text), views[:-1], session.reading.changed
    )
    opened.wait_until(lambda: panel.badges is not before)
    opened.seconds_until_painted(mosaic.update, [mosaic])
    ended = time.perf_counter()
    session.reading.changed.disconnect(note)
    opened.settle()
    return ended - arrived[-1]


def _scrubbing() -> list[float]:
    """Seconds from each move of the time slider to that moment's attention and distribution, ascending."""
    from benchmarks.made_models import write_run
    from benchmarks.opened_window import OpenedWindow
    from lmviz.api.training import find_run
    from lmviz.app.widgets.matrix.heatmap import HeatmapView
    from lmviz.app.widgets.plots.bars import BarsView
    from lmviz.training.run import Run

    sample = Run.open(find_run(SAMPLE_MODEL))
    with tempfile.TemporaryDirectory() as folder:
        model = open_run_model(sample)
        run = write_run(Path(folder) / "run", model.configuration, sample.tokenizer())
        for step in range(SNAPSHOTS):
            run.save_snapshot(
                step, {name: value * (1 + step / 1000) for name, value in model.state().items()}
            )
        opened = OpenedWindow(Path(folder))
        opened.open_model(run.folder, SAMPLE_PREFIX)
        opened.show("attention")
        views = [opened.view("next_word_view", BarsView), opened.view("attention_view", HeatmapView)]
        slider, changed = opened.window.transport.time.slider, opened.session.reading.changed
        moves = [partial(slider.setValue, index) for index in range(SNAPSHOTS - 1)]
        taken = [opened.seconds_until_painted(move, views, changed) for move in moves]
        opened.close()
    return sorted(taken)


def _walk() -> list[float]:
    """Seconds of each frame in which a cell's operands run to it, ascending."""
    from benchmarks.opened_window import OpenedWindow
    from lmviz.api.training import find_run
    from lmviz.app.widgets.matrix.operation_view import OperationView

    with tempfile.TemporaryDirectory() as folder:
        opened = OpenedWindow(Path(folder))
        opened.open_model(find_run(SAMPLE_MODEL), SAMPLE_PREFIX)
        opened.show("inside")
        session, view = opened.session, opened.view("stage_view", OperationView)
        stages = session.reading.current.trace.stages
        address = "layers/0/feedforward/hidden"
        session.focus.choose_stage(next(at for at, stage in enumerate(stages) if address in stage.results))
        opened.settle()
        taken = []
        for unit in range(WALKS):
            session.focus.choose_cell((address, (len(session.reading.current.trace) - 1, unit)))
            opened.wait_until(lambda: view.is_walking)
            while view.is_walking:
                before = time.perf_counter()
                view.repaint()
                taken.append(time.perf_counter() - before)
                opened.live(BETWEEN_MOVES)
        opened.close()
    return sorted(taken)


def scrubbing() -> Measured:
    """Snapshots a second."""
    taken = once_apart(_scrubbing)
    detail = f"{len(taken)} snapshots, the slowest {1000 * taken[-1]:.0f} ms"
    return Measured(len(taken) / sum(taken), detail, of_plain_frame(sum(taken) / len(taken)))


ROWS = (
    Row(
        "temperature",
        "a change of the temperature to the repainted pipeline over 50,257 tokens, p95",
        "ms",
        16,
        True,
        lambda: measured(once_apart(_temperature), limit=of_plain_frame),
    ),
    Row(
        "attention",
        f"a trace of {HEADS} × {HEADS} heads × {POSITIONS} tokens to all of its pictures, median",
        "ms",
        300,
        True,
        lambda: measured(once_apart(_attention)[0], 0.5, of_plain_frame),
    ),
    Row(
        "hover",
        "a move of the pointer over one of these heads to the repainted picture, p95",
        "ms",
        16,
        True,
        lambda: measured(once_apart(_attention)[1], limit=of_plain_frame),
    ),
    Row(
        "walk",
        "a frame in which the operands of a pinned cell run to it, p95",
        "ms",
        16,
        True,
        lambda: measured(once_apart(_walk), limit=of_plain_frame),
    ),
    Row("scrubbing", f"scrubbing {SNAPSHOTS} snapshots of {SAMPLE_MODEL}", "a second", 20, False, scrubbing),
)

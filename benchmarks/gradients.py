"""From the choice of a number to the repainted picture of its gradient, and from a step on the tape."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.apart import once_apart
from benchmarks.keystrokes import SAMPLE_MODEL, SAMPLE_PREFIX, measured, opened_at
from benchmarks.limits import of_plain_frame
from benchmarks.rows import Row

TOKENS = 64
PAUSE = 0.05  # seconds in which the panels that give way have drawn as well
ROUNDS = 20  # times through the tape and back


def _gradients() -> list[float]:
    """Seconds from each choice to the attention of its gradient, of every tap, ascending."""
    from lmviz.app.widgets.matrix.heatmap import HeatmapView

    opened = opened_at(SAMPLE_MODEL, (SAMPLE_PREFIX * 2)[:TOKENS])
    gradients, views = opened.session.gradients, [opened.view("attention_view", HeatmapView)]
    gradients.show(True)
    opened.wait_until(lambda: gradients.current is not None)
    taken = []
    for target in range(2, len(opened.session.reading.current.trace)):
        choose = partial(gradients.choose, f"loss@{target}")
        taken.append(opened.seconds_until_painted(choose, views, gradients.changed))
        opened.settle()
    opened.close()
    return sorted(taken)


def _tape_steps() -> list[float]:
    """Seconds from each step on the tape of the lecture's net to its pictures, ascending."""
    from benchmarks.opened_window import OpenedWindow
    from lmviz.app.widgets.diagrams.network_picture import NetworkPicture
    from lmviz.app.widgets.tables.tape_list import TapeList

    opened = OpenedWindow(Path(tempfile.mkdtemp(prefix="lmviz-bench-")))
    opened.show("autodiff")
    network = opened.session.network
    views = [opened.view("graph_view", NetworkPicture), opened.view("tape_view", TapeList)]
    network.rewind()
    opened.settle()
    modules, taken = len(network.current.tape.modules), []
    for _ in range(ROUNDS):
        for act, times in ((network.push, modules), (network.pop, modules)):
            for _ in range(times):
                taken.append(opened.seconds_until_painted(act, views, network.numbers_changed))
                opened.live(PAUSE)
        network.rewind()
        opened.live(PAUSE)
    opened.close()
    return sorted(taken)


ROWS = (
    Row(
        "gradient",
        f"the gradient of every tap, {SAMPLE_MODEL} at {TOKENS} tokens, from a click to its picture, p95",
        "ms",
        50,
        True,
        lambda: measured(once_apart(_gradients), limit=of_plain_frame),
    ),
    Row(
        "tape",
        "a step on the tape of the lecture's net, forward or back, to its pictures, p95",
        "ms",
        16,
        True,
        lambda: measured(once_apart(_tape_steps), limit=of_plain_frame),
    ),
)

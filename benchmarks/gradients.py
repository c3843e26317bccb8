"""From the choice of a number to the repainted picture of its gradient."""

from __future__ import annotations

from functools import partial

from benchmarks.apart import once_apart
from benchmarks.keystrokes import SAMPLE_MODEL, SAMPLE_PREFIX, measured, opened_at
from benchmarks.rows import Row

TOKENS = 64


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


ROWS = (
    Row(
        "gradient",
        f"the gradient of every tap, {SAMPLE_MODEL} at {TOKENS} tokens, from a click to its picture, p95",
        "ms",
        50,
        True,
        lambda: measured(once_apart(_gradients)),
    ),
)

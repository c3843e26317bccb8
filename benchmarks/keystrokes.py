"""From a keystroke in the prefix to the repainted attention and next-word distribution."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.apart import once_apart
from benchmarks.limits import Limit, of_memory_read, of_plain_frame
from benchmarks.rows import Measured, Row

if TYPE_CHECKING:
    from benchmarks.opened_window import OpenedWindow

SAMPLE_MODEL = "shakespeare-transformer"
SAMPLE_PREFIX = "First Citizen:\nBefore we proceed any further, hear me speak. "
TYPED = "and so the king came home again to see his son"
GPT2_TOKENS = 128
GPT2_TYPED = "the men saw a dog run far off and"
NEW_TEXTS = 9
BETWEEN = (
    "three fifths of the trace are products at the speed of memory; then the window draws while the row of "
    "the vocabulary is made; half of its thread paints, two fifths of that the words of Attention in the text"
)


def _keystrokes(opened: OpenedWindow, texts: Iterable[str]) -> list[float]:
    """Seconds each of these prefixes took, ascending."""
    from lmviz.app.widgets.matrix.heatmap import HeatmapView
    from lmviz.app.widgets.plots.bars import BarsView

    views = [opened.view("next_word_view", BarsView), opened.view("attention_view", HeatmapView)]
    edit, changed = opened.window.prefix_bar.edit, opened.session.reading.changed
    taken = []
    for text in texts:
        taken.append(opened.seconds_until_painted(partial(edit.setText, text), views, changed))
        opened.settle()
    return sorted(taken)


def opened_at(model: str | Path, prefix: str) -> OpenedWindow:
    """The window with a model open, a prefix read, and attention in sight."""
    from benchmarks.opened_window import OpenedWindow

    opened = OpenedWindow(Path(tempfile.mkdtemp(prefix="lmviz-bench-")))
    opened.open_model(model, prefix)
    opened.show("attention")
    return opened


def _typed(prefix: str, letters: str) -> list[str]:
    """The prefix after each letter more."""
    return [prefix + letters[: count + 1] for count in range(len(letters))]


def _sample_model() -> list[float]:
    prefix = SAMPLE_PREFIX[: 64 - len(TYPED)]
    opened = opened_at(SAMPLE_MODEL, prefix)
    taken = _keystrokes(opened, _typed(prefix, TYPED))
    opened.close()
    return taken


def _gpt2() -> tuple[list[float], list[float]]:
    from benchmarks.made_models import gpt2, make_run, text

    with tempfile.TemporaryDirectory() as folder:
        run = make_run(Path(folder) / "gpt2", gpt2())
        prefix = text(GPT2_TOKENS - len(GPT2_TYPED.split())) + " "
        opened = opened_at(run, prefix)
        typed = _keystrokes(opened, _typed(prefix, GPT2_TYPED))
        new = _keystrokes(opened, [text(GPT2_TOKENS, seed) for seed in range(1, NEW_TEXTS + 1)])
        opened.close()
    return typed, new


def measured(
    seconds: Sequence[float], share: float = 0.95, limit: Callable[[float], Limit] | None = None
) -> Measured:
    """A percentile of ascending times, in milliseconds, with the median and the number beside it.

    `limit` says how near the median comes to what the machine can do.
    """
    chosen, middle = seconds[int(share * (len(seconds) - 1) + 0.5)], seconds[len(seconds) // 2]
    detail = f"{len(seconds)} times, median {1000 * middle:.1f} ms"
    return Measured(1000 * chosen, detail, limit and limit(middle))


def _reads_weights(seconds: float, between: str = "") -> Limit:
    """A keystroke, against reading all the weights of that model once."""
    from benchmarks.made_models import GPT2_VOCABULARY, gpt2
    from lmviz.models.estimate import BYTES_PER_NUMBER

    weights = BYTES_PER_NUMBER * gpt2().estimate(GPT2_VOCABULARY, 1, 1).parameters
    return of_memory_read(weights, seconds, between)


ROWS = (
    Row(
        "typing",
        f"a keystroke to the repainted distribution and attention, {SAMPLE_MODEL} at up to 64 tokens, p95",
        "ms",
        33,
        True,
        lambda: measured(once_apart(_sample_model), limit=of_plain_frame),
    ),
    Row(
        "typing-gpt2",
        f"the same at the end of {GPT2_TOKENS} tokens, a model as large as GPT-2 124M, p95",
        "ms",
        80,
        True,
        lambda: measured(once_apart(_gpt2)[0], limit=partial(_reads_weights, between=BETWEEN)),
    ),
    Row(
        "new-text-gpt2",
        f"a wholly new text of {GPT2_TOKENS} tokens, the same model, median",
        "ms",
        400,
        True,
        lambda: measured(once_apart(_gpt2)[1], 0.5, _reads_weights),
    ),
)

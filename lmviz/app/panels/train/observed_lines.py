"""The lines of the training algorithm, with what came of each in one step that was observed."""

from __future__ import annotations

from collections.abc import Mapping

from lmviz.app.widgets.base.figures import count, number, plain
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLine
from lmviz.training.observation import Observed, ObservedCount, ObservedUpdate
from lmviz.training.options import TrainingOptions

OPTIMIZERS = {"adamw": "AdamW(g)", "adam": "Adam(g)", "sgd": "g", "momentum": "momentum(g)"}
"""What each optimizer makes of the gradient, as the last line writes it."""

STEP, BATCH, FORWARD, TARGET, LOSS, BACKWARD = "step", "batch", "forward", "target", "loss", "backward"
CLIP, UPDATE, COUNT, FIT = "clip", "update", "count", "fit"


def planned_lines(options: TrainingOptions, *, counts: bool) -> list[AlgorithmLine]:
    """The algorithm of a training that has not begun, for a family that counts or for one with gradients."""
    if counts:
        return _written(_counting_code(options.steps), {})
    code = _descending_code(
        options.steps, options.batch, options.clip, options.optimizer, options.label_smoothing
    )
    return _written(code, {})


def algorithm_lines(observed: Observed, steps: int) -> list[AlgorithmLine]:
    """The algorithm of a training of so many steps."""
    if isinstance(observed, ObservedCount):
        return _written(_counting_code(steps), _counted(observed))
    code = _descending_code(
        steps, len(observed.batch.tokens), observed.clip, observed.optimizer, observed.smoothing
    )
    return _written(code, _descended(observed))


def _written(code: Mapping[str, str], figures: Mapping[str, str]) -> list[AlgorithmLine]:
    """Lines of code by their names, and what came of each; all but the first stand in the loop."""
    return [
        AlgorithmLine(name, text, figures.get(name, ""), int(name != STEP)) for name, text in code.items()
    ]


def _descending_code(steps: int, batch: int, clip: float, optimizer: str, smoothing: float) -> dict[str, str]:
    """Mini-batch gradient descent, with or without smoothed targets and clipping."""
    length = "" if clip == 1 else f"{clip:g} "
    code = {
        STEP: f"for step in 1 … {count(steps)}:",
        BATCH: f"batch ← {'1 text' if batch == 1 else f'{count(batch)} texts'}",
        FORWARD: "p ← model(batch)",
        TARGET: f"q ← {plain(1 - smoothing, 6)} [target] + {smoothing:g}/K",
        LOSS: "L ← mean −Σ q ln p" if smoothing else "L ← mean −ln p(target)",
        BACKWARD: "g ← ∂L/∂θ",
        CLIP: f"if ‖g‖ > {clip:g}: g ← {length}g/‖g‖",
        UPDATE: f"θ ← θ − η · {OPTIMIZERS.get(optimizer, f'{optimizer}(g)')}",
    }
    idle = {name for name, is_used in ((CLIP, clip > 0), (TARGET, smoothing > 0)) if not is_used}
    return {name: text for name, text in code.items() if name not in idle}


def _descended(observed: ObservedUpdate) -> dict[str, str]:
    seconds = observed.seconds
    return {
        STEP: f"step {count(observed.step)}",
        BATCH: f"{count(observed.batch.counted)} targets",
        FORWARD: milliseconds(seconds["forward"]),
        TARGET: f"K = {count(observed.outputs)}",
        LOSS: f"{number(observed.loss)} nats",
        BACKWARD: f"‖g‖ = {number(observed.norm)}",
        CLIP: f"‖g‖ = {number(observed.clipped_norm)}" if observed.is_clipped else "stays as it is",
        UPDATE: f"η = {plain(observed.learning_rate)}",
    }


def _counting_code(steps: int) -> dict[str, str]:
    """An n-gram's training, which counts and has neither gradient nor rate."""
    return {
        STEP: f"for slice in 1 … {count(steps)}:",
        BATCH: "read the next slice",
        LOSS: "L ← mean −ln p(token)",
        COUNT: "add 1 for each n-gram",
        FIT: "p ← smoothed counts",
    }


def _counted(observed: ObservedCount) -> dict[str, str]:
    last = observed.begin + len(observed.ids)
    total = sum(order.total for order in observed.orders)
    return {
        STEP: f"slice {count(observed.step)}",
        BATCH: f"{count(len(observed.ids))} tokens, up to {count(last)} of {count(observed.text_length)}",
        LOSS: "" if observed.loss is None else f"{number(observed.loss)} nats",
        COUNT: f"{count(total)} of all orders",
        FIT: "worked out" if observed.is_fitted else "not at this step",
    }


def milliseconds(seconds: float) -> str:
    """A short time: "4.1 ms"."""
    return f"{number(1000 * seconds, 1)} ms" if seconds >= 5e-5 else "< 0.1 ms"

"""The lines of the training algorithm, with what came of each in one step that was observed."""

from __future__ import annotations

from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLine
from lmviz.training.observation import Observed, ObservedCount, ObservedUpdate

OPTIMIZERS = {"adamw": "AdamW(g)", "adam": "Adam(g)", "sgd": "g", "momentum": "momentum(g)"}
"""What each optimizer makes of the gradient, as the last line writes it."""

STEP, BATCH, FORWARD, LOSS, BACKWARD = "step", "batch", "forward", "loss", "backward"
CLIP, UPDATE, COUNT, FIT = "clip", "update", "count", "fit"


def algorithm_lines(observed: Observed, steps: int) -> list[AlgorithmLine]:
    """The algorithm of a training of so many steps."""
    if isinstance(observed, ObservedCount):
        return _counting(observed, steps)
    return _descending(observed, steps)


def _descending(observed: ObservedUpdate, steps: int) -> list[AlgorithmLine]:
    """Mini-batch gradient descent, with or without clipping."""
    batch, seconds = observed.batch, observed.seconds
    texts = "1 text" if len(batch.tokens) == 1 else f"{count(len(batch.tokens))} texts"
    lines = [
        AlgorithmLine(STEP, f"for step in 1 … {count(steps)}:", f"step {count(observed.step)}"),
        AlgorithmLine(BATCH, f"batch ← {texts}", f"{count(batch.counted)} targets", 1),
        AlgorithmLine(FORWARD, "p ← model(batch)", milliseconds(seconds["forward"]), 1),
        AlgorithmLine(LOSS, "L ← mean −ln p(target)", f"{number(observed.loss)} nats", 1),
        AlgorithmLine(BACKWARD, "g ← ∂L/∂θ", f"‖g‖ = {number(observed.norm)}", 1),
    ]
    if observed.clip > 0:
        length = "" if observed.clip == 1 else f"{observed.clip:g} "
        code = f"if ‖g‖ > {observed.clip:g}: g ← {length}g/‖g‖"
        after = f"‖g‖ = {number(observed.clipped_norm)}"
        lines.append(AlgorithmLine(CLIP, code, after if observed.is_clipped else "stays as it is", 1))
    moves = OPTIMIZERS.get(observed.optimizer, f"{observed.optimizer}(g)")
    rate = f"η = {observed.learning_rate:.3g}"
    lines.append(AlgorithmLine(UPDATE, f"θ ← θ − η · {moves}", rate, 1))
    return lines


def _counting(observed: ObservedCount, steps: int) -> list[AlgorithmLine]:
    """An n-gram's training, which counts and has neither gradient nor rate."""
    last = observed.begin + len(observed.ids)
    share = f"{count(len(observed.ids))} tokens, up to {count(last)} of {count(observed.text_length)}"
    loss = "" if observed.loss is None else f"{number(observed.loss)} nats"
    total = sum(order.total for order in observed.orders)
    fitted = "worked out" if observed.is_fitted else "not at this step"
    return [
        AlgorithmLine(STEP, f"for slice in 1 … {count(steps)}:", f"slice {count(observed.step)}"),
        AlgorithmLine(BATCH, "read the next slice", share, 1),
        AlgorithmLine(LOSS, "L ← mean −ln p(token)", loss, 1),
        AlgorithmLine(COUNT, "add 1 for each n-gram", f"{count(total)} of all orders", 1),
        AlgorithmLine(FIT, "p ← smoothed counts", fitted, 1),
    ]


def milliseconds(seconds: float) -> str:
    """A short time: "4.1 ms"."""
    return f"{number(1000 * seconds, 1)} ms" if seconds >= 5e-5 else "< 0.1 ms"

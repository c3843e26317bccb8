"""The few lines of Python that reproduce what a run shows over its training; see `recipes`."""

from __future__ import annotations

from collections.abc import Sequence

LOSSES = ("loss", "validation_loss")


def losses_recipe(folders: Sequence[str]) -> str:
    """The losses of runs in nats per token, bound to `losses`: by folder and curve, (step, loss) pairs."""
    curves = "{name: [(line['step'], line[name]) for line in lines if line.get(name) is not None]"
    return "\n".join(
        [
            "from lmviz.training.run import Run",
            "",
            "losses = {}",
            f"for folder in {list(folders)!r}:",
            "    lines = Run.open(folder).metrics()",
            f"    losses[folder] = {curves} for name in {LOSSES!r}}}",
            "",
        ]
    )


def over_time_recipe(folder: str, text: str, steps: Sequence[int]) -> str:
    """The distribution after a text at snapshots, bound to `probabilities`: (token,) by step."""
    return "\n".join(
        [
            "import lmviz",
            "",
            f"folder, text = {folder!r}, {text!r}",
            "probabilities = {",
            "    step: lmviz.next_token(lmviz.open_model(folder, step=step), text).probabilities",
            f"    for step in {list(steps)!r}",
            "}",
            "",
        ]
    )

"""Write the trace that the window shows at first paint, before torch is loaded: first_screen.npz.

    python3 sample_models/first_screen.py

`sample_models/train.py` calls it when the model it looks into has been trained.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = "stories-transformer"
PREFIX = "One day, she put the brown stone in the barrel. She opened it and took out the brown"
"""A thing that returns: what comes next was named a dozen words earlier, and a head looks there."""

TAPS = (
    "layers/*/attention/query",
    "layers/*/attention/key",
    "layers/*/attention/value",
    "layers/*/attention/scores",
    "layers/*/attention/weights",
    "layers/*/attention/mixed",
    "logits",
    "probabilities",
)
"""What attention and the next word are drawn from; with all taps the file would be three times as large."""


def write_first_screen(run: Path, path: Path, prefix: str = PREFIX) -> None:
    """Trace a prefix with the newest snapshot of a run, and write what the first screen draws."""
    from lmviz.api.training import open_model
    from lmviz.inspection.tracing import trace

    found = trace(open_model(run), prefix, taps=TAPS)
    whole = tuple(stage for stage in found.stages if all(result in found for result in stage.results))
    replace(found, stages=whole).save(path)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    write_first_screen(HERE / MODEL, HERE / "first_screen.npz")

"""What a training of another program recorded, under the names that lmviz has for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmviz.series.curves import RecordedCurve, curves_in

MEASURED = {
    "loss": ("loss", "train/loss", "train_loss", "training_loss", "loss/train"),
    "validation_loss": ("eval_loss", "eval/loss", "val_loss", "val/loss", "validation_loss", "loss/val"),
    "learning_rate": ("learning_rate", "train/learning_rate", "lr", "train/lr"),
    "gradient_norm": ("grad_norm", "train/grad_norm", "gradient_norm"),
}
"""What programs call what a run of lmviz measures: the same quantity, and none that would have to be turned
into it."""


@dataclass(frozen=True)
class RecordedMetrics:
    """`lines` are as those of `metrics.jsonl`. `names` says what the program called each of the measures that
    are there, `programs` who recorded them, and `troubles` what could not be read.
    """

    lines: tuple[dict[str, Any], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()


def recorded_metrics(folder: Path) -> RecordedMetrics:
    """What programs have recorded beside the checkpoints in a folder."""
    found = curves_in(folder)
    chosen: dict[str, RecordedCurve] = {
        measure: curve for measure, names in MEASURED.items() if (curve := found.named(*names)) is not None
    }
    by_step: dict[int, dict[str, Any]] = {}
    for measure, curve in chosen.items():
        for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True):
            by_step.setdefault(step, {"step": step})[measure] = value
    return RecordedMetrics(
        tuple(by_step[step] for step in sorted(by_step)),
        {measure: curve.name for measure, curve in chosen.items()},
        tuple(dict.fromkeys(curve.program for curve in chosen.values())),
        found.troubles,
    )

"""A callback for the Trainer of Lightning, which records what it trains."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.recording.recording import BUDGET, Recording
from lmviz.recording.schedule import LOG

LIGHTNING = "Lightning"

PACKAGES = ("lightning.pytorch", "pytorch_lightning")
"""The names that Lightning is installed under."""

ALSO = {
    "loss": ("train_loss", "train_loss_step", "train/loss", "loss_step"),
    "validation_loss": ("val_loss", "val_loss_epoch", "val/loss", "valid_loss"),
}
"""What is drawn as these, where a training logs it; it keeps its own name as well."""


def LightningCallback(
    folder: str | Path,
    *,
    tokenizer: Any = None,
    every: int | str | None = LOG,
    budget: int | str = BUDGET,
    precision: str = "full",
    overwrite: bool = False,
) -> Any:
    """A callback that records into a folder what a Trainer of Lightning trains.

    It is given to the Trainer as `callbacks=[lmviz.LightningCallback("runs/mine")]`. Steps are Lightning's
    `global_step`, and the numbers those that the module logs. The settings are those of `lmviz.record`. Its
    `recording` is the Recording, None before the training begins. LmvizError where there is no Lightning.
    """
    lightning, loggers = _lightning()
    settings = {"tokenizer": tokenizer, "every": every, "budget": budget, "precision": precision}

    class Logger(loggers.Logger):  # type: ignore[name-defined]
        """Passes on what the module logs."""

        name, version = "lmviz", 0

        def __init__(self, callback: Any, trainer: Any) -> None:
            super().__init__()
            self._callback, self._trainer = callback, trainer

        def log_hyperparams(self, *_: Any, **__: Any) -> None: ...

        def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
            recording = self._callback.recording
            if recording is not None:
                own = {name: value for name, value in metrics.items() if name != "epoch"}
                recording.tell(self._trainer.global_step, with_usual_names(own))

    class Callback(lightning.Callback):  # type: ignore[name-defined]
        """Records what a Trainer of Lightning trains."""

        def __init__(self) -> None:
            self.recording: Recording | None = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            resumes = trainer.global_step > 0
            self.recording = Recording(
                folder,
                pl_module,
                steps=trainer.max_steps if trainer.max_steps > 0 else None,
                resume=resumes,
                overwrite=overwrite and not resumes,
                by=LIGHTNING,
                first_step=trainer.global_step,
                **settings,
            )
            trainer.loggers = [*trainer.loggers, Logger(self, trainer)]

        def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
            if self.recording is not None and trainer.global_step > (self.recording.last_step or 0):
                rates = [group["lr"] for each in trainer.optimizers for group in each.param_groups]
                self.recording.step(trainer.global_step, learning_rate=rates[0] if rates else None)

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            if self.recording is not None:
                self.recording.close()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            if self.recording is not None:
                self.recording.close(keep_last=False)

    return Callback()


def with_usual_names(measured: Mapping[str, float]) -> dict[str, float]:
    """What was logged, and under lmviz's names what certainly is the same."""
    usual = {
        name: next((measured[other] for other in others if other in measured), None)
        for name, others in ALSO.items()
        if name not in measured
    }
    return {**measured, **{name: value for name, value in usual.items() if value is not None}}


def _lightning() -> tuple[Any, Any]:
    """The package of Lightning that the training uses, or that is there, and its loggers."""
    for name in sorted(PACKAGES, key=lambda each: each not in sys.modules):
        with suppress(ImportError):
            return import_module(name), import_module(f"{name}.loggers")
    raise LmvizError("Lightning is not installed: install it with `pip install lightning`.")

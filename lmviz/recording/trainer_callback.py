"""A callback for the Trainer of transformers, which records what it trains."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any

from lmviz.recording.recording import BUDGET, Recording
from lmviz.recording.schedule import LOG

THE_TRAINER = "transformers' Trainer"

SAME = {"grad_norm": "gradient_norm", "eval_loss": "validation_loss"}
"""What Trainer calls otherwise than lmviz, and is the same; everything else keeps its name."""


def _nothing(*_: Any, **__: Any) -> None: ...


class TrainerCallback:
    """A callback of transformers' `Trainer` that records into a folder: `lmviz.TrainerCallback("runs/mine")`.

    Steps are those of Trainer, and the numbers those that it logs. The settings are those of `lmviz.record`;
    the tokenizer is that of Trainer where none is given. A training that Trainer resumes goes on in its
    folder. `recording` is the Recording, None before the training begins.

    transformers is not imported: what Trainer calls that is not here does nothing.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        tokenizer: Any = None,
        every: int | str | None = LOG,
        budget: int | str = BUDGET,
        precision: str = "full",
        overwrite: bool = False,
    ) -> None:
        self.recording: Recording | None = None
        self._folder, self._tokenizer = folder, tokenizer
        self._settings: dict[str, Any] = {"every": every, "budget": budget, "precision": precision}
        self._overwrites = overwrite

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("on_"):
            return _nothing
        raise AttributeError(name)

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Begin the recording."""
        resumes = state.global_step > 0
        self.recording = Recording(
            self._folder,
            given["model"],
            tokenizer=self._tokenizer or given.get("processing_class") or given.get("tokenizer"),
            steps=state.max_steps if state.max_steps > 0 else None,
            resume=resumes,
            overwrite=self._overwrites and not resumes,
            by=THE_TRAINER,
            first_step=state.global_step,
            **self._settings,
        )

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Keep the weights where that is due, and those of the last step."""
        if self.recording is not None:
            self.recording.step(state.global_step, keep=control.should_training_stop)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Keep the weights with which a training stops before its last step."""
        if self.recording is not None and control.should_training_stop:
            self.recording.step(state.global_step, keep=True)

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **given: Any
    ) -> None:
        """Record what is logged."""
        numbers = {
            SAME.get(name, name): float(value)
            for name, value in (logs or {}).items()
            if isinstance(value, Real) and not isinstance(value, bool)
        }
        if self.recording is not None and numbers:
            self.recording.tell(state.global_step, numbers)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """End the recording. The best weights may have been loaded by now, so none are kept."""
        if self.recording is not None:
            self.recording.close(keep_last=False)

"""A model of another program, seen as a run that was trained elsewhere: nothing of it is written anew."""

from __future__ import annotations

import os
from abc import abstractmethod
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.training.description import RunDescription
from lmviz.training.run import Run

if TYPE_CHECKING:
    import torch

    from lmviz.interchange.checkpoint import Checkpoint
    from lmviz.models.model import Model
    from lmviz.models.ngram.backoff import BackoffNgram
    from lmviz.text.tokenizer import Tokenizer

STEP = 0
"""The one step of a model of which no other is known."""


class ForeignRun(Run):
    """What has no `run.json`: `folder` is a folder of another program, or its file."""

    @abstractmethod
    def model(self, step: int | None = None) -> Model:
        """The model after so many updates, by default the newest, for reading; LmvizError."""

    @abstractmethod
    def tokenizer(self) -> Tokenizer:
        """How texts become tokens; LmvizError where nothing says so."""

    @property
    def was_trained_elsewhere(self) -> bool:
        """Always true."""
        return True

    @property
    def has_steps(self) -> bool:
        """Whether it is known at several steps of its training, or only as it is now."""
        return False

    def metrics(self) -> list[dict[str, Any]]:
        """None: how it was trained is not known."""
        return []

    def snapshots(self) -> list[int]:
        """The one step there is."""
        return [STEP]

    def check_readable(self) -> None:
        """It was read already."""

    def load_snapshot(self, step: int) -> dict[str, torch.Tensor]:
        """The model's numbers, which stay in their files until something computes with them."""
        return {name: value.detach() for name, value in self.model(step).state_dict().items()}

    def rename(self, name: str) -> None:
        """Refused: what another program has written is left as it is."""
        raise LmvizError(f"{self.folder} is not lmviz's own: rename its folder instead.")

    def _check_step(self, step: int | None) -> None:
        if step not in (None, STEP):
            raise LmvizError(
                f"{self.folder} was not trained here, and has no step {step}: leave the step out."
            )


class CheckpointRun(ForeignRun):
    """A checkpoint that `lmviz.interchange.checkpoint` opens."""

    def __init__(self, folder: Path, checkpoint: Checkpoint) -> None:
        super().__init__(folder, described(folder, checkpoint.name, checkpoint))
        self._checkpoint = checkpoint

    def model(self, step: int | None = None) -> Model:
        self._check_step(step)
        return self._checkpoint.model()

    def tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._checkpoint, self.folder)


class ArpaRun(ForeignRun):
    """An ARPA file of n-grams."""

    def __init__(self, folder: Path, model: BackoffNgram) -> None:
        configuration = model.configuration.to_values()
        super().__init__(
            folder,
            describe(folder, folder.name, "ngram", configuration, model.vocabulary_size, _written(folder)),
        )
        self._model = model

    def model(self, step: int | None = None) -> Model:
        self._check_step(step)
        return self._model

    def load_snapshot(self, step: int) -> dict[str, torch.Tensor]:
        """What it has counted."""
        return self.model(step).state()

    def tokenizer(self) -> Tokenizer:
        if self._model.tokenizer is None:
            raise LmvizError(f"{self.folder} has no tokenizer: choose another file.")
        return self._model.tokenizer


def tokenizer_of(checkpoint: Checkpoint, place: Path) -> Tokenizer:
    """The tokenizer of a checkpoint, or LmvizError that says how it would get one."""
    if checkpoint.tokenizer is None:
        raise LmvizError(
            f"{place} has no tokenizer, so the window cannot read a text with it: "
            f"{checkpoint.why_no_tokenizer}."
        )
    return checkpoint.tokenizer


def described(
    folder: Path, name: str, checkpoint: Checkpoint, steps: int = 1, created: datetime | None = None
) -> RunDescription:
    """What is known of a checkpoint as a run; `created` is when it was written, by default as it says."""
    return describe(
        folder,
        name,
        "transformer",
        checkpoint.configuration.to_values(),
        checkpoint.vocabulary_size,
        created or _written(folder),
        steps,
    )


def describe(
    folder: Path,
    name: str,
    family: str,
    configuration: dict[str, Any],
    vocabulary_size: int,
    created: datetime,
    steps: int = 1,
) -> RunDescription:
    """A run of which no more is known than what the model is, and how many steps were made."""
    return RunDescription(
        name=name,
        family=family,
        configuration=configuration,
        vocabulary_size=vocabulary_size,
        training={"steps": steps},
        versions={},
        created=created.isoformat(timespec="seconds"),
    )


def _written(place: Path) -> datetime:
    return datetime.fromtimestamp(os.stat(place).st_mtime, UTC)

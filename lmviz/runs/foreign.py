"""A model of another program, seen as a run that was trained elsewhere: one step, and nothing to train on."""

from __future__ import annotations

import os
from abc import abstractmethod
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.training.description import RunDescription
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

if TYPE_CHECKING:
    import torch

    from lmviz.interchange.checkpoint import Checkpoint
    from lmviz.models.model import Model
    from lmviz.models.ngram.backoff import BackoffNgram
    from lmviz.text.tokenizer import Tokenizer

STEP = 0
"""The one step there is."""


class ForeignRun(Run):
    """What has no `run.json`: `folder` is a folder of another program, or its file."""

    @abstractmethod
    def model(self) -> Model:
        """The model, for reading."""

    @abstractmethod
    def tokenizer(self) -> Tokenizer:
        """How texts become tokens; LmvizError where nothing says so."""

    @property
    def was_trained_elsewhere(self) -> bool:
        """Always true."""
        return True

    def metrics(self) -> list[dict[str, Any]]:
        """None: how it was trained is not known."""
        return []

    def snapshots(self) -> list[int]:
        """The one step there is."""
        return [STEP]

    def check_readable(self) -> None:
        """It was read already."""

    def load_snapshot(self, step: int) -> dict[str, torch.Tensor]:
        """The model's numbers."""
        return self.model().state()

    def rename(self, name: str) -> None:
        """Refused: what another program has written is left as it is."""
        raise LmvizError(f"{self.folder} is not lmviz's own: rename its folder instead.")


class CheckpointRun(ForeignRun):
    """A checkpoint that `lmviz.interchange.checkpoint` opens."""

    def __init__(self, folder: Path, checkpoint: Checkpoint) -> None:
        configuration = checkpoint.configuration.to_values()
        super().__init__(
            folder,
            _description(folder, checkpoint.name, "transformer", configuration, checkpoint.vocabulary_size),
        )
        self._checkpoint = checkpoint

    def model(self) -> Model:
        return self._checkpoint.model()

    def tokenizer(self) -> Tokenizer:
        if self._checkpoint.tokenizer is None:
            raise LmvizError(
                f"{self.folder} has no tokenizer, so the window cannot read a text with it: "
                f"{self._checkpoint.why_no_tokenizer}."
            )
        return self._checkpoint.tokenizer


class ArpaRun(ForeignRun):
    """An ARPA file of n-grams."""

    def __init__(self, folder: Path, model: BackoffNgram) -> None:
        configuration = model.configuration.to_values()
        super().__init__(
            folder, _description(folder, folder.name, "ngram", configuration, model.vocabulary_size)
        )
        self._model = model

    def model(self) -> Model:
        return self._model

    def tokenizer(self) -> Tokenizer:
        if self._model.tokenizer is None:
            raise LmvizError(f"{self.folder} has no tokenizer: choose another file.")
        return self._model.tokenizer


def _description(
    folder: Path, name: str, family: str, configuration: dict[str, Any], vocabulary_size: int
) -> RunDescription:
    written = datetime.fromtimestamp(os.stat(folder).st_mtime, UTC)
    return RunDescription(
        name=name,
        family=family,
        configuration=configuration,
        vocabulary_size=vocabulary_size,
        training=TrainingOptions(steps=1).to_values(),
        versions={},
        created=written.isoformat(timespec="seconds"),
    )

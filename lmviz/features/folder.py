"""The folder of a dictionary: what was learned, its curves and snapshots, and what training goes on from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing, write_atomically
from lmviz.base.loading import loads
from lmviz.features.dictionary import Dictionary
from lmviz.features.dictionary_file import LARGEST, read_dictionary
from lmviz.features.history import FeatureHistory
from lmviz.features.recipe import FeatureRecipe

if TYPE_CHECKING:
    import torch

LEARNED, TOLD, STATE, SNAPSHOTS = "dictionary.safetensors", "features.json", "state.safetensors", "snapshots"
FORMAT = "lmviz features 1"
LARGEST_TOLD = 50_000_000
"""Bytes of curves."""


@dataclass(frozen=True)
class Learning:
    """What a training of a dictionary is: its recipe, where it reads and writes, and of which texts.

    `texts` is a number that follows from the ids that are read, and `model` and `step` say of which model.
    """

    recipe: FeatureRecipe
    tap: str
    written: str
    texts: int
    model: str = ""
    step: int | None = None


@dataclass(frozen=True)
class FeatureFolder:
    """Where a dictionary is kept."""

    path: Path

    @property
    def is_finished(self) -> bool:
        """Whether a dictionary lies there."""
        return os.path.isfile(self.path / LEARNED)

    @property
    def can_go_on(self) -> bool:
        """Whether a training stopped there before its end."""
        return os.path.isfile(self.path / STATE) and not self.is_finished

    def dictionary(self) -> Dictionary:
        """What was learned; LmvizError where there is nothing yet, or something else."""
        if not self.is_finished:
            raise LmvizError(
                f"{self.path} holds no features that are finished: find some, or go on with them."
            )
        return read_dictionary(self.path / LEARNED)

    def snapshots(self) -> list[int]:
        """The steps of its training whose dictionaries are kept."""
        found = (self.path / SNAPSHOTS).glob("*.safetensors")
        return sorted(int(path.stem) for path in found if path.stem.isdecimal())

    def snapshot(self, step: int) -> Dictionary:
        """The dictionary as it was after so many steps; LmvizError where it is not kept."""
        if step not in self.snapshots():
            raise LmvizError(f"{self.path} keeps no step {step}: it has {self.snapshots()}.")
        return read_dictionary(self._snapshot(step))

    def history(self) -> FeatureHistory:
        """The curves of its training."""
        return read_learning(self.path)[1]

    def begin(self, learning: Learning, *, overwrite: bool) -> None:
        """Make the folder; LmvizError where something else lies there."""
        is_free = not os.path.lexists(self.path) or (os.path.isdir(self.path) and not os.listdir(self.path))
        if not is_free and not os.path.isfile(self.path / TOLD):
            raise LmvizError(f"{self.path} holds something else: choose another folder for the features.")
        if os.path.isfile(self.path / TOLD):
            if not overwrite:
                raise LmvizError(
                    f"{self.path} holds features already: choose another folder, or overwrite=True, or "
                    "resume=True where they are not finished."
                )
            self._clear()
        self.note(learning, FeatureHistory())

    def note(self, learning: Learning, history: FeatureHistory) -> None:
        """Write what the training is, and its curves so far."""
        told = {
            "format": FORMAT,
            "recipe": learning.recipe.to_values(),
            "tap": learning.tap,
            "written": learning.written,
            "texts": learning.texts,
            "model": learning.model,
            "step": learning.step,
            "history": history.to_values(),
        }
        write_atomically(self.path / TOLD, json.dumps(told, ensure_ascii=False).encode("utf-8"))

    def keep(self, dictionary: Dictionary, step: int) -> None:
        """Write a snapshot."""
        dictionary.save(self._snapshot(step))

    def write_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Write what the training goes on from; LmvizError where it cannot be written."""
        from lmviz.models.tensor_file import write_tensor_file

        path = self.path / STATE
        try:
            with replacing(path) as unfinished:
                write_tensor_file(unfinished, state, {"format": FORMAT})
        except OSError as fault:
            raise LmvizError(f"{path} cannot be written ({fault.strerror}): make room there.") from fault

    def read_state(self) -> dict[str, torch.Tensor]:
        """What a training goes on from; LmvizError where there is none."""
        return read_learning_state(self.path / STATE)

    def finish(self, dictionary: Dictionary) -> None:
        """Write what was learned."""
        dictionary.save(self.path / LEARNED)
        (self.path / STATE).unlink(missing_ok=True)

    def _snapshot(self, step: int) -> Path:
        return self.path / SNAPSHOTS / f"{step:08d}.safetensors"

    def _clear(self) -> None:
        for step in self.snapshots():
            self._snapshot(step).unlink(missing_ok=True)
        for name in (LEARNED, STATE, TOLD):
            (self.path / name).unlink(missing_ok=True)


@loads("features")
def read_learning(folder: str | Path) -> tuple[Learning, FeatureHistory]:
    """What a training in a folder is, and its curves; LmvizError where there is none."""
    from lmviz.text.ordinary_files import read_file

    path = Path(folder) / TOLD
    try:
        told: Any = json.loads(read_file(path, LARGEST_TOLD))
        if told["format"] != FORMAT:
            raise ValueError(told["format"])
        step, texts = told["step"], told["texts"]
        if not isinstance(texts, int) or not (step is None or isinstance(step, int)):
            raise ValueError("its numbers")
        learning = Learning(
            FeatureRecipe.from_values(told["recipe"]),
            str(told["tap"]),
            str(told["written"]),
            texts,
            str(told["model"]),
            step,
        )
        return learning, FeatureHistory.from_values(told["history"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise LmvizError(f"{path} says nothing of features ({fault}): find them anew.") from fault


@loads("features")
def read_learning_state(path: str | Path) -> dict[str, torch.Tensor]:
    """The tensors that a training goes on from; LmvizError where the file has none."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    from lmviz.text.ordinary_files import read_file

    try:
        return load(read_file(named_file(path), LARGEST))
    except (SafetensorError, ValueError, KeyError) as fault:
        raise LmvizError(f"{path} is damaged ({fault}): find the features anew.") from fault

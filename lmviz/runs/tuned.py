"""Runs that began with an opened model: only what was learned is kept, and the base lies where it did."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.training.run import Run

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model
    from lmviz.models.tuned import Tuning
    from lmviz.text.tokenizer import Tokenizer
    from lmviz.training.beside import TextsBeside
    from lmviz.training.description import RunDescription

SAMPLES = 64
"""Numbers of each weight by which a base is known again."""


class TunedRun(Run):
    """A run of which each snapshot holds what was learned of the model `base`, and that of step 0 nothing."""

    def __init__(self, folder: Path, description: RunDescription, base: Model | None = None) -> None:
        super().__init__(folder, description)
        self._base = base

    def described_as(self, description: RunDescription) -> Run:
        """See Run."""
        return type(self)(self.folder, description, self._base)

    def again(self) -> Run:
        """See Run."""
        return self.described_as(Run.open(self.folder).description)

    @property
    def has_base(self) -> bool:
        """Whether the base was given."""
        return self._base is not None

    @property
    def base(self) -> Model:
        """The model that it began with."""
        assert self._base is not None, "given where it was opened or begun"
        return self._base

    @property
    def tuning(self) -> Tuning:
        """What is learned of the base."""
        return tuning_of(self.description)

    def tokenizer(self) -> Tokenizer:
        """That of the base, which knows its special tokens and its template for chats."""
        tokenizer = self.base.tokenizer
        return super().tokenizer() if tokenizer is None else tokenizer

    def save_snapshot(self, step: int, state: Mapping[str, torch.Tensor], precision: str = "full") -> None:
        """See Run. Of step 0 nothing is written but the step: it is the base."""
        super().save_snapshot(step, {} if step == 0 else state, precision)

    def save_beside(self, beside: TextsBeside) -> None:
        """Keep the texts that are measured beside the held-out one; raises NotWritten."""
        beside.save(self.folder)

    def load_beside(self) -> TextsBeside | None:
        """Those texts, None where none were kept."""
        from lmviz.training.beside import TextsBeside

        return TextsBeside.load(self.folder, self.description.vocabulary_size)

    def load_learned(self, step: int) -> dict[str, torch.Tensor]:
        """What was learned until a step, under the names that the trained model has; LmvizError."""
        return super().load_snapshot(step)

    @loads("run")
    def load_snapshot(self, step: int) -> dict[str, torch.Tensor]:
        """The weights that are others than those of the base, under the names that these have; LmvizError."""
        learned = self.load_learned(step)
        self._check(learned, step)
        return self.tuning.changed(self.base.state_dict(), learned)

    @loads("run")
    def model(self, step: int | None = None) -> Model:
        """The model after a step, by default at the last snapshot, for reading; LmvizError."""
        from lmviz.models.tuned import read_as

        steps = self.snapshots()
        if not steps:
            self.check_readable()
            raise LmvizError(f"{self.folder} has no snapshot to open: train it first.")
        chosen = steps[-1] if step is None else step
        if chosen not in steps:
            offered = ", ".join(map(str, steps))
            raise LmvizError(f"{self.folder} has no snapshot of step {chosen}: choose one of {offered}.")
        learned = self.load_learned(chosen)
        self._check(learned, chosen)
        model = read_as(self.base, self.tuning, learned)
        model.name, model.step = self.description.name, chosen
        return model

    def _check(self, learned: Mapping[str, torch.Tensor], step: int) -> None:
        """LmvizError where what was kept does not fit the base."""
        if learned and {name: tuple(each.shape) for name, each in learned.items()} != _shapes(
            self.tuning, self.base
        ):
            raise LmvizError(f"{self.snapshot_path(step)} does not fit its run.json: choose another run.")


def tuning_of(description: RunDescription) -> Tuning:
    """What a run learns of its base."""
    from lmviz.models.transformer_configuration import TransformerConfiguration
    from lmviz.models.tuned import Tuning

    chosen, said = description.tuning, description.tuned_from
    assert chosen is not None, "asked of tuned runs alone"
    assert said is not None, "as above"
    configuration = TransformerConfiguration.from_values(description.configuration)
    return Tuning(configuration, chosen, said["joined"])


def _shapes(tuning: Tuning, base: Model) -> dict[str, tuple[int, ...]]:
    """The names of what is learned, and their shapes."""
    state, rank = base.state_dict(), tuning.chosen.rank
    shapes = {name: tuple(value.shape) for name, value in state.items() if tuning.learns(name)}
    for module, rows in tuning.products().items():
        features = state[f"{module}.weight"].shape[1]
        for place, (start, end) in enumerate(rows):
            shapes[f"{module}.first.{place}"] = (rank, features)
            shapes[f"{module}.second.{place}"] = (end - start, rank)
    return shapes


def adapted_matrices(tuning: Tuning, base: Model) -> list[tuple[str, int, int]]:
    """The matrices that get an A and a B, by their modules, each with its rows and columns."""
    state = base.state_dict()
    return [
        (module, end - start, state[f"{module}.weight"].shape[1])
        for module, rows in tuning.products().items()
        for start, end in rows
    ]


def learned_numbers(tuning: Tuning, base: Model) -> int:
    """How many numbers are learned."""
    from math import prod

    return sum(prod(shape) for shape in _shapes(tuning, base).values())


def fingerprint(model: Model) -> str:
    """SHA-256 of the shapes of a model's weights, of some numbers of each, and of its tokenizer."""
    import torch

    from lmviz.models.blocks import BlockMatrix

    digest = hashlib.sha256()
    for name, value in model.state_dict().items():
        digest.update(f"{name} {tuple(value.shape)}\n".encode())
        if isinstance(value, BlockMatrix):
            continue  # whose numbers would be unpacked for this
        if value.dim() > 1:
            rows = value[:: max(1, len(value) // 8)][:8]
            numbers = rows[:, :: max(1, rows.shape[1] // 8)].flatten()[:SAMPLES]
        else:
            numbers = value.flatten()[:SAMPLES]
        digest.update(numbers.detach().to("cpu", torch.float32).contiguous().numpy().tobytes())
    digest.update(b"" if model.tokenizer is None else model.tokenizer.json.encode("utf-8"))
    return digest.hexdigest()


def check_base(folder: Path, said: Mapping[str, Any], base: Model) -> None:
    """LmvizError where a model is not the one that a run began with."""
    if fingerprint(base) != said["fingerprint"]:
        raise LmvizError(
            f"{folder} was trained on from {said['name'][:200]}, and the model at {said['place'][:200]} is "
            "another one now: choose the base that it began with."
        )

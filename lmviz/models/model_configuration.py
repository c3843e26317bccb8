"""What the configurations of all families have in common. Imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from lmviz.base.configuration import Configuration
from lmviz.base.errors import LmvizError
from lmviz.models.estimate import NEXT_TOKEN, Asked, Estimate

ONLY_FOR = {
    "pooling": ("classification",),
    "attention": ("translation",),
    "causal": ("next-token", "tagging", "classification"),
    "tied": ("next-token", "translation", "captioning"),  # labels have no embeddings
    "direction": ("next-token", "tagging", "classification", "translation"),
}
"""Settings that some tasks alone have a use for."""


class ModelConfiguration(Configuration, ABC):
    """What can be chosen about a family's models; subclasses are `@dataclass(frozen=True)`."""

    @classmethod
    def defaults_for(cls, task: str) -> dict[str, Any]:
        """What a model of a task begins with, by setting, where that is not the default of the field."""
        return {}

    @classmethod
    def beginning_for(cls, task: str, values: Mapping[str, Any] | None = None) -> Self:
        """What a model of a task begins with, but for `values`, plain ones or their text."""
        return cls.from_values({**cls.defaults_for(task), **(values or {})})

    def moved(self, before: str, task: str) -> Self:
        """The same for another task: what stands as a model of the task `before` begins changes with it.

        It stays as it is where the others do not go with what the new task begins with.
        """
        old, new = self.beginning_for(before), self.beginning_for(task)
        names = [*self.defaults_for(before), *self.defaults_for(task)]
        changed = {name: getattr(new, name) for name in names if getattr(self, name) == getattr(old, name)}
        try:
            return replace(self, **changed)
        except LmvizError:
            return self

    def used_for(self, task: str) -> frozenset[str]:
        """The names of the settings that make a difference when a model is trained for a task."""
        return self.used() - {name for name, only in ONLY_FOR.items() if task not in only}

    @property
    def reads(self) -> str:
        """How it reads a text, in words, where that is not from left to right: "both ways"; else empty."""
        return ""

    def reads_for(self, task: str) -> str:
        """The same for what it is trained to do: captions are written from left to right, whatever is set."""
        return self.reads if task != "captioning" else ""

    def reads_alike(self, one: int, other: int) -> bool:
        """Whether what is computed of the beginning of a text may be the same at two lengths of it.

        Where a model is not causal it never is; this says what else depends on the length.
        """
        return True

    @abstractmethod
    def estimate(self, vocabulary_size: int, batch: int, length: int, asked: Asked = NEXT_TOKEN) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs, for what it is `asked`.

        Of a model that translates, both sides are rows of `length` tokens; of one that writes captions, these
        alone.
        """

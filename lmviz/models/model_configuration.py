"""What the configurations of all families have in common. Imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod

from lmviz.base.configuration import Configuration
from lmviz.models.estimate import NEXT_TOKEN, Asked, Estimate

ONLY_FOR = {
    "pooling": ("classification",),
    "attention": ("translation",),
    "direction": ("next-token", "tagging", "classification", "translation"),
}
"""Settings that some tasks alone have a use for."""


class ModelConfiguration(Configuration, ABC):
    """What can be chosen about a family's models; subclasses are `@dataclass(frozen=True)`."""

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

    @abstractmethod
    def estimate(self, vocabulary_size: int, batch: int, length: int, asked: Asked = NEXT_TOKEN) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs, for what it is `asked`.

        Of a model that translates, both sides are rows of `length` tokens; of one that writes captions, these
        alone.
        """

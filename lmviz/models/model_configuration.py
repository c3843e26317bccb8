"""What the configurations of all families have in common. Imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod

from lmviz.configuration import Configuration
from lmviz.models.estimate import Estimate


class ModelConfiguration(Configuration, ABC):
    """What can be chosen about a family's models; subclasses are `@dataclass(frozen=True)`."""

    @abstractmethod
    def estimate(self, vocabulary_size: int, batch: int, length: int) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs."""

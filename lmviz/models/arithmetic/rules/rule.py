"""The parts that every rule must define."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.sheet import Naming, Sheet
from lmviz.models.arithmetic.terms import Terms

Groups = tuple[Terms, ...]


@dataclass(frozen=True)
class Rule:
    """A way in which groups of terms become one number. Nothing has a default: a rule knows all four.

    `evaluate` gives the number. `equation` writes it in a notation, of long sums the largest terms. `sheet`
    gives it as lines, of long sums the largest terms. `strengths` says for each group how much each term
    (term,) matters, the strongest of all having 1.
    """

    evaluate: Callable[[Groups], float]
    equation: Callable[[Groups, Notation, int], str]
    sheet: Callable[[Groups, Naming, int], Sheet]
    strengths: Callable[[Groups], tuple[np.ndarray, ...]]

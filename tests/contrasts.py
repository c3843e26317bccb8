"""Contrasts for a small model of any family and task."""

import copy

import numpy as np
from family_cases import IDS, beside, translates

from lmviz.circuits.contrast import Contrast

CHANGED = np.array([5, 2, 3, 1, 2, 3, 4])
"""The text with another third token."""


def changed_for(model):
    """The text with a token changed that the model sees from where it is asked."""
    if model.family == "ngram":
        return np.array([5, 2, 6, 5, 2, 3, 4])
    if model.sight is None:
        return CHANGED
    return np.array([5, 2, 6, 1, 2, 6, 4] if model.sight > 1 else [5, 2, 6, 1, 2, 3, 6])


def measure_for(model):
    """One answer against another, where the changed token is in sight."""
    if model.family == "ngram":
        return "probability:3-6@4"
    answers = "3-6" if model.predicts.continues else "verb-noun"
    backward = getattr(model.configuration, "direction", "forward") == "backward"
    is_tagger = not model.predicts.continues and model.predicts.per == "position"
    return f"logit:{answers}@0" if backward and is_tagger else f"logit:{answers}"


def contrast_of(model, *, source=False, measure=None):
    """Two texts that differ in a token, of the source if asked for, and the difference of two answers."""
    measure = measure_for(model) if measure is None else measure
    read = {name: tuple(int(id) for id in ids) for name, ids in beside(model).items()}
    text = tuple(int(id) for id in IDS)
    if not source:
        return Contrast(text, tuple(int(id) for id in changed_for(model)), measure, **read)
    other = list(read["source"])
    other[1] = 3 if model.task == "translation" else 1 - other[1]
    return Contrast(text, None, measure, read["source"], tuple(other))


def contrasts_of(model):
    """With another token of the text, and of the source where there is one."""
    return [
        contrast_of(model, source=source) for source in ((False, True) if translates(model) else (False,))
    ]


def in_float64(model):
    """The same model with all its numbers in double precision."""
    return copy.deepcopy(model).double()

"""Orders units so that those with similar activations are next to each other."""

from __future__ import annotations

import numpy as np


def similarity_order(values: np.ndarray) -> np.ndarray:
    """An order of the units of values (position, unit), as indices (unit,).

    Each unit's course over the text becomes an angle in the plane of the first two principal components,
    and the circle of angles is cut at its widest gap (Friendly 2002). The order depends on nothing but
    the values; one that is not a number counts as 0, so that a model which has gone astray can be looked at.
    """
    values = np.nan_to_num(np.asarray(values, dtype=np.float64), posinf=0.0, neginf=0.0)
    units = values.shape[1]
    if units < 3 or len(values) < 2:
        return np.argsort(-values.mean(axis=0), kind="stable")
    centred = values - values.mean(axis=0)
    courses = centred / np.maximum(np.linalg.norm(centred, axis=0), 1e-12)
    _, _, components = np.linalg.svd(courses, full_matrices=False)
    # A component's sign is arbitrary; the unit that weighs most makes it positive.
    plane = components[:2] * np.sign(components[np.arange(2), np.abs(components[:2]).argmax(axis=1)])[:, None]
    angles = np.arctan2(plane[1], plane[0])
    order = np.argsort(angles, kind="stable")
    gaps = np.diff(angles[order], append=angles[order[0]] + 2 * np.pi)
    return np.roll(order, -(int(gaps.argmax()) + 1))

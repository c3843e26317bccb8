"""How far arrays are apart that differ by rounding alone."""

from __future__ import annotations

import numpy as np


def relative_error(found: np.ndarray, wanted: np.ndarray, least: float) -> float:
    """‖found − wanted‖ / ‖wanted‖, whose norm is taken to be `least` or more.

    By the norm and not cell by cell, as is usual for vectors and matrices (Higham 2002, chapter 6): a cell
    is a sum, and where its terms cancel nothing is left of it but the rounding of its neighbours. Some whole
    gradients cancel so, as that of a bias which moves all scores alike.
    """
    return float(np.linalg.norm(found - wanted) / max(np.linalg.norm(wanted), least))

"""What each order of an n-gram adds to a measure: by what it changes that of the orders below it."""

from __future__ import annotations

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.read_contrast import ReadContrast
from lmviz.circuits.result import Numbers
from lmviz.inspection.scalar import Scalar
from lmviz.models.address import Address

ORDER = "order"


def order_shares(question: ReadContrast, read: CachedPass) -> Numbers:
    """The share of each order, (order,); LmvizError where one gives a word of the measure no probability."""
    scalar, before, found = question.scalar, 0.0, []
    orders = [
        address
        for address in read.axes
        if Address.parse(address).order and address.endswith("/probabilities")
    ]
    for address in orders:
        probabilities = read.values[address][0].cpu().double().numpy()
        now = _of_probabilities(scalar, probabilities)
        found.append(now - before)
        before = now
    if not np.isfinite(found).all():
        raise LmvizError(
            f"One order gives a word the probability 0, whose logarithm is infinite: choose "
            f"{scalar.name.replace('logit', 'probability')}."
        )
    names = tuple(str(Address.parse(address).order) for address in orders)
    return Numbers(array=np.array(found), axes=(ORDER,), names={ORDER: names})


def _of_probabilities(scalar: Scalar, probabilities: np.ndarray) -> float:
    """The measure where these were the model's probabilities, (position, token)."""
    scalar.check_is_cells("which is no sum of what orders add")
    with np.errstate(divide="ignore"):
        values = np.log(probabilities) if scalar.is_loss or scalar.address == "logits" else probabilities
    number = float(values[tuple(np.array(scalar.cells).T)].sum())
    if scalar.against:
        number -= float(values[tuple(np.array(scalar.against).T)].sum())
    return -number if scalar.is_loss else number

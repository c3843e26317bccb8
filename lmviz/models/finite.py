"""Whether the parameters of a model are numbers: NaN stands in what was damaged or was trained too fast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    import numpy as np
    import torch

    from lmviz.models.model import Model


def parameters_without_numbers(model: Model) -> tuple[str, ...]:
    """The names of the parameters in which NaN or infinity stands; a tied one has one name."""
    return tuple(name for name, parameter in model.named_parameters() if not _is_finite(parameter))


def without_numbers_in_words(names: Sequence[str]) -> str:
    """Where NaN or infinity stands: the first of some parameters, and how many others."""
    first, *others = names
    if not others:
        return first
    return f"{first} and {others[0] if len(others) == 1 else f'{len(others)} other tensors'}"


def why_not_finite(model: Model, what: str) -> str:
    """The sentence for numbers of a model that are NaN or infinite, as "its predictions": where it comes
    from, and what one can do."""
    name, names = model.name or "This model", parameters_without_numbers(model)
    if not names:
        return (
            f"{name} has finite weights, but {what} are NaN or infinite: undo the change that makes them so, "
            "or ask about a shorter text."
        )
    way_out = (
        "its file is damaged, or was saved like this; get it again, or open another model"
        if model.is_foreign
        else "choose an earlier snapshot, or train again with a lower learning rate"
    )
    where = without_numbers_in_words(names)
    return f"{name} has NaN or infinity in {where}, so {what} are not numbers: {way_out}."


def check_logits(model: Model, logits: np.ndarray | torch.Tensor) -> None:
    """LmvizError where logits of a model are NaN or plus infinity, of which no distribution can be made."""
    largest = float(logits.max())  # NaN where there is any
    if math.isnan(largest) or largest == math.inf:
        raise LmvizError(why_not_finite(model, "its predictions"))


def check_score(model: Model, nats: float) -> None:
    """LmvizError where the mean loss of a text is none."""
    if math.isnan(nats):
        raise LmvizError(why_not_finite(model, "its predictions"))


def check_states(model: Model, states: np.ndarray, what: str = "its states") -> None:
    """LmvizError where what was read off a model is NaN or infinite, of which nothing can be fitted."""
    import numpy as np

    if not np.isfinite(states).all():
        raise LmvizError(why_not_finite(model, what))


def _is_finite(parameter: torch.Tensor) -> bool:
    import torch

    # A sum is not finite where one of its terms is not, and takes a tenth of the time; it may also overflow.
    total = parameter.detach().sum(dtype=torch.float32)
    return bool(total.isfinite()) or bool(parameter.detach().isfinite().all())

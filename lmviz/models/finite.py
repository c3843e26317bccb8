"""Whether the parameters of a model are numbers: NaN stands in what was damaged or was trained too fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model


def parameters_without_numbers(model: Model) -> tuple[str, ...]:
    """The names of the parameters in which NaN or infinity stands; a tied one has one name."""
    return tuple(name for name, parameter in model.named_parameters() if not _is_finite(parameter))


def _is_finite(parameter: torch.Tensor) -> bool:
    import torch

    # A sum is not finite where one of its terms is not, and takes a tenth of the time; it may also overflow.
    total = parameter.detach().sum(dtype=torch.float32)
    return bool(total.isfinite()) or bool(parameter.detach().isfinite().all())

"""A gradient: the derivative of one number with respect to everything that a forward pass computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.looks.shown import Shown
from lmviz.models.address import Address, with_heads

if TYPE_CHECKING:
    from lmviz.inspection.scalar import Scalar


@dataclass(frozen=True, eq=False, repr=False)
class Gradient(Shown):
    """The derivative of `scalar` with respect to every tap and every parameter, as frozen numpy.

    `trace` is the forward pass, and `value` the scalar in it. `arrays` has the gradient of each tap under
    its address, with the same axes as in the trace: of the value that went on, after interventions.
    `parameters` has those of the parameters by their names. Like a trace it does not keep the model alive,
    can be pickled, and is equal to itself alone.
    """

    trace: Trace
    scalar: Scalar
    value: float
    arrays: Mapping[str, TracedArray]
    parameters: Mapping[str, np.ndarray]

    def __post_init__(self) -> None:
        for name in ("arrays", "parameters"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for traced in self.arrays.values():
            traced.lock()
        for array in self.parameters.values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = {address: TracedArray(at.array, at.axes, at.scale) for address, at in self.arrays.items()}
        kept = {"arrays": arrays, "parameters": dict(self.parameters)}
        fields = dataclasses.fields(self)
        return type(self), tuple(kept.get(field.name, getattr(self, field.name)) for field in fields)

    def __getitem__(self, address: str) -> TracedArray:
        """The gradient of a tap; LmvizError, with the nearest address, if there is no such tap."""
        if isinstance(address, str):
            address = with_heads(Address.parse(address).value)
        if not isinstance(address, str) or address not in self.arrays:
            self.trace[address]  # which says what there is
            raise LmvizError(f"{address} holds whole numbers, which have no gradient.")
        return self.arrays[address]

    def __contains__(self, address: str) -> bool:
        return Address.parse(address).value in self.arrays

    def __len__(self) -> int:
        """The number of positions."""
        return len(self.trace)

    def array(self, source: str) -> np.ndarray:
        """The gradient of a tap or of a parameter; LmvizError if there is neither."""
        name = Address.parse(source).value
        return self.parameters[name] if name in self.parameters else self[name].array

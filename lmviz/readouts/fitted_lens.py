"""A lens that was fitted to a model: for each place of the stream a map to its end, and what it is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lmviz.base.arguments import file_to_write, named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.base.loading import loads
from lmviz.looks.shown import Shown

Kind = Literal["tuned", "jacobian"]
KINDS: tuple[Kind, ...] = ("tuned", "jacobian")

FORMAT = "lmviz lens 1"

FORMULAS = {"tuned": "W norm(A (h − mean) + b)", "jacobian": "W norm(J h)"}
"""How a state h is read, in a line; W stands for the output layer and norm for what is before it."""

UNSURE = 0.4
"""The share of a map that its standard error may be; a map that is less sure is faint."""

CENTRED = "W norm(J (h − mean) + mean of the end)"


@dataclass(frozen=True, eq=False, repr=False)
class FittedLens(Shown):
    """What a state at each place of the stream becomes by its end, as a linear map fitted on passages.

    `places` are addresses, the end of the stream last; it has no map. `passages` and `tokens` are what it was
    fitted on, None where a file does not say. `maps` are (channel of the end,
    channel) by place, `means` (channel,) by place, the end's among them. `errors` are the standard errors of
    the maps as a share of them (norms), by place, where there are several passages; None where the method
    has none. `divergence` is by how much what is read differs from what the model says in the end, in bits
    on held-out passages, by place; `divergence_unfitted` the same of the logit lens.
    """

    kind: Kind
    places: tuple[str, ...]
    maps: Mapping[str, np.ndarray]
    means: Mapping[str, np.ndarray]
    passages: int | None
    tokens: int | None
    errors: Mapping[str, float] | None = None
    divergence: Mapping[str, float] = field(default_factory=dict)
    divergence_unfitted: Mapping[str, float] = field(default_factory=dict)
    centred: bool = True
    scope: str = ""
    model: str = ""
    step: int | None = None

    @property
    def end(self) -> str:
        """The place at the end of the stream."""
        return self.places[-1]

    @property
    def formula(self) -> str:
        """How a state is read, in a line."""
        return CENTRED if self.kind == "jacobian" and self.centred else FORMULAS[self.kind]

    def carried(self, place: str, states: np.ndarray) -> np.ndarray:
        """(..., channel of the end) what states (..., channel) at a place become."""
        if place == self.end:
            return states
        found = self.maps.get(place)
        if found is None:
            raise LmvizError(f"This lens has no map for {place}: it has {', '.join(self.maps)}.")
        if not self.centred:
            return states @ found.T
        return (states - self.means[place]) @ found.T + self.means[self.end]

    def is_unsure(self, place: str) -> bool:
        """Whether the map of a place is hardly known: its standard error is above 40 % of it."""
        return self.errors is not None and place in self.errors and not self.errors[place] <= UNSURE

    def save(self, path: str | Path) -> Path:
        """Write a safetensors file, with all else in its header; LmvizError where it cannot be written."""
        import torch

        from lmviz.models.tensor_file import write_tensor_file

        path = file_to_write(path)
        tensors = {f"map/{place}": torch.tensor(found) for place, found in self.maps.items()}
        tensors |= {f"mean/{place}": torch.tensor(found) for place, found in self.means.items()}
        told = asdict(self) | {"maps": None, "means": None}
        try:
            with replacing(path) as unfinished:
                write_tensor_file(
                    unfinished, tensors, {"format": FORMAT, "lens": json.dumps(told, ensure_ascii=False)}
                )
        except OSError as fault:
            raise LmvizError(
                f"The lens cannot be written to {path}: {fault.strerror}. Choose another place."
            ) from fault
        return path


@loads("lens")
def read_lens(path: str | Path) -> FittedLens:
    """A lens that `FittedLens.save` wrote; LmvizError where the file is none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    from lmviz.text.ordinary_files import read_file

    data = read_file(named_file(path))
    header: Any = {}
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length]).get("__metadata__", {})
        is_lens = header.get("format") == FORMAT
    except (ValueError, AttributeError, RecursionError):
        is_lens = False
    if not is_lens:
        raise LmvizError(f"{path} is no lens of lmviz: fit one with lmviz.lens, and save it.")
    try:
        tensors, told = load(data), json.loads(header["lens"])
        parts = {"maps": _under("map/", tensors), "means": _under("mean/", tensors)}
        lens = FittedLens(**(told | parts | {"places": tuple(map(str, told["places"]))}))
        _check(lens)
    except (SafetensorError, ValueError, TypeError, KeyError, RecursionError) as fault:
        raise LmvizError(f"{path} is a damaged lens ({fault}): fit another one.") from fault
    return lens


def _under(beginning: str, tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(beginning): found for name, found in tensors.items() if name.startswith(beginning)
    }


def _check(lens: FittedLens) -> None:
    """ValueError where the parts of a lens do not belong together."""
    if lens.kind not in KINDS:
        raise ValueError(f"its kind is {lens.kind!r}")
    if len(lens.places) < 2 or not set(lens.maps) <= set(lens.places[:-1]):
        raise ValueError("its maps are not of its places")
    if lens.centred and not {*lens.maps, lens.end} <= set(lens.means):
        raise ValueError("its means are missing")
    for place, found in lens.maps.items():
        mean, end = lens.means.get(place), lens.means.get(lens.end)
        if found.ndim != 2 or not np.isfinite(found).all():
            raise ValueError(f"the map of {place} is no matrix of numbers")
        if mean is not None and end is not None and found.shape != (*end.shape, *mean.shape):
            raise ValueError(f"the map of {place} does not fit its means")


def check_fits(lens: FittedLens, widths: Mapping[str, int]) -> None:
    """LmvizError where a lens was not fitted to a model whose places have these widths, the end last."""
    places = tuple(widths)
    if lens.end != places[-1] or not set(lens.places) <= set(places):
        raise LmvizError(
            f"This lens reads {lens.places[0]} to {lens.end}, and the model has {places[0]} to {places[-1]}: "
            "fit one to this model."
        )
    for place, found in lens.maps.items():
        wanted = (widths[lens.end], widths[place])
        if found.shape != wanted:
            raise LmvizError(
                f"This lens maps {found.shape[1]} channels of {place} to {found.shape[0]}, and the model has "
                f"{wanted[1]} and {wanted[0]}: fit one to this model."
            )

"""What a question about a circuit gives: numbers along named axes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lmviz.base.arguments import file_path
from lmviz.base.errors import LmvizError
from lmviz.base.saving import save_arrays, save_rows
from lmviz.looks.shown import Shown


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Numbers(Shown):
    """An array, the names of its axes, and what stands along them.

    `names` has the labels of an axis, such as its tokens; axes without any are counted from 0.
    """

    array: np.ndarray
    axes: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.array.flags.writeable = False

    @property
    def total(self) -> float:
        """The sum of all numbers, those left out that were not measured."""
        return float(np.nansum(self.array))

    def labels(self, axis: str) -> tuple[str, ...]:
        """What stands along an axis; LmvizError where there is no such axis."""
        if axis not in self.axes:
            raise LmvizError(f"There is no axis {axis!r}: the axes are {', '.join(self.axes) or 'none'}.")
        size = self.array.shape[self.axes.index(axis)]
        return self.names.get(axis) or tuple(map(str, range(size)))

    def table(self) -> list[dict[str, str | int | float]]:
        """A row for each number, with its place along each axis from 0, the labels where there are some."""
        rows: list[dict[str, str | int | float]] = []
        for index in itertools.product(*map(range, self.array.shape)):
            row: dict[str, str | int | float] = {}
            for axis, at in zip(self.axes, index, strict=True):
                row[axis] = at
                if axis in self.names:
                    row[f"{axis} name"] = self.names[axis][at]
            rows.append(row | {"value": float(self.array[index])})
        return rows

    def save(self, path: str | Path) -> None:
        """Write the table as .csv, or the array and its axes as .npz; LmvizError where that cannot be."""
        path = file_path(path)
        if path.suffix == ".npz":
            names = {f"names/{axis}": np.array(labels) for axis, labels in self.names.items()}
            save_arrays(path, {"array": self.array, "axes": np.array(self.axes), **names})
        else:
            save_rows(path, self.table())

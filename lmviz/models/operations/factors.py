"""Helpers that turn operands into factors of an explanation: one cell, or one line of cells."""

from __future__ import annotations

import numpy as np

from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.tap import Reader, Value, Weight, inside


def along(place: tuple[int, ...], axis: int, count: int) -> np.ndarray:
    """The indices of the cells that run along one axis through a place, (count, axis) int64."""
    indices = np.tile(np.asarray(place, dtype=np.int64), (count, 1))
    indices[:, axis] = np.arange(count)
    return indices


def value_cell(reader: Reader, operand: Value, index: tuple[int, ...], function: str = "") -> Factor:
    """The cell of a tap at an index whose first axis is the position that the operand may shift."""
    place = (index[0] + operand.shift, *index[1:])
    array = reader.array(operand.address)
    if not inside(place[0], len(array)):
        return constant(0.0, function=function)
    value = float(array[place])
    return Factor(operand.address, np.array([place]), np.array([value]), function)


def value_line(reader: Reader, address: str, place: tuple[int, ...], axis: int) -> Factor:
    """All the cells of a tap along one axis through a place."""
    array = reader.array(address)
    along_axis: tuple[int | slice, ...] = (*place[:axis], slice(None), *place[axis + 1 :])
    line = array[along_axis]
    return Factor(address, along(place, axis, len(line)), line.astype(np.float64))


def value_cells(reader: Reader, address: str, indices: np.ndarray, function: str = "") -> Factor:
    """The cells of a tap at indices (cell, axis)."""
    values = reader.array(address)[tuple(indices.T)]
    return Factor(address, indices, values.astype(np.float64), function)


def gradient_cell(reader: Reader, address: str, index: tuple[int, ...]) -> Factor:
    """The gradient of one cell of a tap."""
    return value_cell(reader, Value(gradient_of(address)), index)


def gradient_line(reader: Reader, address: str, place: tuple[int, ...], axis: int) -> Factor:
    """The gradients of all the cells of a tap along one axis through a place."""
    return value_line(reader, gradient_of(address), place, axis)


def weight_cell(reader: Reader, operand: Weight, row: int) -> Factor:
    """One number of a parameter with one axis; `row` counts within the rows that the operand means."""
    place = (operand.rows[0] if operand.rows else 0) + row
    value = reader.weight(Weight(operand.name, (place, place + 1)))
    return Factor(operand.name, np.array([[place]]), value.astype(np.float64))


def weight_row(reader: Reader, operand: Weight, row: int) -> Factor:
    """One row of a matrix; `row` counts within the rows that the operand means. Only that row is read."""
    place = (operand.rows[0] if operand.rows else 0) + row
    values = reader.weight(Weight(operand.name, (place, place + 1)))[0]
    return Factor(operand.name, along((place, 0), 1, len(values)), values.astype(np.float64))


def weight_column(reader: Reader, operand: Weight, column: int) -> Factor:
    """One column of the rows of a matrix that the operand means."""
    values = reader.weight(operand)[:, column]
    indices = along((0, column), 0, len(values))
    indices[:, 0] += operand.rows[0] if operand.rows else 0
    return Factor(operand.name, indices, values.astype(np.float64))


def constants(values: np.ndarray) -> Factor:
    """Numbers that come from no array, one for each term."""
    return Factor("constant", np.zeros((len(values), 0), dtype=np.int64), values.astype(np.float64))


def part(factor: Factor, first: int, count: int) -> Factor:
    """A stretch of a factor's terms."""
    stretch = slice(first, first + count)
    return Factor(factor.source, factor.indices[stretch], factor.values[stretch], factor.function)


def repeated(factor: Factor, terms: int) -> Factor:
    """A factor of a single term, the same in many terms."""
    return Factor(
        factor.source,
        np.repeat(factor.indices, terms, axis=0),
        np.repeat(factor.values, terms),
        factor.function,
    )


def explained(
    reader: Reader,
    address: str,
    index: tuple[int, ...],
    operation: str,
    terms: tuple[Terms, ...],
    *,
    rule: str = "sum",
    function: str = "",
) -> Arithmetic:
    """The arithmetic of the cell of a tap at an index; its value is the one that was recorded."""
    value = float(reader.array(address)[index])
    return Arithmetic(address, index, value, operation, rule, terms, function)

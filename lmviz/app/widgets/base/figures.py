"""Numbers of cells in words; all others are written by `lmviz.base.figures`, whose names stand here too."""

from __future__ import annotations

import math

from lmviz.base.figures import (
    bare_percentage,
    brief_percentage,
    cell_figure,
    count,
    counted,
    number,
    percentage,
    percentage_change,
    plain,
    share_or_none,
    short,
    signed_figure,
    whole_percentage,
    with_unit,
)
from lmviz.models.address import Address

__all__ = [
    "bare_percentage",
    "brief_percentage",
    "cell_figure",
    "count",
    "counted",
    "figure_of",
    "has_no_gradient",
    "number",
    "percentage",
    "percentage_change",
    "plain",
    "share_or_none",
    "short",
    "signed_figure",
    "whole_percentage",
    "with_unit",
]


def figure_of(address: str, value: float) -> str:
    """The value of a cell; "none" for the gradient of one that a mask keeps out of the computation."""
    return "none" if has_no_gradient(address, value) else number(value)


def has_no_gradient(address: str, value: float) -> bool:
    """Whether a number is that of a gradient which is not there."""
    return Address.parse(address).is_gradient and math.isnan(value)

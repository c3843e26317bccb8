"""Arrays as JSON has them: each number is that of the array in float32, or rounded to digits that are said.

    {"shape": [2, 3], "values": [0.1, null, "inf", …]}     few numbers, NaN as null
    {"shape": [2, 3], "float32": "…"}                      many: the bytes, little-endian, in base64
    {"shape": [2, 3], "digits": 4, "int16": "…"}           rounded: whole numbers over 10 to the digits
    {"shape": [2, 3], "int32": "…"}                        whole numbers

With "triangle": true there are only the numbers up to the diagonal of the last two axes; all others are 0.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

FEW = 64
"""So many numbers are written as numbers, which a person can read."""

DIGITS = 4
"""Shares are rounded to so many digits where they are rounded."""


def packed(array: Any, *, digits: int | None = None) -> dict[str, Any]:
    """An array of any shape. With `digits`, shares from −3 to 3 are rounded to them, at most 4."""
    values = np.asarray(array)
    shape = {"shape": [int(size) for size in values.shape]}
    if digits is not None:
        kept, extra = _kept(values)
        whole = np.round(kept.astype(np.float64) * 10**digits).astype("<i2")
        return shape | extra | {"digits": digits, "int16": _text(whole)}
    if values.size <= FEW:
        return shape | {"values": [_plain(value) for value in values.ravel()]}
    if values.dtype.kind in "iub":
        return shape | {"int32": _text(values.astype("<i4"))}
    kept, extra = _kept(values)
    return shape | extra | {"float32": _text(kept.astype("<f4"))}


def _kept(values: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """All numbers, or those up to the diagonal where there are none beyond it."""
    if values.ndim < 2 or values.shape[-1] != values.shape[-2] or values.shape[-1] < 2:
        return values, {}
    beyond = np.triu(np.ones(values.shape[-2:], dtype=bool), 1)
    if np.any(values[..., beyond]):
        return values, {}
    return values[..., ~beyond], {"triangle": True}


def _text(values: np.ndarray) -> str:
    return b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _plain(value: Any) -> float | int | str | None:
    """A number in as few digits as give the same float32."""
    if isinstance(value, np.integer | np.bool_ | int):
        return int(value)
    short = np.float32(value)
    if np.isnan(short):
        return None
    if np.isinf(short):
        return "inf" if short > 0 else "-inf"
    return float(str(short))

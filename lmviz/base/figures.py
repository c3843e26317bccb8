"""Numbers as people read them, all alike: a true minus, none before zero, no false precision.

A probability or another share is read in per cent everywhere, and written by the functions here alone. It is
a plain number only as an operand of arithmetic, as a cell of a matrix, and as a draw from 0 to 1.
"""

from __future__ import annotations

import math

_MINUS = "−"
_ROUNDED = 2e-5
"""So much per cent can be missing by rounding alone where the parts of a whole are counted in float32."""


def signed_figure(value: float, digits: int = 2) -> str:
    """A sum's part, always with its sign: "+1.12", "−0.35"."""
    return (_MINUS if value < 0 else "+") + number(abs(value), digits)


def number(value: float, digits: int = 3) -> str:
    """A value with `digits` decimals, or in powers of ten where decimals would show nothing or too much."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    size = abs(value)
    if size != 0 and (size < 0.5 * 10**-digits or size >= 1e6):
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", _MINUS)
    return f"{value:z,.{digits}f}".replace("-", _MINUS)


def plain(value: float, digits: int = 3) -> str:
    """A value in so many figures, without zeros that say nothing: "0.02", "12.5", "3e−5", "1.5e20"."""
    if not math.isfinite(value):
        return number(value)
    mantissa, _, exponent = f"{value:z,.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}".replace("-", _MINUS) if exponent else mantissa.replace("-", _MINUS)


def cell_figure(value: float) -> str:
    """A value briefly enough for a cell: "0.12", "−15.2", "143"."""
    if not math.isfinite(value):
        return number(value)
    size = abs(value)
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:z.{digits}f}".replace("-", _MINUS)


def percentage(share: float) -> str:
    """A share as "21.2 %"; small ones keep two figures: "0.031 %"; "100.0 %" only where nothing is left."""
    percent = 100 * share
    if not math.isfinite(percent):
        return number(percent)
    if percent < 0:
        return _MINUS + percentage(-share)
    left = 100 - percent
    if _ROUNDED < left <= 0.05:
        return f"{percent:.{-math.floor(math.log10(left))}f} %"
    if percent == 0 or percent >= 0.95:
        return f"{percent:z.1f} %"
    if percent < 1e-4:
        return f"{number(percent)} %"
    digits = 1 - math.floor(math.log10(percent))
    return f"{percent:.{digits}f} %"


def brief_percentage(share: float) -> str:
    """A share in per cent, without the sign, for a narrow column: "46", "3", and small ones in one figure,
    "0.4", "0.02"; ">99" where it would be rounded to all."""
    percent = 100 * share
    if not math.isfinite(percent):
        return number(percent)
    if 99.5 <= percent < 100 - _ROUNDED:
        return ">99"
    small = 0 < abs(percent) < 0.95
    return plain(percent, 1) if small else f"{percent:z.0f}".replace("-", _MINUS)


def whole_percentage(share: float) -> str:
    """A share in whole per cent, as `brief_percentage` has it: "87 %", "−3 %", "0.4 %"."""
    return f"{brief_percentage(share)} %"


def percentage_change(change: float) -> str:
    """A change of a share in whole percentage points: "+12 %", "−3 %"; "0 %" where it rounds to none."""
    points = 100 * change
    if not math.isfinite(points):
        return number(points)
    return "0 %" if abs(points) <= 0.5 else f"{points:+.0f} %".replace("-", _MINUS)


def bare_percentage(share: float) -> str:
    """A share as `percentage` writes it, without the sign, where another number or the column has it."""
    return percentage(share).removesuffix(" %")


def share_or_none(share: float) -> str:
    """A share as `percentage` writes it; "–" for one that was not measured, NaN."""
    return "–" if math.isnan(share) else percentage(share)


def count(value: float) -> str:
    """A whole number with separators: "12,345"."""
    if not math.isfinite(value):
        return number(value)
    return f"{int(value):,}".replace("-", _MINUS)


def counted(number: int, noun: str) -> str:
    """So many of something: "1 layer", "12,345 layers"."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def with_unit(value: float, unit: str) -> str:
    """A size in three figures with its unit: "10.2 MB", "950 B"."""
    figures, prefix = _scaled(value, ("T", "G", "M", "k"))
    return f"{figures} {prefix}{unit}"


def short(value: float) -> str:
    """A number of things in three figures: "12.3k", "0.80M", "174bn", "950"."""
    return "".join(_scaled(value, ("tn", "bn", "M", "k")))


def _scaled(value: float, names: tuple[str, ...]) -> tuple[str, str]:
    """Three figures, and which of the names of a trillion, billion, million and thousand they count."""
    if not math.isfinite(value):
        return number(value), ""
    for limit, name in zip((1e12, 1e9, 1e6, 1e3), names, strict=True):
        if abs(value) >= limit * 0.9995:
            scaled = value / limit
            digits = 0 if abs(scaled) >= 99.95 else 1 if abs(scaled) >= 9.995 else 2
            return f"{scaled:.{digits}f}", name
    return f"{value:.0f}", ""

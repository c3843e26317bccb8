"""The compute of a training in floating-point operations, and what a machine of a known pace does in a time.

A training step takes two operations for each parameter and token forward, a multiplication and an addition,
and twice as many backward: 6 P N for P parameters and N tokens (Kaplan et al. 2020, section 2.1). What
attention adds with the length of the text is left out.
"""

from __future__ import annotations

import math
import re

from lmviz.base.errors import LmvizError

OPERATIONS = 6
"""Floating-point operations for each parameter and each token of a training."""

PETAFLOP_DAY = 1e15 * 86_400
"""The operations of a petaflop/s-day: 10¹⁵ a second for a day."""

BEST_TOKENS = 20
"""Tokens for each parameter with which a given compute buys the least loss (Hoffmann et al. 2022)."""

MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86_400.0, 31_557_600.0
_UNITS = (("second", 1.0), ("minute", MINUTE), ("hour", HOUR), ("day", DAY), ("year", YEAR))


def training_compute(parameters: float, tokens: float) -> float:
    """The floating-point operations of a training on so many tokens."""
    return float(OPERATIONS * parameters * tokens)


def petaflop_days(operations: float) -> float:
    """The same in petaflop/s-days."""
    return operations / PETAFLOP_DAY


def best_size(operations: float) -> float:
    """The parameters that a compute trains best: with C = 6 P N and N = 20 P, P = √(C / 120)."""
    return math.sqrt(operations / (OPERATIONS * BEST_TOKENS))


def tokens_for(operations: float, parameters: float) -> float:
    """The tokens that so many parameters read with a compute: a line of equal compute."""
    return operations / (OPERATIONS * parameters)


def duration_in_words(seconds: float) -> str:
    """A duration as one speaks of it: "20 minutes", "3 days", "100,000 years"."""
    if seconds < 1:
        return "under a second"
    name, unit = next((name, unit) for name, unit in reversed(_UNITS) if seconds >= 0.95 * unit)
    amount = seconds / unit
    if amount < 3:
        written = f"{amount:.1f}".removesuffix(".0")
    else:
        written = f"{round(amount, 1 - math.floor(math.log10(amount))):,.0f}"  # two figures
    return f"{written} {name}" if written == "1" else f"{written} {name}s"


def amount_in_words(amount: float) -> str:
    """A number of tokens or parameters as one speaks of it: "350 M", "1.4 tn"."""
    for limit, unit in ((1e12, " tn"), (1e9, " bn"), (1e6, " M"), (1e3, " k")):
        if amount >= limit * 0.9995:
            figures = amount / limit
            digits = 0 if figures >= 99.95 else 1 if figures >= 9.95 else 2
            written = f"{figures:,.{digits}f}"
            return (written.rstrip("0").rstrip(".") if "." in written else written) + unit
    return f"{amount:.0f}"


def days_in_words(days: float) -> str:
    """A number of petaflop/s-days in as many figures as matter: "3,638", "15.8", "1.2e−6"."""
    if days >= 100:
        return f"{days:,.0f}"
    return f"{days:.3g}" if days >= 0.001 else f"{days:.1e}".replace("e-0", "e−").replace("e-", "e−")


def bytes_in_words(size: float) -> str:
    """A size of memory in three figures: "698 GB", "2.79 TB"."""
    for limit, unit in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit * 0.9995:
            figures = size / limit
            return f"{figures:.{0 if figures >= 99.95 else 1 if figures >= 9.995 else 2}f} {unit}"
    return f"{size:.0f} B"


def parse_amount(text: str) -> int:
    """A number as one types it: "300 bn", "1.4tn", "5e9", "12,000"; LmvizError for anything else."""
    found = _AMOUNT.fullmatch(text.strip().replace(",", "").lower())
    amount = math.inf if found is None else float(found[1]) * _FACTORS[found[2] or ""]
    if not math.isfinite(amount):
        raise LmvizError(f"{text[:40]!r} is not an amount: type one such as 300 bn, 1.4 tn, 20 M or 5e9.")
    return round(amount)


_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12, "t": 1e12}
_AMOUNT = re.compile(r"([0-9]*\.?[0-9]+(?:e\+?[0-9]{1,3})?)\s*(k|m|bn|b|tn|t)?")

"""What the looks of results are made of: tables of named figures, words at their positions, grids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from lmviz.base.figures import count, percentage, plain
from lmviz.looks.columns import Column
from lmviz.looks.parts import Bars, Table

MOST = 64
"""A table in a notebook has at most so many rows, and a text so many positions."""


def placed(tokens: Iterable[str], first: int = 0) -> list[str]:
    """Tokens behind their positions, which count from 0 as in Python: "3 made"."""
    return [f"{at} {token}" for at, token in enumerate(tokens, first)]


def texts(title: str, values: Iterable[str], *, tokens: bool = False, spare: bool = False) -> Column:
    """A column of words."""
    return Column(title, list(values), tokens=tokens, spare=spare)


def numbers(
    title: str,
    values: Any,
    write: Callable[[Any], str] = plain,
    *,
    bar: bool = False,
    spare: bool = False,
) -> Column:
    """A column of numbers; None is one that was not measured."""
    found = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return Column(title, found, write, bar=bar, spare=spare)


def shares(title: str, values: Any, *, bar: bool = False, spare: bool = False) -> Column:
    """A column of shares, in per cent."""
    return numbers(title, values, signed_share, bar=bar, spare=spare)


def signed_share(share: float) -> str:
    """A share that may be negative, in per cent."""
    return f"−{percentage(-share)}" if share < 0 else percentage(share)


def counts(title: str, values: Any, *, spare: bool = False) -> Column:
    """A column of whole numbers."""
    return numbers(title, values, count, spare=spare)


def figures(said: Sequence[tuple[str, str | None]], name: str = "figures") -> Table:
    """Named figures one below the other; those that are None are left out."""
    kept = [(name, value) for name, value in said if value is not None]
    return Table(
        name,
        columns=[texts("", (name for name, _ in kept)), texts(" ", (value or "" for _, value in kept))],
        says="; ".join(f"{name}: {value}" for name, value in kept),
    )


def likeliest(labels: Sequence[str], values: Sequence[float] | np.ndarray, name: str = "likeliest") -> Bars:
    """Shares as bars, with whose they are."""
    found = np.asarray(values, dtype=np.float64)
    return Bars(name, labels=list(labels), values=found, texts=list(map(signed_share, found)), limit=1.0)


def in_nats(value: float) -> str:
    """A loss or a measure in nats."""
    return f"{plain(value, 4)} nats"


def named(name: str, family: str, step: int | None = None) -> str:
    """A model by its name, or its family, and its step where it has one."""
    told = name or f"a {family} model"
    return told if not step else f"{told} at step {step:,}"

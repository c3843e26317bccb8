"""What a function of the Python interface is given, checked: what it cannot be is refused in one sentence."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """A whole number from `least` on; LmvizError, which says what `name` must be, for anything else."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise LmvizError(f"{name} must be a whole number, {least} or more, and not {value!r}.")
    return number


def whole_numbers(name: str, value: Any, least: int = 0) -> tuple[int, ...]:
    """A list of whole numbers from `least` on; LmvizError for anything else."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise LmvizError(f"{value!r} is no list of whole numbers: give some, such as [0, 100].")
    return tuple(whole_number(name, one, least) for one in value)


def finite_number(name: str, value: Any) -> float:
    """A number that is neither NaN nor infinite; LmvizError, which says what `name` must be, for others."""
    try:
        number = float(value) if not isinstance(value, str | bytes) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise LmvizError(f"{name} must be a number, and not {value!r}.")
    return number


def check_kind(what: str, value: Any, kind: type, such_as: str) -> None:
    """LmvizError for what is not of a kind; `such_as` says what gives one."""
    if not isinstance(value, kind):
        raise LmvizError(f"{value!r} is no {what}: give {such_as}.")


def words(kind: str, value: Any, such_as: str) -> tuple[str, ...]:
    """One word of a kind or several, as several; LmvizError for the first that is no word."""
    several = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    for word in several:
        if not isinstance(word, str):
            raise LmvizError(f"{word!r} is no {kind}: give one such as {such_as!r}, or several.")
    return several


def file_path(value: Any) -> Path:
    """The path of a file; LmvizError for what is none."""
    if not isinstance(value, str | os.PathLike):
        raise LmvizError(f"{value!r} names no file: give its path.")
    return Path(value)


def named_file(value: Any) -> Path:
    """The path of a file that may be there; LmvizError for what no file can be called."""
    path = file_path(value)
    try:
        os.stat(path)
    except OSError:
        pass  # whoever reads it says so
    except ValueError:
        raise LmvizError(f"{str(path)!a} is a name that no file can have: choose another one.") from None
    return path


def file_to_write(value: Any) -> Path:
    """The path of a file that is to be written; LmvizError for what no file can be called."""
    path = named_file(value)
    if not path.name:
        raise LmvizError(f"{str(value)!a} names no file: give a path that ends in the name of one.")
    return path


def check_callable(name: str, value: Callable[..., Any] | None) -> None:
    """LmvizError for what can hear of nothing, as it cannot be called."""
    if value is not None and not callable(value):
        raise LmvizError(
            f"{name} must be a function, which is told how far the work has come, not {value!r}."
        )

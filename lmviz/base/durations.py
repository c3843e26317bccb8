"""Lengths of time in words."""

from __future__ import annotations


def in_words(seconds: float) -> str:
    """A duration as exactly as one plans with: "about 20 s", "about 4 min", "about 1.5 h"."""
    return f"about {briefly(seconds)}"


def briefly(seconds: float) -> str:
    """The same in two words: "20 s", "4 min", "1.5 h"."""
    if seconds < 57.5:
        return f"{max(5, 5 * round(seconds / 5))} s"
    if seconds < 3570:
        return f"{max(1, round(seconds / 60))} min"
    return f"{round(seconds / 1800) / 2:g} h"

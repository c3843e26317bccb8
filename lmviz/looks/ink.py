"""What something is drawn in: a name for a colour, so that each theme has its own."""

from __future__ import annotations

from typing import NamedTuple

Ink = str | int
"""A role of the theme ("accent", "muted_text"), the number of one of several series, or "#RRGGBB"."""


class Inked(NamedTuple):
    """A part of a text: bold or not, in an ink of its own or in that of the text around it."""

    text: str
    is_bold: bool = False
    ink: Ink | None = None

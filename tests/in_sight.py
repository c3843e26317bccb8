"""Which panels can be seen, and whether they have drawn: asked anew each time, for tabs come and go."""

from __future__ import annotations

from lmviz.app.board.board import Board
from lmviz.app.panels.panel import Panel


def in_sight(board: Board) -> list[Panel]:
    """The panels of a perspective that can be seen now."""
    return [panel for panel in board.panels if panel.is_in_sight]


def all_have_drawn(board: Board) -> bool:
    """Whether each panel that can be seen now has drawn every change.

    A wait asks this again and again: one that had gone behind a tab would never draw.
    """
    return all(panel.is_up_to_date for panel in in_sight(board))

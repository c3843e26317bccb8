"""Arrow keys: which part of a row, a column or a grid each of them leads to."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt

ACROSS: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
DOWN: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
ARROWS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
"""By key: how many rows down and columns to the right."""

CONFIRMING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def along(arrows: Mapping[int, int], key: int, index: int, count: int) -> int | None:
    """The part beside one of `count` (−1 for none), which at an end is itself; None for any other key."""
    return min(max(index + arrows[key], 0), count - 1) if key in arrows and count else None


def step(cell: tuple[int, int], key: int, rows: int, columns: int) -> tuple[int, int]:
    """The cell beside one (row, column), which at an edge is itself."""
    down, right = ARROWS[key]
    return min(max(cell[0] + down, 0), rows - 1), min(max(cell[1] + right, 0), columns - 1)

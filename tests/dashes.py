"""Dashes around a card, which say that nobody has chosen what it shows."""

from PySide6.QtWidgets import QWidget


def has_dashed_edge(card: QWidget) -> bool:
    """Whether its left edge is a line with gaps."""
    image = card.grab().toImage()
    height = image.height()
    return len({image.pixel(0, y) for y in range(height // 4, 3 * height // 4)}) > 1

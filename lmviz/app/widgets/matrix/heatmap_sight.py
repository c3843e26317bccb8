"""The visible part of a heatmap: its zoom and its scroll position."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from lmviz.app.widgets.matrix.heatmap_frame import LARGEST_ZOOM_CELL, HeatmapFrame


class HeatmapSight:
    """Zoom and scroll; each change takes the frame that is in force, and `frame` gives the next one."""

    def __init__(self) -> None:
        self._zoom = 1.0
        self._scrolled = QPointF(0, 0)

    @property
    def zoom(self) -> float:
        """How many times larger than fitted the cells are."""
        return self._zoom

    def reset(self) -> None:
        """See all cells."""
        self._zoom, self._scrolled = 1.0, QPointF(0, 0)

    def frame(self, space: QRectF, rows: int, columns: int, *, square: bool, scale: float) -> HeatmapFrame:
        """Where cells stand that have so much space, at the theme's scale."""
        fitted = HeatmapFrame.fitted(space, rows, columns, square=square, zoom=self._zoom, scale=scale)
        return fitted.scrolled(self._scrolled.x(), self._scrolled.y())

    def zoom_about(self, frame: HeatmapFrame, place: QPointF, factor: float, scale: float) -> None:
        """Make cells larger, up to a comfortable size, and keep the one at a place where it is."""
        fitted = min(frame.cell_width, frame.cell_height) / self._zoom
        zoom = min(max(self._zoom * factor, 1.0), max(1.0, LARGEST_ZOOM_CELL * scale / fitted))
        inside = place - frame.area.topLeft()
        whole = (inside + QPointF(frame.left, frame.top)) * (zoom / self._zoom)
        self._zoom, self._scrolled = zoom, whole - inside

    def scroll(self, frame: HeatmapFrame, distance: QPointF) -> None:
        """Move the picture, as far as there is more of it."""
        moved = frame.scrolled(frame.left - distance.x(), frame.top - distance.y())
        self._scrolled = QPointF(moved.left, moved.top)

    def bring_into_sight(self, frame: HeatmapFrame, cell: tuple[int, int]) -> None:
        """Scroll just so far that a cell (row, column) is seen."""
        place, area = frame.cell(*cell), frame.area
        across = min(0.0, area.right() - place.right()) + max(0.0, area.left() - place.left())
        down = min(0.0, area.bottom() - place.bottom()) + max(0.0, area.top() - place.top())
        self.scroll(frame, QPointF(across, down))

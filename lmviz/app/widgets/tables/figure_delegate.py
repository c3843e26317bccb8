"""Draws a figures table: its titles, and its cells of words, numbers, marks and bars."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import cut
from lmviz.app.widgets.tables.figure_columns import FigureColumn, FigureLine, FiguresModel
from lmviz.app.widgets.tables.quiet_table import Index
from lmviz.base.plain_text import seen

SIZE, HEAD_SIZE, HEAD = 12, 12, 26
PADDING = 6
OVER = 4  # pixels that a title may stand into the padding of its column


class FigureHeader(QHeaderView):
    """The titles above a thin line, with an arrow at the column that the lines are sorted by."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._sorted_by: tuple[str, bool] | None = None
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(1)

    def set_sorted_by(self, name: str, *, descending: bool) -> None:
        """Show an arrow at the title of a column."""
        self._sorted_by = (name, descending)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(0, round(HEAD * current_theme().scale))

    @property
    def _columns(self) -> Sequence[FigureColumn]:
        model = self.model()
        assert isinstance(model, FiguresModel), "these are the titles of a table of figures"
        return model.columns

    def title_of(self, section: int) -> str:
        """The title of a column, the brief one where it has no room, with the arrow if it sorts lines."""
        column, room = self._columns[section], self.sectionSize(section) - 2 * PADDING * current_theme().scale
        arrow = ""
        if self._sorted_by is not None and column.name == self._sorted_by[0]:
            arrow = " ↓" if self._sorted_by[1] else " ↑"
        fits = metrics(HEAD_SIZE).horizontalAdvance(column.title + arrow) <= room + OVER
        return (column.title if fits or not column.brief else column.brief) + arrow

    def paintSection(self, painter: QPainter, area: QRect, section: int) -> None:
        theme, column = current_theme(), self._columns[section]
        place = _inside(area)
        title = cut(self.title_of(section), place.width() + OVER, metrics(HEAD_SIZE))
        painter.setFont(theme.font(HEAD_SIZE))
        painter.setPen(theme.faint_text if column.quiet else theme.muted_text)
        painter.drawText(place, column.alignment, title)
        painter.setPen(theme.line)
        painter.drawLine(area.bottomLeft(), area.bottomRight())


class FigureDelegate(QStyledItemDelegate):
    """Draws one cell; the bar of the marked line stands out."""

    def __init__(self, model: FiguresModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self.marked = -1

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, row, number = current_theme(), index.row(), index.column()
        line, column, place = self._model.line(row), self._model.columns[number], _inside(option.rect)
        text = line.texts[number]
        if column.kind == "bar":
            _draw_bar(painter, place, line, text, marked=row == self.marked)
            return
        painter.setFont(theme.token_font(SIZE) if column.kind != "mark" else theme.font(SIZE))
        painter.setPen(theme.faint_text if column.quiet or line.faded else theme.text)
        measure = metrics(SIZE, token=column.kind != "mark")
        painter.drawText(place, column.alignment, cut(seen(text), place.width(), measure))


def _draw_bar(painter: QPainter, place: QRectF, line: FigureLine, text: str, *, marked: bool) -> None:
    theme = current_theme()
    gap = 6 * theme.scale
    beside = metrics(HEAD_SIZE).horizontalAdvance("100.0 %") + gap
    width = max(0.0, place.width() - beside) * line.share
    if line.share > 0:
        width = max(width, 1.5 * theme.scale)
        height, radius = 12 * theme.scale, 2.5 * theme.scale
        color = QColor(theme.validation if marked else theme.accent)
        color.setAlphaF(1.0 if marked else 0.86)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        bar = QRectF(place.left(), place.center().y() - height / 2, width, height)
        painter.drawRoundedRect(bar, radius, radius)
    painter.setPen(theme.faint_text if line.faded else theme.muted_text)
    painter.setFont(theme.font(HEAD_SIZE))
    rest = place.adjusted(width + gap if width else 0, 0, PADDING * theme.scale, 0)
    painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, text)


def _inside(area: QRect) -> QRectF:
    padding = PADDING * current_theme().scale
    return QRectF(area).adjusted(padding, 0, -padding, 0)

"""The palette of every command: type a few letters, press Enter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QFont, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QDialog,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.controls.fuzzy import fuzzy_search
from lmviz.app.widgets.controls.search_field import SearchField
from lmviz.app.widgets.kit.painter import AT_LEFT, AT_RIGHT, Painter
from lmviz.app.widgets.kit.pointing import CONFIRMING

WIDTH = 560
ROWS = 11
ROW = 30
TAKEN = Qt.ItemDataRole.UserRole + 1
ACTION = Qt.ItemDataRole.UserRole + 2


class CommandPalette(QDialog):
    """`CommandPalette(actions, parent)`: `actions()` gives the QActions there are now.

    `open()` shows it over its parent; typing filters, Up and Down choose, Enter or a click triggers,
    Escape closes. Actions that are disabled are shown but cannot be triggered.
    """

    def __init__(self, actions: Callable[[], Sequence[QAction]], parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._actions = actions
        self.setObjectName("command_palette")
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAccessibleName("Command palette")
        self._edit = SearchField(self._press)
        self._edit.setPlaceholderText("Type a command…")
        self._edit.setAccessibleName("Command")
        self._edit.setFrame(False)
        self._edit.textChanged.connect(self._fill)
        self._list = named(QListWidget(), description="Commands")
        self._list.setItemDelegate(_CommandDelegate(self._list))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setMouseTracking(True)
        self._list.itemClicked.connect(self._trigger)
        layout = QVBoxLayout(self)
        layout.addWidget(self._edit)
        layout.addWidget(self._list)

    def open(self) -> None:
        """Show all commands, with the cursor in the search field."""
        scale, parent = current_theme().scale, self.parentWidget()
        self._edit.setStyleSheet(f"QLineEdit {{ border: none; font-size: {round(15 * scale)}px; }}")
        self._edit.clear()
        self._fill("")
        width = round(WIDTH * scale)
        height = round(ROW * scale) * ROWS + round(58 * scale)
        if parent is not None:
            width = min(width, parent.width() - 24)
            height = min(height, parent.height() - 24)
            corner = parent.mapToGlobal(parent.rect().topLeft())
            self.move(corner.x() + (parent.width() - width) // 2, corner.y() + round(60 * scale))
        self.resize(width, height)
        super().open()
        self._edit.setFocus()

    def _fill(self, wanted: str) -> None:
        usable = [action for action in self._actions() if action.text() and not action.isSeparator()]
        self._list.clear()
        for action, taken in fuzzy_search(wanted, usable, command_text):
            item = QListWidgetItem(command_text(action))
            item.setData(TAKEN, taken)
            item.setData(ACTION, action)
            if not action.isEnabled():
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addItem(item)
        self._choose(0, 1)

    def _choose(self, row: int, step: int) -> None:
        """Choose the next enabled row from here on, in the direction of the step."""
        while 0 <= row < self._list.count():
            if self._list.item(row).flags() & Qt.ItemFlag.ItemIsEnabled:
                self._list.setCurrentRow(row)
                return
            row += step

    def _trigger(self, item: QListWidgetItem | None) -> None:
        if item is None or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        action = item.data(ACTION)
        self.accept()
        action.trigger()

    def _press(self, event: QKeyEvent) -> bool:
        """Do what a key means for the list, and say whether it meant anything."""
        steps: dict[int, int] = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_PageDown: 8,
            Qt.Key.Key_PageUp: -8,
        }
        if event.key() in steps:
            step = steps[event.key()]
            row = min(max(self._list.currentRow() + step, 0), self._list.count() - 1)
            self._choose(row, 1 if step > 0 else -1)
            return True
        if event.key() in CONFIRMING:
            self._trigger(self._list.currentItem())
            return True
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = Painter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect().adjusted(0, 0, -1, -1))
        painter.box(area, theme.surface, theme.strong_line, radius=10 / theme.scale)
        painter.setPen(theme.line)
        below = self._edit.geometry().bottom() + 4
        painter.drawLine(1, below, self.width() - 2, below)


def command_text(action: QAction) -> str:
    """What a command is called outside its submenu, without the marks of mnemonics."""
    return (action.data() or action.text()).replace("&&", "\0").replace("&", "").replace("\0", "&")


class _CommandDelegate(QStyledItemDelegate):
    """Draws a command with its letters found in the accent colour and its keys on the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, round(ROW * current_theme().scale))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = current_theme()
        area: QRect = option.rect.adjusted(4, 1, -4, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.accent_wash)
            painter.drawRoundedRect(area, 5, 5)
        enabled = bool(index.flags() & Qt.ItemFlag.ItemIsEnabled)
        place = area.left() + round(10 * theme.scale)
        usual, found = theme.font(), theme.font(weight=QFont.Weight.DemiBold)
        for number, letter in enumerate(index.data()):
            taken = enabled and number in index.data(TAKEN)
            painter.setFont(found if taken else usual)
            painter.setPen(QPen(theme.accent if taken else theme.text if enabled else theme.faint_text))
            painter.drawText(area.adjusted(place - area.left(), 0, 0, 0), AT_LEFT, letter)
            place += painter.fontMetrics().horizontalAdvance(letter)
        keys = index.data(ACTION).shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        painter.setFont(theme.font(12))
        painter.setPen(theme.muted_text if enabled else theme.faint_text)
        painter.drawText(area.adjusted(0, 0, -round(10 * theme.scale), 0), AT_RIGHT, keys)
        painter.restore()

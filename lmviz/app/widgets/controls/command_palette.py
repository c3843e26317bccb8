"""The palette of every command: type a few letters, press Enter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QFont, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QDialog,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.fuzzy import fuzzy_search
from lmviz.app.widgets.controls.search_field import SearchField
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import AT_LEFT, AT_RIGHT, Painter
from lmviz.app.widgets.kit.pointing import CONFIRMING
from lmviz.base.plain_text import on_one_line

WIDTH = 560
ROWS = 11
ROW = 30
TAKEN = Qt.ItemDataRole.UserRole + 1
ACTION = Qt.ItemDataRole.UserRole + 2
Index = QModelIndex | QPersistentModelIndex
OTHER_WORDS = "other_words"
NOWHERE = QModelIndex()


class CommandPalette(Painted, QDialog):
    """`CommandPalette(actions, parent)`: `actions()` gives the QActions there are now.

    `open()` shows it over its parent; typing filters, Up and Down choose, Enter or a click triggers,
    Escape closes. Actions that are disabled are shown but cannot be triggered. An action is also found by the
    words of its property `OTHER_WORDS`, and where nothing fits, that is said.
    """

    def __init__(self, actions: Callable[[], Sequence[QAction]], parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._actions = actions
        self._usable: list[QAction] = []
        self.setObjectName("command_palette")
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAccessibleName("Command palette")
        self._edit = SearchField(self._press)
        self._edit.setPlaceholderText("Type a command…")
        self._edit.setAccessibleName("Command")
        self._edit.setFrame(False)
        self._edit.textChanged.connect(self._fill)
        self._found = _FoundCommands(self)
        self._list = named(QListView(), description="Commands")
        self._list.setModel(self._found)
        self._list.setItemDelegate(_CommandDelegate(self._list))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setMouseTracking(True)
        self._list.clicked.connect(self._trigger)
        layout = QVBoxLayout(self)
        layout.addWidget(self._edit)
        layout.addWidget(self._list)
        self._none = Label(name="palette_none", wraps=True)
        self._none.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._none.setMargin(10)
        self._none.hide()
        layout.addWidget(self._none, 1)

    def open(self) -> None:
        """Show all commands, with the cursor in the search field."""
        scale, parent = current_theme().scale, self.parentWidget()
        self._edit.setStyleSheet(f"QLineEdit {{ border: none; font-size: {round(15 * scale)}px; }}")
        # once, for some are read from disk
        self._usable = [action for action in self._actions() if action.text() and not action.isSeparator()]
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
        found = fuzzy_search(wanted, self._usable, command_text, _other_words)
        self._found.set_commands(found)
        self._list.setVisible(bool(found))
        self._none.setVisible(not found)
        self._none.setText(
            f"Nothing is called “{on_one_line(wanted)}”: try fewer letters, or another word."
            if wanted.strip()
            else ""
        )
        self._choose(0, 1)

    def _choose(self, row: int, step: int) -> None:
        """Choose the next enabled row from here on, in the direction of the step."""
        while 0 <= row < self._found.rowCount():
            index = self._found.index(row)
            if index.flags() & Qt.ItemFlag.ItemIsEnabled:
                self._list.setCurrentIndex(index)
                return
            row += step

    def _trigger(self, index: QModelIndex) -> None:
        if not index.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        action = index.data(ACTION)
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
            row = min(max(self._list.currentIndex().row() + step, 0), self._found.rowCount() - 1)
            self._choose(row, 1 if step > 0 else -1)
            return True
        if event.key() in CONFIRMING:
            self._trigger(self._list.currentIndex())
            return True
        return False

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = current_theme()
        painter.setRenderHint(Painter.RenderHint.Antialiasing)
        area = QRectF(self.rect().adjusted(0, 0, -1, -1))
        painter.box(area, theme.surface, theme.strong_line, radius=10 / theme.scale)
        painter.setPen(theme.line)
        below = self._edit.geometry().bottom() + 4
        painter.drawLine(1, below, self.width() - 2, below)


def command_text(action: QAction) -> str:
    """What a command is called outside its submenu, without the marks of mnemonics."""
    return (action.data() or action.text()).replace("&&", "\0").replace("&", "").replace("\0", "&")


def _other_words(action: QAction) -> str:
    return action.property(OTHER_WORDS) or ""


class _FoundCommands(QAbstractListModel):
    """The commands that are found, each with the places of its letters.

    A model, for the items of a QListWidget have wrappers of PySide6's, which were gone before the items.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._commands: list[tuple[str, bool, tuple[int, ...], QAction]] = []

    def set_commands(self, commands: Sequence[tuple[QAction, tuple[int, ...]]]) -> None:
        """Hold other commands, as they are now: an action may be gone while the list is out of sight."""
        self.beginResetModel()
        self._commands = [
            (command_text(action), action.isEnabled(), taken, action) for action, taken in commands
        ]
        self.endResetModel()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._commands)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or not self._commands[index.row()][1]:
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        text, _, taken, action = self._commands[index.row()]
        return {Qt.ItemDataRole.DisplayRole: text, TAKEN: taken, ACTION: action}.get(role)


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
        painter.setRenderHint(Painter.RenderHint.Antialiasing)
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

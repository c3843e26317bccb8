"""Every command of the window, found by typing a few of its letters."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from lmviz.app.theme import current_theme

WIDTH, HEIGHT = 520, 380
MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class CommandPalette(QDialog):
    """`CommandPalette(actions, parent)`: type, choose with the arrows, Return runs it."""

    def __init__(self, actions: Iterable[QAction], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("command_palette")
        self.setAccessibleName("commands")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._actions = [action for action in actions if title_of(action) and action.isEnabled()]
        self._edit = QLineEdit()
        self._edit.setPlaceholderText("Type a command")
        self._edit.setAccessibleName("command")
        self._list = QListWidget()
        self._list.setAccessibleName("matching commands")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.addWidget(self._edit)
        column.addWidget(self._list)
        self._edit.textChanged.connect(self._filter)
        self._edit.returnPressed.connect(self._run)
        self._edit.installEventFilter(self)
        self._list.itemClicked.connect(lambda _: self._run())
        scale = current_theme().scale
        self.resize(round(WIDTH * scale), round(HEIGHT * scale))
        self.move(parent.mapToGlobal(parent.rect().center()) - self.rect().center())
        self._filter("")

    @property
    def titles(self) -> list[str]:
        """The commands that match what is typed, best first."""
        return [title_of(self._list.item(row).data(_ACTION)) for row in range(self._list.count())]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in MOVES:
            self._list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        ranked = [(_mismatch(text, title_of(action)), action) for action in self._actions]
        self._list.clear()
        for _, action in sorted(
            ((rank, action) for rank, action in ranked if rank is not None), key=lambda pair: pair[0]
        ):
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            item = QListWidgetItem(f"{title_of(action)}    {keys}" if keys else title_of(action))
            item.setData(_ACTION, action)
            self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _run(self) -> None:
        item = self._list.currentItem()
        self.close()
        if item is not None:
            item.data(_ACTION).trigger()


_ACTION = Qt.ItemDataRole.UserRole


def title_of(action: QAction) -> str:
    """What a command is called, without the marks of its menu."""
    return action.text().replace("&", "")


def _mismatch(typed: str, title: str) -> int | None:
    """How far apart the typed letters lie in the title, in their order; None when they do not occur."""
    typed, title = typed.lower(), title.lower()
    if typed in title:
        return title.index(typed)
    place, spread = 0, 100
    for letter in typed.replace(" ", ""):
        found = title.find(letter, place)
        if found < 0:
            return None
        spread += found - place
        place = found + 1
    return spread

"""What is changed in the shown model, beside it in the header: how much, a switch, and the way back."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import number_in_words
from lmviz.app.widgets.base.building import row
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.controls.change_list import ChangeList, ListedChange
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter

LIST_WIDTH = 330


class SurgeryChip(Painted, QFrame):
    """`SurgeryChip(session)`: to be seen as long as there are changes, in every perspective.

    The number opens a list in which each can be switched and removed.
    """

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("surgery_chip")
        self._count = _button("surgery_list_button", "", "list the changes to this model")
        self._switch = Switch("surgery_switch", "switch all changes off for now, or on again")
        self._remove = _button("remove_changes_button", "remove all", "remove all changes to this model")
        self.popup: _ChangesPopup | None = None  # the list of changes, once it has been opened
        row(self._count, self._switch, self._remove, on=self, gap=2, margins=(6, 0, 6, 0))
        self._count.clicked.connect(self._show_list)
        self._switch.clicked.connect(lambda on: session.surgery.set_off(not on))
        self._remove.clicked.connect(session.surgery.clear)
        session.surgery.changed.connect(self._show_changes)
        theme_switch().theme_changed.connect(self._show_changes)
        self._show_changes()

    def set_short(self, short: bool) -> None:
        """Where there is little room, what removes all stands in the list alone."""
        self._remove.setVisible(not short)

    def _show_changes(self) -> None:
        surgery = self._session.surgery
        self.setVisible(bool(surgery.interventions))
        said = number_in_words(len(surgery.interventions))
        self._count.setText(f"{said}, off" if surgery.is_off else said)
        self._switch.setChecked(not surgery.is_off)
        self.update()

    def _show_list(self) -> None:
        self.popup = self.popup or _ChangesPopup(self._session, self)
        self.popup.open_below(self)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        """The orange of what is changed; grey while all is off."""
        theme = current_theme()
        edge = theme.strong_line if self._session.surgery.is_off else theme.key
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(edge, theme.scale))
        painter.setBrush(mix(theme.surface, edge, 0.1))
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(area, area.height() / 2, area.height() / 2)


class _ChangesPopup(Painted, QFrame):
    """The list of changes below the chip; a click elsewhere closes it."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._session = session
        self.setObjectName("changes_popup")
        title = Label("Changes to this model", role="title")
        sentence = "In force in every perspective, until they are switched off or removed."
        note = Label(sentence, role="muted", wraps=True)
        self._list = ChangeList()
        remove = QPushButton("Remove all changes")
        column = QVBoxLayout(self)
        for widget in (title, note, self._list, remove):
            column.addWidget(widget)
        self._list.toggled.connect(session.surgery.toggle)
        self._list.removed.connect(session.surgery.remove)
        remove.clicked.connect(session.surgery.clear)
        session.surgery.changed.connect(self._fill)
        self._fill()

    def open_below(self, chip: QWidget) -> None:
        """Open with the right edges in one line."""
        self.resize(round(LIST_WIDTH * current_theme().scale), 0)
        self.adjustSize()
        corner = chip.mapToGlobal(QPoint(chip.width() - self.width(), chip.height() + 4))
        self.move(corner)
        self.show()

    def _fill(self) -> None:
        surgery = self._session.surgery
        self._list.set_changes(
            [ListedChange(item.describe(), item.enabled) for item in surgery.interventions]
        )
        if not surgery.interventions:
            self.hide()
        elif self.isVisible():
            self.adjustSize()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = current_theme()
        painter.setPen(theme.key)
        painter.setBrush(theme.surface)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


def _button(name: str, text: str, description: str) -> QPushButton:
    button = QuietButton(name, text, "link", description)
    button.setToolTip(paragraph(description[0].upper() + description[1:]))
    return button

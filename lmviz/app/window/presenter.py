"""What only a presenter needs: the notes and the clock for a second screen, and a black screen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTime, QTimer
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeyEvent, QMouseEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme, give_font, theme_switch
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet
from lmviz.app.widgets.base.plain import Label, window_title
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.text.markdown_label import MarkdownLabel

CLOCK, NOTES = 30.0, 17.0  # sizes of type at scale 1
USUAL = (620, 560)  # pixels
SECOND = 1000  # milliseconds


class PresenterWindow(QWidget):
    """Notes, the next item, the clock, and how long the lecture has lasted.

    `elapsed()` gives seconds, None where it has not begun, and `pace()` says how far behind its plan it is.
    `keys` is offered every key that is pressed here.
    """

    def __init__(
        self,
        elapsed: Callable[[], float | None],
        pace: Callable[[], str],
        keys: Callable[[QKeyEvent], bool],
        parent: QWidget,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("presenter_window")
        self._elapsed, self._pace, self._keys = elapsed, pace, keys
        self._time = Label(name="presenter_time")
        self._lasted = Label(name="presenter_lasted", role="muted")
        self._behind = Label(name="presenter_pace", role="warning")
        self._place = Label(name="presenter_place", role="muted")
        self._title = Label(name="presenter_title", role="lesson", wraps=True)
        self._notes = MarkdownLabel("presenter_notes")
        self._next = Label(name="presenter_next", role="muted", wraps=True)
        self.back_button = QuietButton("presenter_back", "Back")
        self.forward_button = QuietButton("presenter_forward", "Next", "primary")
        self.black_button = QuietButton("presenter_black", "Black screen")
        above = row((self._time, 0), 12, self._lasted, 12, self._behind, STRETCH, self._place)
        notes = scrolling(sheet(column(self._notes, STRETCH)))
        below = row(self.back_button, self.forward_button, STRETCH, self.black_button)
        parts = (above, self._title, (notes, 1), self._next, below)
        column(*parts, on=self, gap=14, margins=(22, 18, 22, 18))
        self._tick = QTimer(self, interval=SECOND)
        self._tick.timeout.connect(self._tell_time)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self.resize(*USUAL)

    def show_page(self, lecture: str, title: str, place: str, notes: str, following: str) -> None:
        """Show an item of a lecture: its `notes` in Markdown, its `place` in words, and what follows."""
        self.setWindowTitle(window_title(f"Notes: {lecture}"))
        self._title.setText(title)
        self._place.setText(place)
        self._notes.setText(notes or "*No notes.*")
        self._next.setText(following)
        self._tell_time()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tell_time()
        self._tick.start()
        self.forward_button.setFocus()  # a space goes on, and not back

    def hideEvent(self, event: QHideEvent) -> None:
        self._tick.stop()
        super().hideEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.hide()  # it is shown again; the lecture goes on
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._keys(event):
            super().keyPressEvent(event)

    def _tell_time(self) -> None:
        self._time.setText(QTime.currentTime().toString("hh:mm"))
        self._lasted.setText(lasted_in_words(self._elapsed()))
        pace = self._pace()
        self._behind.setText(pace)
        self._behind.setVisible(bool(pace))
        set_role(self._behind, "warning" if pace.endswith("behind") else "muted")

    def _adopt_theme(self) -> None:
        theme = current_theme()
        give_font(self._time, theme.font(CLOCK))
        give_font(self._notes, theme.font(NOTES))


def lasted_in_words(seconds: float | None) -> str:
    """How long a lecture has lasted: "12:05", "1:02:05"; that it has not begun for None."""
    if seconds is None:
        return "F5 gives the lecture, and begins to count"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class BlackScreen(Painted, QWidget):
    """`BlackScreen(window)`: `set_on(on)` covers the window in black; a key or a click brings it back."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        named(self, "black_screen", "the screen is black: any key brings the picture back")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.BlankCursor)
        self.hide()
        window.installEventFilter(self)

    @property
    def is_on(self) -> bool:
        """Whether the window is covered."""
        return not self.isHidden()

    def set_on(self, on: bool) -> None:
        """Cover the window, or show it again."""
        if on:
            self.setGeometry(self.window().rect())
            self.raise_()
            self.show()
            self.setFocus()
        else:
            self.hide()
            self.window().setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.is_on:
            self.setGeometry(self.window().rect())
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.set_on(False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.set_on(False)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        painter.fillRect(self.rect(), Qt.GlobalColor.black)

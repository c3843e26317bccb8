"""A typeset equation, and below it, switched by a key, the same with numbers."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.growing_canvas import EnlargedCanvas
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.text import typesetting

SIZE = 21
NUMBERS_SIZE = 12.5
LINE = 18
PADDING = 8
PATIENCE = 50
WRAPPED = CENTRED | Qt.TextFlag.TextWordWrap


class EquationView(EnlargedCanvas):
    """`EquationView()`: `set_equation(latex)`, `set_numbers(text)`, `set_numbers_shown(bool)`.

    LaTeX may colour its symbols by roles of the theme: `\\textcolor{query}{q}`. What is not LaTeX is
    shown as it is. N or a click shows and hides the numbers; signal `numbers_toggled(bool)`.
    """

    numbers_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._latex = ""
        self._numbers = ""
        self._numbers_shown = True
        self._renderer: QSvgRenderer | None = None
        self._set_for: tuple[str, str, float] | None = None
        self._waiting = QTimer(self)
        self._waiting.timeout.connect(self._look_again)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("equation")

    def set_equation(self, latex: str) -> None:
        """Show an equation; "" for none."""
        if latex != self._latex:
            self._latex = latex
            self.setAccessibleDescription(latex)
            self.updateGeometry()
            self.update()

    def set_numbers(self, numbers: str) -> None:
        """The equation with the numbers of the chosen cell; "" when none is chosen."""
        if numbers != self._numbers:
            self._numbers = numbers
            self.updateGeometry()
            self.update()

    def set_numbers_shown(self, shown: bool) -> None:
        """Whether the numbers stand below the symbols."""
        if shown != self._numbers_shown:
            self._numbers_shown = shown
            self.updateGeometry()
            self.update()
            self.numbers_toggled.emit(shown)

    @property
    def numbers(self) -> str:
        """The equation with the numbers of the chosen cell; "" when none is chosen."""
        return self._numbers

    @property
    def numbers_shown(self) -> bool:
        """Whether the numbers stand below the symbols."""
        return self._numbers_shown

    @property
    def is_set(self) -> bool:
        """Whether the equation is shown in proper type, not as plain text."""
        return self._picture() is not None

    def adopt_theme(self) -> None:
        self._set_for = None
        super().adopt_theme()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return round(self._equation_height(width) + self._numbers_height(width))

    def sizeHint(self) -> QSize:
        width = round(self.length(300))
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(120)), self.heightForWidth(max(self.width(), round(self.length(120)))))

    def _picture(self) -> QSvgRenderer | None:
        """The equation, set for the theme; None while the type is loading, or for what is not LaTeX."""
        if not typesetting.ready():
            typesetting.load_in_background()
            self._waiting.start(PATIENCE)
            return None
        key = (self._latex, self.theme.name, self.theme.scale)
        if key != self._set_for:
            self._set_for = key
            colored = typesetting.with_roles(self._latex, self.theme)
            svg = typesetting.equation_picture(colored, self.length(SIZE), self.theme.text.name())
            self._renderer = QSvgRenderer(QByteArray(svg)) if svg and self._latex else None
        return self._renderer

    def _look_again(self) -> None:
        if typesetting.ready():
            self._waiting.stop()
            self.updateGeometry()
            self.update()

    def _equation_height(self, width: float) -> float:
        if not self._latex:
            return 0
        picture = self._picture()
        if picture is None:
            return self.length(2 * LINE)
        size = picture.defaultSize()
        return size.height() * min(1.0, width / max(size.width(), 1)) + self.length(12)

    def _numbers_height(self, width: float) -> float:
        if not (self._numbers and self._numbers_shown):
            return 0
        room = QRectF(0, 0, width - 2 * self.length(PADDING), 10_000)
        measure = self.metrics(NUMBERS_SIZE, token=True)
        text = measure.boundingRect(room, Qt.TextFlag.TextWordWrap, self._numbers)
        return text.height() + self.length(PADDING * 2)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        below = self._equation_height(self.width())
        if self._latex:
            self._draw_equation(painter, QRectF(0, 0, self.width(), below))
        if self._numbers and self._numbers_shown:
            height = self._numbers_height(self.width())
            self._draw_numbers(painter, QRectF(0, below, self.width(), height))
        self.draw_focus(painter)

    def _draw_equation(self, painter: Painter, place: QRectF) -> None:
        picture = self._picture()
        if picture is None:
            # Until the type is there, nothing is better than backslashes; without it, they are better.
            shown = self._latex if typesetting.ready() else ""
            painter.write(place, shown, self.theme.muted_text, NUMBERS_SIZE, token=True, where=WRAPPED)
            return
        size = picture.defaultSize()
        shrunk = min(1.0, place.width() / max(size.width(), 1))
        area = QRectF(0, 0, size.width() * shrunk, size.height() * shrunk)
        area.moveCenter(place.center())
        picture.render(painter, area)

    def _draw_numbers(self, painter: Painter, place: QRectF) -> None:
        painter.box(place, self.theme.note_wash, radius=5)
        padding = self.length(PADDING)
        room = place.adjusted(padding, padding, -padding, -padding)
        painter.write(room, self._numbers, self.theme.text, NUMBERS_SIZE, token=True, where=WRAPPED)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._numbers:
            self.set_numbers_shown(not self._numbers_shown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_N:
            self.set_numbers_shown(not self._numbers_shown)
        else:
            super().keyPressEvent(event)

"""What the programs of this folder share: the widgets of one kind, each in a card, in every theme.

python docs/gallery/plots.py                  shows them; T changes the theme, P the projector mode
python docs/gallery/plots.py picture.png      draws them in light, in dark and for the projector
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter, QShortcut
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from lmviz.app.look.theme import current_theme, make_application, theme_switch
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.scrolling import scrolling

THEMES = {"light": ("light", False), "dark": ("dark", False), "projector": ("light", True)}
"""What the switch is told for each: the choice, and whether the projector mode is on."""
WIDTH, HEIGHT = 1200, 800
RATIO = 2


@dataclass(frozen=True)
class Exhibit:
    """One widget on show: the card's title and aside, the function that makes it, and the card's size."""

    title: str
    aside: str
    build: Callable[[], QWidget]
    size: tuple[int, int]


def show(exhibits: Sequence[Exhibit]) -> None:
    """Show the exhibits, or draw them into the picture that the command line names."""
    application = make_application()
    if len(sys.argv) > 1:
        picture(exhibits).save(sys.argv[1])
        return
    switch = theme_switch()
    window = QWidget()
    column = QVBoxLayout(window)
    column.addWidget(scrolling(page(exhibits)))

    def rebuild() -> None:
        before = column.takeAt(0).widget()
        column.addWidget(scrolling(page(exhibits)))
        before.deleteLater()

    def toggle_theme() -> None:
        switch.set_choice("light" if current_theme().name == "dark" else "dark")
        rebuild()

    def toggle_projector() -> None:
        switch.set_projector(not switch.projector)
        rebuild()

    QShortcut(Qt.Key.Key_T, window).activated.connect(toggle_theme)
    QShortcut(Qt.Key.Key_P, window).activated.connect(toggle_projector)
    window.resize(WIDTH, HEIGHT)
    window.show()
    application.exec()


def page(exhibits: Sequence[Exhibit]) -> QWidget:
    """The exhibits in cards side by side, built in the theme in force."""
    made = QWidget()
    flow, scale = FlowLayout(made), current_theme().scale
    for exhibit in exhibits:
        card = Card(exhibit.title, exhibit.aside, exhibit.build())
        card.setFixedSize(*(round(length * scale) for length in exhibit.size))
        flow.addWidget(card)
    return made


def picture(exhibits: Sequence[Exhibit]) -> QImage:
    """All exhibits in every theme, one theme below the other, as fine as can still be read again."""
    whole, most = _drawn(exhibits, RATIO), QImageReader.allocationLimit() * 2**20  # 0: without a limit
    return _drawn(exhibits, 1) if 0 < most < whole.sizeInBytes() else whole


def _drawn(exhibits: Sequence[Exhibit], ratio: int) -> QImage:
    """The same, with so many pixels for one of the window."""
    drawn = [_drawn_in(exhibits, ratio, *theme) for theme in THEMES.values()]
    whole = QImage(WIDTH * ratio, sum(part.height() for part in drawn), QImage.Format.Format_RGB32)
    whole.setDevicePixelRatio(ratio)
    painter, top = QPainter(whole), 0
    for part in drawn:
        painter.drawImage(QPoint(0, top), part)
        top += part.height() // ratio
    painter.end()
    return whole


def _drawn_in(exhibits: Sequence[Exhibit], ratio: int, choice: str, projector: bool) -> QImage:
    theme_switch().set_choice(choice)
    theme_switch().set_projector(projector)
    made = page(exhibits)
    made.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    made.resize(WIDTH, made.layout().heightForWidth(WIDTH))
    made.show()
    QApplication.processEvents()
    image = QImage(made.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    made.render(image)
    made.close()
    return image

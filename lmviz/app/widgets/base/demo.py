"""What the `__main__` block of each widget runs: the widget in a card, in every theme.

python -m lmviz.app.widgets.plots.bars                 shows it; t changes the theme, p the projector
python -m lmviz.app.widgets.plots.bars picture.png     draws it in light and in dark into one picture
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QPainter, QShortcut
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from lmviz.app.look.theme import make_application, theme_switch
from lmviz.app.widgets.base.card import Card

RATIO = 2


def show(title: str, aside: str, build: Callable[[], QWidget], size: tuple[int, int] = (460, 340)) -> None:
    """Show the widget that `build` makes, or draw it into the picture named on the command line."""
    application = make_application()
    switch = theme_switch()
    if len(sys.argv) > 1:
        _picture(title, aside, build, size).save(sys.argv[1])
        return
    window = _framed(title, aside, build())
    QShortcut(Qt.Key.Key_T, window).activated.connect(
        lambda: switch.set_choice("light" if switch.choice == "dark" else "dark")
    )
    QShortcut(Qt.Key.Key_P, window).activated.connect(lambda: switch.set_projector(not switch.projector))
    window.resize(*size)
    window.show()
    application.exec()


def _framed(title: str, aside: str, widget: QWidget) -> QWidget:
    window = QWidget()
    QVBoxLayout(window).addWidget(Card(title, aside, widget))
    return window


def _picture(title: str, aside: str, build: Callable[[], QWidget], size: tuple[int, int]) -> QImage:
    switch = theme_switch()
    picture = QImage(2 * size[0] * RATIO, size[1] * RATIO, QImage.Format.Format_RGB32)
    picture.setDevicePixelRatio(RATIO)
    for column, choice in enumerate(("light", "dark")):
        switch.set_choice(choice)
        window = _framed(title, aside, build())
        window.resize(*size)
        window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        window.show()
        QApplication.processEvents()
        painter = QPainter(picture)
        window.render(painter, QPoint(column * size[0], 0))
        painter.end()
        window.close()
    return picture

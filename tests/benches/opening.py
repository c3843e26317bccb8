"""What a person does in the window as it first appears."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.window.main_window import MainWindow

LONG = 20_000
PREFIX = "the cows eat grass"


def panel(window: MainWindow, name: str) -> QWidget:
    return next(found for found in window.findChildren(QWidget, name) if found.isVisible())


def press(window: MainWindow, qtbot: QtBot, name: str) -> None:
    qtbot.mouseClick(panel(window, name), Qt.MouseButton.LeftButton)

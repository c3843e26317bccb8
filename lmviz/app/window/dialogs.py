"""The window's few dialogs: keyboard map, about, and what nobody expected."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QWidget

from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.workers.faults import versions
from lmviz.base.log import log_path

AROUND = 60  # pixels of the window that stay in sight beside a long dialog


class KeyboardMap(QDialog):
    """Every key and what it does, in groups: (group, ((keys, what they do), …))."""

    def __init__(self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard map")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(24, 20, 24, 20)
        grid.setHorizontalSpacing(32)
        grid.setVerticalSpacing(6)
        for title, keys in groups:
            grid.addWidget(_label(title, "title"), grid.rowCount(), 0, 1, 2)
            for key, meaning in keys:
                row = grid.rowCount()
                grid.addWidget(_label(key), row, 0)
                grid.addWidget(_label(meaning, "muted"), row, 1)
        area = scrolling(page)
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # so that keys scroll it
        area.setAccessibleName("keyboard map")
        column(area, on=self)
        self.resize(area.minimumSizeHint().width(), min(page.sizeHint().height(), parent.height() - AROUND))


class About(QDialog):
    """What lmviz is, and the versions that matter for a report."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("About lmviz")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        sentence = _label("See a language model think, while it learns.")
        below = (_label(versions(), "muted"), _label(f"Log: {log_path()}", "muted"))
        title = _label(f"lmviz {_own_version()}", "title")
        column(title, sentence, *below, on=self, gap=10, margins=(28, 24, 28, 24))


class FaultReport(QDialog):
    """Something unexpected was raised: the window lives on, and the report can be copied."""

    def __init__(self, report: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("fault_report")
        self.setWindowTitle("Something unexpected happened")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._report = report
        copy = named(QPushButton("Copy the report"), "copy_report_button")
        copy.clicked.connect(self._copy)
        close = QPushButton("Go on")
        close.clicked.connect(self.close)
        buttons = row(STRETCH, copy, close)
        said = _label(
            "An unexpected error occurred, and lmviz goes on. What you have open is unchanged. "
            f"The details are in {log_path()}; further errors are only written there."
        )
        said.setWordWrap(True)
        column(said, buttons, on=self, gap=10, margins=(24, 20, 24, 16))
        self.resize(460, self.sizeHint().height())

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report)


def _own_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to load

    try:
        return version("lmviz")
    except PackageNotFoundError:
        return "from a checkout"


def _label(text: str, role: str = "") -> Label:
    label = Label(text, role=role)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label

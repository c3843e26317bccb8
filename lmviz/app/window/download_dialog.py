"""Asks which model of the Hugging Face hub to download, and which steps of its training."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QPushButton, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.plain import Label

WIDTH = 400  # pixels at scale 1


class DownloadDialog(QDialog):
    """`DownloadDialog(parent)`. Signal: `wanted(name, steps)`, both as they are written."""

    wanted = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("download_dialog")
        self.setWindowTitle("Download a model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._name = named(QLineEdit(), "download_name", "name of the model on the hub")
        self._name.setPlaceholderText("openai-community/gpt2")
        self._name.setMinimumWidth(round(WIDTH * current_theme().scale))
        self._steps = named(QLineEdit(), "download_steps", "steps of its training")
        self._steps.setPlaceholderText("the finished model alone")
        self._download = named(QPushButton("Download"), "download_button", role="primary")
        self._download.setDefault(True)
        self._download.setEnabled(False)
        self._download.clicked.connect(lambda _=False: self._accept())
        cancel = named(QPushButton("Cancel"), "cancel_button")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(lambda _=False: self.reject())
        self._name.textChanged.connect(lambda text: self._download.setEnabled(bool(text.strip())))
        explained = Label(
            "Some trainings are published with their steps, such as EleutherAI/pythia-14m: “0,1,2,4,8” "
            "downloads these, and “all” every one. They open as a series with its slider.",
            role="muted",
            wraps=True,
        )
        column(
            Label("Its name on the Hugging Face hub"),
            self._name,
            Label("Steps of its training"),
            self._steps,
            explained,
            row(STRETCH, cancel, self._download),
            on=self,
            gap=8,
            margins=(16, 16, 16, 14),
        )

    def _accept(self) -> None:
        self.accept()
        self.wanted.emit(self._name.text().strip(), self._steps.text().strip())

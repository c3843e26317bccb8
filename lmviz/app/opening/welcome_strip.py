"""The welcome strip: buttons for first things to try."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.plain import Label, caption
from lmviz.app.widgets.base.quiet_button import QuietButton


class WelcomeStrip(QWidget):
    """Buttons for the first minutes; once one has been pressed it makes room.

    `sample_models` gives the names of sample models whenever their list is opened, below which stand small
    public ones of real English. Signals: `look_wanted`, `train_wanted`, `text_wanted`, `sample_wanted(name)`,
    `public_wanted(name)`, `tour_wanted`; `dismissed` when it is sent away.
    """

    look_wanted = Signal()
    train_wanted = Signal()
    text_wanted = Signal()
    sample_wanted = Signal(str)
    public_wanted = Signal(str)
    tour_wanted = Signal()
    dismissed = Signal()

    def __init__(self, sample_models: Callable[[], Iterable[str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sample_models = sample_models
        self._is_wanted = False
        self.setObjectName("welcome_strip")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._samples = QMenu(self)
        self._samples.aboutToShow.connect(self._fill)
        self._tour = QuietButton("welcome_tour", "Take the tour", "primary")
        self._tour.clicked.connect(self.tour_wanted)
        self._dismiss = named(QToolButton(), "welcome_dismiss", "do not show the welcome again", role="icon")
        self._dismiss.setToolTip("Do not show this again (the tour stays under Help)")
        self._dismiss.clicked.connect(self.hide)
        self._dismiss.clicked.connect(self.dismissed)
        self._lay_out()
        theme_switch().theme_changed.connect(self.adopt_theme)
        self.adopt_theme()
        self.hide()

    @property
    def waits(self) -> bool:
        """Whether it is shown until a person has answered."""
        return not self.isHidden()

    def setVisible(self, visible: bool) -> None:
        """In projector mode the room belongs to the panels."""
        self._is_wanted = visible
        super().setVisible(visible and not theme_switch().projector)

    def adopt_theme(self) -> None:
        """Take the colours of the theme in force."""
        self.setVisible(self._is_wanted)
        self._dismiss.setIcon(icon("actions/close", current_theme().muted_text))

    def _lay_out(self) -> None:
        flow = FlowLayout()
        words = Label("Welcome: see a language model think.", role="title")
        flow.addWidget(words)
        flow.addWidget(self._tour)
        for name, text, wanted in (
            ("welcome_look", "Look inside this model", self.look_wanted),
            ("welcome_train", "Train your own", self.train_wanted),
            ("welcome_text", "Open a text…", self.text_wanted),
        ):
            button = QuietButton(name, text)
            button.clicked.connect(wanted)
            button.clicked.connect(self.hide)
            flow.addWidget(button)
        samples = QuietButton("welcome_samples", "Sample models")
        samples.setProperty("menu", True)
        samples.setMenu(self._samples)
        flow.addWidget(samples)
        row((flow, 1), (self._dismiss, 0, Qt.AlignmentFlag.AlignTop), on=self, margins=(16, 6, 10, 6))

    def _fill(self) -> None:
        from lmviz.interchange.public_models import OFFERED_MODELS  # not needed for the first paint

        self._samples.clear()
        for name in self._sample_models():
            action = self._samples.addAction(caption(name), lambda name=name: self.sample_wanted.emit(name))
            action.triggered.connect(self.hide)
        if self._samples.isEmpty():
            self._samples.addAction("This installation has none").setEnabled(False)
        self._samples.addSection("Real English")
        for model in OFFERED_MODELS:
            words = model.title if model.folder() else f"Download {model.sentence}"
            wanted = lambda name=model.name: self.public_wanted.emit(name)  # noqa: E731
            self._samples.addAction(caption(words), wanted).triggered.connect(self.hide)

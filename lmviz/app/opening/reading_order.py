"""Where to look first, second and third: marks on the cards of a perspective, gone once one has looked."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer, Signal

from lmviz.app.opening.shell import Shell
from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.card import Card

ORDER = {
    "attention": ("attention_text_view", "attention_view", "next_word_view"),
    "inside": ("picture_view", "stage_view", "why_view"),
    "train": ("plan_view", "loss_view", "live_sample_view"),
    "texts": ("text_rows_view", "row_measures_view", "row_effects_view", "chosen_row_view"),
    "circuits": ("contrast_view", "patching_view", "attribution_view"),
}
"""The panels of a perspective by the names of their objects, in the order in which they tell something."""

LOOKED_AT = 800  # milliseconds of the pointer over a card, after which its mark goes
KEY = "view/looked_at"


class ReadingOrder(QObject):
    """`ReadingOrder(window)`: marks cards from `begin` on; what was looked at is remembered for good."""

    def __init__(self, window: Shell, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._has_begun = False
        self._soon = QTimer(self, singleShot=True, interval=0)  # once the panels of the perspective are there
        self._soon.timeout.connect(self._mark)

    def begin(self) -> None:
        """Mark the perspective that is shown, and each that is shown next."""
        self._has_begun = True
        self._soon.start()

    def follow_perspective(self) -> None:
        """Another perspective is shown."""
        if self._has_begun:
            self._soon.start()

    def _mark(self) -> None:
        perspective = self._window.perspective_name
        looked_at = self._window.settings.lines(KEY)
        for number, name in enumerate(ORDER.get(perspective, ()), start=1):
            panel = self._window.find_control(name)
            card = panel.card if isinstance(panel, Panel) else None
            key = f"{perspective}/{name}"
            if card is None or card.mark or key in looked_at:
                continue
            card.set_mark(number)
            _Look(card).taken.connect(lambda key=key: self._remember(key))

    def _remember(self, key: str) -> None:
        settings = self._window.settings
        settings.keep(KEY, sorted({*settings.lines(KEY), key}))


class _Look(QObject):
    """Takes the mark off a card once the pointer has rested there, or something in it was clicked."""

    taken = Signal()

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self._card = card
        self._rests = QTimer(self, singleShot=True, interval=LOOKED_AT)
        self._rests.timeout.connect(self._take)
        card.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Enter:
            self._rests.start()
        elif event.type() == QEvent.Type.Leave:
            self._rests.stop()
        return super().eventFilter(watched, event)

    def _take(self) -> None:
        self._card.removeEventFilter(self)
        self._card.set_mark(0)
        self.taken.emit()
        self.deleteLater()

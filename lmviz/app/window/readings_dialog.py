"""What a module answered while another program trained it: recorded readings, step by step."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from lmviz.app.session.work import Work
from lmviz.app.widgets.base.building import column
from lmviz.app.widgets.base.plain import window_title
from lmviz.app.widgets.looks.look_card import LookCard
from lmviz.looks.look import Look
from lmviz.recording.readings import Readings, RecordedReading
from lmviz.recording.readings_look import LookedAt, readings_look

SIZE = (860, 680)
KEY = "readings"


class ReadingsDialog(QDialog):
    """`ReadingsDialog(readings, work, parent)`: a slider over the kept steps, and what was answered at each.

    The file of a step is read beside the window, by `work`.
    """

    def __init__(self, readings: Readings, work: Work, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("readings_dialog")
        self.setWindowTitle(window_title(f"Recorded in {readings.folder.name}"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._readings, self._work = readings, work
        self._steps = readings.snapshots()
        self._noun = "token"  # until the tokenizer has been read
        self.card = LookCard("Recorded", lambda: self._noun)
        column(self.card, on=self, margins=(12, 12, 12, 12))
        self.resize(*SIZE)
        self._go(LookedAt(place=max(0, len(self._steps) - 1)))

    def _go(self, at: LookedAt) -> None:
        """Look at something else, of which the file may have to be read first."""
        steps = self._readings.snapshots()
        if not steps:
            self.card.show_look(Look(instead="Nothing has been recorded yet: open it again after a step."))
            return
        self._steps = steps
        at = replace(at, place=min(at.place, len(steps) - 1))
        step = steps[at.place]

        def read() -> RecordedReading:
            _ = self._readings.displayed, self._readings.noun  # which read the tokenizer
            return self._readings.reading(step, at.prefix)

        self._work.ask(KEY, read, lambda reading: self._show(reading, at), self._fail)

    def _show(self, reading: RecordedReading, at: LookedAt) -> None:
        self._noun = self._readings.noun
        self.card.show_look(readings_look(self._readings, self._steps, reading, at, self._go))

    def _fail(self, sentence: str) -> None:
        self.card.show_look(Look(instead=sentence))

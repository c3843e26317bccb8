"""A line for long work: its name, its progress, and a button to cancel it."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.workers.job import Job

HEIGHT = 22
GAP = 24
SHORTEST_BAR = 80
"""Pixels at scale 1."""


class JobStrip(QWidget):
    """The jobs of the session side by side, as many as there is room for; the others are counted.

    Its height is the same with and without jobs, so that nothing moves when one begins or ends.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("job_strip")
        self._rows: dict[Job, _JobRow] = {}
        self._others = Label(name="other_jobs", role="muted")
        self._others.hide()
        self._line = row(self._others, on=self)
        session.work.job_started.connect(self._add)
        session.work.job_finished.connect(self._remove)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    def _add(self, job: Job) -> None:
        row = _JobRow(job)
        row.cancel_button.clicked.connect(self._fit)
        self._rows[job] = row
        self._line.insertWidget(self._line.count() - 1, row, 1)
        self._fit()

    def _remove(self, job: Job) -> None:
        row = self._rows.pop(job)
        self._line.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._fit()

    def _fit(self) -> None:
        """Show the first jobs for which there is room, at least one."""
        running = [row for job, row in self._rows.items() if not job.is_cancelled]
        room = self.width() - self._others.sizeHint().width()
        shown = 0
        for each in running:
            room -= each.sizeHint().width() + self._line.spacing()
            shown += room >= 0 or not shown
        for place, each in enumerate(running):
            each.setVisible(place < shown)
        others = len(running) - shown
        self._others.setText(f"and {others} more")
        self._others.setToolTip(paragraph("\n".join(each.name for each in running[shown:])))
        self._others.setVisible(others > 0)

    def _adopt_theme(self) -> None:
        scale = current_theme().scale
        self._line.setSpacing(round(GAP * scale))
        self.setFixedHeight(round(HEIGHT * scale))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


class _JobRow(QWidget):
    """The progress of one job."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.name = job.name
        name = Label(job.name, role="muted")
        self._bar = named(QProgressBar(), description=job.name)
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self._bar.setMinimumWidth(round(SHORTEST_BAR * current_theme().scale))
        self.cancel_button = QuietButton("cancel_button", "cancel", "link", f"cancel {job.name}")
        self.cancel_button.clicked.connect(job.cancel)
        self.cancel_button.clicked.connect(self.hide)
        row(name, (self._bar, 1), self.cancel_button, on=self)
        job.progressed.connect(self._show)

    def _show(self, fraction: float) -> None:
        self._bar.setRange(0, 1000)
        self._bar.setValue(round(1000 * fraction))

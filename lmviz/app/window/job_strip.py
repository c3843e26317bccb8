"""A strip for long work: its name, its progress, and a button to cancel it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.app.workers.job import Job


class JobStrip(QFrame):
    """One row for each job of the session; hidden while there is none."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("job_strip")
        self._rows: dict[Job, _JobRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(16, 4, 16, 4)
        self._column.setSpacing(2)
        session.work.job_started.connect(self._add)
        session.work.job_finished.connect(self._remove)
        self.hide()

    def _add(self, job: Job) -> None:
        row = _JobRow(job)
        self._rows[job] = row
        self._column.addWidget(row)
        self.show()

    def _remove(self, job: Job) -> None:
        row = self._rows.pop(job)
        self._column.removeWidget(row)
        row.deleteLater()
        self.setVisible(bool(self._rows))


class _JobRow(QWidget):
    """The progress of one job."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        name = QLabel(job.name)
        name.setProperty("role", "muted")
        self._bar = QProgressBar()
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(job.name)
        cancel = QPushButton("cancel")
        cancel.setObjectName("cancel_button")
        cancel.setProperty("role", "link")
        cancel.setAccessibleName(f"cancel {job.name}")
        cancel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        cancel.clicked.connect(job.cancel)
        cancel.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(name)
        row.addWidget(self._bar, 1)
        row.addWidget(cancel)
        job.progressed.connect(self._show)

    def _show(self, fraction: float) -> None:
        self._bar.setRange(0, 1000)
        self._bar.setValue(round(1000 * fraction))

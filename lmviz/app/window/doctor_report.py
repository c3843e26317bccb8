"""What `lmviz doctor` says of this machine, or of a checkpoint, in a window of its own."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.plain import Label, window_title
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.workers.faults import sentence_for
from lmviz.app.workers.job import Job, Report

if TYPE_CHECKING:
    from lmviz.desktop.doctor import Finding

WIDTH, LINES = 620, 14  # pixels; how many lines there is room for at once


class DoctorReport(QDialog):
    """`DoctorReport(parent, place)` examines a checkpoint, by default this machine.

    One line for each finding, as soon as it is found: it is found in another thread.
    """

    def __init__(self, parent: QWidget, place: Path | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("doctor_report")
        self._place = place
        self._what = "this machine" if place is None else place.name
        self.setWindowTitle(window_title(f"Examine {self._what}"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._verdict = Label(
            f"lmviz examines {self._what}…", name="doctor_verdict", role="title", wraps=True
        )
        self._lines = Label(name="doctor_lines", wraps=True)
        self._lines.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lines.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._copy = named(QPushButton("Copy"), "copy_doctor_button")
        self._copy.setEnabled(False)
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._lines.text()))
        close = QPushButton("Close")
        close.clicked.connect(self.close)
        self._lay_out(close)
        self._job: Job | None = Job(f"examining {self._what}", partial(_examine, place), self)
        self._job.partial_changed.connect(self._show_findings)
        self._job.succeeded.connect(self._show_verdict)
        self._job.failed.connect(self._show_fault)
        self._job.start()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._job is not None:
            self._job.cancel()
        super().closeEvent(event)

    def _lay_out(self, close: QPushButton) -> None:
        buttons = row(STRETCH, self._copy, close)
        area = scrolling(self._lines)
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # so that keys scroll it
        area.setAccessibleName("findings")
        column(self._verdict, (area, 1), buttons, on=self, gap=10, margins=(24, 20, 24, 16))
        self.resize(WIDTH, LINES * self._lines.fontMetrics().lineSpacing() + self.sizeHint().height())

    def _show_findings(self, findings: tuple[Finding, ...]) -> None:
        self._lines.setText("\n".join(finding.line for finding in findings))

    def _show_verdict(self, findings: tuple[Finding, ...]) -> None:
        self._job = None  # it is deleted at its end
        self._show_findings(findings)
        lacking = sum(finding.state == "problem" for finding in findings)
        lines = "a line" if lacking == 1 else f"{lacking} lines"
        sound, wrong = (
            ("Nothing is missing.", "Something is missing")
            if self._place is None
            else (f"{self._what} is whole.", f"{self._what} cannot be opened, or is not what it should be")
        )
        self._verdict.setText(f"{wrong}: see {lines} with ✗." if lacking else sound)
        self._copy.setEnabled(True)

    def _show_fault(self, job: Job, fault: BaseException) -> None:
        self._job = None
        self._verdict.setText(sentence_for(fault, f"Examining {self._what}"))


def _examine(place: Path | None, report: Report) -> Generator[tuple[Finding, ...], None, tuple[Finding, ...]]:
    """All findings so far, after each; and at the end all of them."""
    from lmviz.desktop.doctor import examine, examine_checkpoint

    found: tuple[Finding, ...] = ()
    for finding in examine() if place is None else examine_checkpoint(str(place)):
        found = (*found, finding)
        yield found
    return found

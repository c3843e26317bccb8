"""The window's few dialogs: keyboard map, about, the doctor's, what nobody expected; and Qt's for files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QGridLayout,
    QHeaderView,
    QListView,
    QPushButton,
    QSplitter,
    QTreeView,
    QWidget,
)

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import STRETCH, column, named, row, screen_of
from lmviz.app.widgets.base.plain import Label, window_title
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.workers.faults import sentence_for, versions
from lmviz.app.workers.job import Job
from lmviz.base.log import log_path
from lmviz.base.reporting import Report

if TYPE_CHECKING:
    from lmviz.desktop.doctor import Finding

AROUND = 60  # pixels of the window that stay in sight beside a long dialog
WIDTH, LINES = 620, 14  # of the doctor's: pixels; how many lines there is room for at once
NAME = 230  # pixels at scale 1, at least, of a name of a file
AROUND_PLACE = 24  # pixels at scale 1 around the name of a place


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
            f"The details are in {log_path()}."
        )
        said.setWordWrap(True)
        column(said, buttons, on=self, gap=10, margins=(24, 20, 24, 16))
        self.resize(460, self.sizeHint().height())

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report)


class DoctorReport(QDialog):
    """`DoctorReport(parent, place, opens)`: what `lmviz doctor` says of a checkpoint or of the checkpoints of
    a training, by default of this machine.

    One line for each finding, as soon as it is found: it is found in another thread. Where `opens` is given,
    a button calls it, at any time.
    """

    def __init__(
        self, parent: QWidget, place: Path | None = None, opens: Callable[[], object] | None = None
    ) -> None:
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
        open_it = named(QPushButton("Open"), "open_examined_button", role="primary")
        open_it.setDefault(True)
        open_it.setVisible(opens is not None)
        if opens is not None:
            open_it.clicked.connect(self.accept)
            open_it.clicked.connect(lambda: opens())
        self._lay_out(close, open_it)
        self._job: Job | None = Job(f"examining {self._what}", partial(_examine, place), self)
        self._job.partial_changed.connect(self._show_findings)
        self._job.succeeded.connect(self._show_verdict)
        self._job.failed.connect(self._show_fault)
        self._job.start()

    def done(self, result: int) -> None:
        """The end, however it comes: Esc closes without a close event."""
        if self._job is not None:
            self._job.cancel()
        super().done(result)

    def _lay_out(self, *last: QPushButton) -> None:
        buttons = row(STRETCH, self._copy, *last)
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


def fit_file_dialog() -> None:
    """Fit the columns of the dialog for files that is open, if it is one of Qt's, and its width to them."""
    dialog = QApplication.activeModalWidget()
    tree = dialog.findChild(QTreeView, "treeView") if isinstance(dialog, QFileDialog) else None
    if not isinstance(dialog, QFileDialog) or tree is None:
        return
    header, sides = tree.header(), dialog.findChild(QSplitter, "splitter")
    header.setStretchLastSection(False)
    for place in range(1, header.count()):
        header.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    header.sectionResized.connect(lambda *_: _widen(dialog, header))  # what is in a folder comes later
    places = None if sides is None else sides.widget(0)
    if isinstance(places, QListView):
        places.setMinimumWidth(round(places.sizeHintForColumn(0) + AROUND_PLACE * current_theme().scale))
    _widen(dialog, header)


def _widen(dialog: QDialog, header: QHeaderView) -> None:
    taken = sum(header.sectionSize(place) for place in range(1, header.count()))
    missing = round(NAME * current_theme().scale) + taken - header.width()
    if missing > 0:
        most = screen_of(dialog).availableGeometry().width()
        dialog.resize(min(dialog.width() + missing, most), dialog.height())


def _examine(place: Path | None, report: Report) -> Generator[tuple[Finding, ...], None, tuple[Finding, ...]]:
    """All findings so far, after each; and at the end all of them."""
    from lmviz.desktop.doctor import examine, examine_checkpoint

    found: tuple[Finding, ...] = ()
    for finding in examine() if place is None else examine_checkpoint(str(place)):
        found = (*found, finding)
        yield found
    return found


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

"""The Help menu's report on this machine: found in another thread, line by line, and copied."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from covering import parametrize_few
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.window.dialogs import DoctorReport
from lmviz.app.window.main_window import MainWindow
from lmviz.base.errors import LmvizError
from lmviz.desktop import doctor
from lmviz.desktop.doctor import Finding

ESCAPE = Qt.Key.Key_Escape


def opened(window: MainWindow) -> DoctorReport:
    """The report, opened by its command."""
    next(action for action in window.commands.all() if action.text() == "Examine this machine…").trigger()
    [report] = window.findChildren(DoctorReport)
    return report


def said(report: DoctorReport, name: str) -> str:
    return report.findChild(QLabel, name).text()


def test_findings_come_one_by_one_while_the_window_lives(
    window: MainWindow, gate: threading.Event, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    threads: list[threading.Thread] = []

    def examine() -> Iterator[Finding]:
        threads.append(threading.current_thread())
        yield Finding("python", "fine", "Python is here.")
        gate.wait()
        yield Finding("display", "problem", "There is no screen: plug one in.")

    monkeypatch.setattr(doctor, "examine", examine)
    report = opened(window)
    qtbot.waitUntil(lambda: said(report, "doctor_lines") == "✓ Python is here.")
    assert threads[0] is not threading.main_thread()
    assert "examines" in said(report, "doctor_verdict")
    copy = report.findChild(QPushButton, "copy_doctor_button")
    assert not copy.isEnabled(), "half a report helps nobody"
    gate.set()
    qtbot.waitUntil(copy.isEnabled)
    assert said(report, "doctor_verdict") == "Something is missing: see a line with ✗."
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "✓ Python is here.\n✗ There is no screen: plug one in."
    report.close()


def test_it_says_what_the_command_line_says(window: MainWindow, qtbot: QtBot) -> None:
    report = opened(window)
    qtbot.waitUntil(report.findChild(QPushButton, "copy_doctor_button").isEnabled, timeout=20_000)
    lines = said(report, "doctor_lines").splitlines()
    assert [line[2:].split()[0] for line in lines[:2]] == ["Python", "PySide6_Essentials"]
    beginnings = [finding.line.split()[:3] for finding in doctor.examine()]  # how much is free may change
    assert [line.split()[:3] for line in lines] == beginnings
    report.close()


@pytest.mark.slow
@parametrize_few("close", [DoctorReport.close, lambda report: QTest.keyClick(report, ESCAPE)])
def test_it_can_be_closed_while_it_examines(
    window: MainWindow,
    close: Callable[[DoctorReport], object],
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    ended, found = threading.Event(), list[str]()

    def examine() -> Iterator[Finding]:
        gate.wait()
        try:
            for name in ("python", "display"):
                found.append(name)
                yield Finding(name, "fine", "It is here.")
        finally:
            ended.set()

    monkeypatch.setattr(doctor, "examine", examine)
    report = opened(window)
    with qtbot.waitSignal(report.destroyed):
        close(report)
    gate.set()
    qtbot.waitUntil(ended.is_set)
    assert found == ["python"]


@pytest.mark.slow
def test_what_goes_wrong_is_said(window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    def examine() -> Iterator[Finding]:
        raise LmvizError("The disk cannot be read: try again.")

    monkeypatch.setattr(doctor, "examine", examine)
    report = opened(window)
    qtbot.waitUntil(lambda: said(report, "doctor_verdict") == "The disk cannot be read: try again.")
    report.close()


@parametrize_few(
    ("name", "verdict", "line"),
    [
        (
            "model.onnx",
            "model.onnx cannot be opened, or is not what it should be: see a line with ✗.",
            "ONNX",
        ),
        ("model.arpa", "model.arpa is whole.", "N-grams in ARPA format"),
    ],
)
def test_a_checkpoint_is_examined_in_a_window(
    name: str,
    verdict: str,
    line: str,
    window: MainWindow,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    arpa = "\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n\n\\end\\\n"
    (tmp_path / name).write_text(arpa)
    chosen = lambda *arguments: (str(tmp_path / name), "")  # noqa: E731 - in place of a dialog
    monkeypatch.setattr(QFileDialog, "getOpenFileName", chosen)
    next(action for action in window.commands.all() if action.text() == "Examine a checkpoint…").trigger()
    qtbot.waitUntil(lambda: bool(window.findChildren(DoctorReport)))
    [report] = window.findChildren(DoctorReport)
    qtbot.waitUntil(lambda: said(report, "doctor_verdict") == verdict)
    assert line in said(report, "doctor_lines")
    report.close()

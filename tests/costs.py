"""What tests cost, in seconds of the processor, which other programs on the machine change little.

A quick test that takes too many fails, and a run of many tests ends with the files that take most. On a slow
machine the same test takes more of them: how slow it is at that moment is measured where a test is late.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator

import pytest

MOST = 12.0
"""Seconds of the processor that a quick test may take where `piece_of_work` takes `QUIET`: far more than any
does."""

QUIET = 0.11
"""Seconds that `piece_of_work` takes on the machine for which `MOST` was written, with nothing beside it."""

LISTED = 20
FEWEST = 500
"""Tests from which on a run is worth a list of what they cost."""


def seconds_used() -> float:
    """Of the processor, by all threads of this process and the processes that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def piece_of_work() -> float:
    """Seconds of the processor in which words are made, sorted and counted, at this moment."""
    began = time.thread_time()
    words = sorted(f"{number * 7919 % 100_003:x}" for number in range(100_000))
    Counter(word[0] for word in words)
    return time.thread_time() - began


def slowness(piece_of_work: Callable[[], float] = piece_of_work) -> float:
    """How many times slower the machine is at this moment than a quiet one; 1 where it is faster."""
    return max(piece_of_work() / QUIET, 1.0)


class Costs:
    """A plugin of pytest that notes what each part of a test costs, and adds up what workers say."""

    def __init__(
        self,
        seconds_used: Callable[[], float] = seconds_used,
        piece_of_work: Callable[[], float] = piece_of_work,
    ) -> None:
        self._used = seconds_used
        self._piece_of_work = piece_of_work
        self._before = seconds_used()
        self._by_file: Counter[str] = Counter()
        self._tests = 0

    def pytest_collection_finish(self) -> None:
        self._before = self._used()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = self._used()
        cost, self._before = now - self._before, now
        report.processor_seconds = cost
        quick = call.when == "call" and report.passed and item.get_closest_marker("slow") is None
        if quick and cost > MOST and cost > (most := self._most_now()):
            report.outcome = "failed"
            report.longrepr = (
                f"This test took {cost:.1f} seconds of the processor, and a quick one may take {most:.1f}: "
                "make it cheaper, or mark it slow (docs/testing.md, What the suite costs)."
            )
        return report

    def _most_now(self) -> float:
        """Seconds that a quick test may take on this machine as slow as it is now; what is measured is no
        test's."""
        most = MOST * slowness(self._piece_of_work)
        self._before = self._used()
        return most

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tests += report.when == "call"
        self._by_file[report.nodeid.partition("::")[0]] += getattr(report, "processor_seconds", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._tests < FEWEST:
            return
        whole = sum(self._by_file.values())
        terminalreporter.write_sep("=", f"{whole:.0f} seconds of the processor, by file")
        for file, cost in self._by_file.most_common(LISTED):
            terminalreporter.write_line(f"{cost:6.1f}  {file}")

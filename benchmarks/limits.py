"""What this machine can do at most: the second yardstick of a row, beside its peer.

A limit is measured in the run that uses it, in the same threads, so that a slow moment of the machine
makes both slower. What is measured is the quickest of several rounds: other work can only delay one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

ROUNDS = 7
READ = 2**28  # bytes, far more than a processor's caches hold
FRAME = (1440, 900)  # pixels of the window that budgets speak of


@dataclass(frozen=True)
class Limit:
    """How near a row comes to what the machine can do.

    `share` is 1 where nothing could be faster on this machine; `of` names the limit with its size.
    `between` says what takes the rest, where that is known.
    """

    share: float
    of: str
    between: str = ""

    def __str__(self) -> str:
        said = f"{100 * self.share:.0f} % of {self.of}"
        return f"{said}; {self.between}" if self.between else said


def quickest(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Seconds of the quickest of several rounds; one more comes first, to warm up."""
    taken = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken[1:])


@lru_cache
def products(precision: str, rows: int, width: int) -> float:
    """Floating-point operations a second in products of (rows, width) by (width, 4 × width) matrices.

    These are the largest products of a Transformer's layer; no training can be quicker than they are.
    """
    import torch

    kind = getattr(torch, precision)
    left, right = torch.randn(rows, width).to(kind), torch.randn(width, 4 * width).to(kind)
    repeated = max(1, int(2e9 / (8 * rows * width**2)))

    def multiply() -> None:
        for _ in range(repeated):
            left @ right

    return repeated * 8 * rows * width**2 / quickest(multiply)


@lru_cache
def memory_read() -> float:
    """Bytes a second that the sum of a large vector of float32 reads."""
    import torch

    numbers = torch.ones(READ // 4)
    return READ / quickest(numbers.sum)


@lru_cache
def plain_frame() -> float:
    """Seconds in which Qt fills a window of the usual size with a colour and twenty lines of text."""
    import os

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QPainter, QPaintEvent
    from PySide6.QtWidgets import QApplication, QWidget

    class Plain(QWidget):
        """The least that a picture can be."""

        frames = 0

        def paintEvent(self, event: QPaintEvent) -> None:
            self.frames += 1
            with QPainter(self) as painter:
                painter.fillRect(self.rect(), Qt.GlobalColor.white)
                for line in range(20):
                    painter.drawText(20, 40 * line + 30, "twenty lines of plain text")

    application = QApplication.instance() or QApplication([])
    widget = Plain()
    widget.resize(*FRAME)
    widget.show()
    while not widget.frames:  # nothing is painted before the window is there
        application.processEvents()
    before = widget.frames
    seconds = quickest(widget.repaint)
    if widget.frames != before + ROUNDS + 1:
        raise RuntimeError(f"{widget.frames - before} frames were painted, and {ROUNDS + 1} were asked for.")
    return seconds


def of_products(
    operations_a_second: float, precision: str, rows: int, width: int, between: str = ""
) -> Limit:
    """A training's operations a second, against products of its size."""
    most = products(precision, rows, width)
    return Limit(operations_a_second / most, f"{most / 1e9:.0f} GFLOP/s of {precision} products", between)


def of_memory_read(bytes_read: float, seconds: float, between: str = "") -> Limit:
    """An answer that has to read so many bytes of weights at least."""
    most = memory_read()
    return Limit(bytes_read / most / seconds, f"{most / 1e9:.0f} GB/s read from memory", between)


def of_plain_frame(seconds: float, between: str = "") -> Limit:
    """A repainted picture, against one that hardly has anything in it."""
    least = plain_frame()
    return Limit(least / seconds, f"a plain frame of {1000 * least:.1f} ms", between)

"""A bar that hears how far work has come: a line in a terminal, an element in a notebook."""

from __future__ import annotations

import sys
from html import escape
from time import monotonic
from typing import Any, TextIO

from lmviz.base.durations import briefly
from lmviz.base.figures import plain, whole_percentage
from lmviz.base.plain_text import on_one_line, seen

EVERY = 0.1
"""Seconds between two drawings."""

WIDTH = 30
SOON = 2.0
"""Seconds after which the time that is left is guessed."""


class ProgressBar:
    """Called with the share that is done, from 0 to 1, or with the progress of a training, it draws that.

    In a notebook it is one element, which is drawn anew; in a terminal a line of standard error; elsewhere,
    as in a file of a log, nothing.
    """

    def __init__(self, title: str = "", stream: TextIO | None = None) -> None:
        self.title = on_one_line(title)
        self.share = 0.0
        self.told = ""
        self._stream = sys.stderr if stream is None else stream
        self._begun = self._drawn = monotonic()
        self._handle = _notebook_handle(self)
        self._is_over = False

    def __call__(self, progress: Any) -> None:
        if isinstance(progress, int | float):
            self.share, self.told = min(1.0, max(0.0, float(progress))), ""
        else:
            self.share = progress.step / progress.steps if progress.steps else 0.0
            loss = "" if progress.loss is None else f", loss {plain(progress.loss, 4)}"
            self.told = f"step {progress.step:,} of {progress.steps:,}{loss}"
        now = monotonic()
        if self.share >= 1.0 or now - self._drawn >= EVERY:
            self._drawn = now
            self._draw()

    def __repr__(self) -> str:
        return self._line()

    def _repr_html_(self) -> str:
        """The element that a notebook shows."""
        said = escape(seen(self._said()), quote=True)
        return f'<label><progress max="1" value="{self.share:.4f}"></progress> {said}</label>'

    def _draw(self) -> None:
        if self._handle is not None:
            self._handle.update(self)
        elif self._stream.isatty() and not self._is_over:
            self._is_over = self.share >= 1.0
            self._stream.write(f"\r\x1b[K{self._line()}" + ("\n" if self._is_over else ""))
            self._stream.flush()

    def _line(self) -> str:
        full = round(WIDTH * self.share)
        return f"{'█' * full}{'░' * (WIDTH - full)} {self._said()}"

    def _said(self) -> str:
        parts = [self.title, whole_percentage(self.share), self.told]
        passed = monotonic() - self._begun
        if passed > SOON and 0 < self.share < 1:
            parts.append(f"{briefly(passed / self.share - passed)} left")
        return "  ".join(part for part in parts if part)


def _notebook_handle(bar: ProgressBar) -> Any:
    """What draws the bar anew in a notebook; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    return sys.modules["IPython"].display.display(bar, display_id=True)  # in every kernel it is loaded

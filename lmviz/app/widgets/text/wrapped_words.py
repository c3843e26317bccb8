"""Where words of a text stand: in one line, or in as many as a width asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.app.widgets.base.canvas import metrics


@dataclass(frozen=True, eq=False)
class WrappedWords:
    """The width (word,) of each word, its line (word,), and its middle (word,) in pixels."""

    widths: np.ndarray
    lines: np.ndarray
    centres: np.ndarray

    @property
    def count(self) -> int:
        """The number of lines; 1 for an empty text."""
        return int(self.lines[-1]) + 1 if len(self.lines) else 1


def widths_of(words: Sequence[str], size: float) -> np.ndarray:
    """How wide each word is where it is marked, (word,)."""
    measure = metrics(size, token=True, bold=True)
    return np.array([measure.horizontalAdvance(word) for word in words])


def wrap_words(widths: np.ndarray, room: float, margin: float, least: float, most: float) -> WrappedWords:
    """Words of these widths (word,) between margins at either side, with gaps from `least` to `most`.

    All lengths are in pixels. The lines of a text that needs several are about equally long.
    """
    inner = room - 2 * margin
    lines = _lines(widths, inner, least)
    if len(widths) and lines[-1]:
        low, high = float(widths.max()), inner  # a shorter line that takes no further line
        while high - low > 1:
            middle = (low + high) / 2
            if _lines(widths, middle, least)[-1] > lines[-1]:
                low = middle
            else:
                high = middle
        lines = _lines(widths, high, least)
    count = int(lines[-1]) + 1 if len(lines) else 1
    gaps = np.bincount(lines, minlength=count) - 1
    spare = inner - np.bincount(lines, widths, minlength=count)
    gap = min([most, *(spare[gaps > 0] / gaps[gaps > 0])])
    rights = np.cumsum(widths + gap) - gap
    first = np.searchsorted(lines, np.arange(count))  # of each line
    begins = (rights - widths)[first[lines]]
    longest = float((rights - begins).max(initial=0))
    return WrappedWords(widths, lines, (room - longest) / 2 + rights - begins - widths / 2)


def _lines(widths: np.ndarray, inner: float, gap: float) -> np.ndarray:
    """The line (word,) of each word where lines are filled one after the other."""
    lines, line, left = np.zeros(len(widths), dtype=np.int64), 0, 0.0
    for index, width in enumerate(widths.tolist()):
        if left > 0 and left + width > inner:
            line, left = line + 1, 0.0
        lines[index] = line
        left += width + gap
    return lines

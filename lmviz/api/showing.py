"""The public functions that show: a picture of one tap, and a bar for long work; names of `lmviz`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.looks.shown import Shown

if TYPE_CHECKING:
    from lmviz.inspection.gradient import Gradient
    from lmviz.inspection.tap_picture import TapPicture
    from lmviz.inspection.trace import Trace
    from lmviz.showing.progress_bar import ProgressBar


def show(result: Trace | Gradient, address: str, **at: int) -> TapPicture:
    """A picture of one tap: `show(trace, "layers/3/attention/weights", head=2)`.

    A notebook draws it, and a terminal prints its strongest cells; `.array` and `.axes` are its numbers.
    `at` chooses an index along some of its axes, by their names. Of a tap with more than two axes left there
    is a matrix for each index of those before the last two. LmvizError where there is no such tap or index.
    """
    from lmviz.inspection.gradient import Gradient
    from lmviz.inspection.tap_picture import TapPicture
    from lmviz.inspection.trace import Trace

    if not isinstance(result, Trace | Gradient):
        what = "shows itself" if isinstance(result, Shown) else "is neither a trace nor a gradient"
        raise LmvizError(f"{type(result).__name__} {what}: give what lmviz.trace or lmviz.gradient returns.")
    picture = TapPicture(result, address, at)
    _ = picture.array  # says what there is where this is not there
    return picture


def progress_bar(title: str = "") -> ProgressBar:
    """A bar for the `progress` of any function: `patch(model, contrast, progress=lmviz.progress_bar())`.

    In a notebook it is an element below the cell, in a terminal a line, and elsewhere nothing.
    """
    from lmviz.showing.progress_bar import ProgressBar

    if not isinstance(title, str):
        raise LmvizError(f"{title!r} is no title: give a text.")
    return ProgressBar(title)

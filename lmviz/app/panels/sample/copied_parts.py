"""What is said and drawn of a text and of texts that a model wrote, held against its training text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import count
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Inked

if TYPE_CHECKING:
    from lmviz.origins.copies import Copied, CopiedText
    from lmviz.origins.memorised import Memorised


def nearly_all(heart: Memorised) -> str:
    """The held-out lines that a line learned by heart fell further than."""
    which = f"all but {count(heart.beyond)}" if heart.beyond else "each"
    return f"{which} of {count(heart.held_out_count)} held-out lines"


def sentence(shown: CopiedText, threshold: int | None, noun: str) -> list[Inked]:
    """The longest passage in words, and the stock phrase in it."""
    longest = shown.longest
    if longest is None:
        return [Inked("Nothing of this text stands in the training text.")]
    beyond = threshold is not None and len(longest) > threshold
    times = "once" if longest.count == 1 else f"{count(longest.count)} times"
    said = [
        Inked(f"{count(len(longest))} {noun}s in a row", is_bold=True, ink="validation" if beyond else None),
        Inked(f" stand in the training text {times}"),
    ]
    if longest.stock is not None:
        start, stop, often = longest.stock
        said.append(Inked(f"; {count(stop - start)} of them stand in it {count(often)} times"))
    if threshold is None:
        return [*said, Inked(".")]
    end = f". Of held-out text, 95 of 100 {noun}s stand in passages of {count(threshold)} or fewer."
    return [*said, Inked(end)]


def coloured(shown: CopiedText, threshold: int | None) -> list[Inked]:
    """The text: orange and bold beyond the threshold, grey what does not stand in the training text."""
    pieces: list[tuple[str, bool, bool]] = []
    for token, length in zip(shown.tokens, shown.lengths.tolist(), strict=True):
        kind = (threshold is not None and length > threshold, length == 0)
        if pieces and pieces[-1][1:] == kind:
            pieces[-1] = (f"{pieces[-1][0]} {token}", *kind)
        else:
            pieces.append((token, *kind))
    inks = {(True, False): "validation", (False, True): "muted_text"}
    return [
        Inked(f"{text} ", is_bold=beyond, ink=inks.get((beyond, missing))) for text, beyond, missing in pieces
    ]


def curves(compared: Copied, is_written: bool) -> list[PlotCurve]:
    """The share of tokens in passages of n or more: of what is shown, or was written, and held out."""
    curves = []
    if compared.held_out:
        curves.append(_curve("held out", compared.curve(compared.held_out), "muted_text", dashed=True))
    curves.append(_curve("written" if is_written else "this text", compared.curve(), "accent"))
    return curves


def _curve(name: str, shares: np.ndarray, ink: str, *, dashed: bool = False) -> PlotCurve:
    return PlotCurve(name, np.arange(1, len(shares) + 1), shares, ink, dashed=dashed, said="")


def marks(threshold: int | None) -> list[tuple[float, str]]:
    """Where a passage begins to be longer than chance makes it."""
    return [] if threshold is None else [(float(threshold), "more than chance")]

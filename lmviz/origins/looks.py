"""How it looks where words come from: what was copied, what taught a word, what is known by heart."""

from __future__ import annotations

import numpy as np

from lmviz.base.figures import counted, percentage, plain
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Curves, LookPart, Table, Words
from lmviz.origins.copies import Copied
from lmviz.origins.influences import Influences
from lmviz.origins.memorised import Memorised
from lmviz.showing.pieces import MOST, counts, numbers, shares, texts


def look_of_copied(found: Copied) -> Look:
    """The longest passages that stand in the training text, and what may be said of their share."""
    passages = [(text, passage) for text in found.texts for passage in text.passages]
    longest = sorted(passages, key=lambda pair: pair[1].start - pair[1].stop)[:MOST]
    return Look(
        (
            Words("sentence", text=found.sentence()),
            Table(
                "passages",
                columns=[
                    counts("tokens", (one.stop - one.start for _, one in longest)),
                    texts("passage", (" ".join(text.tokens[one.start : one.stop]) for text, one in longest)),
                    counts("times", (one.count for _, one in longest)),
                ],
            ),
        ),
        title=f"What {counted(len(found.texts), 'text')} copied",
        aside=f"{counted(found.searched, 'token')} searched",
    )


def look_of_influences(found: Influences) -> Look:
    """The lines that taught the word, those that taught against it, and the word over the training."""
    by = found.methods[0] if found.methods else None
    parts: list[LookPart] = []
    if by is not None:
        lines = [*found.lines(10, by), *found.lines(5, by, against=True)]
        parts.append(
            Table(
                "lines",
                columns=[
                    shares("share of all push", (one.share for one in lines), bar=True),
                    texts("line", (one.line.text for one in lines)),
                    counts("document", (one.line.document for one in lines), spare=True),
                ],
            )
        )
    if len(found.history) > 1:
        curve = PlotCurve(f"“{found.word}”", np.array(found.history), found.probabilities, role="accent")
        parts.append(Curves("history", curves=[curve], y_name="probability", writes=(None, percentage)))
    context = " ".join(found.context[-12:])
    return Look(
        parts,
        title=f"Who taught “{found.word}” after “{context}”",
        aside="" if by is None else f"by {by}, {counted(found.lines_read, 'line')} read",
    )


def look_of_memorised(found: Memorised) -> Look:
    """The lines that are known by heart, and the mean losses over the training."""
    return Look(
        (
            Curves(
                "losses",
                curves=[
                    PlotCurve("training lines", found.steps, found.mean),
                    PlotCurve("held-out lines", found.steps, found.held_out_mean, role="validation"),
                ],
                y_name="nats per token",
            ),
            Table(
                "lines",
                columns=[
                    numbers("fell by (nats)", (one.fall for one in found.lines), bar=True),
                    texts("line", (one.line.text for one in found.lines)),
                    counts("learned at step", (one.learned for one in found.lines)),
                    counts("times", (one.times for one in found.lines)),
                ],
            ),
        ),
        title=f"{percentage(found.share)} of {counted(found.count, 'line')} learned by heart "
        f"since step {found.since:,}",
        aside=f"chance gives {percentage(found.chance)}; threshold {plain(found.threshold)} nats per token",
    )


LOOKS = {
    Copied: look_of_copied,
    Influences: look_of_influences,
    Memorised: look_of_memorised,
}
"""How each kind of result looks, by its class."""

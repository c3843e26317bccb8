"""How recordings look, and what was read at their steps."""

from __future__ import annotations

import numpy as np

from lmviz.base.figures import counted
from lmviz.looks.look import Look
from lmviz.looks.parts import Table
from lmviz.recording.readings import Readings, RecordedReading
from lmviz.recording.recording import Recording
from lmviz.showing.pieces import MOST, counts, figures, numbers, shares, texts


def look_of_readings(found: Readings) -> Look:
    """The prefixes that were read."""
    steps = found.snapshots()
    prefixes = found.prefixes[:MOST]
    return Look(
        (Table("prefixes", columns=[counts("prefix", range(len(prefixes))), texts("text", prefixes)]),),
        title=f"Readings in {found.folder}",
        aside=counted(len(steps), "step"),
    )


def look_of_reading(found: RecordedReading) -> Look:
    """Each token with its surprisal, and the id that was expected next."""
    shares_of = found.probabilities
    bits = np.concatenate([[np.nan], np.asarray(found.surprisal, dtype=np.float64) / np.log(2)])
    return Look(
        (
            Table(
                "words",
                columns=[
                    counts("position", range(len(found.tokens))),
                    texts("token", found.tokens, tokens=True),
                    numbers("surprisal (bits)", bits[: len(found.tokens)], bar=True),
                    counts("expected next (id)", shares_of.argmax(axis=-1)),
                    shares("probability", shares_of.max(axis=-1), bar=True),
                ],
            ),
        ),
        title=f"What was answered at step {found.step:,}: {found.prefix}",
    )


def look_of_recording(found: Recording) -> Look:
    """Where it is written, and how far it is."""
    said = [
        ("folder", str(found.folder)),
        ("last step", None if found.last_step is None else f"{found.last_step:,}"),
        ("trouble", found.trouble or None),
    ]
    return Look((figures(said),), title="Recording of a training")


LOOKS = {
    Readings: look_of_readings,
    RecordedReading: look_of_reading,
    Recording: look_of_recording,
}
"""How each kind of result looks, by its class."""

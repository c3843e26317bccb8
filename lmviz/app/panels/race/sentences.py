"""What a race says in words: in what its lanes differ, and which does best."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.app.session.race_lane import RaceLane
from lmviz.app.widgets.base.figures import number
from lmviz.families import FAMILIES
from lmviz.looks.ink import Inked
from lmviz.runs.race_labels import setting_in_words, telling_settings


def differing_names(lanes: Sequence[RaceLane]) -> list[str]:
    """The settings in which lanes differ that were not forked, in words."""
    telling = telling_settings([lane.settings for lane in lanes if not lane.parent])
    return [setting_in_words(name) for name in telling]


def race_in_words(lanes: Sequence[RaceLane]) -> list[Inked]:
    """What differs, which lane is the best so far, and which of them diverged."""
    if not lanes:
        return []
    roots = [lane for lane in lanes if not lane.parent]
    differing = differing_names(lanes)
    family = FAMILIES[lanes[0].planned.family].short_title
    pieces = []
    if len(roots) > 1 and not differing:
        pieces.append(Inked(f"The same {family} {len(roots)} times: nothing differs. "))
    elif len(roots) == 1:
        pieces.append(Inked(f"One {family}. " if len(lanes) == 1 else f"One {family} and what was forked. "))
    elif differing:
        which = " and ".join((", ".join(differing[:-1]), differing[-1]) if differing[1:] else differing)
        same = f"The same {family}" if "family" not in differing else "Models"
        how = "values" if len(differing) == 1 else "choices"
        pieces += [Inked(f"{same} with {len(roots)} {how} of "), Inked(which, is_bold=True)]
        pieces.append(Inked(": only this differs. " if len(differing) == 1 else ": only these differ. "))
    # What was measured before the first update says nothing of a setting.
    measured = [lane for lane in lanes if any(lane.history.validation_loss.steps)]
    if len(measured) > 1:
        best = min(measured, key=lambda lane: lane.best or 0.0)
        pieces += [
            Inked("The lowest validation loss so far is that of "),
            Inked(best.label, is_bold=True),
            Inked(f", {number(best.best or 0.0, 2)}. "),
        ]
    for lane in lanes:
        if lane.phase == "diverged":
            pieces.append(Inked(f"{lane.label} diverged at step {lane.step:,}. "))
    return pieces

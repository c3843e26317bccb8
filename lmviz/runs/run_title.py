"""What a run is called where nobody has named it: "GRU on shakes, 03:35"."""

from __future__ import annotations

import re
from datetime import datetime

from lmviz.families import FAMILIES
from lmviz.training.description import RunDescription

STAMP = "%Y-%m-%d-%H%M%S"
"""How the name of a run that nobody has named begins: when it was begun, by the clock on the wall."""

_STAMPED = re.compile(r"(\d{4}-\d\d-\d\d-\d{6})-")


def begun_at(name: str) -> datetime | None:
    """The moment that a name begins with; None for one that somebody has given."""
    found = _STAMPED.match(name)
    try:
        return datetime.strptime(found[1], STAMP) if found else None
    except ValueError:
        return None


def run_title(name: str, family: str, text: str, now: datetime | None = None) -> str:
    """A name that somebody has given, as it is; otherwise family, text and time."""
    begun = begun_at(name)
    if begun is None:
        return name
    title = FAMILIES[family].short_title if family in FAMILIES else family
    learned = f"{title} on {text}" if text else title
    return f"{learned}, {when(begun, now)}"


def title_of(description: RunDescription) -> str:
    """What a person calls the run that is described; one that went on from a model is called after that."""
    begun, said, tuning = begun_at(description.name), description.tuned_from, description.tuning
    if begun is not None and said is not None and tuning is not None:
        base = _STAMPED.sub("", str(said["name"]), count=1)
        learned = tuning.in_words(int(description.configuration.get("layers", 0)))
        return f"{base} + {learned} on {description.corpus.get('name', '')}, {when(begun)}"
    return run_title(description.name, description.family, str(description.corpus.get("name", "")))


def when(moment: datetime, now: datetime | None = None) -> str:
    """A moment briefly: "03:35" today, "21 Nov 03:35" this year, "21 Nov 2025, 03:35" before."""
    now = now or datetime.now()
    if moment.date() == now.date():
        return f"{moment:%H:%M}"
    day = f"{moment.day} {moment:%b}"
    return f"{day} {moment:%H:%M}" if moment.year == now.year else f"{day} {moment.year}, {moment:%H:%M}"

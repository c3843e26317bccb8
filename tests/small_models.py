"""How a model of any family is made small; a family whose sizes have other names adds them here."""

from __future__ import annotations

from lmviz.families import FAMILIES

SMALL = {"layers": 2, "heads": 2, "width": 8, "context": 16, "window": 3, "order": 3}


def small_settings(family: str) -> dict[str, int]:
    """Those of the small settings that a family has."""
    names = FAMILIES[family].configuration.names()
    return {name: value for name, value in SMALL.items() if name in names}

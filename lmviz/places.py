"""The folders of data shipped with lmviz: next to the package in a checkout, inside it when installed."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """The folder `resources` or `sample_models`, whether or not it exists."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name

"""What the window shows, as the recipes of Python code take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lmviz.inspection.recipes.recipe import Moment

if TYPE_CHECKING:
    from lmviz.app.session.compared_models import ComparedModel
    from lmviz.app.session.session import Session
    from lmviz.configuration import Configuration


FILTERS = ("temperature", "top_k", "top_p", "min_p")
"""The sampling options that make a distribution of the logits."""

DRAWING = (*FILTERS, "seed", "stop_at_end")
"""Those that make a sample."""


def moment_of(session: Session, text: str) -> Moment:
    """The present model, as it is changed, reading a text."""
    return Moment(str(session.model.folder), text, session.step, session.interventions_in_force)


def moments_of(models: Sequence[ComparedModel], text: str) -> list[Moment]:
    """What is compared, reading a text; each with its own interventions."""
    return [Moment(str(item.model.folder), text, item.step, item.interventions) for item in models]


def unusual(options: Configuration, *names: str) -> dict[str, Any]:
    """The values that differ from their defaults, by name; of some names alone where any are given."""
    usual = type(options)().to_values()
    return {
        name: value
        for name, value in options.to_values().items()
        if value != usual[name] and (not names or name in names)
    }

"""The open runs that began with the same model and learn from the same text, by what each learns."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.app.session.library import Library
from lmviz.app.session.opened_model import OpenedModel


def runs_of_one_base(library: Library) -> list[OpenedModel]:
    """The runs that can be compared, that of the shown model first, if it is such a run."""
    shown = library.model
    models = [model for model in library.models if model != shown]
    models = [*([shown] if shown is not None else []), *models]
    tuned = [model for model in models if model.description.tuned_from is not None]
    return [model for model in tuned if _base(model) == _base(tuned[0])]


def names_of(models: Sequence[OpenedModel]) -> list[str]:
    """A name for each: what was learned and at which rate, and its own name where these agree."""
    names: list[str] = []
    for model in models:
        tuning = model.description.tuning
        layers = int(model.description.configuration.get("layers", 0))
        rate = model.description.training.get("learning_rate", 0.0)
        name = f"{tuning.in_words(layers) if tuning is not None else model.name}, rate {rate:g}"
        names.append(name if name not in names else f"{name}, {model.name}")
    return names


def _base(model: OpenedModel) -> object:
    """What two runs must share to be compared: the model that they began with, and the text."""
    said = model.description.tuned_from
    return None if said is None else (said["fingerprint"], model.description.fingerprint)

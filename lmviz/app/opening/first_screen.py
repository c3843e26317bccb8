"""The first screen: a sample model with a stored trace, shown before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lmviz.app.opening.settings import LastSession
from lmviz.app.session.opened_model import OpenedModel
from lmviz.base.errors import LmvizError
from lmviz.base.places import shipped
from lmviz.families import FAMILIES
from lmviz.inspection.trace import Trace
from lmviz.text.tokenizer_file import vocabulary_in
from lmviz.training.run import Run

FILE = "first_screen.npz"


@dataclass(frozen=True)
class FirstScreen:
    """A sample model, and what it computed for a prefix when it was shipped."""

    model: OpenedModel
    trace: Trace

    def is_where(self, last: LastSession) -> bool:
        """Whether a session ended just here, so that there is nothing to go back to."""
        here = (str(self.model.folder), self.trace.step, self.trace.text)
        return not last.sources and (last.run, last.step, last.prefix) == here


def load_first_screen(folder: Path | None = None) -> FirstScreen | None:
    """The stored trace next to the sample models in `folder`; None if it is missing or does not fit."""
    folder = folder or shipped("sample_models")
    try:
        trace = Trace.load(folder / FILE)
        model = _model_of(folder / trace.name)
        vocabulary = vocabulary_in(model.folder / "tokenizer.json")
    except LmvizError:
        return None  # a window without a first screen is better than none
    fits = trace.step in model.snapshots and "logits" in trace and len(trace.stages) > 0
    fits = fits and trace["logits"].array.shape == (len(trace), len(vocabulary))
    return FirstScreen(model, replace(trace, vocabulary=vocabulary)) if fits else None


def _model_of(folder: Path) -> OpenedModel:
    """A run as the window knows it, without its weights, which would take torch."""
    run = Run.open(folder.resolve())
    description = run.description
    if description.family not in FAMILIES:
        raise LmvizError(f"There is no family {description.family!r}.")
    family = FAMILIES[description.family]
    configuration = family.configuration.from_values(description.configuration)
    estimate = configuration.estimate(description.vocabulary_size, 1, 1)
    return OpenedModel(
        folder=run.folder,
        name=description.name or run.folder.name,
        family=description.family,
        snapshots=tuple(run.snapshots()),
        run=run,
        find_tokenizer=cache(run.tokenizer),
        context=getattr(configuration, "context", None),
        parameters=None if family.counts else estimate.parameters,
    )

"""Checks that a trace was made by the model that is asked about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.inspection.trace import Trace

if TYPE_CHECKING:
    from lmviz.models.model import Model


def check_made_by(trace: Trace, model: Model) -> None:
    """LmvizError unless the trace is one of this model's, with the weights that it has now.

    A trace that was made in this process knows the numbers; of one from a file, family, name and step are
    compared.
    """
    if not isinstance(trace, Trace):
        raise LmvizError(
            f"{trace!r} is not a trace: give what lmviz.trace returns, or what lmviz.Trace.load reads."
        )
    made_by = (trace.family, trace.name, trace.step)
    asked = (model.family, model.name, model.step)
    if made_by == asked and (trace.origin is None or trace.origin.agrees_with(model)):
        return
    if made_by == asked:
        difference = "and it has learned since, or is another model of the same name"
    else:
        difference = f"and this is {_named(*asked)}"
    raise LmvizError(
        f"The trace was made by {_named(*made_by)}, {difference}: ask the model that made it, or trace again."
    )


def _named(family: str, name: str, step: int) -> str:
    return f"{name or 'a model'} ({family}) at step {step:,}"

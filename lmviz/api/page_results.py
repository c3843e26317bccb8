"""What a page of one text holds: its trace and its lens, and what a changed text or other steps add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lmviz.api.circuits import ablate, attribute, circuit, contrast, patch
from lmviz.api.given import model_at, opened_model, run_with_steps
from lmviz.api.questions import logit_lens, trace
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard

if TYPE_CHECKING:
    from lmviz.api.given import Given, Ids, Steps
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.scalar import AnyOf
    from lmviz.models.model import Model
    from lmviz.pages.page import PageSection


def page_results(
    model: Given,
    text: str | Ids,
    *,
    source: str | Ids | None = None,
    changed: str | Ids | None = None,
    measure: AnyOf = "",
    interventions: Sequence[Intervention] = (),
    steps: Steps | None = None,
    special_tokens: bool = True,
    progress: Report | None = None,
) -> list[Any]:
    """What `lmviz.page` takes, of a text: the words and what follows them, attention and the lens.

    With a `changed` text, or for a translator a changed source, also what brings the answer back, what breaks
    without it, who wrote it, and the circuit; what cannot be asked of the model is left out, and LmvizError
    says why where that is all of these. With `steps` of a run there is a slider over them, and the losses of
    the training.
    """
    report = progress or unheard
    if steps is not None:
        if changed is not None:
            raise LmvizError(
                "The page of a changed text is of one step: leave out the steps, or the changed text."
            )
        run, asked = run_with_steps(model, steps)
        by_step = {}
        for number, step in enumerate(asked):
            report(number / len(asked))
            by_step[step] = _reading(model_at(run, step, special_tokens), text, source, interventions)
        return [_losses(run, asked), by_step]
    opened = opened_model(model, special_tokens)
    found = _reading(opened, text, source, interventions)
    if changed is None:
        return found
    texts: dict[str, Any] = (
        {"changed": changed} if source is None else {"source": source, "changed_source": changed}
    )
    asked_about = contrast(text, measure=measure, **texts)
    questions = (patch, ablate, attribute, circuit)
    faults: list[LmvizError] = []
    for place, question in enumerate(questions):
        share = part_of(report, place / len(questions), (place + 1) / len(questions))
        try:
            answer: Any = question(opened, asked_about, interventions=interventions, progress=share)  # type: ignore[operator]
        except LmvizError as fault:
            answer = _left_out(question.__name__, fault)
            faults.append(fault)
        found.append(answer)
    if len(faults) == len(questions):
        raise faults[0]
    return found


def _reading(model: Model, text: Any, source: Any, interventions: Sequence[Intervention]) -> list[Any]:
    """The trace of a text, and the lens over it where there is an answer at each position."""
    recorded = trace(model, text, source=source, interventions=interventions)
    if model.predicts.per == "text":
        return [recorded]
    try:
        return [recorded, logit_lens(model, recorded, 1)]  # type: ignore[arg-type]  # of one text
    except LmvizError as fault:
        return [recorded, _left_out("The lens", fault)]


def _left_out(what: str, why: LmvizError) -> PageSection:
    """A section that says what is not there, and why."""
    from lmviz.looks.look import Look
    from lmviz.pages.page import PageSection

    return PageSection(Look(title=what.capitalize(), instead=f"This is not on the page. {why}"))


def _losses(run: Any, steps: Sequence[int]) -> PageSection:
    from lmviz.pages.results import loss_section

    return loss_section(run, steps)

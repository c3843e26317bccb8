"""How the plan of a training looks."""

from __future__ import annotations

from lmviz.base.figures import counted, short, with_unit
from lmviz.looks.look import Look
from lmviz.runs.tuning_plan import TuningPlan
from lmviz.showing.pieces import figures


def look_of_plan(plan: TuningPlan) -> Look:
    """What is trained, what memory it takes for what, and how long a step takes."""
    memory = [(name, with_unit(getattr(plan, name), "B")) for name in ("weights", "gradients", "optimizer")]
    said = [
        *memory,
        ("activations", with_unit(plan.activations, "B")),
        ("memory in all", with_unit(plan.bytes, "B")),
        ("time of a step", None if plan.seconds is None else f"{plan.seconds:.2f} s"),
    ]
    return Look(
        (figures(said),),
        title=f"Training of {counted(plan.trained, 'number')} of {short(plan.parameters)}",
    )


LOOKS = {
    TuningPlan: look_of_plan,
}
"""How each kind of result looks, by its class."""

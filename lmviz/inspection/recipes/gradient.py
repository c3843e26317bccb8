"""Python code that reproduces how far gradients reach; see `recipes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmviz.inspection.recipes.recipe import RecipeSubject, arguments_of, as_source

_IMPORTS = ("import lmviz", "from lmviz.inspection.reach import reach, state_address")


def reach_recipe(subjects: Mapping[str, RecipeSubject], of: Any) -> str:
    """The norm of the gradient of a number at each position of the states, bound to `norms` by name."""
    lines: list[str] = []
    for name, subject in subjects.items():
        lines += [
            *_taken(subject, of),
            f"norms[{name!r}] = reach(gradient, state_address(model)).norms",
        ]
    intervening = any(subject.interventions for subject in subjects.values())
    imports = [
        *_IMPORTS,
        *(["from lmviz.inspection.intervention import Intervention"] if intervening else []),
    ]
    return "\n".join(["import lmviz", *sorted(imports[1:]), "", "norms = {}", *lines, ""])


def saliency_recipe(subject: RecipeSubject, of: Any, beside: Mapping[str, Any]) -> str:
    """Gradient × embedding and erasing, for each sequence by its name, bound to `predicted` and `measured`.

    `beside` is what the model reads beside the text.
    """
    changed = ["from lmviz.inspection.intervention import Intervention"] if subject.interventions else []
    given = {name: value if isinstance(value, str) else value.tolist() for name, value in beside.items()}
    lines = [
        "import lmviz",
        *changed,
        "from lmviz.inspection.saliency import saliencies",
        "",
        *_taken(subject, of, **given),
        "found = saliencies(model, gradient)",
        "predicted = {item.sequence: item.predicted for item in found}",
        "measured = {item.sequence: item.measured for item in found}",
    ]
    return "\n".join([*lines, ""])


def _taken(subject: RecipeSubject, of: Any, **beside: Any) -> list[str]:
    """The lines that open the model and take the gradient."""
    changes = "".join(f"    {as_source(intervention)},\n" for intervention in subject.interventions)
    given = f", interventions=[\n{changes}]" if changes else ""
    beside = ({} if subject.source is None else {"source": subject.source}) | beside
    source = f", {arguments_of(**beside)}" if beside else ""
    return [
        f"model = {subject.opening}",
        f"gradient = lmviz.gradient(model, {subject.text!r}, of={of!r}{given}{source})",
    ]

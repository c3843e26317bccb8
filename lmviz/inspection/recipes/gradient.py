"""Python code that reproduces how far gradients reach; see `recipes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmviz.inspection.recipes.recipe import RecipeSubject, as_source

_IMPORTS = ("import lmviz", "from lmviz.inspection.reach import reach, state_address")


def reach_recipe(subjects: Mapping[str, RecipeSubject], of: Any) -> str:
    """The norm of the gradient of a number at each position of the states, bound to `norms` by name."""
    lines: list[str] = []
    for name, subject in subjects.items():
        changes = "".join(f"    {as_source(intervention)},\n" for intervention in subject.interventions)
        given = f", interventions=[\n{changes}]" if changes else ""
        lines += [
            f"model = {subject.opening}",
            f"gradient = lmviz.gradient(model, {subject.text!r}, of={of!r}{given})",
            f"norms[{name!r}] = reach(gradient, state_address(model)).norms",
        ]
    intervening = any(subject.interventions for subject in subjects.values())
    imports = [
        *_IMPORTS,
        *(["from lmviz.inspection.intervention import Intervention"] if intervening else []),
    ]
    return "\n".join(["import lmviz", *sorted(imports[1:]), "", "norms = {}", *lines, ""])

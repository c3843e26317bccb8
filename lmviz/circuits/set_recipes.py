"""Python code that reproduces what is shown of a set of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lmviz.inspection.recipes.recipe import RecipeSubject, recipe_of
from lmviz.text.text_set import TextRow, TextSet

if TYPE_CHECKING:
    from lmviz.circuits.set_effects import SetEffects


def values_recipe(subject: RecipeSubject, given: TextSet) -> str:
    """The measure of each row, bound to `values` (row,)."""
    return recipe_of(subject, *_asked(subject, given), "values = asked.values")


def effects_recipe(subject: RecipeSubject, given: TextSet, found: SetEffects) -> str:
    """The mean effect of each part, bound to `values`."""
    parts, each = list(found.addresses), found.each
    if found.by == "patch":
        call = f"found = lmviz.patch(model, asked, {parts!r}, each={each!r}).means()"
    else:
        call = f"found = lmviz.ablate(model, asked, {parts!r}, by={found.by!r}, each={each!r})"
    return recipe_of(subject, *_asked(subject, given), call, "values = found.array")


def likeliest_recipe(subject: RecipeSubject, row: TextRow, count: int) -> str:
    """The probabilities of the likeliest words after a row, bound to `values`."""
    lines = (
        f"distribution = lmviz.next_token(model, {row.text!r})",
        f"values = [candidate.probability for candidate in distribution.top({count})]",
    )
    return recipe_of(subject, *lines)


def use_map_recipe(subject: RecipeSubject, given: TextSet) -> str:
    """Where the answers of a set are used, bound to `values` (place, position)."""
    lines = "".join(f"    {_plain(row)!r},\n" for row in given)
    return recipe_of(
        subject,
        f"given = lmviz.text_set([\n{lines}])",
        "found = lmviz.use_map(model, given)",
        "values = found.used",
    )


def _asked(subject: RecipeSubject, given: TextSet) -> tuple[str, ...]:
    lines = "".join(f"    {_plain(row)!r},\n" for row in given)
    return (
        f"rows = [\n{lines}]",
        "asked = lmviz.contrasts(model, rows)",
    )


def _plain(row: TextRow) -> Mapping[str, Any]:
    parts = {
        "text": row.text,
        "changed": row.changed,
        "wanted": row.wanted,
        "other": row.other,
        "label": row.label,
    }
    return {name: value for name, value in parts.items() if value}

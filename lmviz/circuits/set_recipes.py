"""Python code that reproduces what is shown of a set of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmviz.inspection.recipes.recipe import RecipeSubject, recipe_of
from lmviz.text.text_set import TextRow, TextSet


def values_recipe(subject: RecipeSubject, given: TextSet) -> str:
    """The measure of each row, bound to `values` (row,)."""
    return recipe_of(subject, *_asked(subject, given), "values = asked.values")


def effects_recipe(subject: RecipeSubject, given: TextSet, by: str, addresses: tuple[str, ...]) -> str:
    """The mean effect of each part, bound to `values`."""
    parts = list(addresses)
    if by == "patch":
        call = f"found = lmviz.patch(model, asked, {parts!r}, each=('head',)).means()"
    else:
        call = f"found = lmviz.ablate(model, asked, {parts!r}, by={by!r})"
    return recipe_of(subject, *_asked(subject, given), call, "values = found.array")


def likeliest_recipe(subject: RecipeSubject, row: TextRow, count: int) -> str:
    """The probabilities of the likeliest words after a row, bound to `values`."""
    lines = (
        f"distribution = lmviz.next_token(model, {row.text!r})",
        f"values = [candidate.probability for candidate in distribution.top({count})]",
    )
    return recipe_of(subject, *lines)


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

"""Python code that repeats what a panel about two models shows, through the public interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmviz.inspection.recipes.recipe import RecipeSubject, arguments_of


def difference_recipe(before: RecipeSubject, after: RecipeSubject, read: str, *, text: bool = True) -> str:
    """A part of `change`, the difference of two models on the text of the first, bound to `values`."""
    given = f", {before.text!r}" if text else ""
    return _of(before, after, f"change = lmviz.difference(before, after{given})", f"values = {read}")


def held_out_recipe(
    before: RecipeSubject, after: RecipeSubject, sources: Sequence[str], settings: Mapping[str, Any]
) -> str:
    """The change of each held-out token of a corpus, bound to `values` (token,)."""
    source = sources[0] if len(sources) == 1 else list(sources)
    read = f"corpus = lmviz.load_corpus({arguments_of(source, **settings)})"
    call = "change = lmviz.difference(before, after, corpus, inside=False)"
    return _of(before, after, read, call, "values = change.text.changes")


def next_word_recipe(before: RecipeSubject, after: RecipeSubject, ids: list[int]) -> str:
    """What either model expects after ids, bound to `values` (model, token)."""
    read = "values = np.stack([lmviz.next_token(model, ids).probabilities for model in (before, after)])"
    return _of(before, after, f"ids = {ids}", read, imports=("import numpy as np",))


def before_after_recipe(
    before: RecipeSubject, others: Sequence[RecipeSubject], prompts: Sequence[str]
) -> str:
    """How likely each model finds what the first expects after some beginnings, bound to `values` (model,
    prompt)."""
    lines = [f"before, prompts = {before.opening}, {list(prompts)!r}"]
    opened = ", ".join(other.opening for other in others)
    lines += [f"others = [{opened}]"]
    lines += ["answers = [lmviz.before_and_after(before, other, prompts) for other in others]"]
    lines += ["values = np.stack([answers[0].before, *(answer.after for answer in answers)])"]
    return "\n".join(["import lmviz", "import numpy as np", "", *lines, ""])


def transplant_recipe(
    before: RecipeSubject, after: RecipeSubject, each: str, *, is_loss: bool = False
) -> str:
    """The share of a change that each part carries, bound to `values` (part,)."""
    asked = f"lmviz.contrast({before.text!r}, measure='loss')" if is_loss else repr(before.text)
    call = f"moved = lmviz.transplant(before, after, {asked}, each={each!r})"
    return _of(before, after, call, "values = moved.array")


def strength_recipe(before: RecipeSubject, after: RecipeSubject, strength: float) -> str:
    """The distribution of the next token between two models, bound to `values` (token,)."""
    made = f"model = lmviz.interpolate(before, after, {strength!r})"
    read = f"values = lmviz.next_token(model, {before.text!r}).probabilities"
    return _of(before, after, made, read)


def _of(before: RecipeSubject, after: RecipeSubject, *lines: str, imports: tuple[str, ...] = ()) -> str:
    opened = (f"before = {before.opening}", f"after = {after.opening}")
    return "\n".join(["import lmviz", *imports, "", *opened, *lines, ""])

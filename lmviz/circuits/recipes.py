"""Python code that repeats what a panel of Circuits shows, through the public interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lmviz.inspection.recipes.recipe import RecipeSubject, arguments_of, as_source, recipe_of

if TYPE_CHECKING:
    from lmviz.circuits.contrast import Contrast


def contrast_recipe(subject: RecipeSubject, contrast: Contrast) -> str:
    """What the measure is in the text and in the changed one, if there is one, bound to `values`."""
    read = "np.array([found.clean] if found.changed is None else [found.clean, found.changed])"
    call = "measured_contrast(model, contrast"
    made = ("import numpy as np", "from lmviz.circuits.read_contrast import measured_contrast")
    return answer_recipe(subject, contrast, call, read, imports=made)


def patching_recipe(subject: RecipeSubject, contrast: Contrast, taps: tuple[str, ...], into: str) -> str:
    """A grid of shares, bound to `values` (tap, …)."""
    options: dict[str, Any] = {"taps": list(taps), "into": into}
    return answer_recipe(
        subject, contrast, f"lmviz.patch(model, contrast, {arguments_of(**options)}", "found.array"
    )


def attribution_recipe(subject: RecipeSubject, contrast: Contrast, through: int = 0) -> str:
    """The shares of all components, bound to `values` (component,)."""
    options = f", {arguments_of(through=through)}" if through else ""
    return answer_recipe(subject, contrast, f"lmviz.attribute(model, contrast{options}", "found.array")


def ablation_recipe(subject: RecipeSubject, contrast: Contrast, parts: tuple[str, ...], by: str) -> str:
    """By how much the measure changes without each part, bound to `values`."""
    options: dict[str, Any] = {"parts": list(parts), "by": by}
    return answer_recipe(
        subject, contrast, f"lmviz.ablate(model, contrast, {arguments_of(**options)}", "found.array"
    )


def circuit_recipe(subject: RecipeSubject, contrast: Contrast, keep: int, rest: str) -> str:
    """The share that is lost without each kept part, bound to `values` (part,)."""
    return answer_recipe(
        subject,
        contrast,
        f"lmviz.circuit(model, contrast, {arguments_of(keep=keep, rest=rest)}",
        "found.array",
    )


def replaced_recipe(
    subject: RecipeSubject, corpus: str, words: tuple[str, str], position: int, back: int
) -> str:
    """What is lost where each state is replaced, bound to `values` (position,); `corpus` loads the texts."""
    of = f"lmviz.words({[words[0]]!r}, {[words[1]]!r}, of='logit', position={position})"
    changes = ", ".join(map(as_source, subject.interventions))
    changes = f", interventions=[{changes}]" if changes else ""
    call = f"lmviz.replace_states(model, {subject.text!r}, {of}, corpus, back={back}{changes})"
    return recipe_of(subject, corpus, f"found = {call}", "values = found.lost")


def answer_recipe(
    subject: RecipeSubject,
    contrast: Contrast,
    call: str,
    read: str,
    imports: tuple[str, ...] = (),
    before: tuple[str, ...] = (),
) -> str:
    """A call about `contrast` that lacks its last bracket, after some lines `before`, and what it gives.

    The interventions of the subject are part of it, by name.
    """
    given = arguments_of(
        contrast.text,
        *([contrast.changed] if contrast.changed is not None else []),
        measure=contrast.measure,
        source=contrast.source,
        changed_source=contrast.changed_source,
    )
    lines = [*before, f"contrast = lmviz.contrast({given})"]
    if subject.interventions:
        made = "".join(f"    {as_source(item)},\n" for item in subject.interventions)
        lines.append(f"interventions = [\n{made}]")
        call += ", interventions=interventions"
    return recipe_of(subject, *lines, f"found = {call})", f"values = {read}", imports=imports)


def chances_recipe(subject: RecipeSubject, steps: Sequence[int], id: int) -> str:
    """The probability of a token after the text at each of some steps, bound to `values` (step,)."""
    opened = f"lmviz.open_model({subject.model!r}, step=step)"
    return "\n".join(
        [
            "import lmviz",
            "import numpy as np",
            "from lmviz.circuits.head_pair import chance_of",
            "",
            f"steps = {list(steps)}",
            f"values = np.array([chance_of({opened}, {subject.text!r}, {id}) for step in steps])",
            "",
        ]
    )

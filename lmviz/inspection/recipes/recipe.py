"""Python code that reproduces what a panel shows, through the public interface.

Every function returns source text that can be run as it stands; the last line binds what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmviz.inspection.intervention import Intervention

if TYPE_CHECKING:
    from lmviz.inspection.views import View


@dataclass(frozen=True)
class RecipeSubject:
    """What a view shows: a prefix read by a model, at a snapshot, under interventions.

    `model` is a run's folder or a sample model's name; `step` is None for its last snapshot. `source` is
    what a translator read beside the prefix, None for other models. `spells_out` says that special tokens in
    the text are letters.
    """

    model: str
    text: str
    step: int | None = None
    interventions: tuple[Intervention, ...] = ()
    source: str | None = None
    spells_out: bool = False

    @property
    def opening(self) -> str:
        """The call that opens the model."""
        special = False if self.spells_out else None
        return f"lmviz.open_model({arguments_of(self.model, step=self.step, special_tokens=special)})"


def array_recipe(subject: RecipeSubject, address: str, **indices: int) -> str:
    """The values of a tap, or their part at some indices, bound to `values`."""
    read = f"trace[{address!r}]"
    part = f"{read}.at({arguments_of(**indices)})" if indices else f"{read}.array"
    return recipe_of(subject, *traced(subject, taps=[address]), f"values = {part}")


def view_recipe(subject: RecipeSubject, view: View) -> str:
    """What a view draws, (row, column), bound to `values`; a vector where it has no rows."""
    return recipe_of(subject, *traced(subject, taps=[view.address]), f"values = {_drawn(view)}")


def views_recipe(subject: RecipeSubject, views: Mapping[str, View]) -> str:
    """What several views draw, by name, bound to `values`."""
    drawn = "".join(f"    {name!r}: {_drawn(view)},\n" for name, view in views.items())
    taps = dict.fromkeys(view.address for view in views.values())
    return recipe_of(subject, *traced(subject, taps=list(taps)), f"values = {{\n{drawn}}}")


def arrays_recipe(subject: RecipeSubject, addresses: Sequence[str]) -> str:
    """The values of several taps, by address, bound to `values`."""
    read = "values = {address: traced.array for address, traced in trace.arrays.items()}"
    return recipe_of(subject, *traced(subject, taps=addresses), read)


def explanation_recipe(subject: RecipeSubject, address: str, index: Sequence[int]) -> str:
    """Why a cell has its value, bound to `equation`."""
    return recipe_of(
        subject,
        *traced(subject),
        f"arithmetic = explain(model, trace, {address!r}, {tuple(index)!r})",
        "equation = one_line(arithmetic)",
        imports=(
            "from lmviz.inspection.equations import one_line",
            "from lmviz.inspection.explain import explain",
        ),
    )


def attention_recipe(
    subject: RecipeSubject, heads: Sequence[tuple[int, int]], how: str = "mean", side: str = ""
) -> str:
    """The weights of some heads, each (layer, head), combined, bound to `weights` (query, key)."""
    of = f", {side!r}" if side else ""
    return recipe_of(
        subject,
        *traced(subject, taps=["/".join(part for part in (side, "layers/*/attention/weights") if part)]),
        f"weights = combine_heads(trace, {list(map(tuple, heads))!r}, {how!r}{of})",
        imports=("from lmviz.inspection.attention import combine_heads",),
    )


def alignment_recipe(subject: RecipeSubject, heads: Sequence[tuple[int, int]]) -> str:
    """Where a translator looks in its source, the mean of heads, bound to `weights` (position, source)."""
    return recipe_of(
        subject,
        *traced(subject),
        f"weights = combined_alignment(trace, {list(map(tuple, heads))!r})",
        imports=("from lmviz.inspection.alignment import combined_alignment",),
    )


def lens_recipe(
    subject: RecipeSubject, count: int = 5, positions: Sequence[int] | None = None, **how: bool
) -> str:
    """What each place along the stream would predict, bound to `lens`."""
    return recipe_of(
        subject,
        *traced(subject),
        f"lens = logit_lens(model, trace, {arguments_of(count=count, positions=positions, **how)})",
        imports=("from lmviz.inspection.logit_lens import logit_lens",),
    )


def badges_recipe(subject: RecipeSubject) -> str:
    """The scores of every head, by layer, bound to `badges`."""
    return recipe_of(
        subject,
        *traced(subject, taps=["**/attention/weights"]),
        "badges = head_badges(trace)",
        imports=("from lmviz.inspection.head_badges import head_badges",),
    )


def _drawn(view: View) -> str:
    """The expression for what a view draws of `trace`."""
    read = f"trace[{view.address!r}]" + (f".at({arguments_of(**view.fixed)})" if view.fixed else ".array")
    free = [axis for axis in view.axes if axis not in view.fixed]
    if view.row_axis and free.index(view.row_axis) > free.index(view.column_axis):
        read += ".T"
    read += f"[{list(view.rows)}]" if _is_selection(view.row_axis, view.rows) else ""
    chosen = f"{list(view.columns)}" if _is_selection(view.column_axis, view.columns) else ""
    read += f".reshape(-1, {view.folded})" if view.folded else ""
    return read + (f"[..., {chosen}]" if chosen else "")


def _is_selection(axis: str, indices: Sequence[int]) -> bool:
    """Whether a view may show other than all of an axis, in its order."""
    return bool(axis) and (axis == "token" or tuple(indices) != tuple(range(len(indices))))


def recipe_of(subject: RecipeSubject, *lines: str, imports: Sequence[str] = ()) -> str:
    """Source text that opens the subject's model and runs the lines, with the imports they need."""
    intervening = ("from lmviz.inspection.intervention import Intervention",)
    needed = (*imports, *(intervening if any("Intervention(" in line for line in lines) else ()))
    return "\n".join(["import lmviz", *sorted(needed), "", f"model = {subject.opening}", *lines, ""])


def traced(subject: RecipeSubject, taps: Sequence[str] | None = None) -> list[str]:
    """The lines that trace the subject."""
    arguments = [f"model, {subject.text!r}"]
    arguments += [f"source={subject.source!r}"] if subject.source is not None else []
    arguments += [f"taps={list(taps)!r}"] if taps else []
    if not subject.interventions:
        return [f"trace = lmviz.trace({', '.join(arguments)})"]
    made = "".join(f"    {as_source(intervention)},\n" for intervention in subject.interventions)
    arguments.append("interventions=interventions")
    return [f"interventions = [\n{made}]", f"trace = lmviz.trace({', '.join(arguments)})"]


def as_source(intervention: Intervention) -> str:
    """The call that makes an intervention."""
    made = [intervention.address, intervention.kind, intervention.value, dict(intervention.where)]
    required = None if intervention.required else False
    return f"Intervention({arguments_of(*made, label=intervention.label or None, required=required)})"


def arguments_of(*positional: Any, **named: Any) -> str:
    """Arguments as source text; those that are None are left out."""
    given = [f"{name}={value!r}" for name, value in named.items() if value is not None]
    return ", ".join([*map(repr, positional), *given])

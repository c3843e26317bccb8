"""The few lines of Python that reproduce a view through the public interface.

Every function returns source text that can be run as it stands; the last line binds what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmviz.inspection.intervention import Intervention


@dataclass(frozen=True)
class Moment:
    """What a view shows: a prefix read by a model, at a snapshot, under interventions.

    `model` is a run's folder or a sample model's name; `step` is None for its last snapshot.
    """

    model: str
    text: str
    step: int | None = None
    interventions: tuple[Intervention, ...] = ()

    @property
    def opening(self) -> str:
        """The call that opens the model."""
        return f"lmviz.open_model({_arguments(self.model, step=self.step)})"


def array_recipe(moment: Moment, address: str, **indices: int) -> str:
    """The values of a tap, or their part at some indices, bound to `values`."""
    read = f"trace[{address!r}]"
    part = f"{read}.at({_arguments(**indices)})" if indices else f"{read}.array"
    return _recipe(moment, *_traced(moment, taps=[address]), f"values = {part}")


def explanation_recipe(moment: Moment, address: str, index: Sequence[int]) -> str:
    """Why a cell has its value, bound to `equation`."""
    return _recipe(
        moment,
        *_traced(moment),
        f"arithmetic = explain(model, trace, {address!r}, {tuple(index)!r})",
        "equation = one_line(arithmetic)",
        imports=(
            "from lmviz.inspection.equations import one_line",
            "from lmviz.inspection.explain import explain",
        ),
    )


def attention_recipe(moment: Moment, heads: Sequence[tuple[int, int]], how: str = "mean") -> str:
    """The weights of some heads, each (layer, head), combined, bound to `weights` (query, key)."""
    return _recipe(
        moment,
        *_traced(moment, taps=["*/attention/weights"]),
        f"weights = combine_heads(trace, {list(map(tuple, heads))!r}, {how!r})",
        imports=("from lmviz.inspection.attention import combine_heads",),
    )


def lens_recipe(moment: Moment, count: int = 5) -> str:
    """What each place along the stream would predict, bound to `lens`."""
    return _recipe(
        moment,
        *_traced(moment),
        f"lens = logit_lens(model, trace, {_arguments(count=count)})",
        imports=("from lmviz.inspection.logit_lens import logit_lens",),
    )


def distribution_recipe(moment: Moment, options: Mapping[str, Any]) -> str:
    """The distribution of the next token, bound to `distribution`.

    `options` are those of `SamplingOptions` that matter, such as temperature=0.8.
    """
    if not moment.interventions:
        call = f"lmviz.next_token({_call(moment.text, options)})"
        return _recipe(moment, f"distribution = {call}")
    tail = "".join(f", {name}={value!r}" for name, value in options.items())
    return _recipe(
        moment,
        *_traced(moment, taps=["logits"]),
        f'distribution = next_distribution(trace["logits"].array[-1]{tail}, tokens=model.tokenizer.tokens())',
        imports=("from lmviz.decoding.distribution import next_distribution",),
    )


def sample_recipe(moment: Moment, tokens: int, options: Mapping[str, Any]) -> str:
    """A continuation drawn token by token, bound to `steps`."""
    call = f"lmviz.sample({_call(moment.text, {'tokens': tokens, **options})})"
    return _recipe(moment, f"steps = list({call})")


def beam_recipe(moment: Moment, options: Mapping[str, Any]) -> str:
    """The tree of a beam search, bound to `tree`; `options` are those of `BeamOptions`."""
    return _recipe(
        moment,
        f"tree = beam_search(model, {moment.text!r}, BeamOptions({_arguments(**options)}))",
        imports=(
            "from lmviz.decoding.beam import beam_search",
            "from lmviz.decoding.options import BeamOptions",
        ),
    )


def likelihood_recipe(moment: Moment) -> str:
    """The text's probability word by word, bound to `likelihood`."""
    return _recipe(
        moment,
        f"likelihood = text_log_probabilities(model, {moment.text!r})",
        imports=("from lmviz.decoding.likelihood import text_log_probabilities",),
    )


def comparison_recipe(moments: Sequence[Moment]) -> str:
    """Where models disagree about one text, bound to `found`."""
    openings = "".join(f"    {moment.opening},\n" for moment in moments)
    return "\n".join(
        [
            "import lmviz",
            "from lmviz.decoding.comparison import disagreement",
            "from lmviz.decoding.shared_units import shared_units",
            "",
            f"models = [\n{openings}]",
            "units = shared_units([model.tokenizer for model in models])",
            f"found = disagreement(models, {moments[0].text!r}, units)",
            "",
        ]
    )


def _recipe(moment: Moment, *lines: str, imports: Sequence[str] = ()) -> str:
    intervening = ("from lmviz.inspection.intervention import Intervention",)
    needed = (*imports, *(intervening if any("Intervention(" in line for line in lines) else ()))
    return "\n".join(["import lmviz", *sorted(needed), "", f"model = {moment.opening}", *lines, ""])


def _traced(moment: Moment, taps: Sequence[str] | None = None) -> list[str]:
    """The lines that trace the moment."""
    arguments = [f"model, {moment.text!r}"]
    arguments += [f"taps={list(taps)!r}"] if taps else []
    if not moment.interventions:
        return [f"trace = lmviz.trace({', '.join(arguments)})"]
    made = "".join(f"    {_intervention(intervention)},\n" for intervention in moment.interventions)
    arguments.append("interventions=interventions")
    return [f"interventions = [\n{made}]", f"trace = lmviz.trace({', '.join(arguments)})"]


def _intervention(intervention: Intervention) -> str:
    made = [intervention.address, intervention.kind, intervention.value, dict(intervention.where)]
    return f"Intervention({_arguments(*made, label=intervention.label or None)})"


def _call(text: str, options: Mapping[str, Any]) -> str:
    return ", ".join(["model", repr(text), *([_arguments(**options)] if options else [])])


def _arguments(*positional: Any, **named: Any) -> str:
    """Arguments as source text; those that are None are left out."""
    given = [f"{name}={value!r}" for name, value in named.items() if value is not None]
    return ", ".join([*map(repr, positional), *given])

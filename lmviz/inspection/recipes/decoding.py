"""The few lines of Python that reproduce what was predicted, drawn or searched; see `recipes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmviz.inspection.recipes.recipe import Moment, arguments_of, as_source, recipe_of, traced


def distribution_recipe(moment: Moment, options: Mapping[str, Any]) -> str:
    """The distribution of the next token, bound to `distribution`.

    `options` are those of `SamplingOptions` that matter, such as temperature=0.8.
    """
    if not moment.interventions:
        return recipe_of(moment, f"distribution = lmviz.next_token({_call(moment.text, options)})")
    tail = "".join(f", {name}={value!r}" for name, value in options.items())
    return recipe_of(
        moment,
        *traced(moment, taps=["logits"]),
        f'distribution = next_distribution(trace["logits"].array[-1]{tail}, tokens=model.tokenizer.tokens())',
        imports=("from lmviz.decoding.distribution import next_distribution",),
    )


def roll_recipe(moment: Moment, options: Mapping[str, Any], draw: float | None) -> str:
    """`distribution_recipe`, and the id on which the draw lands, bound to `landed`; None is greedy."""
    landed = "distribution.best" if draw is None else f"distribution.at_draw({draw!r})"
    return f"{distribution_recipe(moment, options)}landed = {landed}\n"


def sample_recipe(moment: Moment, tokens: int, options: Mapping[str, Any]) -> str:
    """A continuation drawn token by token, bound to `steps`."""
    call = f"lmviz.sample({_call(moment.text, {'tokens': tokens, **options})})"
    return _decoded(moment, f"steps = list({call})")


def beam_recipe(moment: Moment, options: Mapping[str, Any]) -> str:
    """The tree of a beam search, bound to `tree`; `options` are those of `BeamOptions`."""
    return _decoded(
        moment,
        f"tree = beam_search(model, {moment.text!r}, BeamOptions({arguments_of(**options)}))",
        imports=(
            "from lmviz.decoding.beam import beam_search",
            "from lmviz.decoding.options import BeamOptions",
        ),
    )


def outcomes_recipe(moment: Moment, chosen: Mapping[str, Sequence[int]], length_penalty: float) -> str:
    """What each way of decoding came to, by its name, bound to `outcomes`; `chosen` are the ids of each."""
    ways = {name: list(ids) for name, ids in chosen.items()}
    return _decoded(
        moment,
        f"chosen = {ways!r}",
        f"outcomes = {{name: outcome(model, {moment.text!r}, ids, {length_penalty!r}) "
        "for name, ids in chosen.items()}",
        imports=("from lmviz.decoding.outcome import outcome",),
    )


def branches_recipe(moment: Moment, paths: Sequence[Sequence[int]], options: Mapping[str, Any]) -> str:
    """The probability of the last id of each path given those before it, bound to `probabilities`."""
    tail = "".join(f", {name}={value!r}" for name, value in options.items())
    return _decoded(
        moment,
        f"paths = {[list(path) for path in paths]!r}",
        "probabilities = []",
        "for *before, last in paths:",
        f"    logits = Continuation.of(model, {moment.text!r}, before).logits",
        f"    probabilities.append(next_distribution(logits{tail}).probability_of(last))",
        imports=(
            "from lmviz.decoding.continuation import Continuation",
            "from lmviz.decoding.distribution import next_distribution",
        ),
    )


def likelihood_recipe(moment: Moment) -> str:
    """The text's probability word by word, bound to `likelihood`."""
    return _decoded(
        moment,
        f"likelihood = text_log_probabilities(model, {moment.text!r})",
        imports=("from lmviz.decoding.likelihood import text_log_probabilities",),
    )


def side_by_side_recipe(moments: Sequence[Moment]) -> str:
    """What each model expects after one text, bound to `distributions`."""
    return _of_several(
        moments, f"distributions = [lmviz.next_token(model, {moments[0].text!r}) for model in models]"
    )


def samples_recipe(moments: Sequence[Moment], tokens: Sequence[int], options: Mapping[str, Any]) -> str:
    """What each model writes by the same draws, so many tokens each, bound to `samples`."""
    arguments = "".join(f", {name}={value!r}" for name, value in options.items())
    return _of_several(
        moments,
        f"lengths = {list(tokens)!r}",
        "samples = [",
        f"    list(lmviz.sample(model, {moments[0].text!r}, tokens=length{arguments}))",
        "    for model, length in zip(models, lengths, strict=True)",
        "]",
    )


def comparison_recipe(moments: Sequence[Moment]) -> str:
    """Where models disagree about one text, bound to `found`."""
    return _of_several(
        moments,
        "units = shared_units([model.tokenizer for model in models])",
        f"found = disagreement(models, {moments[0].text!r}, units)",
        imports=(
            "from lmviz.decoding.comparison import disagreement",
            "from lmviz.decoding.shared_units import shared_units",
        ),
    )


CHANGING = (
    "from lmviz.inspection.changed_model import ChangedModel",
    "from lmviz.inspection.intervention import Intervention",
)


def _decoded(moment: Moment, *lines: str, imports: Sequence[str] = ()) -> str:
    """Lines about a model with the interventions in force."""
    if moment.interventions:
        lines = (f"model = {_changed('model', moment)}", *lines)
        imports = (*imports, *CHANGING[:1])
    return recipe_of(moment, *lines, imports=imports)


def _of_several(moments: Sequence[Moment], *lines: str, imports: Sequence[str] = ()) -> str:
    openings = "".join(
        f"    {_changed(moment.opening, moment) if moment.interventions else moment.opening},\n"
        for moment in moments
    )
    needed = (*imports, *(CHANGING if any(moment.interventions for moment in moments) else ()))
    return "\n".join(["import lmviz", *sorted(needed), "", f"models = [\n{openings}]", *lines, ""])


def _changed(model: str, moment: Moment) -> str:
    return f"ChangedModel({model}, [{', '.join(map(as_source, moment.interventions))}])"


def _call(text: str, options: Mapping[str, Any]) -> str:
    return ", ".join(["model", repr(text), *([arguments_of(**options)] if options else [])])

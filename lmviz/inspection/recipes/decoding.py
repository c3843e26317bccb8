"""Python code that reproduces a prediction, a sample or a search; see `recipes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmviz.inspection.recipes.recipe import RecipeSubject, arguments_of, as_source, recipe_of, traced


def distribution_recipe(subject: RecipeSubject, options: Mapping[str, Any]) -> str:
    """The distribution of the next token, bound to `distribution`.

    `options` are those of `SamplingOptions` that matter, such as temperature=0.8.
    """
    if not subject.interventions:
        return recipe_of(subject, f"distribution = lmviz.next_token({_call(subject, options)})")
    tail = "".join(f", {name}={value!r}" for name, value in options.items())
    return recipe_of(
        subject,
        *traced(subject, taps=["logits"]),
        f'distribution = next_distribution(trace["logits"].array[-1]{tail}, tokens=model.tokenizer.tokens())',
        imports=("from lmviz.decoding.distribution import next_distribution",),
    )


def roll_recipe(subject: RecipeSubject, options: Mapping[str, Any], draw: float | None) -> str:
    """`distribution_recipe`, and the id on which the draw lands, bound to `landed`; None is greedy."""
    landed = "distribution.best" if draw is None else f"distribution.at_draw({draw!r})"
    return f"{distribution_recipe(subject, options)}landed = {landed}\n"


def sample_recipe(subject: RecipeSubject, tokens: int, options: Mapping[str, Any]) -> str:
    """A continuation drawn token by token, bound to `steps`."""
    settings = arguments_of(tokens=tokens, **options)
    return _decoded(subject, f"steps = list(lmviz.sample(model, {subject.text!r}, {settings}))")


def beam_recipe(subject: RecipeSubject, options: Mapping[str, Any]) -> str:
    """The tree of a beam search, bound to `tree`; `options` are those of `BeamOptions`."""
    return _decoded(
        subject,
        f"tree = beam_search(model, {subject.text!r}, BeamOptions({arguments_of(**options)}))",
        imports=(
            "from lmviz.decoding.beam import beam_search",
            "from lmviz.decoding.options import BeamOptions",
        ),
    )


def outcomes_recipe(
    subject: RecipeSubject,
    chosen: Mapping[str, Sequence[int]],
    length_penalty: float,
    length_formula: str = "shifted",
) -> str:
    """What each way of decoding came to, by its name, bound to `outcomes`; `chosen` are the ids of each."""
    ways = {name: list(ids) for name, ids in chosen.items()}
    formula = "" if length_formula == "shifted" else f", {length_formula!r}"
    return _decoded(
        subject,
        f"chosen = {ways!r}",
        f"outcomes = {{name: outcome(model, {subject.text!r}, ids, {length_penalty!r}{formula}) "
        "for name, ids in chosen.items()}",
        imports=("from lmviz.decoding.outcome import outcome",),
    )


def asked_ways_recipe(subject: RecipeSubject, question: str) -> str:
    """What is answered to a chat, its question alone and its letters, by their names, bound to `found`."""
    return _decoded(
        subject,
        f"asked = asked_ways(model.tokenizer, {subject.text!r}, {question!r})",
        "*_, found = answers(model, asked)",
        imports=("from lmviz.decoding.asked_ways import answers, asked_ways",),
    )


def branches_recipe(
    subject: RecipeSubject, paths: Sequence[Sequence[int]], options: Mapping[str, Any]
) -> str:
    """The probability of the last id of each path given those before it, bound to `probabilities`."""
    tail = "".join(f", {name}={value!r}" for name, value in options.items())
    return _decoded(
        subject,
        f"paths = {[list(path) for path in paths]!r}",
        "probabilities = []",
        "for *before, last in paths:",
        f"    logits = Continuation.of(model, {subject.text!r}, before).logits",
        f"    probabilities.append(next_distribution(logits{tail}).probability_of(last))",
        imports=(
            "from lmviz.decoding.continuation import Continuation",
            "from lmviz.decoding.distribution import next_distribution",
        ),
    )


def likelihood_recipe(subject: RecipeSubject, *, ends: bool = False) -> str:
    """The text's probability word by word, with END's if it `ends`, bound to `likelihood`."""
    ending = ", ends=True" if ends else ""
    return _decoded(
        subject,
        f"likelihood = text_log_probabilities(model, {subject.text!r}{ending})",
        imports=("from lmviz.decoding.likelihood import text_log_probabilities",),
    )


def histories_recipe(subject: RecipeSubject) -> str:
    """What each word costs after the right words and after the model's own, bound to `found`."""
    return _decoded(
        subject,
        f"found = read_both_ways(model, {subject.text!r})",
        imports=("from lmviz.decoding.histories import read_both_ways",),
    )


def side_by_side_recipe(subjects: Sequence[RecipeSubject]) -> str:
    """What each model expects after one text, bound to `distributions`."""
    return _of_several(
        subjects, f"distributions = [lmviz.next_token(model, {subjects[0].text!r}) for model in models]"
    )


def samples_recipe(
    subjects: Sequence[RecipeSubject], tokens: Sequence[int], options: Mapping[str, Any]
) -> str:
    """What each model writes by the same draws, so many tokens each, bound to `samples`."""
    arguments = "".join(f", {name}={value!r}" for name, value in options.items())
    return _of_several(
        subjects,
        f"lengths = {list(tokens)!r}",
        "samples = [",
        f"    list(lmviz.sample(model, {subjects[0].text!r}, tokens=length{arguments}))",
        "    for model, length in zip(models, lengths, strict=True)",
        "]",
    )


def comparison_recipe(subjects: Sequence[RecipeSubject]) -> str:
    """Where models disagree about one text, bound to `found`."""
    return _of_several(
        subjects,
        "units = shared_units([model.tokenizer for model in models])",
        f"found = disagreement(models, {subjects[0].text!r}, units)",
        imports=(
            "from lmviz.decoding.comparison import disagreement",
            "from lmviz.decoding.shared_units import shared_units",
        ),
    )


def labels_recipe(subjects: Sequence[RecipeSubject], per_text: bool) -> str:
    """What models answer at each word of one text, bound to `found`; of a class, after each beginning."""
    text = repr(subjects[0].text)
    if per_text:
        line = f"found = [read_beginnings(model, read_prefix(model, {text}).ids) for model in models]"
        imports: tuple[str, ...] = (
            "from lmviz.inspection.class_readings import read_beginnings",
            "from lmviz.models.prefix import read_prefix",
        )
    else:
        line = f"found = [label(model, {text}).probabilities for model in models]"
        imports = ("from lmviz.decoding.labels import label",)
    return _of_several(subjects, line, imports=imports)


MAKING = "from lmviz.inspection.intervention import Intervention"
CHANGING = ("from lmviz.inspection.changed_model import ChangedModel", MAKING)

GIVING = ("from lmviz.models.given_source import GivenSource",)


def _decoded(subject: RecipeSubject, *lines: str, imports: Sequence[str] = ()) -> str:
    """Lines about a model with the interventions in force, and of a translator with its source settled."""
    reader = _reader("model", subject)
    made = (f"model = {reader}",) if reader != "model" else ()
    # recipe_of sees by itself where interventions are made
    needed = (name for name in _needed([subject]) if name != MAKING)
    return recipe_of(subject, *made, *lines, imports=(*imports, *needed))


def _of_several(subjects: Sequence[RecipeSubject], *lines: str, imports: Sequence[str] = ()) -> str:
    openings = "".join(f"    {_reader(subject.opening, subject)},\n" for subject in subjects)
    needed = (*imports, *_needed(subjects))
    return "\n".join(["import lmviz", *sorted(needed), "", f"models = [\n{openings}]", *lines, ""])


def _reader(model: str, subject: RecipeSubject) -> str:
    """The expression for a model as it reads the subject, given the one that opens it."""
    if subject.interventions:
        model = f"ChangedModel({model}, [{', '.join(map(as_source, subject.interventions))}])"
    return model if subject.source is None else f"GivenSource.reading({model}, {subject.source!r})"


def _needed(subjects: Sequence[RecipeSubject]) -> tuple[str, ...]:
    """The imports for what `_reader` makes."""
    changing = CHANGING if any(subject.interventions for subject in subjects) else ()
    giving = GIVING if any(subject.source is not None for subject in subjects) else ()
    return (*changing, *giving)


def _call(subject: RecipeSubject, options: Mapping[str, Any]) -> str:
    settings = arguments_of(source=subject.source, **options)
    return ", ".join(["model", repr(subject.text), *([settings] if settings else [])])

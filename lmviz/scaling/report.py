"""The scaling table as a page of Markdown: what `python3 start.py scale` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmviz.models.shapes import without_numbers
from lmviz.models.transformer import TransformerModel
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.computation_graph import (
    attention_edges,
    attention_graph,
    crossing,
    recurrent_edges,
    recurrent_graph,
)
from lmviz.scaling.compute import amount_in_words, petaflop_days, training_compute
from lmviz.scaling.public_models import (
    COUNTED_MODELS,
    GPT3_DATA,
    GPT3_FAMILY,
    GPT3_TOKENS,
    PUBLIC_MODELS,
)

LENGTHS = (7, 24, 64, 512, 2048)
WIDTHS = (96, 768, 12288)


def built_parameters(configuration: TransformerConfiguration, vocabulary: int) -> int:
    """The parameters of a model that is really built, without memory for its numbers; tied ones once."""
    with without_numbers():
        model = TransformerModel(configuration, vocabulary)
    return sum(parameter.numel() for parameter in model.parameters())


def scaling_page() -> str:
    """The whole page. Every number is computed here from the tables of `lmviz.scaling.public_models`."""
    parts = [
        "# Scale in numbers\n",
        "`python3 start.py scale` writes this page. Compute is 6 × parameters × tokens floating-point "
        "operations (Kaplan et al. 2020); a petaflop/s-day is 8.64e19 of them. bn is 10⁹, tn is 10¹².\n",
        "## Public models\n",
        *_public(),
        "## Parameters\n",
        "12 L d² counts the matrices of L layers of width d, V d the embeddings of V tokens, T d those of T "
        "positions. The last column counts the parameters of a model of lmviz that is really built, on "
        "torch's meta device, where numbers take no memory: biases and normalisation included.\n",
        *_counted(),
        "## GPT-3's family\n",
        "As table 2.1 of Brown et al. (2020) prints it. All read 300 bn tokens.\n",
        *_family(),
        "In two rows, those of 1.3 bn and 13 bn, the width is not heads × head width.\n",
        "## GPT-3's text\n",
        *_data(),
        "## The computation graph\n",
        "Edges into one hidden layer over T tokens: 2T − 1 in a recurrent network, T(T + 1) / 2 in causal "
        "attention. The longest path is what cannot be computed at the same time.\n",
        *_graphs(),
        "The scores and mixtures of attention take 2 T² d multiplications in a layer, its matrices 12 T d². "
        "The two are equal at T = 6 d.\n",
        *_crossings(),
    ]
    return "\n".join(parts)


def _public() -> Iterator[str]:
    yield _table(
        ("model", "year", "tokens", "parameters", "tokens per parameter", "petaflop/s-days", "source"),
        [
            (
                model.name,
                str(model.year),
                amount_in_words(model.tokens),
                amount_in_words(model.parameters),
                f"{model.tokens_per_parameter:.1f}",
                _days(model.parameters, model.tokens),
                model.source,
            )
            for model in PUBLIC_MODELS
        ],
    )


def _counted() -> Iterator[str]:
    yield _table(
        (
            "model",
            "layers",
            "width",
            "heads",
            "context",
            "vocabulary",
            "published",
            "12Ld² + Vd + Td",
            "built",
        ),
        [
            (
                model.name,
                *(
                    f"{value:,}"
                    for value in (model.layers, model.width, model.heads, model.context, model.vocabulary)
                ),
                f"{model.published / 1e6:,.0f} M",
                f"{model.approximation / 1e6:,.1f} M",
                f"{built_parameters(model.configuration, model.vocabulary):,}",
            )
            for model in COUNTED_MODELS
        ],
    )


def _family() -> Iterator[str]:
    yield _table(
        (
            *("model", "layers", "width", "heads × head width", "batch in tokens", "learning rate"),
            *("12Ld² + Vd + Td", "petaflop/s-days"),
        ),
        [
            (
                member.name,
                str(member.layers),
                f"{member.width:,}",
                f"{member.heads} × {member.head_width}{' ≠ width' if member.breaks_width else ''}",
                amount_in_words(member.batch),
                f"{member.learning_rate:.1e}".replace("e-0", "e−").replace(".0e", "e"),
                amount_in_words(member.planned.approximation),
                _days(member.parameters, GPT3_TOKENS),
            )
            for member in GPT3_FAMILY
        ],
    )


def _data() -> Iterator[str]:
    yield _table(
        ("source", "tokens", "share of what is read", "passes over it in 300 bn tokens"),
        [
            (
                source.name,
                amount_in_words(source.tokens),
                f"{source.share:.0%}",
                f"{source.share * GPT3_TOKENS / source.tokens:.2f}",
            )
            for source in GPT3_DATA
        ],
    )


def _graphs() -> Iterator[str]:
    rows = []
    for length in LENGTHS:
        recurrent, attention = recurrent_graph(length), attention_graph(length)
        assert (recurrent.edges, attention.edges) == (recurrent_edges(length), attention_edges(length))
        rows.append(
            tuple(
                f"{number:,}"
                for number in (
                    length,
                    recurrent.edges,
                    attention.edges,
                    recurrent.longest_path,
                    attention.longest_path,
                )
            )
        )
    names = ("edges, recurrent", "edges, attention", "longest path, recurrent", "longest path, attention")
    yield _table(("T", *names), rows)


def _crossings() -> Iterator[str]:
    yield _table(("width d", "T = 6 d"), [(f"{width:,}", f"{crossing(width):,}") for width in WIDTHS])


def _days(parameters: float, tokens: float) -> str:
    days = petaflop_days(training_compute(parameters, tokens))
    return f"{days:,.1f}" if days < 1000 else f"{days:,.0f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

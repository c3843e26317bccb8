"""The Transformer's taps: its computation as a list of single operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from lmviz.models.address import Address
from lmviz.models.operations import (
    Activation,
    Affine,
    CausalMask,
    DistanceBias,
    DotProducts,
    JoinedHeads,
    LearnedDistanceBias,
    Linear,
    Mix,
    Norm,
    Of,
    PositionLookup,
    Product,
    Rotate,
    Row,
    Scale,
    Sinusoids,
    Softmax,
    SplitHeads,
    SumOfProducts,
    TokenLookup,
    sum_of,
)
from lmviz.models.operations.inputs import Input
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Operation, Tap, Value, Weight
from lmviz.models.transformer_configuration import TransformerConfiguration

CHANNELS = ("position", "channel")
UNITS = ("position", "unit")
HEADS = ("head", "position", "channel")
SCORES = ("head", "query", "key")
GROUPS = ("group", "position", "channel")
"""Of keys and values that several heads share: the heads of a group read the same ones."""


@lru_cache(maxsize=8)  # asked for with every keystroke
def transformer_taps(configuration: TransformerConfiguration) -> tuple[Tap, ...]:
    """All taps up to the last one of width channels, from which logits are made."""
    taps = list(embedding_taps(configuration))
    for layer in range(configuration.layers):
        taps += layer_taps(configuration, f"layers/{layer}", taps[-1].address)
    if configuration.norm_ends:
        taps.append(norm_tap(configuration, "norm", taps[-1].address))
    if configuration.embedding_width:
        taps.append(_projected("projected", taps[-1].address, "embedding_output"))
    return tuple(taps)


def _projected(place: str, read: str, module: str) -> Tap:
    """A vector brought to another width."""
    return Tap(place, CHANNELS, affine_at(module, Row(Value(read)), biased=False))


def embedding_taps(
    configuration: TransformerConfiguration,
    part: str = "",
    table: str = "embedding.weight",
    sequence: str = TEXT,
) -> Iterator[Tap]:
    """What enters the stream; `part` is "encoder/" or "decoder/" where there are both."""
    token, position, total = (f"{part}embedding/{name}" for name in ("token", "position", "sum"))
    yield Tap(token, CHANNELS, TokenLookup(Weight(table), configuration.embedding_scale, sequence))
    if configuration.embedding_width:
        yield _projected(f"{part}embedding/projected", token, "embedding_input")
        token = f"{part}embedding/projected"
    operations: dict[str, Operation] = {
        "learned": PositionLookup(
            Weight(f"{part.replace('/', '.')}positions.weight"), sequence, configuration.position_offset
        ),
        "sinusoidal": Sinusoids(configuration.width, sequence),
    }
    if configuration.positions in operations:
        yield Tap(position, CHANNELS, operations[configuration.positions])
        yield Tap(total, CHANNELS, sum_of(token=token, position=position))
    else:
        yield Tap(total, CHANNELS, sum_of(token=token))
    if configuration.embedding_norm:
        yield norm_tap(
            configuration, f"{part}embedding/norm", total, f"{part.replace('/', '.')}embedding_norm"
        )


def stream_taps(configuration: TransformerConfiguration, layer: str) -> tuple[str, str]:
    """The taps of the stream after attention and after the feed-forward network of a layer."""
    name = "residual" if configuration.residual else "stream"
    return f"{layer}/{name}1", f"{layer}/{name}2"


def end_of_layer(configuration: TransformerConfiguration, layer: str) -> str:
    """The tap that the next layer reads."""
    last = 1 if configuration.attention_alone else 2
    post = configuration.norm == "post"
    return f"{layer}/norm{last}" if post else stream_taps(configuration, layer)[last - 1]


def layer_taps(configuration: TransformerConfiguration, layer: str, stream: str) -> Iterator[Tap]:
    """The taps of a layer that reads the tap `stream`; the last one is what the next layer reads.

    Of attention alone they end with the stream after it, or its normalisation.
    """
    norm1, norm2 = f"{layer}/norm1", f"{layer}/norm2"
    first, second = stream_taps(configuration, layer)
    reads, post, gives = configuration.norm_reads, configuration.norm == "post", configuration.norm_gives
    end = "normed" if gives else "output"
    attended, answered = f"{layer}/attention/{end}", f"{layer}/feedforward/{end}"
    times = dict.fromkeys(("attention", "feed_forward"), configuration.residual_factor)

    def onto(before: str, result: str, **sublayers: str) -> Tap:
        kept = {"stream": before} if configuration.residual else {}
        return Tap(result, CHANNELS, sum_of(times, **kept, **sublayers))

    if reads:
        yield norm_tap(configuration, norm1, stream)
    yield from attention_taps(configuration, f"{layer}/attention", norm1 if reads else stream)
    if gives:
        yield norm_tap(configuration, attended, f"{layer}/attention/output")
    between = stream
    if not configuration.parallel:
        yield onto(stream, first, attention=attended)
        between = first
    if post:
        yield norm_tap(configuration, norm1, first)
        between = norm1
    if configuration.attention_alone:
        return
    if configuration.norm_is_shared:
        norm2 = norm1
    elif reads:
        yield norm_tap(configuration, norm2, between)
    yield from feedforward_taps(configuration, f"{layer}/feedforward", norm2 if reads else between)
    if gives:
        yield norm_tap(configuration, answered, f"{layer}/feedforward/output")
    if configuration.parallel:
        yield onto(stream, second, attention=attended, feed_forward=answered)
    else:
        yield onto(between, second, feed_forward=answered)
    if post:
        yield norm_tap(configuration, norm2, second)


def attention_taps(configuration: TransformerConfiguration, place: str, read: str) -> Iterator[Tap]:
    """The steps of self-attention, which reads the tap `read`."""
    keys, queries, bias = f"{place}/key", f"{place}/query", ""
    layer = Address.parse(place).layer or 0
    shared, first = configuration.heads // configuration.groups, 0
    of_groups = HEADS if shared == 1 else GROUPS
    for name, axes, heads in (
        ("query", HEADS, configuration.heads),
        ("key", of_groups, configuration.groups),
        ("value", of_groups, configuration.groups),
    ):
        rows = (first, first + heads * configuration.head_width)
        first = rows[1]
        biased = configuration.attention_bias in ("all", "query key value")
        affine = affine_at(f"{place}/input", Row(Value(read)), rows, biased=biased)
        affine = replace(affine, function=configuration.attention_clipping)
        yield Tap(f"{place}/{name}", axes, SplitHeads(affine, heads))
    if configuration.query_key_norm != "none":
        yield _head_norm_tap(configuration, queries, HEADS)
        yield _head_norm_tap(configuration, keys, of_groups)
        queries, keys = f"{queries}_normed", f"{keys}_normed"
    rotary = configuration.rotary_of(layer)
    if rotary is not None:
        yield Tap(f"{place}/query_rotated", HEADS, Rotate(queries, rotary))
        yield Tap(f"{place}/key_rotated", of_groups, Rotate(keys, rotary))
        queries, keys = f"{place}/query_rotated", f"{place}/key_rotated"
    if configuration.positions == "alibi":
        bias = f"{place}/bias"
        yield Tap(bias, SCORES, DistanceBias(configuration.alibi, both_ways=not configuration.causal))
    if configuration.positions == "relative":
        bias, table = f"{place}/bias", Weight("distances.weight")
        learned = LearnedDistanceBias(table, configuration.distances, both_ways=not configuration.causal)
        yield Tap(bias, SCORES, learned)
    products, scaled, scores, weights = (
        f"{place}/{name}" for name in ("products", "scaled", "scores", "weights")
    )
    yield Tap(products, SCORES, DotProducts(queries, keys, shared))
    scale = Scale(products, configuration.scale_of(layer), bias, configuration.score_function)
    if configuration.causal:
        yield Tap(scaled, SCORES, scale)
        yield Tap(scores, SCORES, CausalMask(scaled, configuration.window_of(layer)), "score")
    else:
        yield Tap(scores, SCORES, scale, "score")
    yield Tap(weights, SCORES, Softmax(scores), "share")
    yield Tap(f"{place}/mixed", HEADS, Mix(weights, f"{place}/value", shared))
    joined, biased = JoinedHeads(f"{place}/mixed"), configuration.attention_bias in ("all", "output")
    yield Tap(f"{place}/output", CHANNELS, affine_at(f"{place}/output", joined, biased=biased))


def feedforward_taps(configuration: TransformerConfiguration, place: str, read: str) -> Iterator[Tap]:
    """The steps of the feed-forward network, which reads the tap `read`."""
    hidden, activation, biased = f"{place}/hidden", f"{place}/activation", configuration.feedforward_bias
    if configuration.gated:
        gate = f"{place}/gate"
        factors = (Of(Value(gate), configuration.function), Of(Value(hidden)))
        yield Tap(gate, UNITS, affine_at(gate, Row(Value(read)), biased=biased))
        yield Tap(hidden, UNITS, affine_at(hidden, Row(Value(read)), biased=biased))
        yield Tap(activation, UNITS, SumOfProducts((Product("gate × unit", factors),)))
    else:
        yield Tap(hidden, UNITS, affine_at(hidden, Row(Value(read)), biased=biased))
        yield Tap(activation, UNITS, Activation(Value(hidden), configuration.function))
    yield Tap(
        f"{place}/output", CHANNELS, affine_at(f"{place}/output", Row(Value(activation)), biased=biased)
    )


def affine_at(place: str, read: Input, rows: tuple[int, int] | None = None, *, biased: bool) -> Affine:
    """The affine map of the module at a place; the state dict has dots where places have slashes."""
    module = place.replace("/", ".")
    bias = Weight(f"{module}.bias", rows) if biased else None
    return Affine((Linear("input", read, Weight(f"{module}.weight", rows), bias),))


def norm_tap(configuration: TransformerConfiguration, place: str, read: str, module: str = "") -> Tap:
    """The normalisation at a place of the tap `read`, by the module there or another."""
    module = module or place.replace("/", ".")
    weights = _weights(module, configuration.norm_parts)
    return Tap(place, CHANNELS, Norm(read, configuration.norm_form, *weights))


def _head_norm_tap(configuration: TransformerConfiguration, read: str, axes: tuple[str, ...]) -> Tap:
    """The normalisation of the queries or keys at an address."""
    weights = _weights(f"{read.replace('/', '.')}_norm", configuration.query_key_parts)
    return Tap(f"{read}_normed", axes, Norm(read, configuration.query_key_form, *weights))


def _weights(module: str, parts: tuple[bool, bool]) -> tuple[Weight | None, Weight | None]:
    """The gains and biases of a norm, as far as it has them."""
    gains, biases = parts
    return (
        Weight(f"{module}.weight") if gains else None,
        Weight(f"{module}.bias") if biases else None,
    )

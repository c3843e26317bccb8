"""The taps of a Transformer with an encoder and a decoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from lmviz.models.operations import (
    DotProducts,
    JoinedHeads,
    Mix,
    Row,
    Scale,
    Softmax,
    SplitHeads,
    sum_of,
)
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import Tap, Value
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_taps import (
    CHANNELS,
    GROUPS,
    HEADS,
    affine_at,
    attention_taps,
    embedding_taps,
    feedforward_taps,
    layer_taps,
    norm_tap,
)

ALONG_SOURCE = {"position": "source", "query": "source_query", "key": "source_key"}
"""What the axes of an encoder's taps are called."""


@lru_cache(maxsize=8)  # asked for with every keystroke
def translator_taps(configuration: TransformerConfiguration) -> tuple[Tap, ...]:
    """All taps up to the last one of width channels, from which logits are made."""
    encoder = list(_encoder_taps(replace(configuration, causal=False)))
    decoder = list(_decoder_taps(replace(configuration, causal=True), encoder[-1].address))
    return (*encoder, *decoder)


def _encoder_taps(configuration: TransformerConfiguration) -> Iterator[Tap]:
    taps = list(embedding_taps(configuration, "encoder/", "source_embedding.weight", SOURCE))
    for layer in range(configuration.layers):
        taps += layer_taps(configuration, f"encoder/layers/{layer}", taps[-1].address)
    if configuration.norm == "pre":
        taps.append(norm_tap(configuration, "encoder/norm", taps[-1].address))
    for tap in taps:
        yield replace(tap, axes=tuple(ALONG_SOURCE.get(axis, axis) for axis in tap.axes))


def _decoder_taps(configuration: TransformerConfiguration, source: str) -> Iterator[Tap]:
    taps = list(embedding_taps(configuration, "decoder/", "embedding.weight"))
    for layer in range(configuration.layers):
        taps += _decoder_layer_taps(configuration, f"decoder/layers/{layer}", taps[-1].address, source)
    if configuration.norm == "pre":
        taps.append(norm_tap(configuration, "decoder/norm", taps[-1].address))
    yield from taps


def _decoder_layer_taps(
    configuration: TransformerConfiguration, layer: str, stream: str, source: str
) -> Iterator[Tap]:
    """The taps of a layer that reads the taps `stream` and `source`; the last one is read by the next."""
    pre, cross = configuration.norm == "pre", f"{layer}/cross"
    parts = (
        ("attention", f"{layer}/norm1", f"{layer}/residual1"),
        ("cross", f"{cross}/norm", f"{cross}/residual"),
        ("feedforward", f"{layer}/norm2", f"{layer}/residual2"),
    )
    for part, norm, residual in parts:
        read = norm if pre else stream
        if pre:
            yield norm_tap(configuration, norm, stream)
        if part == "attention":
            yield from attention_taps(configuration, f"{layer}/attention", read)
        elif part == "cross":
            yield from _cross_taps(configuration, cross, read, source)
        else:
            yield from feedforward_taps(configuration, f"{layer}/feedforward", read)
        yield Tap(residual, CHANNELS, sum_of(stream=stream, **{part: f"{layer}/{part}/output"}))
        stream = residual
        if not pre:
            yield norm_tap(configuration, norm, residual)
            stream = norm


def _cross_taps(configuration: TransformerConfiguration, place: str, read: str, source: str) -> Iterator[Tap]:
    """Queries of the tap `read`, keys and values of the tap `source`."""
    shared, scores = configuration.heads // configuration.groups, ("head", "position", "source")
    of_groups = tuple(ALONG_SOURCE.get(axis, axis) for axis in (HEADS if shared == 1 else GROUPS))
    biased = configuration.attention_bias in ("all", "query key value")
    for name, address, axes, heads in (
        ("query", read, HEADS, configuration.heads),
        ("key", source, of_groups, configuration.groups),
        ("value", source, of_groups, configuration.groups),
    ):
        affine = affine_at(f"{place}/{name}", Row(Value(address)), biased=biased)
        yield Tap(f"{place}/{name}", axes, SplitHeads(affine, heads))
    products, scaled, weights = f"{place}/products", f"{place}/scores", f"{place}/weights"
    yield Tap(products, scores, DotProducts(f"{place}/query", f"{place}/key", shared))
    yield Tap(scaled, scores, Scale(products, configuration.head_width**-0.5), "score")
    yield Tap(weights, scores, Softmax(scaled), "share")
    yield Tap(f"{place}/mixed", HEADS, Mix(weights, f"{place}/value", shared))
    joined, biased = JoinedHeads(f"{place}/mixed"), configuration.attention_bias in ("all", "output")
    yield Tap(f"{place}/output", CHANNELS, affine_at(f"{place}/output", joined, biased=biased))

"""The stages of a Transformer with an encoder and a decoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from lmviz.models.tap import Stage
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_stages import (
    attention_stages,
    embedding_stages,
    feedforward_stages,
    layer_stages,
    norm_equation,
)


@lru_cache(maxsize=8)  # asked for with every keystroke
def translator_stages(configuration: TransformerConfiguration) -> tuple[Stage, ...]:
    """All stages up to the end of the decoder's residual stream."""
    encoder, decoder = replace(configuration, causal=False), replace(configuration, causal=True)
    stages = list(embedding_stages(encoder, "encoder/"))
    stream = "encoder/embedding/sum"
    for index in range(configuration.layers):
        layer = f"encoder/layers/{index}"
        stages += layer_stages(encoder, layer, stream)
        stream = f"{layer}/{'residual2' if configuration.norm == 'pre' else 'norm2'}"
    if configuration.norm == "pre":
        stages.append(_norm(configuration, "encoder/norm", stream, "encoder"))
    source = stages[-1].results[0]
    stages += embedding_stages(decoder, "decoder/")
    stream = "decoder/embedding/sum"
    for index in range(configuration.layers):
        stages += _decoder_stages(decoder, f"decoder/layers/{index}", stream, source)
        stream = stages[-1].results[0]
    if configuration.norm == "pre":
        stages.append(_norm(configuration, "decoder/norm", stream, "output"))
    return tuple(stages)


def _norm(configuration: TransformerConfiguration, address: str, stream: str, place: str) -> Stage:
    return Stage("Final normalisation", norm_equation(configuration), (address,), (stream,), place)


def _decoder_stages(
    configuration: TransformerConfiguration, layer: str, stream: str, source: str
) -> Iterator[Stage]:
    pre, cross = configuration.norm == "pre", f"{layer}/cross"
    parts = (
        ("attention", f"{layer}/norm1", f"{layer}/residual1", r"\mathbf{a}_t"),
        ("cross", f"{cross}/norm", f"{cross}/residual", r"\mathbf{c}_t"),
        ("feedforward", f"{layer}/norm2", f"{layer}/residual2", r"\mathbf{f}_t"),
    )
    for part, norm, residual, added in parts:
        read = norm if pre else stream
        normalised = Stage(
            "Normalisation", norm_equation(configuration), (norm,), (stream if pre else residual,), layer
        )
        if pre:
            yield normalised
        if part == "attention":
            yield from attention_stages(configuration, f"{layer}/attention", read)
        elif part == "cross":
            yield from _cross_stages(configuration, cross, read, source)
        else:
            yield from feedforward_stages(configuration, f"{layer}/feedforward", read)
        equation = rf"\mathbf{{x}}_t \leftarrow \mathbf{{x}}_t + {added}"
        yield Stage("Residual sum", equation, (residual,), (stream, f"{layer}/{part}/output"), layer)
        stream = residual
        if not pre:
            yield normalised
            stream = norm


def _cross_stages(
    configuration: TransformerConfiguration, place: str, read: str, source: str
) -> Iterator[Stage]:
    def stage(title: str, equation: str, result: str, *operands: str) -> Stage:
        return Stage(title, equation, (f"{place}/{result}",), operands, place)

    biased = configuration.attention_bias in ("all", "query key value")
    for letter, name, title, vector, operand in (
        ("q", "query", "Queries of the text", r"\mathbf{n}_t", read),
        ("k", "key", "Keys of the source", r"\mathbf{n}^e_j", source),
        ("v", "value", "Values of the source", r"\mathbf{n}^e_j", source),
    ):
        bias, at = rf" + \mathbf{{b}}_{letter}" if biased else "", "t" if letter == "q" else "j"
        yield stage(title, rf"\mathbf{{{letter}}}_{at} = W_{letter} {vector}{bias}", name, operand)
    query, key, value = (f"{place}/{name}" for name in ("query", "key", "value"))
    yield stage("Dot products", r"s_{tj} = \mathbf{q}_t \cdot \mathbf{k}_j", "products", query, key)
    scaled = r"s_{tj} \leftarrow \frac{s_{tj}}{\sqrt{d}}"
    yield stage("Scaled scores", scaled, "scores", f"{place}/products")
    softmax = r"\alpha_{tj} = \frac{e^{s_{tj}}}{\sum_{i} e^{s_{ti}}}"
    yield stage("Attention to the source", softmax, "weights", f"{place}/scores")
    mixing = r"\mathbf{m}_t = \sum_j \alpha_{tj} \mathbf{v}_j"
    yield stage("Weighted sum of values", mixing, "mixed", f"{place}/weights", value)
    joining = r"\mathbf{c}_t = W_o [\mathbf{m}_t^1, \ldots, \mathbf{m}_t^H]"
    joining += r" + \mathbf{b}_o" if configuration.attention_bias in ("all", "output") else ""
    yield stage("Heads joined", joining, "output", f"{place}/mixed")

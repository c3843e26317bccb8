"""The Transformer's stages: the steps of its computation in order, with an equation for each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.tap import Stage
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_taps import stream_taps


@lru_cache(maxsize=8)  # asked for with every keystroke
def transformer_stages(configuration: TransformerConfiguration) -> tuple[Stage, ...]:
    """All stages up to the end of the residual stream, in the order in which they are wired."""
    stages = list(embedding_stages(configuration))
    stream = "embedding/sum"
    for index in range(configuration.layers):
        layer = f"layers/{index}"
        stages += layer_stages(configuration, layer, stream)
        stream = f"{layer}/norm2" if configuration.norm == "post" else stream_taps(configuration, layer)[1]
    if configuration.norm == "pre":
        stages.append(
            Stage("Final normalisation", norm_equation(configuration), ("norm",), (stream,), "output")
        )
        stream = "norm"
    return tuple(stages)


def embedding_stages(configuration: TransformerConfiguration, part: str = "") -> Iterator[Stage]:
    """What enters the stream; `part` is "encoder/" or "decoder/" where there are both."""
    place, scale = f"{part}embedding", "" if configuration.embedding_scale == 1 else r"\sqrt{d} \, "
    token, position, result = (f"{place}/{name}" for name in ("token", "position", "sum"))
    yield Stage("Token embedding", rf"\mathbf{{e}}_t = {scale}E_{{w_t}}", (token,), (), place)
    equations = {
        "learned": r"\mathbf{p}_t = P_t",
        "sinusoidal": r"p_{t,2i} = \sin(\omega_i t), \quad p_{t,2i+1} = \cos(\omega_i t)",
    }
    if configuration.positions in equations:
        yield Stage("Positions", equations[configuration.positions], (position,), (), place)
        sum_equation = r"\mathbf{x}_t = \mathbf{e}_t + \mathbf{p}_t"
        yield Stage("Token and position", sum_equation, (result,), (token, position), place)
    else:
        yield Stage("Into the stream", r"\mathbf{x}_t = \mathbf{e}_t", (result,), (token,), place)


def layer_stages(configuration: TransformerConfiguration, layer: str, stream: str) -> Iterator[Stage]:
    """The steps of a layer that reads the tap `stream`."""
    norm1, norm2 = f"{layer}/norm1", f"{layer}/norm2"
    first, second = stream_taps(configuration, layer)
    attended, answered = f"{layer}/attention/output", f"{layer}/feedforward/output"
    pre, post = configuration.norm == "pre", configuration.norm == "post"
    norm = norm_equation(configuration)

    def onto(before: str, result: str, added: str, *sublayers: str) -> Stage:
        if configuration.residual:
            equation = rf"\mathbf{{x}}_t \leftarrow \mathbf{{x}}_t + {added}"
            return Stage("Residual sum", equation, (result,), (before, *sublayers), layer)
        equation = rf"\mathbf{{x}}_t \leftarrow {added}"
        return Stage("New stream", equation, (result,), sublayers, layer)

    attention, feedforward = r"\mathbf{a}_t", r"\mathbf{f}_t"
    if pre:
        yield Stage("Normalisation", norm, (norm1,), (stream,), layer)
    yield from attention_stages(configuration, f"{layer}/attention", norm1 if pre else stream)
    between = stream
    if not configuration.parallel:
        yield onto(stream, first, attention, attended)
        between = first
    if post:
        yield Stage("Normalisation", norm, (norm1,), (first,), layer)
        between = norm1
    if pre:
        yield Stage("Normalisation", norm, (norm2,), (between,), layer)
    yield from feedforward_stages(configuration, f"{layer}/feedforward", norm2 if pre else between)
    if configuration.parallel:
        yield onto(stream, second, f"{attention} + {feedforward}", attended, answered)
    else:
        yield onto(between, second, feedforward, answered)
    if post:
        yield Stage("Normalisation", norm, (norm2,), (second,), layer)


def attention_stages(configuration: TransformerConfiguration, place: str, read: str) -> Iterator[Stage]:
    """The steps of self-attention."""

    def stage(title: str, equation: str, result: str, *operands: str) -> Stage:
        return Stage(title, equation, (f"{place}/{result}",), operands, place)

    source = r"\mathbf{n}_t" if configuration.norm == "pre" else r"\mathbf{x}_t"
    for letter, name, title in (("q", "query", "Queries"), ("k", "key", "Keys"), ("v", "value", "Values")):
        bias = "" if configuration.attention_bias == "none" else rf" + \mathbf{{b}}_{letter}"
        equation = rf"\mathbf{{{letter}}}_t = W_{letter} {source}{bias}"
        yield stage(title, equation, name, read)
    query, key, ending = f"{place}/query", f"{place}/key", ""
    if configuration.positions == "rotary":
        ending = "_rotated"
        for letter, name, title in (("q", query, "Queries turned"), ("k", key, "Keys turned")):
            equation = rf"\mathbf{{{letter}}}_t \leftarrow R_t \mathbf{{{letter}}}_t"
            yield Stage(title, equation, (f"{name}_rotated",), (name,), place)
    products, scaled, scores = (f"{place}/{name}" for name in ("products", "scaled", "scores"))
    weights, bias = f"{place}/weights", f"{place}/bias"
    made = "scaled" if configuration.causal else "scores"
    # of a head h the keys and values are those of its group
    group = "" if configuration.groups == configuration.heads else r"^{g(h)}"
    head = r"^{h}" if group else ""
    product_equation = rf"s_{{tj}} = \mathbf{{q}}{head}_t \cdot \mathbf{{k}}{group}_j"
    yield stage("Dot products", product_equation, "products", f"{query}{ending}", f"{key}{ending}")
    if configuration.positions in ("alibi", "relative"):
        distance = "(j - t)" if configuration.causal else "(-|j - t|)"
        number = "B_{t - j}" if configuration.positions == "relative" else rf"m \, {distance}"
        yield stage("Bias by distance", f"b_{{tj}} = {number}", "bias")
        equation = r"s_{tj} \leftarrow \frac{s_{tj}}{\sqrt{d}} + b_{tj}"
        yield stage("Scaled and biased scores", equation, made, products, bias)
    else:
        yield stage("Scaled scores", r"s_{tj} \leftarrow \frac{s_{tj}}{\sqrt{d}}", made, products)
    if configuration.causal:
        yield stage("Causal mask", r"s_{tj} \leftarrow -\infty \quad (j > t)", "scores", scaled)
    softmax = r"\alpha_{tj} = \frac{e^{s_{tj}}}{\sum_{i} e^{s_{ti}}}"
    yield stage("Attention weights", softmax, "weights", scores)
    seen = r"j \leq t" if configuration.causal else "j"
    mixing = rf"\mathbf{{m}}_t = \sum_{{{seen}}} \alpha_{{tj}} \mathbf{{v}}{group}_j"
    yield stage("Weighted sum of values", mixing, "mixed", weights, f"{place}/value")
    joining = r"\mathbf{a}_t = W_o [\mathbf{m}_t^1, \ldots, \mathbf{m}_t^H]"
    joining += r" + \mathbf{b}_o" if configuration.attention_bias == "all" else ""
    yield stage("Heads joined", joining, "output", f"{place}/mixed")


def feedforward_stages(configuration: TransformerConfiguration, place: str, read: str) -> Iterator[Stage]:
    """The steps of the feed-forward network."""
    hidden, activation = f"{place}/hidden", f"{place}/activation"
    source = r"\mathbf{x}_t" if configuration.norm == "none" else r"\mathbf{n}_t"
    biases = [rf" + \mathbf{{b}}_{name}" if configuration.feedforward_bias else "" for name in "12g"]
    units = rf"\mathbf{{u}}_t = W_1 {source}{biases[0]}"
    apply = FUNCTIONS[configuration.function].latex.format
    if configuration.gated:
        gate = f"{place}/gate"
        equation = rf"\mathbf{{z}}_t = W_g {source}{biases[2]}"
        activated = apply(r"\mathbf{z}_t") + r" \odot \mathbf{u}_t"
        yield Stage("Feed-forward gate", equation, (gate,), (read,), place)
        yield Stage("Feed-forward units", units, (hidden,), (read,), place)
        yield Stage("Gated units", rf"\mathbf{{g}}_t = {activated}", (activation,), (gate, hidden), place)
    else:
        activated = apply(r"\mathbf{u}_t")
        yield Stage("Feed-forward units", units, (hidden,), (read,), place)
        yield Stage("Activation", rf"\mathbf{{g}}_t = {activated}", (activation,), (hidden,), place)
    equation = rf"\mathbf{{f}}_t = W_2 \mathbf{{g}}_t{biases[1]}"
    yield Stage("Feed-forward output", equation, (f"{place}/output",), (activation,), place)


def norm_equation(configuration: TransformerConfiguration) -> str:
    """The equation of normalisation."""
    if configuration.norm_kind == "rms":
        return r"\mathbf{n}_t = \frac{\mathbf{x}_t}{\sqrt{\overline{x_t^2} + \varepsilon}} \odot \mathbf{g}"
    bias = r" + \mathbf{b}" if configuration.norm_bias else ""
    return (
        r"\mathbf{n}_t = \frac{\mathbf{x}_t - \mu_t}{\sqrt{\sigma_t^2 + \varepsilon}} \odot \mathbf{g}" + bias
    )

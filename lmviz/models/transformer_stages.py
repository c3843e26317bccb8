"""The Transformer's stages: the steps of its computation in order, with an equation for each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from lmviz.models.address import Address
from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.norms import NormForm
from lmviz.models.tap import Stage
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_taps import end_of_layer, stream_taps


@lru_cache(maxsize=8)  # asked for with every keystroke
def transformer_stages(configuration: TransformerConfiguration) -> tuple[Stage, ...]:
    """All stages up to the end of the residual stream, in the order in which they are wired."""
    stages = list(embedding_stages(configuration))
    stream = stages[-1].results[0]
    for index in range(configuration.layers):
        layer = f"layers/{index}"
        stages += layer_stages(configuration, layer, stream)
        stream = end_of_layer(configuration, layer)
    if configuration.norm_ends:
        stages.append(
            Stage("Final normalisation", norm_equation(configuration), ("norm",), (stream,), "output")
        )
        stream = "norm"
    if configuration.embedding_width:
        end = _vector("n" if configuration.norm_ends or configuration.norm == "post" else "x")
        equation = rf"\mathbf{{o}}_t = P_o {end}"
        stages.append(Stage("Width of the output", equation, ("projected",), (stream,), "output"))
    return tuple(stages)


def embedding_stages(configuration: TransformerConfiguration, part: str = "") -> Iterator[Stage]:
    """What enters the stream; `part` is "encoder/" or "decoder/" where there are both."""
    place, scale = f"{part}embedding", ""
    factor = configuration.embedding_scale
    if factor != 1:
        scale = r"\sqrt{d} \, " if factor == configuration.width**0.5 else rf"{factor:.3g} \, "
    token, position, result = (f"{place}/{name}" for name in ("token", "position", "sum"))
    yield Stage("Token embedding", rf"\mathbf{{e}}_t = {scale}E_{{w_t}}", (token,), (), place)
    if configuration.embedding_width:
        projected, equation = f"{place}/projected", r"\mathbf{e}_t \leftarrow P_i \mathbf{e}_t"
        yield Stage("Width of the stream", equation, (projected,), (token,), place)
        token = projected
    equations = {
        "learned": rf"\mathbf{{p}}_t = P_{{{_plus('t', configuration.position_offset)}}}",
        "sinusoidal": r"p_{t,2i} = \sin(\omega_i t), \quad p_{t,2i+1} = \cos(\omega_i t)",
    }
    if configuration.positions in equations:
        yield Stage("Positions", equations[configuration.positions], (position,), (), place)
        sum_equation = r"\mathbf{x}_t = \mathbf{e}_t + \mathbf{p}_t"
        yield Stage("Token and position", sum_equation, (result,), (token, position), place)
    else:
        yield Stage("Into the stream", r"\mathbf{x}_t = \mathbf{e}_t", (result,), (token,), place)
    if configuration.embedding_norm:
        equation = _normalised(configuration.norm_form, configuration.norm_parts, r"\mathbf{x}_t")
        equation = rf"\mathbf{{x}}_t \leftarrow {equation}"
        yield Stage("Normalised embedding", equation, (f"{place}/norm",), (result,), place)


def _plus(number: str, offset: int) -> str:
    return f"{number} + {offset}" if offset else number


def layer_stages(configuration: TransformerConfiguration, layer: str, stream: str) -> Iterator[Stage]:
    """The steps of a layer that reads the tap `stream`."""
    norm1, norm2 = f"{layer}/norm1", f"{layer}/norm2"
    first, second = stream_taps(configuration, layer)
    reads, post, gives = configuration.norm_reads, configuration.norm == "post", configuration.norm_gives
    end = "normed" if gives else "output"
    attended, answered = f"{layer}/attention/{end}", f"{layer}/feedforward/{end}"
    norm = norm_equation(configuration)
    times = "" if configuration.residual_factor == 1 else rf"{configuration.residual_factor:g} \, "

    def onto(before: str, result: str, added: str, *sublayers: str) -> Stage:
        if configuration.residual:
            equation = rf"\mathbf{{x}}_t \leftarrow \mathbf{{x}}_t + {added}"
            return Stage("Residual sum", equation, (result,), (before, *sublayers), layer)
        equation = rf"\mathbf{{x}}_t \leftarrow {added}"
        return Stage("New stream", equation, (result,), sublayers, layer)

    def normed(result: str, letter: str) -> Stage:
        place, vector = Address.parse(result).place, rf"\mathbf{{{letter}}}_t"
        equation = _normalised(configuration.norm_form, configuration.norm_parts, vector)
        return Stage(
            "Normalised result", rf"{vector} \leftarrow {equation}", (result,), (f"{place}/output",), place
        )

    attention, feedforward = rf"{times}\mathbf{{a}}_t", rf"{times}\mathbf{{f}}_t"
    if reads:
        yield Stage("Normalisation", norm, (norm1,), (stream,), layer)
    yield from attention_stages(configuration, f"{layer}/attention", norm1 if reads else stream)
    if gives:
        yield normed(attended, "a")
    between = stream
    if not configuration.parallel:
        yield onto(stream, first, attention, attended)
        between = first
    if post:
        yield Stage("Normalisation", norm, (norm1,), (first,), layer)
        between = norm1
    if configuration.attention_alone:
        return
    if configuration.norm_is_shared:
        norm2 = norm1
    elif reads:
        yield Stage("Normalisation", norm, (norm2,), (between,), layer)
    yield from feedforward_stages(configuration, f"{layer}/feedforward", norm2 if reads else between)
    if gives:
        yield normed(answered, "f")
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

    number = Address.parse(place).layer or 0
    source = r"\mathbf{n}_t" if configuration.norm_reads else r"\mathbf{x}_t"
    biased = configuration.attention_bias in ("all", "query key value")
    for letter, name, title in (("q", "query", "Queries"), ("k", "key", "Keys"), ("v", "value", "Values")):
        bias = rf" + \mathbf{{b}}_{letter}" if biased else ""
        made = _applied(configuration.attention_clipping, f"W_{letter} {source}{bias}")
        equation = rf"\mathbf{{{letter}}}_t = {made}"
        yield stage(title, equation, name, read)
    ending, letters = "", (("q", "query", "Queries"), ("k", "key", "Keys"))
    if configuration.query_key_norm != "none":
        for letter, name, title in letters:
            form, parts = configuration.query_key_form, configuration.query_key_parts
            equation = rf"\mathbf{{{letter}}}_t \leftarrow {_normalised(form, parts, _vector(letter))}"
            yield stage(f"{title} normalised", equation, f"{name}_normed", f"{place}/{name}")
        ending = "_normed"
    rotary = configuration.rotary_of(number)
    if rotary is not None:
        times = "" if rotary.magnitude == 1 else rf"{rotary.magnitude:.3g} \, "
        for letter, name, title in letters:
            equation = rf"{_vector(letter)} \leftarrow {times}R_t {_vector(letter)}"
            yield stage(f"{title} turned", equation, f"{name}_rotated", f"{place}/{name}{ending}")
        ending = "_rotated"
    products, scaled, scores = (f"{place}/{name}" for name in ("products", "scaled", "scores"))
    weights, bias = f"{place}/weights", f"{place}/bias"
    made = "scaled" if configuration.causal else "scores"
    # of a head h the keys and values are those of its group
    group = "" if configuration.groups == configuration.heads else r"^{g(h)}"
    head = r"^{h}" if group else ""
    product_equation = rf"s_{{tj}} = \mathbf{{q}}{head}_t \cdot \mathbf{{k}}{group}_j"
    yield stage(
        "Dot products", product_equation, "products", f"{place}/query{ending}", f"{place}/key{ending}"
    )
    divided = _scaled(configuration, number)
    if configuration.positions in ("alibi", "relative"):
        distance = "(j - t)" if configuration.causal else "(-|j - t|)"
        falls = "B_{t - j}" if configuration.positions == "relative" else rf"m \, {distance}"
        yield stage("Bias by distance", f"b_{{tj}} = {falls}", "bias")
        equation = rf"s_{{tj}} \leftarrow {_applied(configuration.score_function, divided + ' + b_{tj}')}"
        yield stage("Scaled and biased scores", equation, made, products, bias)
    else:
        equation = rf"s_{{tj}} \leftarrow {_applied(configuration.score_function, divided)}"
        yield stage(_title_of_scores(configuration), equation, made, products)
    if configuration.causal:
        window = configuration.window_of(number)
        hidden = rf"j > t \;\text{{or}}\; j \leq t - {window}" if window else "j > t"
        title = "Causal mask and window" if window else "Causal mask"
        yield stage(title, rf"s_{{tj}} \leftarrow -\infty \quad ({hidden})", "scores", scaled)
    softmax = r"\alpha_{tj} = \frac{e^{s_{tj}}}{\sum_{i} e^{s_{ti}}}"
    yield stage("Attention weights", softmax, "weights", scores)
    seen = r"j \leq t" if configuration.causal else "j"
    mixing = rf"\mathbf{{m}}_t = \sum_{{{seen}}} \alpha_{{tj}} \mathbf{{v}}{group}_j"
    yield stage("Weighted sum of values", mixing, "mixed", weights, f"{place}/value")
    joining = r"\mathbf{a}_t = W_o [\mathbf{m}_t^1, \ldots, \mathbf{m}_t^H]"
    joining += r" + \mathbf{b}_o" if configuration.attention_bias in ("all", "output") else ""
    yield stage("Heads joined", joining, "output", f"{place}/mixed")


def feedforward_stages(configuration: TransformerConfiguration, place: str, read: str) -> Iterator[Stage]:
    """The steps of the feed-forward network."""
    hidden, activation = f"{place}/hidden", f"{place}/activation"
    source = r"\mathbf{x}_t" if configuration.norm in ("none", "result") else r"\mathbf{n}_t"
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
    made = _normalised(configuration.norm_form, configuration.norm_parts, r"\mathbf{x}_t")
    return rf"\mathbf{{n}}_t = {made}"


def _normalised(form: NormForm, parts: tuple[bool, bool], vector: str) -> str:
    """A vector, normalised, times its gain, plus its bias."""
    letter = vector.removeprefix(r"\mathbf{")[0]
    gains, biases = parts
    if form.kind == "rms":
        made = rf"\frac{{{vector}}}{{\sqrt{{\overline{{{letter}_t^2}} + \varepsilon}}}}"
    else:
        made = rf"\frac{{{vector} - \mu_t}}{{\sqrt{{\sigma_t^2 + \varepsilon}}}}"
    if gains:
        made += r" \odot (1 + \mathbf{g})" if form.one_plus else r" \odot \mathbf{g}"
    return made + (r" + \mathbf{b}" if biases else "")


def _vector(letter: str) -> str:
    return rf"\mathbf{{{letter}}}_t"


def _scaled(configuration: TransformerConfiguration, layer: int) -> str:
    """What a product of a query and a key becomes."""
    by_layer = str(layer + 1) if configuration.score_scale_by_layer else ""
    if not configuration.score_scale:
        return rf"\frac{{s_{{tj}}}}{{{by_layer}\sqrt{{d}}}}"
    factor = "" if configuration.score_scale == 1 else rf"{configuration.score_scale:.3g} \, "
    return rf"{factor}\frac{{s_{{tj}}}}{{{by_layer}}}" if by_layer else f"{factor}s_{{tj}}"


def _title_of_scores(configuration: TransformerConfiguration) -> str:
    if configuration.score_cap:
        return "Capped scores"
    if configuration.score_scale == 1 and not configuration.score_scale_by_layer:
        return "Scores as they are"
    return "Scores times a factor" if configuration.score_scale else "Scaled scores"


def _applied(function: str, to: str) -> str:
    """A function of something already written; nothing is changed without one."""
    return FUNCTIONS[function].latex.format(to) if function else to

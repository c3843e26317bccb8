"""What a page shows of one text: its words, attention by head, what comes next, and the lens.

Everything is taken from a trace; what was not recorded is left out, and said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.counting import numbered
from lmviz.base.errors import LmvizError
from lmviz.base.figures import count, percentage
from lmviz.decoding.options import SamplingOptions
from lmviz.inspection.alignment import source_attentions
from lmviz.inspection.attention import attention_layers, attention_weights
from lmviz.inspection.lens_sentence import settled_in_words
from lmviz.inspection.logit_lens import LogitLens
from lmviz.inspection.names import stop_name
from lmviz.inspection.trace import Trace
from lmviz.looks.live_parts import HeadWeights, OverText, TokenText, WhatFollows
from lmviz.looks.look import Look
from lmviz.looks.parts import Matrix
from lmviz.models.address import Address
from lmviz.models.sequences import SOURCE
from lmviz.pages.page import PageSection
from lmviz.text.tokenizer import visible

MOST_LOGITS = 300_000
"""So many logits are on a page at most: of all positions, or of the last alone."""

LIKELIEST = 10
"""So many words are named at each position."""

MOST_WEIGHTS = 6_000_000
"""So many weights of attention fit a page; of more, some heads or the strongest have to be chosen."""

SIDES = {
    "": "attention by head",
    "encoder": "attention within the source",
    "decoder": "attention within the translation",
}
"""What the attention of each side of a translator is called; other models have one, without a name."""


@dataclass(frozen=True)
class ChosenAttention:
    """What of a text's attention is handed out: some `heads`, as (layer, head) from 0, or all where there are
    none; and of each row all weights, or the `top` largest. The head `shown` is seen at first.
    """

    heads: tuple[tuple[int, int], ...] = ()
    top: int = 0
    shown: tuple[int, int] | None = None


ALL = ChosenAttention()


@dataclass(frozen=True)
class PartOfTrace:
    """One kind of what a page shows of a trace: its "text", its "attention", or "what follows"."""

    trace: Trace
    kind: str


def about_trace(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Whose numbers a trace has, in pairs of a name and words."""
    changes = "; ".join(change.describe() for change in trace.interventions)
    found = [
        ("model", trace.name or f"a {trace.family} model without a name"),
        ("step", count(trace.step)),
        ("text", trace.text or " ".join(map(visible, trace.tokens))),
        *((name, read.text) for name, read in trace.further.items() if read.text),
        ("surgery", changes or "none"),
    ]
    if trace.dropped:
        found.append(
            ("left out", f"the first {count(trace.dropped)} tokens, which its context has no room for")
        )
    return tuple(found)


def text_part(trace: Trace) -> TokenText:
    """The words of a trace, coloured by how surprising each was, where that is known."""
    tokens = tuple(map(visible, trace.tokens))
    surprisals = surprisals_of(trace)
    if surprisals is None:
        return TokenText(tokens=tokens, says="the text")
    return TokenText(
        tokens=tokens,
        values=surprisals,
        measure="surprisal",
        unit="bits",
        ends=("expected", "surprising"),
        says="the text, coloured by surprisal",
    )


def surprisals_of(trace: Trace) -> np.ndarray | None:
    """−log₂ of the probability that each token had, (position,), NaN for the first; None where not known."""
    if not trace.predicts.continues or "logits" not in trace or trace["logits"].array.ndim != 2:
        return None
    logits, ids = trace["logits"].array, trace.ids
    found = np.full(len(ids), np.nan)
    for position in range(1, len(ids)):
        row = logits[position - 1].astype(np.float64)
        if 0 <= ids[position] < len(row):
            found[position] = (_log_of_sum(row) - row[ids[position]]) / np.log(2)
    return found


def attention_parts(trace: Trace, chosen: ChosenAttention = ALL) -> list[HeadWeights]:
    """The heads of a trace: within the text, within the source, and from the text to the source.

    None where there is no attention. LmvizError where there is no such head, or where there are more weights
    than fit a page.
    """
    text, found = tuple(map(visible, trace.tokens)), []
    source = tuple(map(visible, trace.sequences[SOURCE].tokens)) if SOURCE in trace.sequences else ()
    for side, says in SIDES.items():
        layers = {layer: attention_weights(trace, layer, side) for layer in attention_layers(trace, side)}
        tokens = source if side == "encoder" else text
        if layers:
            found.append(_heads_part(layers, chosen, tokens, tokens, says))
    to_source = source_attentions(trace)
    if to_source:
        weights = (trace[one.weights].array for one in to_source)
        layers = {number: each if each.ndim == 3 else each[None] for number, each in enumerate(weights)}
        found.append(_heads_part(layers, chosen, text, source, "attention to the source"))
    return found


def _heads_part(
    layers: Mapping[int, np.ndarray],
    chosen: ChosenAttention,
    queries: Sequence[str],
    keys: Sequence[str],
    says: str,
) -> HeadWeights:
    """Some heads of the weights (head, query, key) of layers."""
    places = tuple((layer, head) for layer, weights in layers.items() for head in range(len(weights)))
    wanted, per_layer = chosen.heads or places, len(next(iter(layers.values())))
    missing = next((place for place in wanted if place not in places), None)
    if missing is not None:
        raise LmvizError(
            f"There is no head {missing[1]} in layer {missing[0]}: layers are from 0 to {max(layers)}, heads "
            f"from 0 to {per_layer - 1}."
        )
    check_fits(len(wanted), len(queries), len(keys), chosen.top)
    return HeadWeights(
        tokens=queries,
        weights=np.stack([layers[layer][head] for layer, head in wanted]),
        places=wanted,
        of=(len(layers), per_layer),
        keys=() if keys == queries else keys,
        top=chosen.top,
        chosen=wanted.index(chosen.shown) if chosen.shown in wanted else 0,
        says=says,
    )


def weights_of_page(heads: int, queries: int, keys: int, top: int = 0) -> int:
    """How many numbers the attention of so many heads has on a page."""
    return heads * queries * (min(2 * top, keys) if top else keys)


def check_fits(heads: int, queries: int, keys: int, top: int = 0) -> None:
    """LmvizError where the attention of so many heads is too large for a page."""
    numbers = weights_of_page(heads, queries, keys, top)
    if numbers > MOST_WEIGHTS:
        raise LmvizError(
            f"The attention of {count(heads)} heads over {count(keys)} tokens has {count(numbers)} numbers, "
            f"and {count(MOST_WEIGHTS)} fit a page: choose some heads, or the largest weights of each row."
        )


def next_word_part(trace: Trace, options: SamplingOptions | None = None) -> WhatFollows | None:
    """What follows at each position, with the logits as far as there is room; None where there are none."""
    if "logits" not in trace:
        return None
    logits = np.atleast_2d(trace["logits"].array)
    words = _vocabulary(trace, logits.shape[1])
    positions, size = logits.shape
    tokens = tuple(map(visible, trace.tokens))
    if positions < len(tokens):  # one answer for the whole text
        logits = np.repeat(logits, len(tokens), axis=0)
        positions = len(tokens)
    if positions * size <= MOST_LOGITS:
        places: tuple[int, ...] = tuple(range(positions))
    else:
        places = (positions - 1,) if size <= MOST_LOGITS else ()
    likeliest = np.argsort(-logits, axis=1, kind="stable")[:, :LIKELIEST]
    shares = np.stack([_shares(row)[ids] for row, ids in zip(logits, likeliest, strict=True)])
    set_at_first = options or SamplingOptions()
    return WhatFollows(
        tokens=tokens,
        vocabulary=words,
        likeliest=likeliest,
        shares=shares,
        places=places,
        logits=logits[list(places)] if places else logits[:0],
        options=(set_at_first.temperature, set_at_first.top_k, set_at_first.top_p, set_at_first.min_p),
        says="what follows" if trace.predicts.continues else "labels",
    )


def lens_part(lens: LogitLens, trace: Trace) -> OverText:
    """What the model would have said after each layer, over the text; as the window has it."""
    by_layer = lens.by_layer
    ids, words = by_layer.ids[:, :, 0], _vocabulary(trace, 0)
    said = [[_word(words, int(id)) for id in row] for row in ids]
    noun = "word" if trace.predicts.continues else "label"

    def read_out(row: int, column: int) -> tuple[str, list[str]]:
        settled = settled_in_words(by_layer, column, noun)
        return f"{said[row][column]}  {percentage(float(by_layer.probabilities[row, column, 0]))}", [
            f"if the model stopped after {stop_name(by_layer.places[row])}",
            f"{percentage(float(by_layer.of_final[row, column]))} for the final {noun}, {said[-1][column]}",
            *([f"which {settled}"] if settled else []),
            f"entropy {float(by_layer.entropy[row, column]):.1f} bits",
        ]

    matrix = Matrix(
        values=by_layer.of_final,
        scale="share",
        limit=1.0,
        rows=[_row_name(place) for place in by_layer.places],
        columns=[visible(trace.tokens[at]) for at in by_layer.positions],
        words=said,
        stairs=by_layer.settled.tolist() if len(by_layer.places) > 1 else (),
        stairs_mean=f"from here on it is the final {noun}",
        readout=read_out,
        says="likeliest answers at each layer and position",
    )
    return OverText(tokens=tuple(map(visible, trace.tokens)), positions=by_layer.positions, matrix=matrix)


def trace_sections(
    trace: Trace,
    lens: LogitLens | None = None,
    *,
    chosen: ChosenAttention = ALL,
    options: SamplingOptions | None = None,
) -> list[PageSection]:
    """All that a page shows of a trace, the text first."""
    found = [
        section
        for kind in ("text", "what follows", "attention")
        for section in sections_of_part(PartOfTrace(trace, kind), chosen=chosen, options=options)
    ]
    if lens is not None:
        look = Look((lens_part(lens, trace),), title="If it stopped here", aside="likeliest word")
        found.append(PageSection(look, about_trace(trace)))
    return found


def sections_of_part(
    part: PartOfTrace, *, chosen: ChosenAttention = ALL, options: SamplingOptions | None = None
) -> list[PageSection]:
    """The sections of one kind of what there is to see of a trace."""
    trace, about = part.trace, about_trace(part.trace)
    if part.kind == "attention":
        heads = attention_parts(trace, chosen)
        return [PageSection(Look((part,), title=part.says.capitalize()), about) for part in heads]
    if part.kind == "what follows":
        following = next_word_part(trace, options)
        if following is None:
            missing = Look(title="Next word", instead="The logits were not recorded, so it is not here.")
            return [PageSection(missing, about)]
        title = "Next word" if trace.predicts.continues else "Label"
        return [PageSection(Look((following,), title=title), about)]
    found = [PageSection(Look((text_part(trace),), title="The text"), about)]
    if SOURCE in trace.sequences:
        source = tuple(map(visible, trace.sequences[SOURCE].tokens))
        found.append(
            PageSection(Look((TokenText(tokens=source, says="the source"),), title="The source"), about)
        )
    return found


def _vocabulary(trace: Trace, size: int) -> Sequence[str]:
    """The words, or labels, by id, to be read; their ids where the trace has no words."""
    names = trace.predicts.names if not trace.predicts.continues else trace.vocabulary
    found = tuple(visible(names[id]) for id in range(len(names)))
    return (*found, *map(str, range(len(found), size)))


def _word(words: Sequence[str], id: int) -> str:
    return words[id] if id < len(words) else str(id)


def _row_name(place: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(place).layer
    return stop_name(place) if layer is None else f"layer {numbered(layer)}"


def _log_of_sum(row: np.ndarray) -> float:
    """The logarithm of the sum of e to each of some logits (token,)."""
    largest = row.max()
    return float(largest + np.log(np.exp(row - largest).sum()))


def _shares(row: np.ndarray) -> np.ndarray:
    """The softmax of logits (token,), in float64."""
    row = row.astype(np.float64)
    return np.exp(row - _log_of_sum(row))

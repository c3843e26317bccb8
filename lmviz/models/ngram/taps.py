"""The taps and stages of an n-gram model."""

from __future__ import annotations

from lmviz.models.ngram.configuration import ADD_K, KNESER_NEY, MAXIMUM_LIKELIHOOD, NgramConfiguration
from lmviz.models.ngram.tables import NgramTables
from lmviz.models.operations.ngram_lookup import ContextCounts, ContextTotal, MatchedContext, address_of
from lmviz.models.operations.ngram_smoothing import AddK, Backoff, Interpolation, Logarithm, OrderWeight
from lmviz.models.operations.rows import Softmax
from lmviz.models.tap import Stage, Tap

ROW = ("position", "token")

BACKOFF = {
    KNESER_NEY: r"\gamma(c) = \frac{D_1 N_1(c) + D_2 N_2(c) + D_3 N_3(c)}{N(c)}",
    ADD_K: r"\gamma(c) = \frac{k V}{N(c) + k V}",
    MAXIMUM_LIKELIHOOD: r"\gamma(c) = 0 \quad \text{where} \quad N(c) > 0, \quad \text{else} \quad 1",
}
"""What a context leaves over; N1(c), N2(c), N3(c) count the tokens seen once, twice, more often after c."""

SHARE = {
    KNESER_NEY: r"\frac{N(c\,w) - D}{N(c)} + \gamma(c)",
    ADD_K: r"\frac{N(c\,w) + k}{N(c) + k V}",
    MAXIMUM_LIKELIHOOD: r"\frac{N(c\,w)}{N(c)} + \gamma(c)",
}


def ngram_taps(tables: NgramTables) -> tuple[Tap, ...]:
    """From the longest context down to the empty one, then the probabilities back up."""
    taps = [tap for order in range(tables.order, 0, -1) for tap in _lookups(tables, order)]
    probabilities = Interpolation if tables.chained else AddK
    for order in range(1, tables.order + 1):
        address = address_of(order, "probabilities")
        taps.append(Tap(address, ROW, probabilities(tables, order), "share"))
    last = address_of(tables.order, "probabilities")
    taps.append(Tap("logits", ROW, Logarithm(last), "score"))
    taps.append(Tap("probabilities", ROW, Softmax("logits"), "share"))
    return tuple(taps)


def _lookups(tables: NgramTables, order: int) -> list[Tap]:
    def tap(name: str, axes: tuple[str, ...], operation: type, scale: str) -> Tap:
        return Tap(address_of(order, name), axes, operation(tables, order), scale)

    return [
        tap("context", ("position", "order"), MatchedContext, "token"),
        tap("counts", ROW, ContextCounts, "count"),
        tap("total", ("position",), ContextTotal, "count"),
        tap("backoff", ("position",), Backoff, "share"),
        tap("weight", ("position",), OrderWeight, "share"),
    ]


def ngram_stages(configuration: NgramConfiguration) -> tuple[Stage, ...]:
    """For each order the match, the counts, and what they leave over; then the probabilities from below."""
    smoothing, highest = configuration.smoothing, configuration.order
    stages: list[Stage] = []
    for order in range(highest, 0, -1):
        stages.extend(_lookup_stages(order, highest, smoothing))
    used = (highest,) if smoothing == ADD_K else range(1, highest + 1)
    stages.extend(_probability_stage(order, smoothing) for order in used)
    last = address_of(highest, "probabilities")
    stages.append(Stage("Logits", r"z(w) = \ln p(w \mid c)", ("logits",), (last,), "output"))
    softmax = r"p(w \mid c) = \frac{e^{z(w)}}{\sum_v e^{z(v)}}"
    stages.append(Stage("Probabilities", softmax, ("probabilities",), ("logits",), "output"))
    return tuple(stages)


def _lookup_stages(order: int, highest: int, smoothing: str) -> list[Stage]:
    place = f"orders/{order}"
    context, counts, total, backoff, weight = (
        address_of(order, name) for name in ("context", "counts", "total", "backoff", "weight")
    )
    longer = range(order + 1, highest + 1)
    passed_on = () if smoothing == ADD_K else tuple(address_of(each, "backoff") for each in longer)
    title = {1: "The empty context", 2: "Was the last token seen before?"}
    begin = "t" if order == 2 else f"t-{order - 2}"
    match = (
        r"c = \varnothing" if order == 1 else rf"c = w_{{{begin}}}" + (r" \ldots w_{t}" if order > 2 else "")
    )
    raw = smoothing != KNESER_NEY or order == highest
    share = rf"\lambda_{{{order}}} = 1 - \gamma(c)"
    if order < highest:
        share = rf"\lambda_{{{order}}} = (1 - \gamma(c)) \prod_{{k > {order}}} \gamma(c_k)"
        share = rf"\lambda_{{{order}}} = 0" if smoothing == ADD_K else share
    return [
        Stage(
            title.get(order, f"Were the last {order - 1} tokens seen before?"), match, (context,), (), place
        ),
        Stage(
            "What followed, and how often" if raw else "What followed, and after how many different tokens",
            r"N(c) = \sum_w N(c\,w)" if raw else r"N(c\,w) = |\{v : v\,c\,w\}|, \quad N(c) = \sum_w N(c\,w)",
            (counts, total),
            (context,),
            place,
        ),
        Stage("What is left over", BACKOFF[smoothing], (backoff,), (counts, total), place),
        Stage(f"The weight of order {order}", share, (weight,), (backoff, *passed_on), place),
    ]


def _probability_stage(order: int, smoothing: str) -> Stage:
    left = rf"p_{{{order}}}(w \mid c) = "
    lower = ""
    operands = [address_of(order, name) for name in ("counts", "total")]
    if smoothing != ADD_K:
        lower = rf" \, p_{{{order - 1}}}(w \mid c')" if order > 1 else r" \, \frac{1}{V}"
        operands.append(address_of(order, "backoff"))
        operands.extend([address_of(order - 1, "probabilities")] if order > 1 else [])
    result = address_of(order, "probabilities")
    title = (
        f"Order {order}, interpolated with order {order - 1}"
        if order > 1
        else "Order 1, interpolated with uniform"
    )
    title = f"Order {order}, with k added" if smoothing == ADD_K else title
    return Stage(title, left + SHARE[smoothing] + lower, (result,), tuple(operands), f"orders/{order}")

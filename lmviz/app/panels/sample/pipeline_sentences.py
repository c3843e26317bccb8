"""Sentences that explain how a number in the sampling pipeline is computed."""

from __future__ import annotations

from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.decoding.derivation import Derivation
from lmviz.decoding.options import SamplingOptions


def derivation_of(name: str, derivation: Derivation, options: SamplingOptions) -> tuple[str, tuple[str, ...]]:
    """A title and lines for one column's number of one token."""
    makers = {
        "logit": _logit,
        "scaled": _scaled,
        "top_k": _top_k,
        "top_p": _top_p,
        "min_p": _min_p,
        "probability": _probability,
        "cumulative": _cumulative,
    }
    return makers.get(name, _token)(derivation, options)


Card = tuple[str, tuple[str, ...]]


def _token(derivation: Derivation, options: SamplingOptions) -> Card:
    candidate = derivation.candidate
    return f"rank {count(candidate.rank)}", (f"token id {count(candidate.id)}", "click to choose it")


def _logit(derivation: Derivation, options: SamplingOptions) -> Card:
    candidate = derivation.candidate
    return f"logit {number(candidate.logit, 4)}", (
        "as the model computed it",
        f"rank {count(candidate.rank)} in the vocabulary",
    )


def _scaled(derivation: Derivation, options: SamplingOptions) -> Card:
    candidate, temperature = derivation.candidate, options.temperature
    if temperature == 0:
        return "temperature 0", ("the likeliest token takes all",)
    shown = f"{number(candidate.logit)} ÷ {temperature:g} = {number(candidate.scaled, 4)}"
    effect = "differences shrink: flatter" if temperature > 1 else "differences grow: sharper"
    return shown, (
        effect if temperature != 1 else "a temperature of 1 changes nothing",
        f"softmax of these alone: {percentage(candidate.before_filters)}",
    )


def _top_k(derivation: Derivation, options: SamplingOptions) -> Card:
    candidate = derivation.candidate
    if not options.top_k:
        return "top-k is off", ("every rank is kept",)
    kept = candidate.rank <= options.top_k
    sign = "≤" if kept else ">"
    return f"rank {count(candidate.rank)} {sign} {count(options.top_k)}", ("kept" if kept else "cut",)


def _top_p(derivation: Derivation, options: SamplingOptions) -> Card:
    cut_by = derivation.candidate.cut_by
    if cut_by == "top-k":
        return "already cut", ("by top-k",)
    if options.top_p >= 1:
        return "top-p is off", ("1 keeps every share",)
    kept = cut_by != "top-p"
    sign = "<" if kept else "≥"
    return f"{percentage(derivation.share_before)} {sign} {percentage(options.top_p)}", (
        "share of those ranked before it",
        "kept: p was not reached before it" if kept else "cut: those before it reach p",
    )


def _min_p(derivation: Derivation, options: SamplingOptions) -> Card:
    cut_by = derivation.candidate.cut_by
    if cut_by in ("top-k", "top-p"):
        return "already cut", (f"by {cut_by}",)
    if options.min_p == 0:
        return "min-p is off", ("no token is too unlikely",)
    kept = cut_by != "min-p"
    sign = "≥" if kept else "<"
    return f"{percentage(derivation.ratio)} {sign} {percentage(options.min_p)}", (
        "its probability over that of the likeliest",
        "kept" if kept else "cut",
    )


def _probability(derivation: Derivation, options: SamplingOptions) -> Card:
    candidate = derivation.candidate
    if candidate.cut_by:
        return percentage(0), (
            f"cut by {candidate.cut_by}",
            f"before that {percentage(candidate.before_filters)}",
        )
    return f"{number(derivation.ratio)} ÷ {number(derivation.total)} = {percentage(candidate.probability)}", (
        "e to the scaled logit less the largest,",
        "over the sum of these for all that are kept",
    )


def _cumulative(derivation: Derivation, options: SamplingOptions) -> Card:
    candidate, before = derivation.candidate, derivation.cumulative_before
    if candidate.cut_by:
        return percentage(1), (f"cut by {candidate.cut_by}: no draw lands here",)
    return (
        f"{percentage(before)} + {percentage(candidate.probability)} = {percentage(candidate.cumulative)}",
        (f"a draw from {number(before)} up to {number(candidate.cumulative)} lands here",),
    )

"""Judges spans, such as names of several words whose tags are B-PER I-PER, as CoNLL's evaluation does.

A span counts as found where its first word, its last and its kind are right (Tjong Kim Sang and De Meulder
2003). How tags mark spans is in `lmviz.text.tag_schemes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lmviz.text.tag_schemes import TagScheme


@dataclass(frozen=True)
class SpanScore:
    """Of how many spans, `wanted`, how many were `found`, and how many were `given`, right or wrong."""

    wanted: int
    given: int
    found: int

    @property
    def precision(self) -> float | None:
        """The share of the given spans that are right; None where none was given."""
        return self.found / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        """The share of the wanted spans that were found; None where none is wanted."""
        return self.found / self.wanted if self.wanted else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where no span is wanted and none was given."""
        both = self.wanted + self.given
        return 2 * self.found / both if both else None


def score_spans(
    scheme: TagScheme, texts: Iterable[tuple[Sequence[str], Sequence[str]]]
) -> dict[str, SpanScore]:
    """The score of each kind of span, in alphabetic order; of each text the right labels and the given."""
    wanted, given, found = Counter[str](), Counter[str](), Counter[str]()
    for right, answered in texts:
        of_right, of_answered = set(scheme.spans_of(right)), set(scheme.spans_of(answered))
        for counter, spans in ((wanted, of_right), (given, of_answered), (found, of_right & of_answered)):
            counter.update(kind for _, _, kind in spans)
    return {kind: SpanScore(wanted[kind], given[kind], found[kind]) for kind in sorted(wanted | given)}


def all_spans(scores: Iterable[SpanScore]) -> SpanScore:
    """All kinds of spans together, each span counting alike."""
    listed = list(scores)
    return SpanScore(
        sum(item.wanted for item in listed),
        sum(item.given for item in listed),
        sum(item.found for item in listed),
    )

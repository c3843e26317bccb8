"""What stands out in a reading at one position, as a sentence made of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.base.counting import numbered
from lmviz.base.figures import count, counted, percentage
from lmviz.inspection.attention import attention_layers, attention_place
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.inspection.trace import Trace

STRONG = 0.5
"""A weight of attention that stands out: more than on all other tokens together."""

LIKELY = 0.3
"""A probability of the next token that is worth saying."""


@dataclass(frozen=True)
class AttentionRemark:
    """The head that looks hardest from a position at another word, and the sentence about it."""

    layer: int
    head: int
    sentence: str


def attention_remark(trace: Trace, position: int, noun: str = "word") -> AttentionRemark | None:
    """What the strongest head of all looks at from a position, and what is then the likeliest to follow.

    The position itself and the first one are left out: heads rest there that have nothing to look at. None
    where no weight is more than half of its row. `noun` is what a token is called.
    """
    found: tuple[float, int, int, int] | None = None
    for layer in attention_layers(trace):
        rows = trace[f"{attention_place(layer)}/weights"].at(query=position).copy()  # (head, key)
        rows[:, [0, position]] = 0.0
        head, key = divmod(int(rows.argmax()), rows.shape[1])
        weight = float(rows[head, key])
        if weight > STRONG and (found is None or weight > found[0]):
            found = weight, layer, head, key
    if found is None:
        return None
    weight, layer, head, key = found
    names = trace.names("query")
    away = abs(position - key)
    where = f"{counted(away, noun)} {'back' if key < position else 'ahead'}"
    sentence = (
        f"“{visible(names[position])}” looks at “{visible(names[key])}”, {where}, with {percentage(weight)}, "
        f"in layer {numbered(layer)}, head {numbered(head)}"
    )
    return AttentionRemark(layer, head, f"{sentence}{_what_follows(trace, position, noun)}.")


def lens_remark(trace: Trace, lens: LogitLens, noun: str = "word") -> str:
    """Since when a model knows what it says at the one position of a lens, and what it would have said before
    that.

    Empty where it has one place only, or where the answer is far from likely.
    """
    from lmviz.inspection.lens_sentence import settled_in_words  # the first screen does without

    lens = lens.by_layer
    share = float(lens.of_final[-1, 0])
    settled = settled_in_words(lens, 0, noun)
    if not settled or share < LIKELY:
        return ""
    names = trace.names(trace["probabilities"].axes[-1])
    row = int(lens.settled[0])
    before = f" Before that it was “{visible(names[lens.ids[row - 1, 0, 0]])}”." if row else ""
    return f"“{visible(names[lens.ids[-1, 0, 0]])}”, {percentage(share)}, {settled}{before}"


def orders_remark(trace: Trace, position: int, noun: str = "word") -> str:
    """From which context of an n-gram model most of its answer comes; empty where none gives half of it."""
    from lmviz.inspection.backoff_ladder import orders_of, weights_over_text

    if not orders_of(trace):
        return ""
    shares = dict(zip(orders_of(trace), map(float, weights_over_text(trace)[:, position]), strict=False))
    if max(shares.values()) <= STRONG:
        return ""
    order = max(shares, key=shares.__getitem__)
    said = f"{percentage(shares[order])} of the answer"
    if order == 1:
        return f"{said} comes from how often each {noun} occurs, whatever stands before it."
    names = trace.names("position")[max(0, position - order + 2) : position + 1]
    context = " ".join(map(visible, names))
    return f"{said} comes from what followed “{context}”{_what_follows(trace, position, noun)}."


def state_remark(trace: Trace, position: int, noun: str = "word") -> str:
    """How many units of a recurrence change their sign at a word; empty at the first, and where few do."""
    taps = map(Address.parse, trace.arrays)
    states = [str(at) for at in taps if at.name == "hidden" and at.layer is not None]
    if not states or position == 0 or trace[states[-1]].axes != ("position", "unit"):
        return ""
    before, now = trace[states[-1]].rows([position - 1, position])
    changed = int(((before > 0) != (now > 0)).sum())
    if changed < len(now) / 10:
        return ""
    names = trace.names("position")
    return (
        f"At “{visible(names[position])}” {count(changed)} of {count(len(now))} units change their sign"
        f"{_what_follows(trace, position, noun)}."
    )


def _what_follows(trace: Trace, position: int, noun: str) -> str:
    """What is the likeliest to come next, as the end of a sentence; empty where nothing is likely."""
    traced = trace["probabilities"]
    if traced.axes[0] != "position" or traced.axes[-1] != "token":
        return ""
    row = traced.rows([position])[0]
    best = int(row.argmax())
    if row[best] < LIKELY:
        return ""
    said = f"“{visible(trace.names('token')[best])}”, {percentage(float(row[best]))}"
    return f"; the likeliest next {noun} is {said}"

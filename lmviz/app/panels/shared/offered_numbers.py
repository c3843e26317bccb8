"""The numbers that a person can have differentiated, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.session.focus import Cell
from lmviz.app.session.gradients import LAST_LOSS
from lmviz.app.session.reading import Reading
from lmviz.inspection.scalar_words import scalar_in_words
from lmviz.inspection.strongest import likeliest_answer
from lmviz.models.address import Address
from lmviz.models.tap import place_of

if TYPE_CHECKING:
    from lmviz.inspection.scalar import Of


def likeliest_logit(reading: Reading, position: int) -> Of:
    """The logit of the likeliest next word, or label, at a position."""
    return "logits", likeliest_answer(reading.trace, position)[1]


def offered_numbers(reading: Reading, position: int, cell: Cell | None) -> dict[Of, str]:
    """The last loss, all losses, the likeliest answer's probability and logit, and the pinned cell."""
    trace = reading.trace
    offers: dict[Of, str] = {}
    if "token" in trace["probabilities"].axes:
        offers = {of: number_in_words(of, reading) for of in (LAST_LOSS, "loss")}
    for likeliest in (likeliest_answer(trace, position), likeliest_logit(reading, position)):
        offers[likeliest] = number_in_words(likeliest, reading)
    if cell is not None:
        pinned: Of = (Address.parse(cell[0]).value, tuple(cell[1]))
        offers.setdefault(pinned, "the pinned cell")
    return offers


def number_in_words(of: Of, reading: Reading) -> str:
    """A number briefly: "loss of “key”", "p(“the”)"."""
    if isinstance(of, str):
        return scalar_in_words(of, reading.trace.tokens, reading.answers.__contains__)
    address, index = of
    axes = reading.axes(address) or ()
    if axes[-1:] in (("token",), ("label",)) and reading.has_cell(address, tuple(index)):
        word = reading.word(axes[-1], index[-1])
        names = {"probabilities": f"p(“{word}”)", "logits": f"logit of “{word}”"}
        return names.get(address, f"{address} of “{word}”")
    return f"{Address.parse(address).name} {place_of(index)}"

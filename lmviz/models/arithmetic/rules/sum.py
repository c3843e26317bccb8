"""All terms of all groups added up."""

from __future__ import annotations

import numpy as np

from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.rules.rule import Groups, Rule
from lmviz.models.arithmetic.sheet import Naming, Sheet, SheetLine, largest, others, term_line
from lmviz.models.arithmetic.terms import Terms


def total(groups: Groups) -> float:
    """The sum of all terms."""
    return float(sum(group.products.sum() for group in groups))


def addition(groups: Groups, notation: Notation, shown: int) -> str:
    """All terms of a short sum, the largest of a long one in their order, and the rest added up."""
    products = np.concatenate([group.products for group in groups])
    firsts = np.cumsum([0, *(len(group) for group in groups)])
    kept = np.sort(largest(products, shown))
    written = []
    for place in kept:
        which = int(np.searchsorted(firsts, place, side="right")) - 1
        term = place - firsts[which]
        factors = [(float(factor.values[term]), factor.function) for factor in groups[which].factors]
        written.append(notation.product(factors))
    if len(products) > len(kept):
        left = float(np.delete(products, kept).sum())
        written.append(notation.others.format(notation.number(left), others(len(products) - len(kept))))
    return notation.total(written)


def lines(groups: Groups, naming: Naming, count: int) -> list[SheetLine]:
    """Each side by itself; of groups with many terms the `count` largest and the rest; then single terms."""
    sides = [group for group in groups if group.side]
    written = [line for group in sides for line in _of_a_side(group, naming, count // len(sides) - 1)]
    rest = [group for group in groups if not group.side]
    single = [group for group in rest if len(group) == 1]
    many = tuple(group for group in rest if len(group) > 1)
    found = sorted(
        ((group, int(term)) for group in many for term in largest(group.products, count)),
        key=lambda pair: -abs(pair[0].products[pair[1]]),
    )[:count]
    written += [term_line(group, term, naming) for group, term in found]
    left = sum(len(group) for group in many) - len(found)
    if left:
        shown = sum(float(group.products[term]) for group, term in found)
        written.append(SheetLine(others(left), total(many) - shown, adds=True))
    return written + [term_line(group, 0, naming, label=group.label) for group in single]


def _of_a_side(group: Terms, naming: Naming, count: int) -> list[SheetLine]:
    """What all terms of a side make together, and below it the largest of them."""
    products, count = group.products, max(1, count)
    found = [term_line(group, int(term), naming) for term in largest(products, count)]
    written = [SheetLine(group.label, float(products.sum()), adds=True, side=group.side, heads=True), *found]
    left = len(group) - len(found)
    if left:
        rest = float(products.sum()) - sum(line.value for line in found)
        written.append(SheetLine(others(left), rest, adds=True, side=group.side))
    return written


def sizes(groups: Groups) -> tuple[np.ndarray, ...]:
    """Each term's absolute value beside the largest of all; 1 where all are zero."""
    found = [np.nan_to_num(np.abs(group.products), posinf=0.0) for group in groups]
    most = max((float(size.max(initial=0.0)) for size in found), default=0.0)
    return tuple(size / most if most > 0 else np.ones_like(size) for size in found)


SUM = Rule(
    evaluate=total,
    equation=addition,
    sheet=lambda groups, naming, count: Sheet.of_terms(tuple(lines(groups, naming, count))),
    strengths=sizes,
)

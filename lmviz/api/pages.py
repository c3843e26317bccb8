"""What lmviz has computed as one HTML file that answers the pointer: `lmviz.page`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.pages.page import HtmlPage


def page(
    results: Any,
    *,
    out: str | Path | None = None,
    title: str = "",
    lead: str | Sequence[str] = (),
    heads: Sequence[tuple[int, int]] = (),
    top: int = 0,
) -> HtmlPage:
    """Results as one HTML file that loads nothing: `.html`, `.size` in bytes, `.values` as in its JSON block.

    `results` is one of what lmviz computes, or several in a list: traces, lenses, distributions, patches,
    ablations, attributions, circuits, head scores, evaluations, runs, polls. What has no words of its own,
    such as a lens, takes those of the trace before it. A dictionary of results by step becomes one picture
    with a slider. The page is written to `out`, unless that is None. `title` and the sentences of the `lead`
    stand above. Of the attention there are all heads, or those of `heads`, as (layer, head) from 0, and of
    each row all weights, or the `top` largest. LmvizError for what a page cannot show, and where attention is
    too large for one.
    """
    from lmviz.pages.page import HtmlPage
    from lmviz.pages.reading import ChosenAttention
    from lmviz.pages.results import ResultsBefore, page_sections

    listed = list(results) if isinstance(results, list | tuple) else [results]
    if not listed:
        raise LmvizError(
            "There is nothing to show: give results, as in lmviz.page([trace], out='page.html')."
        )
    if not isinstance(title, str):
        raise LmvizError(f"{title!r} is no title: give a text.")
    chosen = ChosenAttention(_heads(heads), whole_number("top", top, least=0))
    made = HtmlPage(page_sections(listed, ResultsBefore(chosen=chosen)), title=title, lead=_sentences(lead))
    made.values  # noqa: B018  # what cannot be shown is said before a file is written
    if out is not None:
        made.save(out)
    return made


def _heads(given: Any) -> tuple[tuple[int, int], ...]:
    """Pairs of a layer and a head."""
    pairs = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]
    found = []
    for pair in pairs:
        both = tuple(pair) if isinstance(pair, list | tuple) else ()
        if len(both) != 2:
            raise LmvizError(
                f"{pair!r} is no head: give pairs of a layer and a head, such as heads=[(0, 1)]."
            )
        found.append((whole_number("layer", both[0], least=0), whole_number("head", both[1], least=0)))
    return tuple(found)


def _sentences(lead: Any) -> tuple[str, ...]:
    found = (lead,) if isinstance(lead, str) else tuple(lead) if isinstance(lead, list | tuple) else None
    if found is None or not all(isinstance(line, str) for line in found):
        raise LmvizError(f"{lead!r} are no sentences: give a text, or several.")
    return tuple(line for line in found if line)

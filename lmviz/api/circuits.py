"""The public functions that try which parts of a model an answer hangs on; all are names of `lmviz`.

A contrast says what is asked: a text, a changed text of as many tokens, and a number. Of several contrasts
there are as many results, in their order. Slow imports happen when first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from lmviz.api.given import listed, opened_model
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.api.given import Given, Ids
    from lmviz.circuits.attribution import Attribution
    from lmviz.circuits.contrast import Contrast
    from lmviz.circuits.patching import Patches
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.scalar import Of

Result = TypeVar("Result")


def contrast(
    text: str | Ids,
    changed: str | Ids | None = None,
    *,
    measure: Of = "",
    source: str | Ids | None = None,
    changed_source: str | Ids | None = None,
) -> Contrast:
    """A text, a changed text of as many tokens, and the number that tells them apart.

    `measure` is what `gradient` takes as `of`: "logit: Mary- John", the logit of one token minus that of
    another after the last token, "logit:night@4" or "probability:night@4", after token 4, "loss@3", or a
    label's "logit:verb@2". Tokens are named as the model has them, a blank before them included. Without a
    measure it is the likeliest word of each text. `source` and `changed_source` are what a translator reads
    beside its text, which may then be the same in both.
    """
    from lmviz.circuits.contrast import Contrast

    def read(given: str | Ids | None) -> str | tuple[int, ...] | None:
        return given if given is None or isinstance(given, str) else tuple(int(id) for id in given)

    begun = read(text)
    if begun is None:
        raise LmvizError("A contrast begins with a text: give one.")
    return Contrast(begun, read(changed), measure, read(source), read(changed_source))


def _of_each(contrasts: Contrast | Iterable[Contrast], ask: Callable[[Contrast], Result]) -> Any:
    """The result for a contrast, or a list of those for several."""
    from lmviz.circuits.contrast import Contrast

    if isinstance(contrasts, Contrast):
        return ask(contrasts)
    several = list(contrasts) if isinstance(contrasts, Iterable) else [contrasts]
    if not all(isinstance(one, Contrast) for one in several):
        raise LmvizError(f"{contrasts!r} is no contrast: give what lmviz.contrast makes, or several of them.")
    return [ask(one) for one in several]


@overload
def patch(
    model: Given,
    contrast: Contrast,
    taps: str | Collection[str] | None = None,
    *,
    each: Sequence[str] | None = None,
    into: str = "changed",
    estimate: bool = False,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
) -> Patches: ...
@overload
def patch(
    model: Given,
    contrast: Iterable[Contrast],
    taps: str | Collection[str] | None = None,
    *,
    each: Sequence[str] | None = None,
    into: str = "changed",
    estimate: bool = False,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
) -> list[Patches]: ...
def patch(
    model: Given,
    contrast: Contrast | Iterable[Contrast],
    taps: str | Collection[str] | None = None,
    *,
    each: Sequence[str] | None = None,
    into: str = "changed",
    estimate: bool = False,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
) -> Patches | list[Patches]:
    """Activation patching: how much of the measure each state brings, carried from one text into the other.

    `effect.array` has the shares, with `effect.axes` such as (layer, position); `effect.measured` the measure
    itself, `effect.clean` and `effect.changed` what it is in the two texts. `taps` are patterns of addresses,
    by default the stream of a Transformer or the hidden states of a recurrent network. `each` names the axes
    along which states are carried over one by one, ("position",) or, of a tap with heads, ("head",). `into`
    is "changed" where states of the text go into the changed one, "clean" where it is the other way round.
    With `estimate`, `effect.estimate` has what two passes say to first order, difference × gradient.
    LmvizError where the texts do not line up or do not differ in the measure.
    """
    from lmviz.circuits.patching import patch as carry_over

    opened, surgery = opened_model(model, special_tokens), listed(interventions)
    return _of_each(
        contrast,
        lambda one: carry_over(
            opened, one, taps, each=each, into=into, estimate=estimate, interventions=surgery
        ),
    )


@overload
def attribute(
    model: Given,
    contrast: Contrast,
    *,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
) -> Attribution: ...
@overload
def attribute(
    model: Given,
    contrast: Iterable[Contrast],
    *,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
) -> list[Attribution]: ...
def attribute(
    model: Given,
    contrast: Contrast | Iterable[Contrast],
    *,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
) -> Attribution | list[Attribution]:
    """Direct logit attribution: what each component adds to the measure on the text itself.

    `parts["head"].array` is (layer, head), and so with "feed-forward", "embedding", "position", "bias" of a
    Transformer, "unit" of a network with hidden units, "order" of an n-gram; `parts.kinds` has all. `.array`
    has them in a row, named by `.names["component"]`, and `.total` is their exact sum, the measure. The scale
    of the normalisations `parts.held` is held as it is. `parts.words["layers/1/attention/heads/0"]` says what
    a head brings from each word, `parts.words["layers/0"]` what a gated layer has kept of each. LmvizError
    for a probability of a model that learns by gradients, which is no sum of parts.
    """
    from lmviz.circuits.attribution import attribute as share_out

    opened, surgery = opened_model(model, special_tokens), listed(interventions)
    return _of_each(contrast, lambda one: share_out(opened, one, interventions=surgery))

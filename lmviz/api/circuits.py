"""The public functions that try which parts of a model an answer hangs on; all are names of `lmviz`.

A contrast says what is asked: a text, a changed text of as many tokens, and a number. Of several contrasts
there are as many results, in their order. Slow imports happen when first needed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lmviz.api.given import beside_text, listed, model_at, opened_model, run_with_steps
from lmviz.api.many import told
from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report
from lmviz.showing.several import ResultsByStep

if TYPE_CHECKING:
    from lmviz.api.given import Given, Ids, Steps
    from lmviz.circuits.ablation import Ablation
    from lmviz.circuits.attribution import Attribution
    from lmviz.circuits.circuit import Circuit
    from lmviz.circuits.contrast import Contrast
    from lmviz.circuits.head_kernels import HeadKernels
    from lmviz.circuits.head_matrices import Compositions, HeadWords
    from lmviz.circuits.head_scores import HeadScores
    from lmviz.circuits.heads_over_time import HeadsOverTime
    from lmviz.circuits.patching import Patches
    from lmviz.circuits.set_questions import SetQuestions
    from lmviz.circuits.weights import Weights
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.scalar import AnyOf
    from lmviz.models.model import Model

Result = TypeVar("Result")
Asked = TypeVar("Asked")


def contrast(
    text: str | Ids,
    changed: str | Ids | None = None,
    *,
    measure: AnyOf = "",
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
        if given is None or isinstance(given, str):
            return given
        try:
            return tuple(map(operator.index, given))
        except TypeError:
            raise LmvizError(
                f"{given!r} is neither a text nor a row of token ids: give one of these."
            ) from None

    begun = read(text)
    if begun is None:
        raise LmvizError("A contrast begins with a text: give one.")
    return Contrast(begun, read(changed), measure, read(source), read(changed_source))


def _one_by_one(asked: Sequence[Asked], ask: Callable[[Asked], Result]) -> list[Result]:
    """The result for each, as equal parts of the work."""
    from lmviz.models.interruption import part_of_work

    found = []
    for number, one in enumerate(asked):
        with part_of_work(number, len(asked)):
            found.append(ask(one))
    return found


def _several(given: Any) -> list[Contrast]:
    """Several contrasts as they are given, also as `lmviz.contrasts` gives them; LmvizError for others."""
    from lmviz.circuits.contrast import Contrast
    from lmviz.circuits.set_questions import SetQuestions

    if isinstance(given, SetQuestions):
        return list(given.contrasts)
    several = list(given) if isinstance(given, Iterable) else [given]
    if not several or not all(isinstance(one, Contrast) for one in several):
        raise LmvizError(f"{given!r} is not a contrast: give what lmviz.contrast makes, or several of them.")
    return several


def patch(
    model: Given,
    contrast: Contrast | Iterable[Contrast] | SetQuestions,
    taps: str | Collection[str] | None = None,
    *,
    each: Sequence[str] | None = None,
    into: str = "changed",
    estimate: bool = False,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    progress: Report | None = None,
) -> Patches | list[Patches]:
    """Activation patching: how much of the measure each state brings, carried from one text into the other.

    `effect.array` has the shares, with `effect.axes` such as (layer, position); `effect.measured` the measure
    itself, `effect.clean` and `effect.changed` what it is in the two texts. `taps` are patterns of addresses,
    by default the stream of a Transformer or the hidden states of a recurrent network. `each` names the axes
    along which states are carried over one by one, ("position",) or, of a tap with heads, ("head",). `into`
    is "changed" where states of the text go into the changed one, "clean" where it is the other way round.
    With `estimate`, `effect.estimate` has what two passes say to first order, difference × gradient.
    `progress` hears of the share that is done, 0 to 1, and may raise to cancel the work.
    LmvizError where the texts do not line up or do not differ in the measure.
    """
    from lmviz.circuits.by_row import ByRow
    from lmviz.circuits.contrast import Contrast
    from lmviz.circuits.patching import patch as carry_over
    from lmviz.circuits.patching import patch_each

    opened, surgery = opened_model(model, special_tokens), listed(interventions)
    further: dict[str, Any] = {"each": each, "into": into, "estimate": estimate, "interventions": surgery}
    with told(progress):
        if isinstance(contrast, Contrast):
            return carry_over(opened, contrast, taps, **further)
        return ByRow(patch_each(opened, _several(contrast), taps, **further))


def attribute(
    model: Given,
    contrast: Contrast | Iterable[Contrast] | SetQuestions,
    *,
    through: int = 0,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    progress: Report | None = None,
) -> Attribution | list[Attribution]:
    """Direct logit attribution: what each component adds to the measure on the text itself.

    `parts["head"].array` is (layer, head), and so with "feed-forward", "embedding", "position", "bias" of a
    Transformer, "unit" of a network with hidden units, "order" of an n-gram; `parts.kinds` has all. `.array`
    has them in a row, named by `.names["component"]`, and `.total` is their exact sum, the measure. The scale
    of the normalisations `parts.held` is held as it is. `parts.words["layers/1/attention/heads/0"]` says what
    a head brings from each word, `parts.words["layers/0"]` what a gated layer has kept of each. Of a
    recurrent network so many layers are gone `through` from the top, of `parts.depth`, with their gates held:
    with 1 the units of the layer below the top are the parts, with all of them the words. Several contrasts
    give a list; their texts are read in batches. `progress` as of `patch`. LmvizError for a probability of a
    model that learns by gradients, which is no sum of parts.
    """
    from lmviz.circuits.attribution import attribute_each
    from lmviz.circuits.by_row import ByRow
    from lmviz.circuits.contrast import Contrast

    opened, surgery = opened_model(model, special_tokens), listed(interventions)
    several = [contrast] if isinstance(contrast, Contrast) else _several(contrast)
    with told(progress):
        found = attribute_each(opened, several, through=through, interventions=surgery)
    return found[0] if isinstance(contrast, Contrast) else ByRow(found)


def ablate(
    model: Given,
    given: Contrast | Iterable[Contrast] | SetQuestions | str | Path,
    parts: str | Collection[str] | None = None,
    *,
    by: str = "",
    each: Sequence[str] | None = None,
    units: Sequence[Sequence[int]] | None = None,
    over: str | Path | None = None,
    tokens: int | None = 4096,
    steps: Steps | None = None,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    progress: Report | None = None,
) -> Ablation | dict[int, Ablation]:
    """Ablation: by how much a measure, or the loss over the text of a file, changes without each part.

    `parts` are patterns of addresses, "layers/*/attention/heads" among them; by default heads, or hidden
    states. They are set to zero, or with by="mean" to their mean over the text (or over the file `over`); an
    order of an n-gram is left to the one below it, by="lower".
    `each` names the axes along which they go one by one, ("unit",) for single units, () for whole layers;
    `units` are groups of units that go together. Of a file the first `tokens` are read, None for all.
    `found.array` has the changes, of a loss in nats per token, `found.intact` the measure of the whole model,
    and `found.low` and `found.high` a band of 95 %, None of fewer than eight texts. With `steps`, of a run,
    there is a result for each of these snapshots, or for "all". `progress` as of `patch`. LmvizError where
    there is no such part.
    """
    from lmviz.circuits.ablation import ablate as without
    from lmviz.circuits.contrast import Contrast

    if tokens is not None:
        tokens = whole_number("tokens", tokens, least=1)

    def of(opened: Model) -> Ablation:
        asked: Any = given
        if isinstance(given, str | Path):
            asked = _stretches(opened, given, tokens)
        elif not isinstance(given, Contrast):
            asked = _several(given)
        text = None if over is None else _stretches(opened, over, tokens)
        surgery = listed(interventions)
        return without(opened, asked, parts, by=by, each=each, units=units, over=text, interventions=surgery)

    with told(progress):
        return _of_steps(model, steps, special_tokens, of)


def head_scores(
    model: Given,
    *,
    words: int = 24,
    rows: int = 8,
    seed: int = 0,
    steps: Steps | None = None,
    progress: Report | None = None,
) -> HeadScores | HeadsOverTime:
    """The scores of each head of attention: mean shares of attention on random words said twice.

    `scores.previous` is (layer, head), the share at the word before; so are `first`, at the first token,
    `duplicate`, at the same word said before, `induction`, at the word that followed it, and `rest`, at the
    one other word that later words look at most. `scores.roles` names the one that is clear, (layer, head).
    `loss_new` and `loss_again` are the losses of the two sayings. There are `rows` such texts of so many
    `words`. With `steps`, of a run, there are scores by step for these snapshots, or for "all", of which
    `jump()` says where words said again became easier, and `turns()` when each head took its role.
    `progress` as of `patch`. LmvizError for a model without heads that look at its own text, or one that
    predicts labels.
    """
    from lmviz.circuits.head_scores import head_scores as scored
    from lmviz.circuits.heads_over_time import HeadsOverTime

    with told(progress):
        found = _of_steps(
            model, steps, True, lambda opened: scored(opened, words=words, rows=rows, seed=seed)
        )
    return HeadsOverTime(found) if isinstance(found, dict) else found


def circuit(
    model: Given,
    contrast: Contrast,
    keep: int = 20,
    *,
    rest: str = "changed",
    edges: bool = True,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    progress: Report | None = None,
) -> Circuit:
    """The circuit of a contrast: its strongest parts, what they keep alone, and the paths among them.

    `found.parts` are heads and feed-forward networks at positions, or units of a recurrent network, strongest
    first; `found.array` has the share of the difference that is lost without each. `found.kept` is the share
    that the `keep` strongest keep, all others being as in the changed text, or with rest="mean" at their
    mean; `found.curve` has it for other numbers of parts, of `found.of`. `found.edges` are paths from one
    part straight into another or into the answer, with the share that is lost without each (path patching).
    `progress` as of `patch`. LmvizError as of `patch`, and for a model that counts.
    """
    from lmviz.circuits.circuit import circuit as strongest
    from lmviz.circuits.contrast import Contrast

    if not isinstance(contrast, Contrast):
        raise LmvizError(f"{contrast!r} is not a contrast: give what lmviz.contrast makes.")
    opened, surgery = opened_model(model, special_tokens), listed(interventions)
    with told(progress):
        return strongest(opened, contrast, keep, rest=rest, edges=edges, interventions=surgery)


def weights(model: Given) -> Weights:
    """The matrices of a Transformer by layer and head, as read-only arrays: what is read in rows.

    `W.query`, `W.key`, `W.value` are (layer, head, width, channel) and `W.output` (layer, head, channel,
    width); `W.read`, `W.gate` (layer, width, unit) and `W.write` (layer, unit, width) the feed-forward
    networks', None where there are none; `W.embedding` (token, width), `W.unembedding` (width, token).
    `W.qk(layer, head)` is what a head looks for and `W.ov(layer, head)` what it brings, (width, width).
    Nothing is folded, but an embedding that is narrower than the stream has its projection in it. LmvizError
    for a model of another family.
    """
    from lmviz.circuits.weights import Weights

    return Weights(opened_model(model))


def head_words(
    model: Given, layer: int, head: int, matrix: str = "ov", *, count: int = 4, words: int = 6
) -> HeadWords:
    """The words that a head moves or looks for: the strongest singular directions of its OV or its QK.

    `.values` (direction,), `.reads` and `.writes` (direction, word): what is read of the word that is looked
    at, and what it raises; of the `matrix` "qk" which words look, and which are looked at.
    `.direction(number)` is one to steer along. LmvizError where there is no such head.
    """
    from lmviz.circuits.head_matrices import head_words as found

    return found(opened_model(model), layer, head, matrix, count=count, words=words)


def head_kernels(
    model: Given,
    text_or_ids: str | Ids,
    layer: int = 0,
    *,
    source: str | Ids | None = None,
    side: str = "",
    size: int | None = None,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
) -> HeadKernels:
    """The heads of a layer as channels of a convolution: the mean weight of each at each offset.

    `.array` is (head, offset) with `.offsets`, −1 for the token before; a mean is over the `.positions` of
    the text that have such a neighbour. `.shares` (head,) say how much of what each head writes such a kernel
    of fixed weights would write, by squares: 1 for a convolution, below 0 where it is further off than
    nothing. A kernel has the `size` nearest offsets, or all. `side` is "encoder" or "decoder" of a
    Transformer that translates, and `source` what it reads beside the text. LmvizError for a model without
    heads, and where there is no such layer.
    """
    from lmviz.circuits.head_kernels import head_kernels as found

    opened = opened_model(model, special_tokens)
    further: dict[str, Any] = {"side": side, "size": size, "interventions": listed(interventions)}
    return found(opened, text_or_ids, layer, **further, **beside_text(source))


def compositions(model: Given) -> Compositions:
    """The share of what each head writes that each head of a later layer reads, by query, key and value.

    `.array` is (kind, layer, head, later layer, later head), `.strongest(count)` the largest, `.chance` what
    random matrices give. LmvizError for a model without heads.
    """
    from lmviz.circuits.head_matrices import compositions as found

    return found(opened_model(model))


def _of_steps(model: Given, steps: Steps | None, special_tokens: bool, ask: Callable[[Model], Result]) -> Any:
    """The result for a model, or for each of some snapshots of a run by their steps."""
    if steps is None:
        return ask(opened_model(model, special_tokens))
    run, asked = run_with_steps(model, steps)
    found = _one_by_one(asked, lambda step: ask(model_at(run, step, special_tokens)))
    return ResultsByStep(zip(asked, found, strict=True))


def _stretches(model: Model, path: str | Path, tokens: int | None) -> Any:
    """The text of a file as a language model reads it, cut into stretches of ids."""
    from lmviz.circuits.ablation import stretches
    from lmviz.training.held_out import documents_of
    from lmviz.training.judged_file import text_in

    tokenizer = model.tokenizer_needed()
    if not model.predicts.continues or len(model.inputs) > 1:
        raise LmvizError(
            "The loss over the text of a file is that of a language model of one text: ask this one about "
            "contrasts."
        )
    text = text_in(model, path)
    start = tokenizer.start_id if text.marks_boundaries else None
    return stretches(documents_of(text.training, start), model.context, tokens)

"""The public functions about where a model's words come from. Slow imports happen when first needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.api.training import corpus_of, find_run
from lmviz.base.arguments import check_callable, whole_number, whole_numbers, words
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard

if TYPE_CHECKING:
    from lmviz.origins.copies import Copied
    from lmviz.origins.influences import Influences
    from lmviz.origins.memorised import Memorised
    from lmviz.text.corpus import Corpus
    from lmviz.training.run import Run


def copied(
    model: Run | Corpus | str | Path,
    text: str | Sequence[str],
    *,
    corpus: Corpus | None = None,
    progress: Report | None = None,
) -> Copied:
    """The passages of a text, or of several, that stand word for word in what a model learned from.

    `found.texts[0].lengths` (token,) are the lengths of the longest passages round each token, and
    `.passages` those passages with how often they stand. `found.threshold`, in tokens, is read off held-out
    text, 95 of 100 of whose tokens stand in passages that are no longer; `found.share` is the share of the
    tokens beyond it, and `found.verdict` whether that is more than held-out text has: "more", "less" or
    "alike", with the interval `found.difference`, and None for fewer than 30 texts.
    `model` is a run, its folder, the name of a sample model, or a corpus; the text that it learned from is
    read again from where the run says, unless `corpus` is given. LmvizError where there is none.
    """
    from lmviz.origins.copies import copies_in

    check_callable("progress", progress)
    report = progress or unheard
    texts = list(words("text", text, "The bat made"))
    return copies_in(text_of(model, corpus, part_of(report, 0.0, 0.3)), texts, part_of(report, 0.3, 1.0))


def influences(
    run: Run | str | Path,
    text: str,
    token: str | int,
    *,
    source: str | None = None,
    position: int | None = None,
    corpus: Corpus | None = None,
    steps: Sequence[int] | None = None,
    tokens: int | None = 60_000,
    scaled: bool | None = None,
    progress: Report | None = None,
) -> Influences:
    """Which lines of a run's own text taught it to say a token after a text, and which taught it not to.

    `taught.lines()` and `taught.lines(against=True)` are the lines that pushed most, with their shares of all
    push for the token or against it; `taught.forms()` groups them by what was learned after what;
    `by="overlap"` orders by n-grams in common, which costs no gradient. `taught.products` (snapshot, target)
    are TracIn's products of gradients (Pruthi et al. 2020) at `taught.steps`, weighted by `taught.weights`,
    the sums of the learning rates of the updates nearest to each; `taught.overlap.counted` has exact counts.

    `token` may be any that the model can say, or its id; for a tagger or a classifier a label, `position` the
    token that is tagged, by default the last; `source` is what a translator read. At most so many `tokens` of
    the text are read, documents drawn at random; None reads all. `steps` are the snapshots, by default all
    near which the weights moved. With `scaled`, gradients are divided by the roots of Adam's second moments,
    by default where the run's snapshots keep them.
    `run` is a run, its folder or a sample model; its text is read again from where it says, unless `corpus`
    is given. LmvizError for a model of another program, whose text is not known, and where there is no such
    token.
    """
    from lmviz.origins.teaching import Teaching
    from lmviz.runs.opening import open_model_of

    check_callable("progress", progress)
    report = progress or unheard
    opened = run_of(run)
    learned = text_of(opened, corpus, part_of(report, 0.0, 0.1))
    teaching = Teaching(
        opened,
        learned,
        lambda step: open_model_of(opened, step),
        text,
        token,
        source=source,
        position=position,
        steps=None if steps is None else whole_numbers("A step", steps),
        tokens=None if tokens is None else whole_number("tokens", tokens),
        scaled=scaled,
    )
    answers = teaching.growing()
    answer, _ = next(answers)
    for answer, done in answers:  # noqa: B007, the last one is whole
        report(0.1 + 0.9 * done)
    return answer


def memorised(
    run: Run | str | Path,
    *,
    corpus: Corpus | None = None,
    tokens: int | None = 40_000,
    progress: Report | None = None,
) -> Memorised:
    """Which lines of its text a run has learned by heart, and at which step.

    `found.lines` are those whose loss went on falling, after that of held-out lines had nearly stopped at
    step `found.since`, further than all but `found.beyond` held-out lines; `found.share` is their share,
    where chance gives `found.chance`. `found.steps`, `found.mean` and `found.held_out_mean` are the mean
    losses by snapshot, in nats per token. At most so many `tokens` of each part are read; None reads all.
    LmvizError for a model that counts, and where nothing was held out.
    """
    from lmviz.origins.memorised import memorised as found_in
    from lmviz.runs.opening import open_model_of

    check_callable("progress", progress)
    report = progress or unheard
    opened = run_of(run)
    return found_in(
        opened,
        text_of(opened, corpus, part_of(report, 0.0, 0.1)),
        lambda step: open_model_of(opened, step),
        tokens=None if tokens is None else whole_number("tokens", tokens),
        progress=part_of(report, 0.1, 1.0),
    )


def text_of(model: Run | Corpus | str | Path, corpus: Corpus | None, progress: Report) -> Corpus:
    """The text that a model learned from; LmvizError where it is not known or not there any more."""
    from lmviz.text.corpus import Corpus

    for given in (corpus, model):
        if isinstance(given, Corpus):
            return given
    if corpus is not None:
        raise LmvizError(f"{corpus!r} is not a corpus: give what lmviz.load_corpus returns.")
    return corpus_of(run_of(model), progress=progress)


def run_of(model: object) -> Run:
    """A run, as it is given; LmvizError where it is none."""
    from lmviz.runs.opening import open_recorded
    from lmviz.training.run import Run

    return model if isinstance(model, Run) else open_recorded(find_run(model))  # type: ignore[arg-type]

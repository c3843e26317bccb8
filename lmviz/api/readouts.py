"""The public functions that fit something to a model's states: lenses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.api.given import opened_model
from lmviz.base.arguments import check_callable, whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard

if TYPE_CHECKING:
    from lmviz.api.given import Given, Texts
    from lmviz.models.model import Model
    from lmviz.readouts.lens import Lens
    from lmviz.text.corpus import Corpus


def lens(
    model: Given,
    texts: Corpus | Texts | str | Path,
    kind: str = "jacobian",
    *,
    passages: int = 50,
    length: int = 64,
    seed: int = 0,
    centred: bool = True,
    scope: str = "later",
    progress: Report | None = None,
) -> Lens:
    """A lens over a model, fitted on texts: `lens(trace)` has the likeliest words by layer and position.

    `kind` is "logit", which reads a state as if it were the last and needs no fitting; "tuned", a map of
    least squares to the last state; or "jacobian", the average derivative of the end of the stream by the
    state (Gurnee et al. 2026), over all "later" positions or, with `scope`, the "same". A Jacobian is
    `centred` on the mean states unless it is to be read as published. `texts` is a corpus, whose training
    part is read, a list of texts, or a file; `passages` of at most `length` tokens are drawn from it by the
    seed, and some more to judge by. `progress` hears of the share that is done. LmvizError where the model
    has no states before the last, or where there is too little text.
    """
    from lmviz.models.interruption import interruptible
    from lmviz.readouts.fitted_lens import KINDS
    from lmviz.readouts.fitting import fit_lens
    from lmviz.readouts.lens import Lens
    from lmviz.readouts.passages import read_passages

    opened = opened_model(model)
    if kind == "logit":
        return Lens(opened)
    if kind not in KINDS:
        raise LmvizError(
            f"There is no lens of the kind {kind!r}: take 'logit', {' or '.join(map(repr, KINDS))}."
        )
    check_callable("progress", progress)
    report = progress or unheard
    read = read_passages(
        opened,
        _texts(opened, texts),
        count=whole_number("passages", passages, least=1),
        length=whole_number("length", length, least=4),
        seed=whole_number("seed", seed),
    )
    with interruptible(lambda done: report(done) if done is not None else None):
        *_, fitted = fit_lens(opened, read, kind, centred=centred, scope=scope, every=len(read.fitted))
    return Lens(opened, fitted)


def open_lens(path: str | Path, model: Given) -> Lens:
    """A lens that was saved, over the model that it was fitted to.

    A lens of TransformerLens (`JacobianLens.save`) is read as well. LmvizError where the file is none, or
    where it does not fit the model.
    """
    from lmviz.base.arguments import file_path
    from lmviz.readouts.fitted_lens import check_fits, read_lens
    from lmviz.readouts.hooked_lens import read_hooked_lens
    from lmviz.readouts.lens import Lens
    from lmviz.readouts.stream_pass import StreamPass

    opened, path = opened_model(model), file_path(path)
    stream = StreamPass(opened)
    fitted = read_hooked_lens(path, stream.places) if path.suffix in (".pt", ".pth") else read_lens(path)
    check_fits(fitted, stream.widths())
    return Lens(opened, fitted)


def _texts(model: Model, texts: Corpus | Texts | str | Path) -> Sequence[str]:
    """What is read, as texts."""
    from lmviz.text.corpus import Corpus, load_corpus
    from lmviz.text.text_set import TextSet

    if isinstance(texts, str | Path):
        if model.tokenizer is None:
            raise LmvizError("This model has no tokenizer, so it cannot read a text: open it from a run.")
        texts = load_corpus(
            texts, model.tokenizer, task="next-token", documents=model.documents, validation=0.0
        )
    if isinstance(texts, Corpus):
        return texts.training_documents
    if isinstance(texts, TextSet):
        return texts.texts
    if isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts):
        return texts
    raise LmvizError(
        f"{texts!r} is no corpus and no list of texts: give what load_corpus returns, or a file."
    )

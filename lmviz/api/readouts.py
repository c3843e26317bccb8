"""The public functions that fit something to a model's states: lenses, probes, directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.api.given import listed, model_at, opened_model, run_with_steps
from lmviz.base.arguments import check_callable, whole_number, words
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard

if TYPE_CHECKING:
    from lmviz.api.given import Given, Steps, Texts
    from lmviz.circuits.replaced_states import ReplacedStates
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.inspection.scalar import AnyOf
    from lmviz.inspection.trace import Trace
    from lmviz.models.model import Model
    from lmviz.readouts.direction import StateDirection
    from lmviz.readouts.direction_places import DirectionPlaces
    from lmviz.readouts.lens import Lens
    from lmviz.readouts.lens_over_time import LensOverTime
    from lmviz.readouts.number_probe import NumberProbes
    from lmviz.readouts.passages import Passages
    from lmviz.readouts.probing import Probes
    from lmviz.readouts.steering import SteeredMeasure
    from lmviz.readouts.use_map import UseMap
    from lmviz.text.corpus import Corpus
    from lmviz.text.text_set import TextSet


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
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.fitted_lens import KINDS
    from lmviz.readouts.fitting import fit_lens
    from lmviz.readouts.lens import Lens

    opened = opened_model(model)
    if kind == "logit":
        return Lens(opened)
    if kind not in KINDS:
        raise LmvizError(
            f"There is no lens of the kind {kind!r}: take 'logit', {' or '.join(map(repr, KINDS))}."
        )
    check_callable("progress", progress)
    report = progress or unheard
    read = _passages(opened, texts, passages, length, seed)
    with heard_by(report):
        *_, fitted = fit_lens(opened, read, kind, centred=centred, scope=scope, every=len(read.fitted))
    return Lens(opened, fitted)


def lens_column(
    model: Given,
    texts: Corpus | Texts | str | Path,
    trace: Trace,
    *,
    position: int = -1,
    count: int = 5,
    passages: int = 12,
    length: int = 64,
    seed: int = 0,
    progress: Report | None = None,
) -> LogitLens:
    """The centred Jacobian lens read at one position of a trace, by forward mode and without its matrix.

    For a deep model, one pass a passage takes the place of hundreds. `.ids` and `.probabilities` are (place,
    1, candidate), as `lens(trace)` has them. `texts`, `passages`, `length` and `seed` are as in `lens`.
    LmvizError where the model has no states before the last, or where there is too little text.
    """
    from lmviz.inspection.indices import from_start
    from lmviz.inspection.logit_lens import logit_lens
    from lmviz.inspection.trace import Trace as Traced
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.lens_column import fit_column
    from lmviz.readouts.stream_pass import StreamPass

    check_callable("progress", progress)
    opened = opened_model(model)
    if not isinstance(trace, Traced):
        raise LmvizError(f"{trace!r} is no trace: give what lmviz.trace returns.")
    at = from_start("position", position, len(trace))
    read = _passages(opened, texts, passages, length, seed)
    count = whole_number("count", count, least=1)
    with heard_by(progress or unheard):
        states = {place: trace[place].array[at] for place in StreamPass(opened).places}
        *_, column = fit_column(opened, read, states)
    return logit_lens(opened, trace, count, [at], after_layers=True, carried=column.carrier())


def lens_over_training(
    run: Given,
    text: str,
    token: str,
    *,
    kind: str = "logit",
    texts: Corpus | Texts | str | Path | None = None,
    steps: Steps = "all",
    passages: int = 10,
    length: int = 64,
    seed: int = 0,
    progress: Report | None = None,
) -> LensOverTime:
    """Since which step of a training each layer can say a token after a text, by a lens.

    At each snapshot the rank of the token and its probability after each layer: `.ranks` and `.probabilities`
    (step, place), `.steps`, `.places`, and `.since(place, rank)`, the step from which on it stays among so
    many likeliest. A "tuned" lens is fitted anew at each snapshot on `texts`; of the "jacobian" lens it is
    the column that is looked at. LmvizError where the run has no such steps, or where no such token is known.
    """
    from lmviz.inspection.scalar import token_named
    from lmviz.models.interruption import heard_by, part_of_work
    from lmviz.models.prefix import read_prefix
    from lmviz.readouts.lens_over_time import LensOverTime, said_by_layer

    check_callable("progress", progress)
    if not isinstance(text, str) or not isinstance(token, str):
        raise LmvizError("A lens over a training is asked about a text and a token: give two strings.")
    recorded, asked = run_with_steps(run, steps)
    found = LensOverTime()
    with heard_by(progress or unheard):
        for number, step in enumerate(asked):
            opened = model_at(recorded, step)
            word = token_named(opened, token)
            if word is None:
                raise LmvizError(f"{token!r} is no token of this model: give one of its vocabulary.")
            read = None if texts is None else _passages(opened, texts, passages, length, seed)
            with part_of_work(number, len(asked)):
                ids = read_prefix(opened, text).last(opened.context).ids
                found[step] = said_by_layer(opened, ids, word, kind, read)
    return found


def probe(
    model: Given,
    labelled: Corpus | Mapping[str, Sequence[str]] | Texts,
    taps: Sequence[str] | None = None,
    *,
    marked: Sequence[str] | None = None,
    side: str = "at",
    untrained: Given | None = None,
    strength: float = 1.0,
    seed: int = 0,
    progress: Report | None = None,
) -> Probes:
    """Can a label be read off the states, and by how much better than off the controls?

    `labelled` is a corpus of tags or labels, or texts by label: `{"past": [...], "present": [...]}`. With
    words or phrases that are `marked`, it is a corpus or a list of texts: the label is the phrase that ends
    at a place, or "other words", of which as many are drawn; by the `side` it is read "at" the word, one
    token "before" it, or "after". A linear probe is fitted at each tap that matches `taps`, by default at the
    state after each layer, on three quarters of the texts, and judged on the others. Beside `.accuracy` stand
    `.shuffled`, `.untrained`, `.words` and `.majority`; `.gap` is what may be claimed, and `.sentence` says
    it. `untrained` is the model before its training: of a run, given by its folder or name, it is the
    snapshot of step 0, and otherwise a network of the same shape with initial weights by the seed. `strength`
    is the inverse of the ridge, C of scikit-learn. LmvizError where there are no labels, or too few texts.
    """
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.labelled import read_labelled, read_marked
    from lmviz.readouts.probing import probe as fitted

    check_callable("progress", progress)
    _check_strength(strength)
    opened, report, seed = opened_model(model), progress or unheard, whole_number("seed", seed)
    before = untrained_or_given(model, opened, untrained, seed)
    taps = None if taps is None else words("pattern of addresses", taps, "layers/*/residual2")
    if marked is None:
        texts = read_labelled(opened, labelled, seed=seed)
    else:
        phrases = words("phrase", marked, "the dog")
        texts = read_marked(opened, _lines(labelled), phrases, side=side, seed=seed)
    with heard_by(report):
        return fitted(opened, texts, taps, untrained=before, strength=float(strength), seed=seed)


def probe_number(
    model: Given,
    texts: Corpus | Texts,
    of: str | Callable[[Sequence[str]], Sequence[float]] = "position",
    taps: Sequence[str] | None = None,
    *,
    untrained: Given | None = None,
    strength: float = 1.0,
    seed: int = 0,
    progress: Report | None = None,
) -> NumberProbes:
    """Can a number be read off the states, and how much more of it than off the controls?

    It is the number `of` each token: its "position", the "depth" of brackets after it, "count: dog", how
    often a word was said so far, or a function of the tokens that returns a number for each. A ridge
    regression is fitted at each tap that matches `taps`, by default at the state after each layer, on three
    quarters of the texts; `.explained` is its R² on the others, with the band `.low` to `.high`. Beside it
    stand `.shuffled`, `.untrained`, `.words` and `.position`; `.gap` is what may be claimed. The rest is as
    in `probe`. LmvizError where there is no such number, or too few texts.
    """
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.number_probe import probe_number as fitted
    from lmviz.readouts.numbered import read_numbered

    check_callable("progress", progress)
    _check_strength(strength)
    opened, seed = opened_model(model), whole_number("seed", seed)
    before = untrained_or_given(model, opened, untrained, seed)
    taps = None if taps is None else words("pattern of addresses", taps, "layers/*/residual2")
    read = read_numbered(opened, _lines(texts), of, seed=seed)
    with heard_by(progress or unheard):
        return fitted(opened, read, taps, untrained=before, strength=float(strength), seed=seed)


def _lines(given: object) -> Sequence[str]:
    """The texts of a corpus, or those that are given."""
    from lmviz.text.corpus import Corpus

    return given.training_documents if isinstance(given, Corpus) else words("text", given, "The bat made")


def _check_strength(strength: object) -> None:
    if not isinstance(strength, int | float) or not strength > 0:
        raise LmvizError(f"strength must be a number above 0, not {strength!r}.")


def use_map(
    model: Given,
    texts: Mapping[str, Sequence[str]] | TextSet,
    *,
    untrained: Given | None = None,
    seed: int = 0,
    progress: Report | None = None,
) -> UseMap:
    """A map of the answer to a text: where states say it, by layer and word, and where it is used.

    `texts` are forms of one text by their answers, such as {" stone": [...], " bell": [...]}, of as many
    tokens each, or a set whose rows have a `wanted` word or a label. `.read`, `.shuffled` and `.untrained`
    (place, position) are how often a linear probe is right on texts held out, for the answers, for labels
    that mean nothing, and on the network before its training. `.used` is how often the answer becomes another
    one where the state is moved to the mean of that one, `.random` the same along random directions; `.said`
    is how often the model is right. LmvizError where texts differ in length, or are too few.
    """
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.use_map import use_map as mapping
    from lmviz.text.text_set import TextSet, by_answer

    check_callable("progress", progress)
    opened, seed = opened_model(model), whole_number("seed", seed)
    given = by_answer(texts) if isinstance(texts, TextSet) else texts
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise LmvizError(
            f"{texts!r} are no texts by their answers: give {{' stone': [...], ' bell': [...]}}."
        )
    read = {name: words("text", some, "The bat made") for name, some in given.items()}
    before = untrained_or_given(model, opened, untrained, seed)
    with heard_by(progress or unheard):
        *_, found = mapping(opened, read, untrained=before, seed=seed)
    return found


def direction(model: Given, texts: Texts, others: Texts, tap: str, *, at: str = "last") -> StateDirection:
    """The direction from the mean state of `others` to that of `texts`, at a tap.

    States are taken at the "last" token of each text, or at "all" of them. `.add(strength)`, `.remove()` and
    `.swap(other)` are interventions for every function that takes them; `.random_like()` is the control,
    `.words(model)` says what it writes. LmvizError where a list is empty, or where there is no such tap.
    """
    from lmviz.readouts.direction import mean_difference

    first, second = words("text", texts, "The bat made"), words("text", others, "The bat made")
    return mean_difference(opened_model(model), first, second, tap, at=at)


def word_direction(model: Given, word: str, tap: str, of: str = "unembedding") -> StateDirection:
    """The row of a word in the output layer, or `of` the "embedding", as a direction at a tap.

    LmvizError where there is no such word, or no such tap.
    """
    from lmviz.readouts.direction import word_direction as found

    if not isinstance(word, str) or not isinstance(tap, str):
        raise LmvizError("The direction of a word is asked for by a word and the address of a tap.")
    return found(opened_model(model), word, tap, of)


def open_direction(path: str | Path) -> tuple[StateDirection, ...]:
    """The directions in a file: one or several that were saved, or a control vector (GGUF) of llama.cpp.

    LmvizError where the file holds none.
    """
    from lmviz.readouts.direction_file import read_directions

    return read_directions(path)


def save_directions(directions: StateDirection | Sequence[StateDirection], path: str | Path) -> Path:
    """Write directions into one safetensors file with their names; returns the file.

    A path that ends in .gguf is written as a control vector, which holds one direction of each layer but the
    first. LmvizError where it cannot be written.
    """
    from lmviz.readouts.direction_file import write_directions

    given = (
        [directions] if isinstance(directions, str) or not isinstance(directions, Iterable) else directions
    )
    return write_directions([_checked(one) for one in given], path)


def direction_places(
    model: Given,
    direction: StateDirection,
    texts: Corpus | Texts,
    *,
    count: int = 10,
    tokens: int = 20_000,
    progress: Report | None = None,
) -> DirectionPlaces:
    """The places in texts whose states lie far along a direction: `.strongest`, with the words around each.

    `texts` is a corpus, of which what is held out is read first, or a list of texts; about so many `tokens`
    are read. `.mean` and `.deviation` are over all of them. LmvizError where the model has no such tap.
    """
    from lmviz.features.reading_rows import reading_rows
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.direction_places import direction_places as found
    from lmviz.text.corpus import Corpus

    check_callable("progress", progress)
    _checked(direction)
    opened = opened_model(model)
    read = texts if isinstance(texts, Corpus) else words("text", texts, "The bat made")
    rows = reading_rows(opened, read, tokens=whole_number("tokens", tokens, least=1))
    with heard_by(progress or unheard):
        return found(opened, direction, rows, whole_number("count", count, least=1))


def steer(
    model: Given,
    direction: StateDirection,
    text: str,
    of: AnyOf,
    *,
    strengths: Sequence[float] | None = None,
    held_out: Texts = (),
    how: str = "add",
    other: StateDirection | None = None,
    everywhere: bool = False,
    start: int = 0,
    progress: Report | None = None,
) -> SteeredMeasure:
    """The curve of a number of a text as a direction is added to all states, beside random directions.

    `of` is a number as `gradient` takes it, such as "probability: stone". `.array`, `.random` and, on the
    texts `held_out`, `.loss` and `.random_loss` are (strength,). `how` may also be "remove", or "swap" with
    an `other` direction at the same tap: a strength of 1 does the whole of it. It is done at the tap of the
    direction or, `everywhere`, at that of all layers, and from the position `start` on. LmvizError where
    there is no such number.
    """
    from lmviz.models.interruption import heard_by
    from lmviz.models.prefix import read_prefix
    from lmviz.readouts.direction_use import DirectionUse
    from lmviz.readouts.steering import STRENGTHS, steering

    check_callable("progress", progress)
    _checked(direction)
    if not isinstance(text, str):
        raise LmvizError(f"{text!r} is no text: give a string.")
    use = DirectionUse(direction, how, other, bool(everywhere), whole_number("start", start))
    opened, report = opened_model(model), progress or unheard
    length = len(read_prefix(opened, text).last(opened.context).ids)
    if use.start >= length:
        raise LmvizError(
            f"There is no position {use.start} in the text to begin at: there are {length}, counted from 0."
        )
    texts = words("text", held_out, "The bat made")
    rows = [read_prefix(opened, one).last(opened.context).ids for one in texts]
    with heard_by(report):
        *_, found = steering(
            opened,
            use,
            text,
            of,
            strengths=STRENGTHS if strengths is None else strengths,
            held_out=rows,
        )
    return found


def _checked(given: object) -> StateDirection:
    from lmviz.readouts.direction import StateDirection

    if not isinstance(given, StateDirection):
        raise LmvizError(f"{given!r} is no direction: give what lmviz.direction returns.")
    return given


def replace_states(
    model: Given,
    text: str,
    of: AnyOf,
    texts: Corpus | Texts | str | Path,
    *,
    others: int = 40,
    passages: int = 40,
    back: int | None = None,
    seed: int = 0,
    interventions: Sequence[Intervention] = (),
    progress: Report | None = None,
) -> ReplacedStates:
    """Since when the state of a recurrent network has carried a number `of` a text.

    The state after each word gives way to those after `others` words of other `texts`, drawn by the seed out
    of so many `passages`, and the words since are read as they are: `.array` (position, other) is what is
    lost, `.lost` its mean and `.error` the standard error of that; `.carried` are the positions whose states
    carry it, and `.sentence` says so. `back` is how many words are tried at most. LmvizError where the model
    hands on no state, or where there is too little text.
    """
    from lmviz.circuits.replaced_states import other_states, replacing_states
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.passages import read_passages

    check_callable("progress", progress)
    if not isinstance(text, str):
        raise LmvizError(f"{text!r} is no text: give a string.")
    opened, report, changes = opened_model(model), progress or unheard, listed(interventions)
    count, seed = whole_number("others", others, least=1), whole_number("seed", seed)
    wanted = whole_number("passages", passages, least=1)
    back = None if back is None else whole_number("back", back, least=1)
    with heard_by(report):
        read = read_passages(opened, read_texts(opened, texts), count=wanted, held_out=1, seed=seed)
        elsewhere = other_states(opened, read.fitted, count=count, seed=seed)
        *_, found = replacing_states(opened, text, of, elsewhere, back=back, interventions=changes)
    return found


def untrained_or_given(given: Given, opened: Model, untrained: Given | None, seed: int) -> Model | None:
    """The model before its training, unless one is given; None where its family has nothing to begin with."""
    from lmviz.api.training import find_run
    from lmviz.runs.opening import open_recorded
    from lmviz.runs.untrained import untrained_of

    if untrained is not None:
        before = opened_model(untrained)
        if before.vocabulary_size != opened.vocabulary_size or [tap.address for tap in before.taps()] != [
            tap.address for tap in opened.taps()
        ]:
            raise LmvizError(
                f"{before.name or 'This model'} is not {opened.name or 'the model'} before its training: it "
                "has other taps or other tokens. Give an untrained one of the same form, or none."
            )
        return before
    run = open_recorded(find_run(given)) if isinstance(given, str | Path) else None
    return untrained_of(run, opened, seed)


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


def read_texts(model: Model, texts: Corpus | Texts | str | Path) -> Sequence[str]:
    """What is read, as texts."""
    from lmviz.text.corpus import Corpus
    from lmviz.text.text_set import TextSet
    from lmviz.training.judged_file import text_in

    if isinstance(texts, str | Path):
        texts = text_in(model, texts)
    if isinstance(texts, Corpus):
        return texts.training_documents
    if isinstance(texts, TextSet):
        return texts.texts
    if isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts):
        return texts
    raise LmvizError(
        f"{texts!r} is no corpus and no list of texts: give what load_corpus returns, or a file."
    )


def _passages(
    model: Model, texts: Corpus | Texts | str | Path, passages: int, length: int, seed: int
) -> Passages:
    """Passages of texts as they are asked for; LmvizError where numbers or texts are none."""
    from lmviz.readouts.passages import read_passages

    return read_passages(
        model,
        read_texts(model, texts),
        count=whole_number("passages", passages, least=1),
        length=whole_number("length", length, least=4),
        seed=whole_number("seed", seed),
    )

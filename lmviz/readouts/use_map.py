"""Where something can be read off the states, and where it is used: two maps by layer and word, and controls.

A probe may be right at every word after the one that it tells of, in the untrained network as well. Whether a
state is used shows only where it is changed: it is moved from the mean of its own label to that of the next,
at one layer and one word, and the rest of the text is read on. Where the answer follows, it is used.

The texts are forms of one text, of as many tokens each, whose answers are known. The probe is the linear
discriminant, solved in one step, since there is one for each layer and word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.base.figures import whole_percentage
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.logit_lens import lens_places
from lmviz.inspection.recording import needed_taps
from lmviz.inspection.scalar import token_named
from lmviz.looks.shown import Shown
from lmviz.models.explicit import ForwardPass
from lmviz.models.finite import check_states
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.prefix import read_prefix
from lmviz.models.reading import evaluation, on_device
from lmviz.models.tap import Tap

RIDGE = 1e-3
"""Of the mean variance of a state, added to each direction."""

TESTED = 0.25
MOST_TEXTS = 400
CELLS_AT_ONCE = 2**25
"""Numbers of the output that one pass makes at most."""

HALF = 0.5
"""Read, or used, is said of a word where it holds in half of the texts."""


@dataclass(frozen=True, eq=False, repr=False)
class UseMap(Shown):
    """Shares of the held-out texts, (place, position) each; NaN where nothing has been measured yet.

    `read`: a probe for the label is right; `shuffled`: one for labels that mean nothing; `untrained`:
    one on the network before its training, None where it is not known. `used`: the answer becomes that of
    another label where the state is moved from the mean of its own to the mean of that one; `random`: the
    same along a random direction, as far. `said` is the share whose answer is right as it is. `tokens` are
    those of the first text, with those that differ between texts in `varies`; `answers` are the labels.
    `majority` is the share that is right who always says the commonest of them.
    """

    places: tuple[str, ...]
    tokens: tuple[str, ...]
    varies: tuple[bool, ...]
    answers: tuple[str, ...]
    read: np.ndarray
    shuffled: np.ndarray
    untrained: np.ndarray | None
    used: np.ndarray
    random: np.ndarray
    said: float
    majority: float
    fitted: int
    tested: int

    @property
    def is_complete(self) -> bool:
        """Whether all has been measured."""
        return bool(np.isfinite(self.used).all())

    @property
    def sentence(self) -> str:
        """At how many words it can be read, and is used, after the layer where it is used most."""
        if not self.is_complete:
            return ""
        first = 1 if len(self.places) > 1 else 0  # before all layers it is the word itself
        row = first + int(self.used[first:].max(axis=1).argmax())
        read, used = self.read[row] >= HALF, self.used[row] >= HALF
        before = ""
        if self.untrained is not None:
            before = f", before training at {int((self.untrained[row] >= HALF).sum())}"
        text = f"After {place_in_words(self.places[row])} it can be read at {int(read.sum())} of "
        text += f"{len(self.tokens)} words{before}. "
        at = int(self.used[row].argmax())
        if not used.any():
            return text + (
                f"It is used at none: moved at “{self.tokens[at].strip()}”, the answer follows in "
                f"{whole_percentage(float(self.used[row, at]))} of the texts at most."
            )
        return text + (
            f"It is used at {int(used.sum())}: moved at “{self.tokens[at].strip()}”, the answer follows in "
            f"{whole_percentage(float(self.used[row, at]))} of the texts, along a random direction in "
            f"{whole_percentage(float(self.random[row, at]))}."
        )


def use_map(
    model: Model,
    by_answer: Mapping[str, Sequence[str]],
    *,
    untrained: Model | None = None,
    seed: int = 0,
) -> Iterator[UseMap]:
    """The maps of texts by the word that each has as its answer, as they become known.

    A quarter of the texts is held out; of texts longer than the context the last tokens are read. LmvizError
    where texts differ in length, where an answer is no token, where there are too few, and for a model that
    predicts labels or reads a source.
    """
    model.check_continues()
    if len(model.inputs) > 1:
        raise LmvizError(
            f"{model.name or 'This model'} reads a source beside its text, and these maps are of one text: "
            "open a language model."
        )
    names, ids, labels = _read(model, by_answer, seed)
    words = _answers(model, names)
    held = max(len(names), round(TESTED * len(ids)))
    if len(ids) - held < 2 * len(names):
        raise LmvizError(
            f"{len(ids)} texts with {len(names)} answers are too few to fit on and to judge by: give some "
            "dozens."
        )
    fitted, tested = slice(held, None), slice(0, held)
    places, length, draw = (
        lens_places(model, after_layers=True),
        ids.shape[1],
        np.random.default_rng(seed + 1),
    )
    with uncounted_work():
        states = _states(model, places, ids)
        before = None if untrained is None else _states(untrained, places, ids)
    drawn = _drawn_labels(ids, labels, len(names), draw)
    maps = np.full((5, len(places), length), np.nan)
    count = len(names)
    with uncounted_work():
        logits = _last_logits(model, ids[tested], {})
    said = float((logits[:, words].argmax(1) == labels[tested]).mean())
    majority = float(np.bincount(labels[tested]).max() / held)
    wanted = (labels[tested] + 1) % count  # each to the next
    tokens = read_prefix(model, next(iter(by_answer[names[0]]))).last(model.context).tokens

    def found() -> UseMap:
        return UseMap(
            places=places,
            tokens=tuple(tokens),
            varies=tuple((ids != ids[0]).any(0).tolist()),
            answers=names,
            read=maps[0].copy(),
            shuffled=maps[1].copy(),
            untrained=None if before is None else maps[2].copy(),
            used=maps[3].copy(),
            random=maps[4].copy(),
            said=said,
            majority=majority,
            fitted=len(ids) - held,
            tested=held,
        )

    for row, place in enumerate(places):
        for at in range(length):
            look_up((row * length + at) / (len(places) * length))
            own = states[place][:, at]
            asked = [(own, labels), (own, drawn)]
            asked += [] if before is None else [(before[place][:, at], labels)]
            for number, (rows, given) in enumerate(asked):
                told = discriminant(rows[fitted], given[fitted], count)(rows[tested])
                maps[number, row, at] = (told == given[tested]).mean()
            means = np.stack([own[fitted][labels[fitted] == label].mean(0) for label in range(count)])
            moves = means[wanted] - means[labels[tested]]
            random = draw.standard_normal(moves.shape)
            sizes = [np.linalg.norm(each, axis=1, keepdims=True) for each in (moves, random)]
            random *= sizes[0] / sizes[1]
            for number, each in ((3, moves), (4, random)):
                with uncounted_work():
                    moved = _last_logits(model, ids[tested], {(place, at): each})
                maps[number, row, at] = (moved[:, words].argmax(1) == wanted).mean()
        yield found()


def discriminant(states: np.ndarray, labels: np.ndarray, count: int) -> Callable[[np.ndarray], np.ndarray]:
    """Says the label (row,) of states (row, channel), by the linear discriminant of these, with a ridge."""
    overall = states.mean(0)
    means = np.stack(
        [states[labels == each].mean(0) if (labels == each).any() else overall for each in range(count)]
    )
    shares = np.bincount(labels, minlength=count) / len(labels)
    within = states - means[labels]
    spread = within.T @ within / len(states)
    spread += (RIDGE * spread.trace() / len(spread) + 1e-12) * np.eye(len(spread))
    weights = np.linalg.solve(spread, means.T)
    biases = -0.5 * (means.T * weights).sum(0) + np.log(np.maximum(shares, 1e-12))

    def told(rows: np.ndarray) -> np.ndarray:
        found: np.ndarray = (rows @ weights + biases).argmax(1)
        return found

    return told


def _drawn_labels(ids: np.ndarray, labels: np.ndarray, count: int, draw: np.random.Generator) -> np.ndarray:
    """A label for each text that means nothing: one for each pair of its answer and another word that varies.

    A probe has to learn these pairs by heart (a control task). Where nothing but the answer varies, labels
    change places among the texts.
    """
    for column in ids.T:
        if any(len(set(column[labels == label].tolist())) > 1 for label in range(count)):
            pairs = list(zip(labels.tolist(), column.tolist(), strict=True))
            known = dict(zip(sorted(set(pairs)), draw.integers(0, count, len(set(pairs))), strict=True))
            return np.array([int(known[pair]) for pair in pairs])
    return draw.permutation(labels)


def _read(
    model: Model, by_answer: Mapping[str, Sequence[str]], seed: int
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """The answers, the texts (text, token) in an order drawn by the seed, and their labels (text,)."""
    names = tuple(by_answer)
    if len(names) < 2 or any(isinstance(texts, str) or not len(texts) for texts in by_answer.values()):
        raise LmvizError("Give texts by their answers, two answers at least with some texts each.")
    rows = [(text, label) for label, texts in enumerate(by_answer.values()) for text in texts]
    order = np.random.default_rng(seed).permutation(len(rows))[:MOST_TEXTS]
    read = [read_prefix(model, rows[at][0]) for at in order]
    lengths = {len(each) for each in read}
    if len(lengths) > 1:
        raise LmvizError(
            f"These texts have from {min(lengths)} to {max(lengths)} tokens, and a map by word needs as many "
            "in each: give forms of one text whose words are tokens."
        )
    labels = np.array([rows[at][1] for at in order])
    if len(set(labels.tolist())) < len(names):
        raise LmvizError(f"Of {len(rows)} texts {MOST_TEXTS} are read, and an answer is in none: give fewer.")
    return names, np.stack([each.last(model.context).ids for each in read]), labels


def _answers(model: Model, names: Sequence[str]) -> np.ndarray:
    found = [token_named(model, name) for name in names]
    if None in found:
        missing = names[found.index(None)]
        raise LmvizError(f"{missing!r} is not one token of this model, so it cannot be its answer.")
    return np.array(found)


def _batches(model: Model, ids: np.ndarray) -> Iterator[slice]:
    rows = max(1, CELLS_AT_ONCE // (ids.shape[1] * model.outputs))
    for first in range(0, len(ids), rows):
        yield slice(first, min(first + rows, len(ids)))


def _states(model: Model, places: Sequence[str], ids: np.ndarray) -> dict[str, np.ndarray]:
    """(text, position, channel) the states of texts of one length, by place."""
    taps = {tap.address: tap for tap in model.taps()}
    needed = needed_taps(model.taps(), [taps[place] for place in places], ())
    found: dict[str, list[np.ndarray]] = {place: [] for place in places}
    for some in _batches(model, ids):
        look_up()
        with evaluation(model):
            scope = ForwardPass(on_device(model, ids[some]), model.tensors())
            values = scope.run(needed, lambda tap, value, position: value, keep=places)
            for place in places:
                found[place].append(widened(values[place]).cpu().double().numpy())
    joined = {place: np.concatenate(rows) for place, rows in found.items()}
    for states in joined.values():
        check_states(model, states)
    return joined


def _last_logits(model: Model, ids: np.ndarray, moves: Mapping[tuple[str, int], np.ndarray]) -> np.ndarray:
    """(text, token) the logits after the last token, states (place, position) moved by (text, channel)."""
    taps = {tap.address: tap for tap in model.taps()}
    needed = needed_taps(model.taps(), [taps["logits"], *(taps[place] for place, _ in moves)], ())
    found = []
    for some in _batches(model, ids):
        look_up()

        def listen(tap: Tap, value: torch.Tensor, position: int | None, some: slice = some) -> torch.Tensor:
            for (place, at), move in moves.items():
                if tap.address == place and position in (None, at):
                    value = value.clone()
                    step = torch.from_numpy(move[some]).to(value)
                    if position is None:
                        value[:, at] += step
                    else:
                        value += step
            return value

        with evaluation(model):
            scope = ForwardPass(on_device(model, ids[some]), model.tensors())
            found.append(scope.run(needed, listen, keep=("logits",))["logits"][:, -1].cpu().float().numpy())
    return np.concatenate(found)

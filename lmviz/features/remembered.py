"""Which words of a text can still be read off the states after them: what sparse features are held against.

Texts are made from one: a word is exchanged for others of its kind, and a linear probe says which it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.base.figures import counted, percentage
from lmviz.inspection.indices import from_start
from lmviz.inspection.recording import needed_taps
from lmviz.looks.shown import Shown
from lmviz.models.explicit import ForwardPass, in_order
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Tap

TEXTS = 2000
"""So many texts are made where nobody says how many; a quarter of them is held out."""
TESTED = 0.25
NEAR, FEWEST, MOST = 0.5, 8, 32
"""Words are of a kind if the cosine of their embeddings, less the mean, is at least this; a word is exchanged
if so many are of its kind, itself among them, and for so many at most."""
RIDGE = 1e-5
"""Of the mean variance within; a larger one makes a network seem to forget earlier."""
HALF = 0.5
BATCH = 4096  # positions that are read together


@dataclass(frozen=True, eq=False, repr=False)
class RememberedWords(Shown):
    """How often a probe says which word stood in a text, off the state at each token from that word on.

    `ids` and `tokens` (position,) are the text, and `words` (word,) those of its words that have others
    `alike` (word,): in the texts made from it each is one of these, wherever it stands (`stands`, (word,
    position)). `accuracy` (word, position) is on texts that no probe was fitted on, NaN before the word.
    `untrained` is the same of the network before its training, None where that is not known, and `chance`
    (word,) what the commonest word gives. `fitted` and `tested` are numbers of texts.
    """

    tap: str
    ids: np.ndarray
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]
    stands: np.ndarray
    accuracy: np.ndarray
    untrained: np.ndarray | None
    chance: np.ndarray
    fitted: int
    tested: int

    def since(self, word: int, *, untrained: bool = False) -> np.ndarray:
        """(distance,) The accuracy from the first place of a word on, until it is said again."""
        word = from_start("word", word, len(self.words))
        places = np.flatnonzero(self.stands[word])
        end = int(places[1]) if len(places) > 1 else len(self.ids)
        rows = self.untrained if untrained and self.untrained is not None else self.accuracy
        return np.asarray(rows[word, places[0] : end])

    def lasts(self, word: int, *, untrained: bool = False) -> int:
        """For how many tokens after it a word is read in at least half of the texts, without a gap."""
        read = self.since(word, untrained=untrained)[1:] >= HALF
        return len(read) if read.all() else int(np.argmin(read))

    def sentence(self, word: int) -> str:
        """What is read of a word, and what the controls are."""
        word = from_start("word", word, len(self.words))
        read, lasts = self.since(word), self.lasts(word)
        said = f"“{self.words[word].strip()}” can be read off the state "
        if lasts == len(read) - 1:
            said += "until it is said again" if self.stands[word].sum() > 1 else "up to the end"
        else:
            said += f"for {counted(lasts, 'more token')}"
        said += (
            f" (in half of the texts), {counted(len(read) - 1, 'token')} on in "
            f"{percentage(float(read[-1]))}; by chance in {percentage(float(self.chance[word]))}."
        )
        if self.untrained is None:
            return said
        before = self.lasts(word, untrained=True)
        said += f" Before the training it was {counted(before, 'token')}"
        return f"{said}: no merit of the training." if before >= lasts else f"{said}."


def remembered_words(
    model: Model,
    tap: str,
    ids: np.ndarray,
    tokens: tuple[str, ...],
    *,
    alike: Sequence[Sequence[str]] | None = None,
    untrained: Model | None = None,
    texts: int = TEXTS,
    seed: int = 0,
) -> RememberedWords:
    """Which words of a text (position,) can be read off a tap of a model, by linear discriminants.

    Words of a kind are those that are `alike`, or found by their embeddings. LmvizError for a model that
    reads a source or has no embedding, where the tap holds no states of a text, and where no word of the text
    has enough others of its kind.
    """
    states = _StatesOf(model, tap)
    kinds = _kinds(model, ids) if alike is None else _given_kinds(model, ids, alike)
    if not kinds:
        raise LmvizError(
            f"No word of this text has {FEWEST - 1} others of its kind by its embedding, so none can be "
            "exchanged: take another text, with names, colours or things, or say which words are alike."
        )
    random = np.random.default_rng(seed)
    drawn = [random.integers(len(kind), size=texts) for kind in kinds.values()]
    made = np.tile(np.asarray(ids, dtype=np.int64), (texts, 1))
    stands = np.array([np.asarray(ids) == own for own in kinds])
    for places, kind, which in zip(stands, kinds.values(), drawn, strict=True):
        made[:, places] = kind[which][:, None]
    tested = max(1, round(TESTED * texts))
    known = [(states, 0)] if untrained is None else [(states, 0), (_StatesOf(untrained, tap), 1)]
    rows = np.full((len(known), len(kinds), len(ids)), np.nan)
    for reader, at in known:
        for position, found in enumerate(reader.by_position(made)):
            look_up((at + position / len(ids)) / len(known))
            for word, (places, which) in enumerate(zip(stands, drawn, strict=True)):
                if position >= int(places.argmax()):
                    rows[at, word, position] = _right(found, which, tested)
    name = model.tokenizer.token if model.tokenizer is not None else str
    return RememberedWords(
        tap=tap,
        ids=np.asarray(ids),
        tokens=tokens,
        words=tuple(tokens[int(places.argmax())] for places in stands),
        alike=tuple(tuple(name(int(at)) for at in kind) for kind in kinds.values()),
        stands=stands,
        accuracy=rows[0],
        untrained=None if untrained is None else rows[1],
        chance=np.array([np.bincount(which[:tested]).max() / tested for which in drawn]),
        fitted=texts - tested,
        tested=tested,
    )


def _kinds(model: Model, ids: np.ndarray) -> dict[int, np.ndarray]:
    """For each token that can be exchanged those of its kind, itself first."""
    tensors = model.tensors()
    if "embedding.weight" not in tensors:
        raise LmvizError(
            f"{model.name or 'This model'} has no embedding to find words of a kind by: open another model."
        )
    embedding = widened(tensors["embedding.weight"]).detach().float().cpu().numpy()
    tokenizer = model.tokenizer
    known = len(embedding) if tokenizer is None else min(len(embedding), tokenizer.vocabulary_size)
    own = embedding[:known] - embedding[:known].mean(0)
    own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)
    special = np.array(sorted(() if tokenizer is None else tokenizer.special_ids), dtype=np.int64)
    found = {}
    for token in dict.fromkeys(int(at) for at in ids[1:]):
        if token >= known or token in special:
            continue
        cosines = own @ own[token]
        cosines[special[special < known]] = -1.0
        cosines[token] = 2.0
        kind = np.argsort(-cosines, kind="stable")[:MOST]
        kind = kind[cosines[kind] >= NEAR]
        if len(kind) >= FEWEST:
            found[token] = kind
    return found


def _given_kinds(model: Model, ids: np.ndarray, alike: Sequence[Sequence[str]]) -> dict[int, np.ndarray]:
    """The same by words that somebody says are of a kind."""
    found = {}
    for words in alike:
        known = {word: None if model.tokenizer is None else model.tokenizer.id_of(word) for word in words}
        strange = next((word for word, token in known.items() if token is None), None)
        if strange is not None:
            raise LmvizError(
                f"{strange!r} is no token of this model: give words that it knows, as it has them."
            )
        kind = np.array([token for token in known.values() if token is not None], dtype=np.int64)
        for token in dict.fromkeys(int(at) for at in ids[1:]):
            if token in kind and len(kind) > 1:
                found[token] = np.concatenate([[token], kind[kind != token]])
    return found


class _StatesOf:
    """The states at one tap of one model, over many texts of one length."""

    def __init__(self, model: Model, address: str) -> None:
        taps = {tap.address: tap for tap in model.taps()}
        if model.inputs != (TEXT,):
            raise LmvizError(
                f"{model.name or 'This model'} reads a source beside its text: open a language model to see "
                "what its states remember."
            )
        if address not in taps or taps[address].axes[0] != "position" or len(taps[address].axes) != 2:
            raise LmvizError(
                f"{address} holds no states of a text, one at each position: name another tap, such as "
                "layers/0/hidden."
            )
        self.model, self.address = model, address
        self._taps = needed_taps(model.taps(), [taps[address]], ())

    def by_position(self, ids: np.ndarray) -> Iterator[np.ndarray]:
        """The states (text, channel) at one position after the other, of texts (text, position)."""
        size = max(1, BATCH // ids.shape[1])
        parts = []
        with uncounted_work():
            for first in range(0, len(ids), size):
                look_up(None)
                parts.append(self._read(ids[first : first + size]))
        whole = np.concatenate(parts)
        for position in range(ids.shape[1]):
            yield whole[:, position].astype(np.float64)

    def _read(self, ids: np.ndarray) -> np.ndarray:
        steps: dict[int, torch.Tensor] = {}

        def listen(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
            if tap.address == self.address and position is not None:
                steps[position] = value
            return value

        with evaluation(self.model):
            forward = ForwardPass(on_device(self.model, ids), self.model.tensors())
            values = forward.run(self._taps, listen, keep=(self.address,))
            states = in_order(steps) if steps else values[self.address]
            return np.asarray(widened(states).float().cpu().numpy())


def _right(states: np.ndarray, labels: np.ndarray, tested: int) -> float:
    """How often the discriminant that is fitted on the rows behind the tested ones is right on these."""
    fitted, wanted = states[tested:], labels[tested:]
    kinds, place = np.unique(wanted, return_inverse=True)
    means = np.zeros((len(kinds), states.shape[1]))
    np.add.at(means, place, fitted)
    means /= np.bincount(place)[:, None]
    within = fitted - means[place]
    spread = within.T @ within / len(fitted)
    total = float(fitted.var(axis=0).mean())
    spread[np.diag_indices(len(spread))] += RIDGE * max(
        float(np.trace(spread)) / len(spread), 1e-3 * total, 1e-12
    )
    weights = np.linalg.solve(spread, means.T).T
    scores = states[:tested] @ weights.T - 0.5 * (weights * means).sum(axis=1)
    return float((kinds[scores.argmax(axis=1)] == labels[:tested]).mean())

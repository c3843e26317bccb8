"""A loss map: what every token of a text cost a model, and by what that can be divided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from lmviz.base.arguments import check_kind, file_path, whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.base.saving import save_arrays, save_rows
from lmviz.looks.shown import Shown
from lmviz.models.model import IGNORED, Model
from lmviz.training.evaluation import judged_parts
from lmviz.training.loss_kinds import COMMON, COMMONEST, FREQUENCIES, KINDS, MARKS, NEW, PASSAGE, SAID

MOST_TOGETHER = 2**40
"""So many positions together are all of them."""


@dataclass(frozen=True, eq=False, repr=False)
class Division(Shown):
    """The tokens of a text divided by something, and what each part costs.

    `names` say which, `tokens` (part,) are counted, and `means` (part,) are nats per token, NaN in an empty
    part. `shares` (part,) are the parts of the whole sum; they add up to 1, and are NaN where that sum is 0.
    """

    by: str
    names: tuple[str, ...]
    tokens: np.ndarray
    means: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class LossPassage:
    """Some tokens in a row: from `start` to before `end` of the stream, and their mean in nats."""

    start: int
    end: int
    mean: float


@dataclass(frozen=True, eq=False, repr=False)
class LossMap(Shown):
    """The loss of every token of a text, in nats.

    `ids` (token,) are the text, documents one after another, which begin at `starts` (document,). `losses`
    (token,) float32 are −ln p of each token after those before it, NaN of a token that is not predicted: the
    first of a document. Of a difference they are those of one model minus those of another. `read` (token,)
    counts the tokens of the document that the model had read before it, at most its context. Of tagged texts
    it is the loss of the label of each token, `of_token` (token,) among the `labels`; of texts with one
    label, `of_document` (document,), it stands at the last token of each. `vocabulary` are the tokens by id,
    and `counts` (id,) how often each was learned from, None where that is not known. `name` and `step` say
    which model it was.
    """

    ids: np.ndarray
    losses: np.ndarray
    starts: np.ndarray
    read: np.ndarray
    vocabulary: Sequence[str] = ()
    counts: np.ndarray | None = None
    name: str = ""
    step: int = 0
    labels: tuple[str, ...] = ()
    of_document: np.ndarray | None = None
    of_token: np.ndarray | None = None
    is_translation: bool = False
    decode: Callable[[np.ndarray], str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (self.ids, self.losses, self.starts, self.read):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def judged(self) -> int:
        """How many tokens are predicted."""
        return int(np.count_nonzero(~np.isnan(self.losses)))

    @property
    def total(self) -> float:
        """The sum in nats."""
        return float(np.nansum(self.losses, dtype=np.float64))

    @property
    def mean(self) -> float:
        """Nats per token."""
        return self.total / self.judged

    def minus(self, other: LossMap) -> LossMap:
        """This map minus that of another model of the same tokens: negative where this one is ahead.

        LmvizError where the two cut the text into different tokens.
        """
        check_kind("loss map", other, LossMap, "what lmviz.loss_map returns")
        self._check_beside(other)
        return replace(self, losses=self.losses - other.losses, name=f"{self.name} − {other.name}")

    def beside(self, other: LossMap) -> LossMap:
        """Another model's losses of the same tokens, told apart as here: it may have read more of them
        before, and have learned from others.

        LmvizError where the two cut the text into different tokens.
        """
        self._check_beside(other)
        return replace(self, losses=other.losses, name=other.name, step=other.step)

    def _check_beside(self, other: LossMap) -> None:
        if not np.array_equal(self.ids, other.ids) or not np.array_equal(self.starts, other.starts):
            raise LmvizError(
                f"{self.name} and {other.name} cut the text into different tokens, so their losses do not "
                "stand side by side: choose two models of one vocabulary."
            )

    def document_of(self, token: int) -> int:
        """The number of the document in which a token stands, from 0."""
        return int(np.searchsorted(self.starts, token, side="right")) - 1

    def span_of(self, document: int) -> tuple[int, int]:
        """From which token of the stream a document goes, and to before which."""
        end = self.starts[document + 1] if document + 1 < len(self.starts) else len(self.ids)
        return int(self.starts[document]), int(end)

    def token(self, place: int) -> str:
        """A token as displayed."""
        index = int(self.ids[place])
        return self.vocabulary[index] if self.vocabulary else str(index)

    def label_of(self, place: int) -> str:
        """The label of a token, or of its document; "" where there are none."""
        if self.of_token is not None:
            return self.labels[int(self.of_token[place])]
        return "" if self.of_document is None else self.labels[int(self.of_document[self.document_of(place)])]

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The sum of each document in nats, and its number of predicted tokens, (document,) each."""
        sums = np.add.reduceat(np.nan_to_num(self.losses.astype(np.float64)), self.starts)
        return sums, np.add.reduceat((~np.isnan(self.losses)).astype(np.int64), self.starts)

    def by_position(self, together: int = 1) -> Division:
        """By how many tokens had been read before, so many of them together."""
        together = min(whole_number("together", together, least=1), MOST_TOGETHER)
        part = self.read // together
        count = int(part[~np.isnan(self.losses)].max()) + 1
        names = [
            str(first) if together == 1 else f"{first}–{first + together - 1}"
            for first in range(0, count * together, together)
        ]
        return self._divided("position", names, part)

    def by_frequency(self) -> Division:
        """By how often the token was learned from, or without a training text how often it stands here."""
        known = self.counts
        counts = np.bincount(self.ids, minlength=int(self.ids.max()) + 1) if known is None else known
        names = ["never", *(_below(at) for at in range(1, len(FREQUENCIES))), f"{FREQUENCIES[-1]:,} or more"]
        part = np.searchsorted(FREQUENCIES, counts[self.ids], side="right")
        return self._divided("frequency" if known is not None else "frequency in this text", names, part)

    def by_kind(self) -> Division:
        """By what the token is: see `KINDS`."""
        return self._divided("kind", KINDS, self.kinds)

    def by_label(self) -> Division:
        """By the label of the token, or of the document; LmvizError where there are none."""
        if self.of_token is not None:
            return self._divided("label", self.labels, self.of_token)
        if self.of_document is None:
            raise LmvizError("This text has no labels to divide it by.")
        lengths = np.diff(np.append(self.starts, len(self.ids)))
        return self._divided("label", self.labels, np.repeat(self.of_document, lengths))

    @property
    def is_of_labels(self) -> bool:
        """Whether losses are those of labels, and not of tokens."""
        return self.of_token is not None or (self.of_document is not None and self.judged <= len(self.starts))

    @property
    def divisions(self) -> tuple[str, ...]:
        """By what it can be divided: "kind", "position", "frequency", "label"."""
        known = self.of_token is not None or self.of_document is not None
        if self.is_of_labels and self.of_token is None:
            return ("label", "position")
        return ("kind", "position", "frequency", "label") if known else ("kind", "position", "frequency")

    @property
    def painted(self) -> np.ndarray:
        """(token,) The losses as they are painted: that of a whole text at each of its tokens."""
        if not self.is_of_labels or self.of_token is not None:
            return self.losses
        lengths = np.diff(np.append(self.starts, len(self.ids)))
        return np.repeat(self.losses[self.starts + lengths - 1], lengths)

    @property
    def kinds(self) -> np.ndarray:
        """The number of each token's kind in `KINDS`, (token,)."""
        found = self.__dict__.get("_kinds")
        if found is None:
            found = _kinds_of(self.ids, self.starts, self.vocabulary, self.counts)
            self.__dict__["_kinds"] = found
        return found

    def words(self, least: int = 1) -> list[tuple[str, float, int]]:
        """Each token predicted `least` times, its sum in nats and how often it is; the largest first."""
        least, there = whole_number("least", least), ~np.isnan(self.losses)
        size = int(self.ids.max()) + 1
        sums = np.bincount(self.ids[there], self.losses[there].astype(np.float64), minlength=size)
        often = np.bincount(self.ids[there], minlength=size)
        order = [index for index in np.argsort(-sums, kind="stable") if often[index] >= least]
        return [
            (self.vocabulary[index] if self.vocabulary else str(index), float(sums[index]), int(often[index]))
            for index in order
        ]

    def passages(self, count: int = 10, length: int = PASSAGE, *, lowest: bool = False) -> list[LossPassage]:
        """The passages of so many tokens with the largest mean, or the lowest; one of a document.

        Where a text has one label, each is a whole text.
        """
        count, length = whole_number("count", count), whole_number("length", length, least=1)
        whole = self.is_of_labels and self.of_token is None
        sums = np.concatenate([[0.0], np.cumsum(np.nan_to_num(self.losses.astype(np.float64)))])
        there = np.concatenate([[0], np.cumsum(~np.isnan(self.losses))])
        best: list[LossPassage] = []
        for document in range(len(self.starts)):
            start, end = self.span_of(document)
            begins = start + (0 if whole or self.of_token is not None else 1)  # START is not predicted
            size = end - begins if whole else min(length, end - begins)
            if size < 1:
                continue
            firsts = np.arange(begins, end - size + 1)
            tokens = there[firsts + size] - there[firsts]
            means = (sums[firsts + size] - sums[firsts]) / np.maximum(tokens, 1)
            at = int(means.argmin() if lowest else means.argmax())
            best.append(LossPassage(int(firsts[at]), int(firsts[at]) + size, float(means[at])))
        return sorted(best, key=lambda passage: passage.mean if lowest else -passage.mean)[:count]

    def text_of(self, start: int, end: int) -> str:
        """The text from one token of the stream to before another."""
        ids = self.ids[start:end].astype(np.int64)
        return self.decode(ids).strip(" ") if self.decode is not None else " ".join(map(str, ids))

    def table(self) -> Iterable[dict[str, str | int | float]]:
        """A row for each predicted token: its document, its place there, the token, and its loss."""
        for place in np.flatnonzero(~np.isnan(self.losses)):
            document = self.document_of(int(place))
            yield {
                "document": document,
                "token": int(place - self.starts[document]),
                "token name": self.token(int(place)),
                "read before": int(self.read[place]),
                "loss": float(self.losses[place]),
            }

    def save(self, path: str | Path) -> None:
        """Write the table as .csv, or the arrays as .npz; LmvizError where that cannot be."""
        path = file_path(path)
        if path.suffix == ".npz":
            save_arrays(path, {name: getattr(self, name) for name in ("ids", "losses", "starts", "read")})
        else:
            save_rows(path, self.table())

    def _divided(self, by: str, names: Sequence[str], part: np.ndarray) -> Division:
        there = ~np.isnan(self.losses)
        losses = self.losses[there].astype(np.float64)
        tokens = np.bincount(part[there], minlength=len(names))
        sums = np.bincount(part[there], losses, minlength=len(names))
        total = sums.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            means, shares = sums / tokens, sums / total
        return Division(by, tuple(names), tokens, means, shares)


@dataclass(frozen=True, eq=False, repr=False)
class RowLosses(Shown):
    """The loss of each row or document: `array` (row,) in nats per token, NaN where none is predicted.

    `tokens` (row,) are those that are predicted.
    """

    array: np.ndarray
    tokens: np.ndarray

    axes = ("row",)

    @classmethod
    def of(cls, found: LossMap) -> RowLosses:
        """Those of the documents of a map."""
        sums, tokens = found.rows()
        return cls(np.where(tokens > 0, sums / np.maximum(tokens, 1), np.nan), tokens)

    @property
    def total(self) -> float:
        """The sum of all in nats."""
        return float(np.nansum(self.array * self.tokens))

    def table(self) -> list[dict[str, str | int | float]]:
        """A row for each."""
        return [
            {"row": row, "tokens": int(self.tokens[row]), "value": float(self.array[row])}
            for row in range(len(self.array))
        ]

    def save(self, path: str | Path) -> None:
        """Write the table as .csv, or the arrays as .npz; LmvizError where that cannot be."""
        path = file_path(path)
        if path.suffix == ".npz":
            save_arrays(path, {"array": self.array, "tokens": self.tokens, "axes": np.array(self.axes)})
        else:
            save_rows(path, self.table())


def loss_map(
    model: Model,
    documents: Sequence[np.ndarray],
    ignored_target: int | None,
    *,
    counts: np.ndarray | None = None,
    labels: Mapping[int, str] | None = None,
    progress: Report = unheard,
) -> LossMap:
    """The loss of every token that `lmviz.training.evaluation.evaluate_ids` judges.

    `counts` (id,) say how often each token was learned from; `labels` have those of documents by number.
    """
    lengths = [len(ids) for ids in documents]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    losses = np.full(sum(lengths), np.nan, dtype=np.float32)
    read = np.zeros(sum(lengths), dtype=np.int32)
    for part in judged_parts(model, documents, ignored_target, progress):
        values = part.values.numpy()
        for row, window in enumerate(part.windows):
            places = np.flatnonzero(part.targets[row] != IGNORED)
            if len(places):
                at = starts[window.number] + window.start + 1 + places
                losses[at] = -values[row, places]
                read[at] = window.read + 1 + places
    if np.isnan(losses).all():
        raise LmvizError("There is no token to predict in a text of fewer than two: choose a longer text.")
    names = tuple(dict.fromkeys((labels or {}).values()))
    of_document = None
    if labels:
        of_document = np.array([names.index(labels[number]) for number in range(len(documents))])
    tokenizer = model.tokenizer
    return LossMap(
        ids=np.concatenate([np.asarray(ids) for ids in documents]),
        losses=losses,
        starts=starts,
        read=read,
        vocabulary=() if tokenizer is None else tokenizer.tokens(),
        counts=counts,
        name=model.name or model.family,
        step=model.step,
        labels=names,
        of_document=of_document,
        decode=None if tokenizer is None else tokenizer.decode,
    )


def _below(at: int) -> str:
    first, last = FREQUENCIES[at - 1], FREQUENCIES[at] - 1
    return str(first) if first == last else f"{first:,}–{last:,}"


def _kinds_of(
    ids: np.ndarray, starts: np.ndarray, vocabulary: Sequence[str], counts: np.ndarray | None
) -> np.ndarray:
    size = int(ids.max()) + 1
    often = np.bincount(ids, minlength=size) if counts is None else counts[:size]
    is_mark = np.array(
        [not any(map(str.isalnum, vocabulary[index])) if vocabulary else False for index in range(size)]
    )
    commonest = np.zeros(size, dtype=bool)
    commonest[np.argsort(-np.where(is_mark, 0, often), kind="stable")[:COMMON]] = True
    lengths = np.diff(np.append(starts, len(ids)))
    document = np.repeat(np.arange(len(starts)), lengths)
    _, first = np.unique(document * size + ids.astype(np.int64), return_index=True)
    is_new = np.zeros(len(ids), dtype=bool)
    is_new[first] = True
    found = np.where(is_new, KINDS.index(NEW), KINDS.index(SAID))
    found[commonest[ids]] = KINDS.index(COMMONEST)
    found[is_mark[ids]] = KINDS.index(MARKS)
    return found

"""From a stretch of a stream of ids back to the text that it was made of.

Ids alone do not say it: all words that the vocabulary lacks have one id, and a byte-level token may be a part
of a character. Where each token stands in the text is found anew when it is shown, since to keep it for all
would take more memory than the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmviz.text.stream import Stream
from lmviz.text.tokenizer import Encoding, Tokenizer
from lmviz.text.words import join_words

Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Stretch:
    """Tokens one after the other, `text`, and the places (from, to) of each in it, in characters.

    `ids` is (token,). `tokens` are as displayed, those that `unknown` says as they are written, with a mark
    behind them. Parts of one character share its place; START and END have an empty one.
    """

    ids: np.ndarray
    text: str
    tokens: tuple[str, ...]
    places: Places
    tokenizer: Tokenizer

    def written(self, first: int, last: int) -> str:
        """The text of the tokens from `first` up to `last`, as it stands in the file."""
        return self.text[self.places[first][0] : self.places[last - 1][1]] if first < last else ""

    def decoded(self, last: int) -> str:
        """The text of the tokens before `last` as the tokenizer writes what a model says.

        Unknown words are the text's own: no vocabulary has them.
        """
        tokenizer = self.tokenizer
        if tokenizer.kind == "words":
            return join_words(self.words()[:last])
        ids = self.ids[:last]
        if tokenizer.kind == "bpe" or tokenizer.unknown_id in ids:
            text = self.written(0, last)
            return text.lower() if tokenizer.lower_case else text
        return tokenizer.decode(ids)

    @property
    def unknown(self) -> tuple[int, ...]:
        """The places (token) of words that the vocabulary lacks."""
        return tuple(np.flatnonzero(self.ids == self.tokenizer.unknown_id).tolist())

    def words(self) -> list[str]:
        """The tokens as displayed, unknown words without their mark."""
        words = list(self.tokens)
        for n in self.unknown:
            words[n] = self.written(n, n + 1) or words[n]
        return words


class _Piece(NamedTuple):
    """A part of a document that is encoded by itself: its ids from `first` up to `last`, and its text.

    `front` is 1 where START stands before the text.
    """

    document: int
    first: int
    last: int
    text: str
    front: int


class Stretches:
    """Finds stretches of one stream, those in the same part of a text faster."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._read: tuple[int, Encoding] | None = None

    def at(self, first: int, last: int) -> Stretch:
        """The ids of the stream from `first` up to `last`, as far as there are any."""
        stream, text = self._stream, ""
        tokens: list[str] = []
        places: list[tuple[int, int]] = []
        document, place = -1, max(0, first)
        ids = stream.ids[place:last]
        while place - max(0, first) < len(ids):
            piece = self._piece_at(place)
            text += stream.documents.separator if 0 <= document < piece.document else ""
            end = min(max(0, first) + len(ids), piece.last)
            own = self._inside(piece, place, end)
            tokens += own.tokens
            places += [(len(text) + begin, len(text) + stop) for begin, stop in own.places]
            text += own.text
            document, place = piece.document, end
        return Stretch(ids, text, tuple(tokens), tuple(places), stream.tokenizer)

    def _piece_at(self, place: int) -> _Piece:
        """The part with the id at a place."""
        starts, cuts, documents = self._stream.starts, self._stream.cuts, self._stream.documents
        document = int(np.searchsorted(starts, place, side="right")) - 1
        first, last = starts[document : document + 2].tolist()
        begin, end = documents.spans[document].tolist()
        front = self._stream.front
        after = int(np.searchsorted(cuts[:, 0], place, side="right"))
        if after < len(cuts) and cuts[after, 0] < last:
            last, end = cuts[after].tolist()
        if after and begin < cuts[after - 1, 1] < end and cuts[after - 1, 0] >= first:
            first, begin = cuts[after - 1].tolist()
            front = 0
        return _Piece(document, first, last, documents.data[begin:end].decode("utf-8"), front)

    def _inside(self, piece: _Piece, place: int, end: int) -> Stretch:
        """The ids of a part from a place up to an end."""
        tokenizer, wanted = self._stream.tokenizer, self._stream.ids[place:end]
        if self._read is None or self._read[0] != piece.first:
            self._read = piece.first, tokenizer.encode_inside(piece.text)
        read = self._read[1]
        begin = place - piece.first - piece.front  # counted in tokens of the text
        first, last = (min(max(0, n), len(read)) for n in (begin, begin + len(wanted)))
        front, back = first - begin, begin + len(wanted) - last  # START and END
        is_read = np.array_equal(read.ids[first:last], wanted[front : len(wanted) - back])
        if not is_read or not 0 <= piece.last - piece.first - piece.front - len(read) <= 1:
            return _without_text(tokenizer, wanted)
        offsets = read.offsets[first:last]
        start = offsets[0][0] if offsets and first else 0
        to = offsets[-1][1] if offsets and last < len(read) else len(piece.text)
        start, to = (start, to) if offsets else (0, 0)
        places = [(one - start, other - start) for one, other in offsets]
        marks = tokenizer.tokens_of(wanted[:front]), tokenizer.tokens_of(wanted[len(wanted) - back :])
        return Stretch(
            ids=wanted,
            text=piece.text[start:to],
            tokens=(*marks[0], *read.tokens[first:last], *marks[1]),
            places=((0, 0),) * front + tuple(places) + ((to - start, to - start),) * back,
            tokenizer=tokenizer,
        )


def _without_text(tokenizer: Tokenizer, ids: np.ndarray) -> Stretch:
    """The tokens alone, where a tokenizer reads the same text otherwise each time, as with dropout."""
    written = [tokenizer.decode([index]) for index in ids.tolist()]
    ends = np.cumsum([len(one) for one in written], dtype=np.int64).tolist()
    places = tuple(zip([0, *ends[:-1]], ends, strict=True)) if ends else ()
    return Stretch(ids, "".join(written), tokenizer.tokens_of(ids), places, tokenizer)

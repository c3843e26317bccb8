"""Tokenizers: text to ids and back, as one `tokenizer.json` of Hugging Face `tokenizers`.

The file holds everything: the kind follows from the model and the pre-tokenizer, and whether a prefix
begins with START from the post-processor.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from lmviz.errors import LmvizError
from lmviz.files import write_atomically
from lmviz.text.byte_level import readable_piece, whole_characters
from lmviz.text.characters import CharacterTable, clean, expand_case
from lmviz.text.segments import SEGMENTS, SegmentEncoder
from lmviz.text.tokenizer_bounds import LARGEST_ID
from lmviz.text.tokenizer_file import is_local, is_lower_case, kind_of, library_call, read_backend
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.words import UNKNOWN_TEXT, Joiner, join_words

if TYPE_CHECKING:
    import tokenizers

START, END, UNKNOWN = "⟨start⟩", "⟨end⟩", "⟨unknown⟩"
"""The special tokens. None of them can come out of a text: their brackets are words of their own,
single characters, or two bytes and more."""

_STARTS = (START, "<s>", "<|begin_of_text|>", "<bos>")
_ENDS = (END, "</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>")
_UNKNOWNS = (UNKNOWN, "<unk>", "[UNK]")
_VISIBLE = str.maketrans({"\n": "⏎", " ": "␣", "\t": "⇥", "\r": "␍", "\u00a0": "⍽"})


def visible(token: str) -> str:
    """The token with its white space to be seen."""
    return token.translate(_VISIBLE)


@dataclass(frozen=True, eq=False)
class Encoding:
    """A text as tokens.

    `ids` is (position,) int64; `tokens` are as displayed; `offsets` are the places (from, to) of each
    token in the text, in characters; `unknown` says which tokens are words not in the vocabulary.
    """

    ids: np.ndarray
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    unknown: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """Turns text into ids and back.

    `kind` is "characters", "words", "spaces" (what stands between them), "bpe" (byte-level), or "other"
    for a foreign file. `start_id`,
    `end_id` and `unknown_id` are None where there is no such token. With `marks_boundaries`, START
    stands in front of a prefix, because the documents of the corpus stood between START and END.
    `options` say how its vocabulary was learned, as far as that is known: a file does not hold how rare a
    token might be. None for a foreign one. `size` is the number of tokens of a model that has more than its
    tokenizer knows; those without a text are shown by their number.
    """

    def __init__(
        self, backend: tokenizers.Tokenizer, options: TokenizerOptions | None = None, *, size: int = 0
    ) -> None:
        backend.encode_special_tokens = True  # the user's "</s>" is text; the file cannot hold this switch
        with library_call():
            vocabulary = backend.get_vocab(with_added_tokens=True)
            if len(vocabulary) == 0 or max(vocabulary.values()) > LARGEST_ID:
                raise LmvizError(f"A vocabulary of {len(vocabulary):,} tokens cannot be used.")
            description = json.loads(backend.to_str())
            prefix = backend.encode("").ids
        self._backend = backend
        self._vocabulary = vocabulary
        self._is_local = is_local(description)
        self.vocabulary_size = max(max(vocabulary.values()) + 1, min(size, LARGEST_ID))
        self.known_size = max(vocabulary.values()) + 1
        self.kind = kind_of(description)
        self.lower_case = is_lower_case(description)
        self.options = options or TokenizerOptions.described_by(
            self.kind, self.vocabulary_size, self.lower_case
        )
        self.start_id = _first(vocabulary, _STARTS)
        self.end_id = _first(vocabulary, _ENDS)
        self.unknown_id = _first(vocabulary, _UNKNOWNS)
        self.marks_boundaries = self.start_id is not None and prefix[:1] == [self.start_id]

    def __repr__(self) -> str:
        return f"<Tokenizer of {self.kind}: {self.vocabulary_size:,} tokens>"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a tokenizer.json; LmvizError when it is none."""
        return cls(read_backend(Path(path)))

    def save(self, path: str | Path) -> None:
        """Write the tokenizer.json, from which alone `load` restores the tokenizer."""
        write_atomically(path, self.content)

    @property
    def content(self) -> bytes:
        """What `save` writes."""
        with library_call():
            return self._backend.to_str(pretty=True).encode("utf-8")

    @property
    def json(self) -> str:
        """The content of the file on one line."""
        with library_call():
            return self._backend.to_str()

    def encode(self, text: str) -> np.ndarray:
        """The ids of a text, (token,) int64, without START and END; LmvizError where it is no text."""
        if not isinstance(text, str):
            raise LmvizError(f"{text!r} is no text: give a string.")
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The ids of several texts one after the other, (token,) int64, and how many each has, (text,)."""
        texts = [expand_case(clean(text), self.lower_case and self.kind == "characters") for text in texts]
        if self._table is not None:
            return self._table.encode("".join(texts)), np.array([len(text) for text in texts], dtype=np.int64)
        if self._segments is not None:
            return self._segments.encode(texts)
        with library_call():
            pieces = [piece.ids for piece in self._backend.encode_batch(texts, add_special_tokens=False)]
        flat = np.fromiter(chain.from_iterable(pieces), dtype=np.int64)
        return flat, np.array([len(piece) for piece in pieces], dtype=np.int64)

    def encode_prefix(self, text: str) -> Encoding:
        """The text as a model reads it: with START in front when the tokenizer marks boundaries.

        LmvizError where a stranger's tokenizer cannot read it, as when a regular expression takes too long.
        """
        with library_call():
            found = self._backend.encode(clean(text))
        offsets = tuple(found.offsets)
        tokens = [self.token(index) for index in found.ids]
        if self.kind == "bpe":
            tokens = whole_characters(text, tokens, offsets)
        return Encoding(
            ids=np.array(found.ids, dtype=np.int64),
            tokens=tuple(tokens),
            offsets=offsets,
            unknown=tuple(index == self.unknown_id for index in found.ids),
        )

    def decode(self, ids: Iterable[int]) -> str:
        """The ids as readable text: words joined with spaces where they belong, without START and END.

        LmvizError where no token has one of the ids.
        """
        kept = [int(index) for index in ids if index not in (self.start_id, self.end_id)]
        if kept and not 0 <= min(kept) <= max(kept) < self.vocabulary_size:
            raise self._unknown_id(next(at for at in kept if not 0 <= at < self.vocabulary_size))
        if self.kind == "words":
            return join_words([self._written(index) for index in kept])
        if self.kind == "spaces":
            return " ".join(self._written(index) for index in kept).replace(" \n ", "\n")
        if self.kind == "characters":
            return "".join(self._written(index) for index in kept)
        with library_call():
            return self._backend.decode(kept, skip_special_tokens=True)

    def continue_text(self, text: str, index: int) -> str:
        """The text with one more token at its end.

        A byte-level token may hold a part of a character only; U+FFFD stands for it here, and `decode`
        of all the ids gives the whole character.
        """
        if index in (self.start_id, self.end_id):
            return text
        if self.kind == "words":
            return text + Joiner(text).add(self._written(index))
        if self.kind == "spaces":
            word = self._written(index)
            return f"{text}{'' if not text or text[-1].isspace() or word.isspace() else ' '}{word}"
        if self.kind == "other":
            return self.decode([*self.encode(text), index])
        return text + self.decode([index])

    def token(self, index: int) -> str:
        """One token as displayed; white space is left as it is. LmvizError where no token has this id."""
        if not 0 <= index < self.vocabulary_size:
            raise self._unknown_id(index)
        return self._tokens[index]

    def tokens(self) -> list[str]:
        """All tokens as displayed, by id."""
        return self._tokens

    def spellings(self) -> list[str]:
        """All tokens as the file spells them, by id; "" where an id has none."""
        spelt = [""] * self.vocabulary_size
        for token, index in self._vocabulary.items():
            spelt[index] = token
        return spelt

    def id_of(self, token: str) -> int | None:
        """The id of a token of the vocabulary, as its file spells it; None where there is none."""
        return self._vocabulary.get(token)

    @cached_property
    def _table(self) -> CharacterTable | None:
        if self.kind != "characters" or self.unknown_id is None or not self._is_local:
            return None
        return CharacterTable(self._vocabulary, self.unknown_id, self.lower_case)

    @cached_property
    def _segments(self) -> SegmentEncoder | None:
        if self.kind not in SEGMENTS or not self._is_local:
            return None
        return SegmentEncoder(self._backend, SEGMENTS[self.kind])

    @cached_property
    def _tokens(self) -> list[str]:
        special = {self.start_id: START, self.end_id: END, self.unknown_id: UNKNOWN}
        shown = [f"⟨{index}⟩" for index in range(self.vocabulary_size)]
        for token, index in self._vocabulary.items():
            if index in special:
                shown[index] = special[index]
            elif self.kind == "bpe":
                shown[index] = readable_piece(token)
            else:
                shown[index] = token.replace("▁", " ") if self.kind == "other" else token
        return shown

    def _unknown_id(self, index: int) -> LmvizError:
        count = self.vocabulary_size
        return LmvizError(f"No token has the id {index}: there are {count:,}, counted from 0.")

    def _written(self, index: int) -> str:
        """A word or a character as it is written in running text."""
        return UNKNOWN_TEXT if index == self.unknown_id else self._tokens[index]


def _first(vocabulary: dict[str, int], names: tuple[str, ...]) -> int | None:
    return next((vocabulary[name] for name in names if name in vocabulary), None)

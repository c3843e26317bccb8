"""Tokenizers: text to ids and back, as one `tokenizer.json` of Hugging Face `tokenizers`.

The file holds everything: the kind follows from the model and the pre-tokenizer, and whether a prefix
begins with START from the post-processor.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from lmviz.base.arguments import file_path, whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.base.plain_text import seen
from lmviz.looks.shown import Shown
from lmviz.text.byte_level import places_in_text, readable_piece, whole_characters
from lmviz.text.characters import CharacterTable, clean, expand_case
from lmviz.text.segments import SEGMENTS, SegmentEncoder
from lmviz.text.special_tokens import SpecialTokens, spellings_pattern
from lmviz.text.tokenizer_bounds import LARGEST_ID
from lmviz.text.tokenizer_file import is_local, is_lower_case, kind_of, library_call, read_backend
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.words import UNKNOWN_TEXT, Joiner, join_words

if TYPE_CHECKING:
    import tokenizers

START, END, UNKNOWN = "⟨start⟩", "⟨end⟩", "⟨unknown⟩"
"""The special tokens. None of them can come out of a text: their brackets are words of their own,
single characters, or two bytes and more."""

LONG = 2000
"""Characters of a text from which on cutting it into tokens may take long."""

UNKNOWN_MARK = "⟨?⟩"
"""Stands behind a word of a given text that the vocabulary lacks, which the model reads as UNKNOWN."""

_STARTS = (START, "<s>", "<|begin_of_text|>", "<bos>")
_ENDS = (END, "</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>")
_UNKNOWNS = (UNKNOWN, "<unk>", "[UNK]")
_SPACED = ("spaces", "plain spaces")
_VISIBLE = str.maketrans({"\n": "⏎", " ": "␣", "\t": "⇥", "\r": "␍", "\u00a0": "⍽"})
_UNSEEN = {ord(sign): chr(space) for space, sign in _VISIBLE.items()}


def visible(token: str) -> str:
    """The token with its white space and its controls to be seen."""
    return seen(token.translate(_VISIBLE))


def unseen(token: str) -> str:
    """The token with white space in the place of the signs that `visible` shows for it."""
    return token.translate(_UNSEEN)


def token_name(token: str, special: bool) -> str:
    """A token to be read; the chip of a special one stands for the signs around its name."""
    bare = token.removeprefix("<|").removesuffix("|>") if special else token
    return visible(bare or token)


@dataclass(frozen=True, eq=False)
class Encoding:
    """A text as tokens.

    `ids` is (position,) int64; `tokens` are as displayed, with an unknown word as it is written and a mark
    behind it, zebra⟨?⟩; `offsets` are the places (from, to) of each
    token in the text, in characters; `unknown` says which tokens are words not in the vocabulary, and
    `special` which are special tokens of another program.
    """

    ids: np.ndarray
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    unknown: tuple[bool, ...]
    special: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.ids)


# but no name in braces, which is filled in, nothing that is quoted, and no name with hyphens
_WORDS = re.compile(r"“[^”]*”|(?<![{-])\b([Ww])ord(s?)\b(?![}-])")
_NOUNS = {
    "characters": "character",
    "words": "word",
    "spaces": "word",
    "plain spaces": "word",
}


class Tokenizer(Shown):
    """Turns text into ids and back.

    `kind` is "characters", "words", "spaces" (what stands between them), "plain spaces" (between those of
    ASCII, as KenLM has it), "bpe" (byte-level), or "other" for a foreign file. `start_id`,
    `end_id` and `unknown_id` are None where there is no such token. With `marks_boundaries`, START
    stands in front of a prefix, because the documents of the corpus stood between START and END.
    `options` say how its vocabulary was learned, as far as that is known: a file does not hold how rare a
    token might be. None for a foreign one. `size` is the number of tokens of a model that has more than its
    tokenizer knows; those without a text are shown by their number.

    With `special`, what the folder of another program says, special tokens in a text are read as such, as
    transformers reads them, and `literal` is the same tokenizer that spells them out. Without it they are
    spelled out always: nobody's text holds a START of lmviz. `end_ids` are all ids at which a text ends.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        options: TokenizerOptions | None = None,
        *,
        size: int = 0,
        special: SpecialTokens | None = None,
        spells_out: bool = False,
    ) -> None:
        self.reads_special = special is not None and not special.are_split and not spells_out
        backend.encode_special_tokens = not self.reads_special  # the file cannot hold this switch
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
        self._special = special
        self._added = {token["content"]: token["special"] for token in description["added_tokens"]}
        self.unknown_id = _first(vocabulary, _UNKNOWNS)
        self.start_id, self.end_ids, self.padding_id = self._roles(vocabulary, prefix)
        self.end_id = self.end_ids[0] if self.end_ids else None
        self.marks_boundaries = self.start_id is not None and prefix[:1] == [self.start_id]
        known = {vocabulary[token] for token, is_special in self._added.items() if is_special}
        known = known if special is not None else set()
        roles = {id for id in (self.start_id, self.padding_id) if id is not None}
        self.special_ids = frozenset(known - {self.unknown_id} | roles | set(self.end_ids))
        writes_special = self.reads_special and self.kind in ("bpe", "other")
        self._unwritten = roles - {self.start_id} if writes_special else roles | set(self.end_ids)
        self._written_as = (
            {vocabulary[token]: token for token in self._added if vocabulary[token] in self.special_ids}
            if writes_special
            else {}
        )

    @property
    def noun(self) -> str:
        """The noun for one token: "word", "character" or "token"."""
        return _NOUNS.get(self.kind, "token")

    @classmethod
    @loads("tokenizer")
    def load(cls, path: str | Path, size: int = 0) -> Self:
        """Read a tokenizer.json, for a model of `size` tokens if it has more; LmvizError when it is none."""
        return cls(read_backend(file_path(path)), size=whole_number("size", size))

    def save(self, path: str | Path) -> None:
        """Write the tokenizer.json, from which alone `load` restores the tokenizer."""
        write_atomically(path, self.content)

    @property
    def content(self) -> bytes:
        """The content of the file that `save` writes."""
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
            raise LmvizError(f"{text!r} is not a text: give a string.")
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The ids of several texts one after the other, (token,) int64, and how many each has, (text,)."""
        texts = [expand_case(clean(text), self.lower_case and self.kind == "characters") for text in texts]
        is_plain = self._in_text is None or not any(map(self._in_text.search, texts))
        if self._table is not None and is_plain:
            return self._table.encode("".join(texts)), np.array([len(text) for text in texts], dtype=np.int64)
        if self._segments is not None and is_plain:
            return self._segments.encode(texts)
        with library_call():
            pieces = [piece.ids for piece in self._backend.encode_batch(texts, add_special_tokens=False)]
        flat = np.fromiter(chain.from_iterable(pieces), dtype=np.int64)
        return flat, np.array([len(piece) for piece in pieces], dtype=np.int64)

    @property
    def reads_locally(self) -> bool:
        """Whether a text that is cut before a space is certainly read as the whole is."""
        return self._in_text is None and (self._table is not None or self._segments is not None)

    def encode_prefix(self, text: str) -> Encoding:
        """The text as a model reads it: with START in front when the tokenizer marks boundaries.

        LmvizError where a stranger's tokenizer cannot read it, as when a regular expression takes too long.
        """
        return self._encoding(text, is_whole=True)

    def encode_inside(self, text: str) -> Encoding:
        """The same for a stretch of a text: nothing stands in front of it or behind it."""
        return self._encoding(text, is_whole=False)

    def _encoding(self, text: str, *, is_whole: bool) -> Encoding:
        with library_call():
            if len(text) > LONG:  # a pattern may take seconds, and for a batch other threads may go on
                [found] = self._backend.encode_batch([clean(text)], add_special_tokens=is_whole)
            else:
                found = self._backend.encode(clean(text), add_special_tokens=is_whole)
        offsets = tuple(found.offsets)
        tokens = [
            f"{text[start:end]}{UNKNOWN_MARK}"
            if index == self.unknown_id and end > start
            else self.token(index)
            for index, (start, end) in zip(found.ids, offsets, strict=True)
        ]
        if self.kind == "bpe":
            tokens = whole_characters(text, tokens, offsets)
        return Encoding(
            ids=np.array(found.ids, dtype=np.int64),
            tokens=tuple(tokens),
            offsets=offsets,
            unknown=tuple(index == self.unknown_id for index in found.ids),
            special=self.are_special(found.ids),
        )

    def are_special(self, ids: Iterable[int]) -> tuple[bool, ...]:
        """Which of the ids are special tokens of another program."""
        return tuple(self._special is not None and int(index) in self.special_ids for index in ids)

    @property
    def has_special(self) -> bool:
        """Whether a text could hold special tokens, which are read as such or spelled out."""
        return self._special is not None and not self._special.are_split and any(self._added.values())

    @property
    def named_tokens(self) -> dict[str, str]:
        """The spelling of START, END and padding, by their names in templates for chats; "" for none."""
        said = self._special or SpecialTokens()
        start = self.start_id if said.start is None else said.start
        ids = {"bos_token": start, "eos_token": self.end_id, "pad_token": self.padding_id}
        known = self._backend.id_to_token
        return {name: "" if index is None else known(index) or "" for name, index in ids.items()}

    @property
    def chat_template(self) -> str | None:
        """The template that makes one text of the turns of a chat (Jinja), where the folder has it."""
        return None if self._special is None else self._special.chat_template

    @cached_property
    def literal(self) -> Tokenizer:
        """The same, which spells special tokens out; this very one where it does so already."""
        if not self.reads_special:
            return self
        from tokenizers import Tokenizer as Backend

        with library_call():
            backend = Backend.from_str(self._backend.to_str())
        size, special = self.vocabulary_size, self._special
        return Tokenizer(backend, self.options, size=size, special=special, spells_out=True)

    def decode(self, ids: Iterable[int]) -> str:
        """The ids as readable text: words joined with spaces where they belong.

        Special tokens are written where they would be read again; a START that stands in front of each text,
        and START and END that no text can hold, are left out. LmvizError where no token has one of the ids.
        """
        kept = self._whole(ids)
        if self.marks_boundaries and kept[:1] == [self.start_id]:
            kept = kept[1:]
        return self._joined([index for index in kept if index not in self._unwritten])

    def _joined(self, kept: list[int]) -> str:
        if kept and not 0 <= min(kept) <= max(kept) < self.vocabulary_size:
            raise self._unknown_id(next(at for at in kept if not 0 <= at < self.vocabulary_size))
        if self.kind == "words":
            return join_words([self._written(index) for index in kept])
        if self.kind in _SPACED:
            return " ".join(self._written(index) for index in kept).replace(" \n ", "\n")
        if self.kind == "characters":
            return "".join(self._written(index) for index in kept)
        with library_call():
            return self._backend.decode(kept, skip_special_tokens=not self._written_as)

    def continue_text(self, text: str, index: int) -> str:
        """The text with one more token at its end.

        A byte-level token may hold a part of a character only; U+FFFD stands for it here, and `decode`
        of all the ids gives the whole character.
        """
        if index in self._unwritten:
            return text
        if index in self._written_as:
            return text + self._written_as[index]
        if self.kind == "words":
            return text + Joiner(text).add(self._written(index))
        if self.kind in _SPACED:
            word = self._written(index)
            return f"{text}{'' if not text or text[-1].isspace() or word.isspace() else ' '}{word}"
        if self.kind == "other":
            return self._continued(text, index)
        return text + self._joined([index])

    def _continued(self, text: str, index: int) -> str:
        """The text with one more token of a foreign vocabulary, whose decoder looks at all of them."""
        ids = self.encode(text).tolist()
        before, longer = self._joined(ids), self._joined([*ids, index])
        if not longer.startswith(before):  # the token completes a character
            after = self._after_special(text)  # what stands before was written token by token, and stays
            return text[:after] + self._joined([*self.encode(text[after:]).tolist(), index])
        written = longer[len(before) :]
        if ids and ids[-1] in self._written_as and written.startswith(" "):
            # Some put a space before what follows a special token, and would read this one beside theirs.
            is_read = self.encode(text + written).tolist() == [*ids, index]
            written = written if is_read else written[1:]
        return text + written

    def with_token(self, text: str, place: int, index: int) -> tuple[str, int]:
        """The text with a token inserted before a character, and where it ends.

        LmvizError where no token has this id, and where it would not be read as that token there.
        """
        shown = self.token(index)
        written = self._written_as.get(index, self._joined([index]) if self.kind == "bpe" else shown)
        longer, end = text[:place] + written + text[place:], place + len(written)
        read = self.encode_prefix(longer)
        spans = (span for span, id in zip(read.offsets, read.ids, strict=True) if id == index)
        if not any(first < end and last > place for first, last in spans):
            raise LmvizError(f"Token {index} would be read as other tokens here: try another place.")
        return longer, end

    def token(self, index: int) -> str:
        """One token as displayed; white space is left as it is. LmvizError where no token has this id."""
        try:
            number = operator.index(index)
        except TypeError:
            raise LmvizError(f"{index!r} is not the id of a token: give a whole number.") from None
        if not 0 <= number < self.vocabulary_size:
            raise self._unknown_id(number)
        return self._tokens[number]

    def tokens_of(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Tokens one after the other as displayed; parts of one character show it, as in `encode_prefix`."""
        given = [int(index) for index in ids]
        tokens = [self.token(index) for index in given]
        if self.kind == "bpe":
            found = places_in_text([self._backend.id_to_token(index) or "" for index in given])
            return tuple(tokens if found is None else whole_characters(found[0], tokens, found[1]))
        return tuple(tokens)

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
        """The id of a token as it is displayed, or else as its file spells it; None where there is none.

        Of several that are displayed alike it is the one that is spelled so, or the first. LmvizError for
        what is no text.
        """
        if not isinstance(token, str):
            raise LmvizError(f"{token!r} is not a token: give it as a string.")
        shown, spelled = self._by_display.get(token), self._vocabulary.get(token)
        return spelled if shown is None or (spelled is not None and self._tokens[spelled] == token) else shown

    def _roles(
        self, vocabulary: dict[str, int], prefix: Sequence[int]
    ) -> tuple[int | None, tuple[int, ...], int | None]:
        """START, all ends, and padding; by their names where no folder says which they are."""
        size, said = self.vocabulary_size, self._special or SpecialTokens()
        ends = tuple(dict.fromkeys(index for index in said.ends if 0 <= index < size))
        end = _first(vocabulary, _ENDS)
        ends = ends or (() if end is None else (end,))
        start = _first(vocabulary, _STARTS)
        if self._special is not None:  # any other beginning of a text is a token like the rest
            start = next((index for index in prefix[:1] if index in (said.start, start)), None)
        padding = said.padding
        is_padding = padding is not None and 0 <= padding < size
        return start, ends, padding if is_padding and padding not in (start, *ends, self.unknown_id) else None

    def _after_special(self, text: str) -> int:
        """Where in a text the last special token ends; 0 where there is none."""
        found = self._in_text.finditer(text) if self._in_text is not None else ()
        return max((match.end() for match in found), default=0)

    @cached_property
    def _in_text(self) -> re.Pattern[str] | None:
        """What finds special tokens in a text; None where they are spelled out."""
        spellings = [token for token, is_special in self._added.items() if is_special]
        return spellings_pattern(spellings, self.lower_case) if self.reads_special else None

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
        special: dict[int | None, str] = {self.unknown_id: UNKNOWN}
        if self._special is None:
            special |= {self.start_id: START, self.end_id: END}
        shown = [f"⟨{index}⟩" for index in range(self.vocabulary_size)]
        for token, index in self._vocabulary.items():
            if index in special:
                shown[index] = special[index]
            elif token in self._added:
                shown[index] = token
            elif self.kind == "bpe":
                shown[index] = readable_piece(token)
            else:
                shown[index] = token.replace("▁", " ") if self.kind == "other" else token
        return shown

    @cached_property
    def _by_display(self) -> dict[str, int]:
        """The first id of each token as displayed."""
        size = self.vocabulary_size
        return {self._tokens[index]: index for index in reversed(range(size))}

    def _whole(self, ids: Iterable[int]) -> list[int]:
        """Ids as they are given; LmvizError where they are none."""
        try:
            return [operator.index(index) for index in ids]
        except TypeError:
            raise LmvizError(f"{ids!r} is not a row of token ids: give whole numbers.") from None

    def _unknown_id(self, index: int) -> LmvizError:
        count = self.vocabulary_size
        return LmvizError(f"No token has the id {index}: there are {count:,}, counted from 0.")

    def _written(self, index: int) -> str:
        """A word or a character as it is written in running text."""
        return UNKNOWN_TEXT if index == self.unknown_id else self._tokens[index]


def _first(vocabulary: dict[str, int], names: tuple[str, ...]) -> int | None:
    return next((vocabulary[name] for name in names if name in vocabulary), None)


def of_units(sentence: str, noun: str) -> str:
    """A sentence about words, as it is said of tokens of a noun: of characters; pieces are read as words.

    What stands in quotes (“…”) is what a text says, and stays.
    """
    if noun != "character" or "ord" not in sentence:
        return sentence
    return _WORDS.sub(_of_characters, sentence)


def _of_characters(found: re.Match[str]) -> str:
    if found[1] is None:  # it is quoted
        return found[0]
    return f"{'C' if found[1] == 'W' else 'c'}haracter{found[2]}"

"""The options for learning a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from lmviz.base.configuration import Configuration, setting
from lmviz.base.errors import LmvizError

KINDS = ("characters", "words", "spaces", "bpe")
_BYTES = 256
_SMALLEST_MERGED = _BYTES + 2
_USUAL_MERGED_VOCABULARY = 4096
_LARGEST_VOCABULARY = 1_000_000


@dataclass(frozen=True)
class TokenizerOptions(Configuration):
    """How a vocabulary is learned."""

    kind: str = setting("words", "What a token is.", choices=KINDS)
    vocabulary: int = setting(
        0,
        "The largest number of tokens, the special ones included; 0 keeps every one.",
        zero="all",
        label="Vocabulary",
        minimum=0,
        maximum=_LARGEST_VOCABULARY,
    )
    minimum_count: int = setting(
        1, "How often a token must occur in the training part; rarer ones are unknown.", minimum=1
    )
    lower_case: bool = setting(False, "Whether capital letters become small ones.")

    def check(self) -> None:
        if self.kind == "bpe" and self.vocabulary < _SMALLEST_MERGED:
            raise LmvizError(
                f"bpe:{self.vocabulary} has too few tokens: it takes {_SMALLEST_MERGED} at least, "
                f"which are the {_BYTES} bytes, START and END."
            )

    @classmethod
    def from_specification(cls, text: str) -> Self:
        """Read "characters", "words", "spaces", "bpe" or "bpe:4096"."""
        kind, colon, number = text.strip().partition(":")
        if kind not in KINDS or (colon and (kind != "bpe" or not (number.isascii() and number.isdigit()))):
            raise LmvizError(
                f"There is no tokenizer {text!r}: choose characters, words, spaces, or bpe:4096."
            )
        if kind != "bpe":
            return cls(kind=kind)
        return cls(kind=kind, vocabulary=int(number) if colon else _USUAL_MERGED_VOCABULARY)

    @classmethod
    def described_by(cls, kind: str, vocabulary_size: int, lower_case: bool) -> Self | None:
        """The options stored in a tokenizer's file; None if another program wrote it."""
        if kind not in KINDS or (kind == "bpe" and vocabulary_size < _SMALLEST_MERGED):
            return None
        return cls(kind=kind, vocabulary=vocabulary_size if kind == "bpe" else 0, lower_case=lower_case)

    @property
    def specification(self) -> str:
        """The short form that `from_specification` reads."""
        return f"{self.kind}:{self.vocabulary}" if self.kind == "bpe" else self.kind

"""How a text becomes a corpus: its task, its tokens, its documents, and what is kept from training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lmviz.base.configuration import Configuration, setting
from lmviz.base.errors import LmvizError
from lmviz.text.documents import SEPARATORS
from lmviz.text.reading import check_encoding
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_options import TokenizerOptions

RECOGNISED = "recognised"
"""The task that a text is recognised as having."""

TASKS = ("next-token", "tagging", "classification", "translation", "captioning")

WITH_SOURCE = ("translation", "captioning")
"""The tasks whose models read something beside the text that they write."""


@dataclass(frozen=True)
class CorpusOptions(Configuration):
    """How a text becomes a corpus."""

    task: str = setting(
        RECOGNISED,
        "What a model is asked about the text: what is recognised from its form, or what you say.",
        choices=(RECOGNISED, *TASKS),
    )
    tokenizer: str = setting(
        "words", "What a token is: characters, words, spaces (what they part), or bpe:N for N byte pairs."
    )
    lower_case: bool = setting(False, "Whether capital letters become small ones.")
    minimum_count: int = setting(
        1, "How often a token must occur in the training part; rarer ones are unknown.", minimum=1
    )
    vocabulary: int = setting(
        0,
        "The largest number of characters or words, the special tokens included; 0 keeps every one.",
        zero="all",
        label="Vocabulary",
        minimum=0,
        maximum=1_000_000,
    )
    documents: str = setting(
        "file", "Where a document ends; models learn where documents begin.", choices=tuple(SEPARATORS)
    )
    validation: float = setting(
        0.1, "The share of the text that is kept from training.", minimum=0.0, maximum=0.9
    )
    span: int = setting(
        0,
        "For backwards, twin and recall, which lmviz writes: letters or words of the longest source, or "
        "words between a key and its return; 0 is as usual.",
        zero="usual",
        minimum=0,
        maximum=1000,
        advanced=True,
    )
    seed: int = setting(0, "Draws the validation documents.", minimum=0, advanced=True)
    encoding: str = setting("utf-8", "How the file writes its characters.", advanced=True)

    def check(self) -> None:
        check_encoding(self.encoding)
        _ = self.tokenizer_options

    @property
    def tokenizer_options(self) -> TokenizerOptions:
        """The part that is about the vocabulary."""
        options = TokenizerOptions.from_specification(self.tokenizer)
        return TokenizerOptions(
            kind=options.kind,
            vocabulary=options.vocabulary or self.vocabulary,
            minimum_count=self.minimum_count,
            lower_case=self.lower_case,
        )


def choose_options(
    options: CorpusOptions, tokenizer: str | Tokenizer | None, settings: dict[str, Any], *, is_told: bool
) -> CorpusOptions:
    """The options with the settings; `is_told` says that they are known to be those of the tokenizer."""
    if isinstance(tokenizer, str):
        settings = {**settings, "tokenizer": tokenizer}
    elif isinstance(tokenizer, Tokenizer) and not is_told and tokenizer.options is not None:
        settings = {**_learned(tokenizer.options), **settings}
    elif not isinstance(tokenizer, Tokenizer | None):
        raise LmvizError(
            f"There is no tokenizer {tokenizer!r}: choose characters, words, spaces, or bpe:4096."
        )
    return CorpusOptions.from_values({**options.to_values(), **settings}) if settings else options


def _learned(options: TokenizerOptions) -> dict[str, Any]:
    """How a tokenizer was learned as settings of a corpus."""
    return {
        "tokenizer": options.specification,
        "vocabulary": 0 if options.kind == "bpe" else options.vocabulary,
        "minimum_count": options.minimum_count,
        "lower_case": options.lower_case,
    }

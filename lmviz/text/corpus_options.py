"""How a text becomes a corpus: its task, its tokens, its documents, and what is kept from training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lmviz.base.configuration import Configuration, setting
from lmviz.base.errors import LmvizError
from lmviz.text.documents import SEPARATORS
from lmviz.text.encodings import RECOGNISED, SHOWN, WRONG_CHOICES
from lmviz.text.layout import told_columns
from lmviz.text.reading import check_encoding
from lmviz.text.table import QUOTES
from lmviz.text.table import SEPARATORS as BETWEEN_CELLS
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_options import TokenizerOptions

FORMS = (
    "plain",
    "conllu",
    "columns",
    "slashes",
    "lists",
    "spans",
    "fasttext",
    "parquet",
    "jsonl",
    "json",
    "bars",
    "tmx",
    "captions",
    "table",
    "labels",
    "pairs",
    "folders",
    "parallel",
)
"""The forms of texts by their names in `lmviz.text.forms`; and plain text."""

TASKS = ("next-token", "tagging", "classification", "translation", "captioning")

AFTER_DECODING = ("form", "columns", "separator", "quotes", "heading")
"""The settings that say how a file is read once it has characters; a corpus has them as they were found."""

SEVERAL = ("first", "single", "set")
"""What may become of a text with several labels."""

OF_PARTS = ("several", "between")
"""The settings that say what is made of several labels, or texts, of one example."""

OF_ROWS = ("joined", *OF_PARTS, "unrepeated", "wrong_bytes", "boundary", "parts")
"""The settings that say which rows of a file are read, and how much of them; the examples tell it."""


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
    encoding: str = setting(
        RECOGNISED,
        "How the file writes its characters: utf-8, utf-16, cp1252 and others, or what is recognised.",
        advanced=True,
    )
    form: str = setting(
        RECOGNISED,
        "How examples are written: what is recognised, or what you say.",
        choices=(RECOGNISED, *FORMS),
        advanced=True,
    )
    columns: str = setting(
        "",
        "Which column is what, by name or number: label=v1,text=v2, or source=1,target=2, or "
        "word=1,tag=4; text=a+b joins two.",
        advanced=True,
    )
    separator: str = setting(
        RECOGNISED,
        "What separates the columns of a table.",
        choices=(RECOGNISED, *BETWEEN_CELLS),
        advanced=True,
    )
    quotes: str = setting(
        RECOGNISED,
        "What encloses a cell of a table that holds a separator.",
        choices=(RECOGNISED, *QUOTES),
        advanced=True,
    )
    heading: str = setting(
        RECOGNISED,
        "Whether the first row of a table names its columns.",
        choices=(RECOGNISED, "yes", "no"),
        advanced=True,
    )

    joined: bool = setting(
        False,
        "Whether what a row has in columns without a name belongs to its text, as after a broken quote.",
        label="Join columns without a name",
        advanced=True,
    )
    several: str = setting(
        RECOGNISED,
        "What becomes of a text with several labels: only the first counts (first), it is left out (single), "
        "or each set of labels is a class (set).",
        choices=(RECOGNISED, *SEVERAL),
        label="Several labels",
        advanced=True,
    )
    between: str = setting(
        "|",
        "What stands between two texts of one row that are read as one, as in text=premise+hypothesis.",
        label="Between joined texts",
        advanced=True,
    )
    unrepeated: bool = setting(
        False,
        "Whether of rows that say the same only the first is kept.",
        label="First of repeats only",
        advanced=True,
    )

    boundary: str = setting(
        RECOGNISED,
        "What ends a document within a text: marks such as <|endoftext|>, a line of your own choice, none, "
        "or what is recognised.",
        advanced=True,
    )
    parts: str = setting(
        RECOGNISED,
        "Whether files that are called train and validation are these parts, or all are drawn from.",
        choices=(RECOGNISED, "joined"),
        advanced=True,
    )
    wrong_bytes: str = setting(
        SHOWN,
        "What becomes of a few bytes that are no UTF-8: shown as \ufffd, left out, or read as Windows-1252.",
        choices=WRONG_CHOICES,
        advanced=True,
    )

    def check(self) -> None:
        if self.encoding != RECOGNISED:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))
        told_columns(self.columns)
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


def recorded_options(recorded: Mapping[str, Any]) -> CorpusOptions:
    """The options of what a run recorded of its corpus; LmvizError where they cannot be.

    What was plain text when it was read stays plain, whatever is recognised today.
    """
    values = recorded.get("options", {})
    options = CorpusOptions.from_values(values)
    if "boundary" not in values:  # an older version read it, which knew neither marks nor parts
        options = replace(options, boundary="none", parts="joined")
    is_plain = recorded.get("task") == "next-token" and options.form == RECOGNISED
    return replace(options, form="plain") if is_plain else options


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

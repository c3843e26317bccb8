"""The tokenizer that somebody's training has, in whichever form it is given, as one of lmviz."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.character_table import table_description
from lmviz.interchange.tokenizer_files import lacking, read_tokenizer
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_file import backend_of

if TYPE_CHECKING:
    import tokenizers

GIVEN = "the tokenizer that was given"


def read_given_tokenizer(given: Any, vocabulary_size: int) -> Tokenizer:
    """The tokenizer for a model of so many tokens; LmvizError where it is none that can be used.

    It may be one of lmviz, of transformers, of `tokenizers`, a folder or a file of one, or a table of
    characters: {"a": 0, …}. None makes every token a number.
    """
    found = _found(given, vocabulary_size)
    if found.known_size > vocabulary_size:
        raise LmvizError(
            f"The tokenizer has {found.known_size:,} tokens and the module {vocabulary_size:,}: give the "
            "tokenizer of this module."
        )
    return found


def _found(given: Any, size: int) -> Tokenizer:
    if given is None:
        return Tokenizer(_numbers(size), size=size)
    if isinstance(given, Tokenizer):
        return given
    if isinstance(given, str | os.PathLike):
        return _at(Path(given), size)
    if callable(getattr(given, "save_pretrained", None)):  # of transformers
        with tempfile.TemporaryDirectory() as folder:
            given.save_pretrained(folder)
            return _at(Path(folder), size)
    if callable(getattr(given, "to_str", None)):  # of tokenizers, or something like it
        from tokenizers import Tokenizer as Backend

        return Tokenizer(Backend.from_str(given.to_str()), size=size)
    if isinstance(given, Mapping):
        table = given if {"stoi", "itos"} & given.keys() else {"stoi": given}
        return Tokenizer(backend_of(Path(GIVEN), table_description(GIVEN, table)), size=size)
    raise LmvizError(
        f"{type(given).__name__} is no tokenizer that lmviz knows: give that of transformers, of tokenizers, "
        "a tokenizer.json, or a dictionary with the id of each character."
    )


def _at(path: Path, size: int) -> Tokenizer:
    folder = path if os.path.isdir(path) else path.parent
    if path.suffix == ".json":
        return Tokenizer.load(path, size)
    found = read_tokenizer(folder, size)
    if found is None:
        raise LmvizError(f"There is no tokenizer at {path}: {lacking(folder)}.")
    return found


def _numbers(size: int) -> tokenizers.Tokenizer:
    """Every token is its number, and a text a row of numbers with spaces between them."""
    return backend_of(
        Path("the numbers of the tokens"),
        {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": None,
            "decoder": None,
            "model": {
                "type": "WordLevel",
                "vocab": {str(number): number for number in range(size)},
                "unk_token": "0",
            },
        },
    )

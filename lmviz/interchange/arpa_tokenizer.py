"""A tokenizer for the words that an ARPA file lists, which says nothing of how texts are cut into them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_file import CHARACTER_PATTERN, library_call
from lmviz.text.words import PLAIN_SPACED_PATTERN, WORD_PATTERN

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
CAPITAL_UNKNOWN = "<UNK>"
SPECIAL = (START, END, UNKNOWN)

ARPA_ENDINGS = (".arpa", ".arpa.gz")
"""How the names of ARPA files end, in small letters."""

_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")


def arpa_tokenizer(words: Sequence[str]) -> Tokenizer:
    """A tokenizer whose ids are the places of these words, `<unk>` among them.

    It cuts texts at the spaces of ASCII, as KenLM does. Where a word is a space or an end of line, which only
    lmviz writes, it cuts into characters where all words are such, and otherwise into words and punctuation.
    LmvizError where two words are written alike.
    """
    from tokenizers import Tokenizer as Backend

    tokens = [word if word in SPECIAL else written(word) for word in words]
    if len(set(tokens)) != len(tokens):
        raise LmvizError("two of its words are written alike")
    with library_call():
        backend = Backend.from_str(json.dumps(_description(tokens)))
    return Tokenizer(backend)


def written(word: str) -> str:
    """A word of an ARPA file as it stands in a text: what lmviz has escaped there is itself again."""
    return _ESCAPED.sub(_unescaped, word)


def _unescaped(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if character.isspace() or character in "\\<" else found[0]


def _description(tokens: Sequence[str]) -> dict[str, Any]:
    """The content of its tokenizer.json."""
    ids = {token: index for index, token in enumerate(tokens)}
    of_text = [token for token in tokens if token not in SPECIAL]
    split = _cut_into(PLAIN_SPACED_PATTERN, "Removed", invert=True)
    decoder: dict[str, Any] | None = None
    if " " in ids or "\n" in ids:
        if all(len(token) == 1 for token in of_text):
            split = _cut_into(CHARACTER_PATTERN, "Isolated", invert=False)
            decoder = {"type": "Fuse"}
        else:
            split = _cut_into(WORD_PATTERN, "Removed", invert=True)
    first = {"id": START, "ids": [ids.get(START)], "tokens": [START]}
    template = [{"SpecialToken": {"id": START, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    begins = {
        "type": "TemplateProcessing",
        "single": template,
        "pair": [*template, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {START: first},
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],  # in a text they are words between spaces like others
        "normalizer": None,
        "pre_tokenizer": split,
        "post_processor": begins if START in ids else None,
        "decoder": decoder,
        "model": {"type": "WordLevel", "vocab": ids, "unk_token": UNKNOWN},
    }


def _cut_into(pattern: str, behaviour: str, *, invert: bool) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behaviour, "invert": invert}

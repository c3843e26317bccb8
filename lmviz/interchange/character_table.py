"""The table of characters that nanoGPT's data scripts write as `meta.pkl`, described as a `tokenizer.json`.

It is a pickle of a dictionary with `stoi`, the id of each character, and `itos`, the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.plain_pickle import read_plain_pickle
from lmviz.text.tokenizer_file import CHARACTER_PATTERN


def character_table(path: Path) -> dict[str, Any]:
    """The content of a tokenizer.json that knows the characters of a table; others are left out of a text.

    LmvizError where the file holds no such table, or tokens that are longer than a character.
    """
    return table_description(path, read_plain_pickle(path))


def table_description(path: object, values: Any) -> dict[str, Any]:
    """The same for such a table itself, a mapping with "stoi" or "itos", which was found at `path`."""
    table = _table(values) if isinstance(values, Mapping) else None
    if table is None:
        raise LmvizError(
            f"{path} holds no table of characters: there is no stoi or itos in it, so put a "
            "tokenizer.json there."
        )
    longer = next((token for token in table if len(token) != 1), None)
    if longer is not None:
        raise LmvizError(
            f"{path} lists tokens of several characters, such as {longer[:40]!r}, and does not say how a "
            "text is cut into them: put a tokenizer.json there."
        )
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": CHARACTER_PATTERN},
            "behavior": "Isolated",
            "invert": False,
        },
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {"type": "BPE", "vocab": table, "merges": []},
    }


def _table(values: Mapping[Any, Any]) -> dict[str, int] | None:
    """The id of each token; None where none of both tables is one, or two tokens have the same id."""
    there, back = values.get("stoi"), values.get("itos")
    if isinstance(back, list | tuple):
        back = dict(enumerate(back))
    pairs = (
        list(there.items())
        if isinstance(there, Mapping)
        else [(token, index) for index, token in back.items()]
        if isinstance(back, Mapping)
        else []
    )
    plain = all(isinstance(token, str) and type(index) is int and index >= 0 for token, index in pairs)
    if not pairs or not plain:
        return None
    table = dict(pairs)
    return table if len({index for _, index in pairs}) == len(table) else None

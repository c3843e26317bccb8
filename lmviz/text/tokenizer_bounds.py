"""Limits on untrusted tokenizer.json files.

The library takes memory and time for whatever a file describes: an id of 2³¹ becomes a table of 2³¹ rows,
and forty chained parts that each double the text make it 2⁴⁰ times as long. It aborts when memory runs
out, which Python cannot catch. So the parsed JSON is checked before the library sees it. Every limit is
far above the files of published models.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from lmviz.base.errors import LmvizError

LARGEST_ID = 10_000_000
LARGEST_DEPTH = 12
"""Lists and dictionaries within one another. The library's time doubles with each nested sequence."""

MOST_PARTS = 64
"""Normalizers, pre-tokenizers, post-processors or decoders in one chain."""

LARGEST_GROWTH = 1000
"""How many times longer a chain may make a text."""

MOST_ADDED_IDS = 1000
"""Ids that post-processors put beside a text."""

CHAINS = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
"""Each chain, and the name of its list where it is a sequence."""

GROWTH = {"ByteLevel": 2, "BPEDecoder": 2, "CTC": 2, "WordPiece": 2, "NFKC": 4, "NFKD": 4, "Precompiled": 4}
"""How many times longer these parts make a text at most, or nearly always; see _growth for "Replace"."""


def check_bounds(description: dict[str, Any]) -> None:
    """Raise LmvizError, in a few words, where a tokenizer.json asks for too much.

    Parts that do not have the form they should are left to the library, which refuses them.
    """
    _check_depth(description)
    _check_vocabulary(description)
    for name, inside in CHAINS.items():
        parts = list(_parts(description.get(name), inside))
        if len(parts) > MOST_PARTS:
            raise LmvizError(f"its {name} has more than {MOST_PARTS} parts")
        growth = 1
        for part in parts:
            growth *= _growth(part)
        if growth > LARGEST_GROWTH:
            raise LmvizError(f"its {name} could make a text more than {LARGEST_GROWTH:,} times as long")
        if name == "post_processor":
            _check_templates(parts)


def added_ids(description: dict[str, Any]) -> Iterator[int]:
    """The ids that the post-processor puts beside a text."""
    for part in _parts(description.get("post_processor"), CHAINS["post_processor"]):
        yield from _ids_of(part)


def _check_depth(description: dict[str, Any]) -> None:
    level: list[Any] = [description]
    for _ in range(LARGEST_DEPTH):
        inside = chain.from_iterable(value.values() if type(value) is dict else value for value in level)
        level = [value for value in inside if type(value) in (dict, list)]
    if level:
        raise LmvizError(f"it is nested more than {LARGEST_DEPTH} deep")


def _check_vocabulary(description: dict[str, Any]) -> None:
    model, added = description.get("model"), description.get("added_tokens")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    ids = list(vocabulary.values()) if isinstance(vocabulary, dict) else []
    ids += [token.get("id") for token in added if isinstance(token, dict)] if isinstance(added, list) else []
    if any(type(index) is int and not 0 <= index <= LARGEST_ID for index in ids):
        raise LmvizError(f"an id of its vocabulary is not between 0 and {LARGEST_ID:,}")


def _parts(value: Any, inside: str) -> Iterator[dict[str, Any]]:
    """The parts of a chain, those of nested sequences one after the other."""
    if isinstance(value, dict):
        nested = value.get(inside)
        if isinstance(nested, list):
            for item in nested:
                yield from _parts(item, inside)
        else:
            yield value


def _growth(part: dict[str, Any]) -> int:
    """How many times longer a part makes a text at most."""
    content = part.get("content")
    if part.get("type") != "Replace" or not isinstance(content, str):
        return GROWTH.get(str(part.get("type")), 1)
    pattern = part.get("pattern")
    replaced = pattern.get("String") if isinstance(pattern, dict) else None
    if isinstance(replaced, str) and replaced:
        return -(-len(content) // len(replaced)) or 1
    return 1 + len(content)  # a regular expression can match at every character, and before it


def _check_templates(processors: list[dict[str, Any]]) -> None:
    """Each template holds every text once; without that, a chain of them repeats it over and over."""
    added = 0
    for part in processors:
        for name in ("single", "pair"):
            pieces = part.get(name)
            names = [_piece(item) for item in pieces] if isinstance(pieces, list) else []
            texts = [text for kind, text in names if kind == "Sequence"]
            if len(texts) != len(set(texts)):
                raise LmvizError("a template repeats the text")
            known = _special_tokens(part)
            added += sum(len(known.get(text, [])) for kind, text in names if kind == "SpecialToken")
    if added > MOST_ADDED_IDS:
        raise LmvizError(f"its templates put more than {MOST_ADDED_IDS:,} ids beside a text")


def _piece(item: Any) -> tuple[str, str]:
    """The kind of a template's piece, and what it names."""
    if isinstance(item, dict):
        for kind in ("Sequence", "SpecialToken"):
            if isinstance(item.get(kind), dict):
                return kind, str(item[kind].get("id"))
    return "", ""


def _special_tokens(part: dict[str, Any]) -> dict[str, list[Any]]:
    """The ids of a template's special tokens, by their names."""
    tokens = part.get("special_tokens")
    pairs = tokens.items() if isinstance(tokens, dict) else ()
    return {
        name: token["ids"]
        for name, token in pairs
        if isinstance(token, dict) and isinstance(token.get("ids"), list)
    }


def _ids_of(part: dict[str, Any]) -> Iterator[int]:
    for ids in _special_tokens(part).values():
        yield from ids
    for name in ("sep", "cls"):  # of BERT's and RoBERTa's own processors
        if isinstance(part.get(name), list | tuple):
            yield from (item for item in part[name] if type(item) is int)

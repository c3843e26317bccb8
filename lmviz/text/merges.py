"""Byte-pair merges, applied one after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lmviz.base.errors import LmvizError
from lmviz.text.byte_level import readable_piece
from lmviz.text.characters import clean
from lmviz.text.tokenizer import Tokenizer

Merge = tuple[str, str]


def bpe_merges(tokenizer: Tokenizer) -> list[Merge]:
    """The merges of a byte-level tokenizer in the order in which they were learned.

    The two pieces are spelled in the byte-level alphabet, in which "Ġ" is a space; `readable_piece`
    shows one as text. LmvizError for other tokenizers.
    """
    if tokenizer.kind != "bpe":
        raise LmvizError(f"A tokenizer of the kind {tokenizer.kind} merges nothing: choose bpe.")
    merges = json.loads(tokenizer.json)["model"]["merges"]
    pairs = (merge.split(" ", 1) if isinstance(merge, str) else merge for merge in merges)
    return [(left, right) for left, right in pairs]


def apply_merges(text: str, merges: Sequence[Merge], count: int) -> list[str]:
    """The text in pieces after the first `count` merges, as text; with 0 it is in single bytes.

    A piece that is only a part of a character shows its bytes.
    """
    from tokenizers import Tokenizer as Backend
    from tokenizers import models, pre_tokenizers

    applied = list(merges[:count])
    pieces = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(left + right for left, right in applied)]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    backend = Backend(models.BPE(vocabulary, applied))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return [readable_piece(piece) for piece in backend.encode(clean(text)).tokens]

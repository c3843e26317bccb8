"""The tokenizer beside a checkpoint: `tokenizer.json`, or the `vocab.json` and `merges.txt` of GPT-2."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lmviz.errors import LmvizError
from lmviz.text.ordinary_files import read_file
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_file import LARGEST_FILE, backend_of, read_backend, read_description

END_OF_TEXT = "<|endoftext|>"
"""What stands between documents in GPT-2's training."""


def read_tokenizer(folder: Path, vocabulary_size: int) -> Tokenizer | None:
    """The tokenizer of a folder for a model of so many tokens; None where the folder holds none.

    A model may have more tokens than its tokenizer, so that their number is a round one; these have names
    all the same. LmvizError where a file cannot be used.
    """
    if os.path.exists(folder / "tokenizer.json"):
        return Tokenizer(read_backend(folder / "tokenizer.json"), size=vocabulary_size)
    if os.path.exists(folder / "vocab.json") and os.path.exists(folder / "merges.txt"):
        description = _byte_level(folder)
        return Tokenizer(backend_of(folder / "vocab.json", description), size=vocabulary_size)
    return None


def _byte_level(folder: Path) -> dict[str, Any]:
    """What a tokenizer.json would say of byte-level pairs, which GPT-2 keeps in two files."""
    vocabulary = read_description(folder / "vocab.json")
    path = folder / "merges.txt"
    try:
        lines = read_file(path, LARGEST_FILE).decode("utf-8").split("\n")
    except OSError as error:
        raise LmvizError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise LmvizError(f"{path} is not UTF-8 text: choose another checkpoint.") from None
    merges = [line.rstrip("\r") for line in lines if line.strip() and not line.startswith("#version")]
    if any(line.count(" ") != 1 for line in merges):
        raise LmvizError(f"{path} does not list pairs, one on each line: choose another checkpoint.")
    end = vocabulary.get(END_OF_TEXT)
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [{"id": end, "content": END_OF_TEXT, **special}] if type(end) is int else []
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges},
    }

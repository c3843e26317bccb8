"""What a tokenizer.json says about itself, whoever wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.errors import LmvizError
from lmviz.text.words import WORD_PATTERN

if TYPE_CHECKING:
    import tokenizers

CHARACTER_PATTERN = r"[\s\S]"

_NEVER_SEEN = "\U0010ffff"


def read_backend(path: Path) -> tokenizers.Tokenizer:
    """The tokenizer of a tokenizer.json; LmvizError when it is none."""
    from tokenizers import Tokenizer

    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise LmvizError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise LmvizError(f"{path} is no tokenizer.json: it is not UTF-8 text.") from None
    try:
        backend = Tokenizer.from_str(text)
        backend.encode(_NEVER_SEEN)  # what it does to unknown words shows only when it meets one
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the Rust library is no Exception
        raise LmvizError(f"{path} is no tokenizer.json that can be used: {error}.") from error
    return backend


def kind_of(description: dict[str, Any]) -> str:
    """ "characters", "words", "bpe" for byte-level pairs, or "other"."""
    model, cutter = description["model"], description["pre_tokenizer"] or {}
    pattern = cutter["pattern"].get("Regex") if cutter.get("type") == "Split" else None
    if model["type"] == "WordLevel":
        return {CHARACTER_PATTERN: "characters", WORD_PATTERN: "words"}.get(pattern, "other")
    cutters = cutter.get("pretokenizers", [cutter])
    if model["type"] == "BPE" and any(part.get("type") == "ByteLevel" for part in cutters):
        return "bpe"
    return "other"


def is_lower_case(description: dict[str, Any]) -> bool:
    """Whether all that it does to a text beforehand is to write it in lower case."""
    return (description["normalizer"] or {}).get("type") == "Lowercase"


def is_local(description: dict[str, Any]) -> bool:
    """Whether the tokens of a text are those of its characters, words or GPT-2 segments one by one.

    Then a text can be encoded by parts. Foreign files may rewrite the text, add tokens that reach
    across words, or draw at random.
    """
    cutter = description["pre_tokenizer"]
    if description["normalizer"] and not is_lower_case(description):
        return False
    if description["model"].get("dropout") or not all(
        token["special"] for token in description["added_tokens"]
    ):
        return False
    if kind_of(description) == "bpe":
        return not cutter.get("add_prefix_space", True) and cutter.get("use_regex", False)
    return kind_of(description) != "other"

"""Reads and checks a tokenizer.json of any origin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.text.ordinary_files import read_file
from lmviz.text.tokenizer_bounds import added_ids, check_bounds
from lmviz.text.words import PLAIN_SPACED_PATTERN, SPACED_PATTERN, WORD_PATTERN

if TYPE_CHECKING:
    import tokenizers

CHARACTER_PATTERN = r"[\s\S]"

LARGEST_FILE = 200_000_000
"""Bytes of a tokenizer.json; those of the largest published vocabularies take some thirty million."""

_NEVER_SEEN = "\U0010ffff"


@contextmanager
def library_call() -> Iterator[None]:
    """What the `tokenizers` library raises becomes LmvizError: its own bare `Exception`, the refusals of
    its arguments, and panics, which are no `Exception`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        known = type(error) is Exception or isinstance(error, TypeError | ValueError | OverflowError)
        if isinstance(error, Exception) and not known:
            raise
        raise LmvizError(f"The tokenizer cannot do that ({error}): choose another one.") from error


def read_backend(path: Path) -> tokenizers.Tokenizer:
    """The tokenizer of a tokenizer.json; LmvizError when it is none.

    The library reads what was checked, written anew, and never the file itself: the two might not agree
    about a name that is there twice.
    """
    return backend_of(path, read_description(path))


def read_description(path: Path) -> dict[str, Any]:
    """The JSON object in a tokenizer's file; LmvizError where there is none."""
    try:
        text = read_file(path, LARGEST_FILE).decode("utf-8")
        description = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(description, dict):
            raise ValueError
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from error
    except UnicodeDecodeError:
        raise LmvizError(
            f"{path} holds no tokenizer, as it is not UTF-8 text: choose another file."
        ) from None
    except (ValueError, RecursionError):
        raise LmvizError(
            f"{path} holds no tokenizer, as it is not a JSON object: choose another file."
        ) from None
    return description


def _refuse_constant(name: str) -> None:
    """JSON knows neither NaN nor infinity."""
    raise ValueError(name)


def backend_of(path: Path, description: dict[str, Any]) -> tokenizers.Tokenizer:
    """The tokenizer that a description makes, which was read at a path; LmvizError where it is none."""
    from tokenizers import Tokenizer

    from lmviz.text.patterns import check_patterns  # neither is needed for the first paint

    try:
        text = json.dumps(description | {"truncation": None, "padding": None})
        check_bounds(description)
        check_patterns(description, (CHARACTER_PATTERN, WORD_PATTERN, PLAIN_SPACED_PATTERN))
        with library_call():
            backend = Tokenizer.from_str(text)
            size = max(backend.get_vocab(with_added_tokens=True).values(), default=-1) + 1
        if not all(type(index) is int and 0 <= index < size for index in added_ids(description)):
            raise LmvizError("it puts an id beside a text that is not in its vocabulary")
        with library_call():
            backend.encode(_NEVER_SEEN)  # what it does to unknown words shows only when it meets one
    except LmvizError as error:
        reason = str(error.__cause__ or error)
        raise LmvizError(
            f"{path} holds no tokenizer that can be used ({reason.rstrip('.')}): choose another file."
        ) from None
    return backend


@loads("tokenizer")
def vocabulary_in(path: Path) -> tuple[str, ...]:
    """The tokens of a tokenizer.json by id, without what reads it; LmvizError where they cannot be told.

    It knows vocabularies that are written down as they are: of characters or words.
    """
    description = read_description(path)
    model = description.get("model")
    known = model.get("vocab") if isinstance(model, dict) and model.get("type") == "WordLevel" else None
    if not isinstance(known, dict) or set(known.values()) != set(range(len(known))):
        raise LmvizError(f"{path} holds no vocabulary of words: choose another tokenizer.")
    return tuple(sorted(known, key=known.__getitem__))


def kind_of(description: dict[str, Any]) -> str:
    """ "characters", "words", "spaces", "plain spaces", "bpe" for byte-level pairs, or "other"."""
    model, cutter = description["model"], description["pre_tokenizer"] or {}
    pattern = cutter["pattern"].get("Regex", "") if cutter.get("type") == "Split" else ""
    if model["type"] == "WordLevel":
        kinds = {
            CHARACTER_PATTERN: "characters",
            WORD_PATTERN: "words",
            SPACED_PATTERN: "spaces",
            PLAIN_SPACED_PATTERN: "plain spaces",
        }
        return kinds.get(pattern, "other")
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

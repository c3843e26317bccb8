"""The tokenizer beside a checkpoint, in any of the files that other programs write.

It is a `tokenizer.json`, the `vocab.json` and `merges.txt` of GPT-2, the `tokenizer.model` of SentencePiece,
or the `meta.pkl` of nanoGPT; the first that is there is meant.

What the folder says of special tokens stands in four further files, of which any may be missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.character_table import character_table
from lmviz.interchange.sentencepiece_file import read_sentencepiece
from lmviz.interchange.stored_tensors import read_json
from lmviz.text.ordinary_files import read_file
from lmviz.text.special_tokens import SpecialTokens
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_file import LARGEST_FILE, backend_of, library_call, read_backend, read_description

if TYPE_CHECKING:
    import tokenizers

END_OF_TEXT = "<|endoftext|>"
"""What stands between documents in GPT-2's training."""

DESCRIPTION = "config.json"

PIECES, CHARACTERS, PICKLED = "tokenizer.model", "meta.pkl", "tokenizer.pkl"
"""What SentencePiece, the data scripts of nanoGPT, and nanochat write."""

TOKENIZER, VOCABULARY, MERGES, ADDED = "tokenizer.json", "vocab.json", "merges.txt", "added_tokens.json"

GENERATION, TOKENIZER_SETTINGS, SPECIAL_TOKENS, TEMPLATE = (
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
)

SMALL_FILES = (
    DESCRIPTION,
    GENERATION,
    TOKENIZER_SETTINGS,
    SPECIAL_TOKENS,
    TEMPLATE,
    TOKENIZER,
    VOCABULARY,
    MERGES,
    ADDED,
    PIECES,
)
"""What stands beside the weights of transformers: all that is read of it here, and what others read.

It is downloaded and saved together.
"""

TOKENIZER_FILES = (TOKENIZER, VOCABULARY, MERGES, ADDED, PIECES)
"""Those of them that say which tokens there are."""

LARGEST_SETTINGS = 10_000_000
"""Bytes of a file of settings."""

NAMED = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "pad", "sep", "cls", "mask"))
"""The special tokens that have a name in the settings of a tokenizer."""

LISTED = ("additional_special_tokens", "extra_special_tokens")
"""Where the settings list those without a name."""

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def read_tokenizer(folder: Path, vocabulary_size: int) -> Tokenizer | None:
    """The tokenizer of a folder for a model of so many tokens; None where the folder holds none.

    A model may have more tokens than its tokenizer, so that their number is a round one; these have names
    all the same. LmvizError where a file cannot be used.
    """
    if os.path.exists(folder / TOKENIZER):
        backend = read_backend(folder / TOKENIZER)
    elif os.path.exists(folder / VOCABULARY) and os.path.exists(folder / MERGES):
        backend = backend_of(folder / VOCABULARY, _byte_level(folder))
    elif os.path.exists(folder / PIECES) and not _is_of_tiktoken(folder / PIECES):
        return _of_sentencepiece(folder, vocabulary_size)
    elif os.path.exists(folder / CHARACTERS):
        try:
            table = character_table(folder / CHARACTERS)
        except LmvizError:
            return None  # the model reads ids all the same, and `lacking` says why
        return Tokenizer(backend_of(folder / CHARACTERS, table), size=vocabulary_size)
    else:
        return None
    settings = _settings(folder, SPECIAL_TOKENS) | _settings(folder, TOKENIZER_SETTINGS)
    with library_call():
        _add_special(backend, settings)
        return Tokenizer(backend, size=vocabulary_size, special=_special_tokens(folder, settings, backend))


def lacking(folder: Path) -> str:
    """Why a folder has no tokenizer, and how it would get one: a sentence without its full stop."""
    if os.path.exists(folder / CHARACTERS):
        try:
            character_table(folder / CHARACTERS)
        except LmvizError as reason:
            return str(reason).rstrip(".")
    if os.path.exists(folder / PIECES) and _is_of_tiktoken(folder / PIECES):
        return (
            f"{folder / PIECES} is a list of tokens of tiktoken, which does not say how a text is cut: put "
            "the tokenizer.json of the same model beside it"
        )
    if os.path.exists(folder / PICKLED):
        return (
            f"{folder / PICKLED} is a pickle of a tokenizer of tiktoken, as nanochat writes it, and to read "
            "it would run code: write it as a tokenizer.json where it was made, with "
            "convert_tiktoken_to_fast of transformers.integrations.tiktoken"
        )
    return (
        "there is no tokenizer.json, nor vocab.json with merges.txt, tokenizer.model of SentencePiece, or "
        "meta.pkl of nanoGPT: put one of them there"
    )


def _of_sentencepiece(folder: Path, vocabulary_size: int) -> Tokenizer:
    """The tokenizer of a tokenizer.model, with what the folder says beside it."""
    path = folder / PIECES
    found = read_sentencepiece(path)
    settings = _settings(folder, SPECIAL_TOKENS) | _settings(folder, TOKENIZER_SETTINGS)
    starts, ends = settings.get("add_bos_token"), settings.get("add_eos_token")
    try:
        description = found.description(starts if isinstance(starts, bool) else None, ends is True)
    except LmvizError as error:
        raise LmvizError(f"{path} is a tokenizer that lmviz does not know: {error}.") from None
    backend = backend_of(path, description)
    with library_call():
        _add_special(backend, settings)
        special = _special_tokens(folder, settings, backend)
        said = found.ids
        end = said["eos"]
        special = replace(
            special,
            start=said["bos"] if special.start is None else special.start,
            ends=special.ends or (() if end is None else (end,)),
            padding=said["pad"] if special.padding is None else special.padding,
        )
        return Tokenizer(backend, size=vocabulary_size, special=special)


def _is_of_tiktoken(path: Path) -> bool:
    """Whether a file lists tokens in base 64 with their ids, as Llama 3 has them."""
    try:
        with path.open("rb") as file:
            first = file.read(200).split(b"\n")[0]
    except OSError:
        return False
    return re.fullmatch(rb"[A-Za-z0-9+/]+={0,2} \d+\r?", first) is not None


def _settings(folder: Path, name: str) -> dict[str, Any]:
    """What a file of settings says; nothing where there is none."""
    return read_json(folder / name, LARGEST_SETTINGS) if os.path.exists(folder / name) else {}


def _special_tokens(
    folder: Path, settings: Mapping[str, Any], backend: tokenizers.Tokenizer
) -> SpecialTokens:
    """Which tokens begin and end a text, and which are padding.

    Each is taken from the first place that says so: how the model is to write, the model, its tokenizer.
    """
    writes, model = _settings(folder, GENERATION), _settings(folder, DESCRIPTION)

    def ids(role: str) -> tuple[int, ...]:
        for values in (writes, model):
            given = values.get(f"{role}_token_id")
            found = tuple(given) if isinstance(given, list) else () if given is None else (given,)
            if any(type(index) is not int for index in found):
                raise LmvizError(
                    f"{folder} says that {role}_token_id is {given!r:.60}, which is not a token id: "
                    "correct it."
                )
            if found:
                return found
        spelt = _spelling(settings.get(f"{role}_token"))
        index = None if spelt is None else backend.token_to_id(spelt)
        return () if index is None else (index,)

    return SpecialTokens(
        start=next(iter(ids("bos")), None),
        ends=ids("eos"),
        padding=next(iter(ids("pad")), None),
        chat_template=_chat_template(folder, settings),
        are_split=settings.get("split_special_tokens") is True,
    )


def _chat_template(folder: Path, settings: Mapping[str, Any]) -> str | None:
    """The template of a file of its own, or the one in the settings; of several the one called "default"."""
    if os.path.exists(folder / TEMPLATE):
        try:
            return read_file(folder / TEMPLATE, LARGEST_SETTINGS).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            raise LmvizError(f"{folder / TEMPLATE} cannot be read: correct it, or take it away.") from None
    given = settings.get("chat_template")
    if isinstance(given, list):
        named = {item.get("name"): item.get("template") for item in given if isinstance(item, dict)}
        given = named.get("default")
    return given if isinstance(given, str) else None


def _spelling(token: Any) -> str | None:
    """How a token of the settings is spelled, which may be written with its flags or without."""
    spelt = token.get("content") if isinstance(token, dict) else token
    return spelt if isinstance(spelt, str) and spelt else None


def _add_special(backend: tokenizers.Tokenizer, settings: Mapping[str, Any]) -> None:
    """Have the tokens that the settings call special read as such, where the vocabulary has them."""
    from tokenizers import AddedToken

    for token, always_special in _listed(settings):
        spelt = _spelling(token)
        if spelt is None or backend.token_to_id(spelt) is None:
            continue
        given = token if isinstance(token, dict) else {"normalized": False}
        flags = {name: given[name] for name in _FLAGS if type(given.get(name)) is bool}
        is_special = always_special or flags.get("special", False)
        added = AddedToken(spelt, **flags | {"special": is_special})
        (backend.add_special_tokens if is_special else backend.add_tokens)([added])


def _listed(settings: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """The tokens that the settings of a tokenizer add, and whether they are special whatever their flags."""
    decoder = settings.get("added_tokens_decoder")
    yield from ((token, False) for token in (decoder.values() if isinstance(decoder, dict) else ()))
    yield from ((settings[name], True) for name in NAMED if name in settings)
    for name in LISTED:
        listed = settings.get(name)
        listed = list(listed.values()) if isinstance(listed, dict) else listed
        yield from ((token, True) for token in (listed if isinstance(listed, list) else ()))


def _byte_level(folder: Path) -> dict[str, Any]:
    """What a tokenizer.json would say of byte-level pairs, which GPT-2 keeps in two files."""
    vocabulary = read_description(folder / VOCABULARY)
    path = folder / MERGES
    try:
        lines = read_file(path, LARGEST_FILE).decode("utf-8").split("\n")
    except OSError as error:
        raise LmvizError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise LmvizError(f"{path} is not UTF-8 text: choose another checkpoint.") from None
    merges = [line.rstrip("\r") for line in lines if line.strip() and not line.startswith("#version")]
    if any(line.count(" ") != 1 for line in merges):
        raise LmvizError(f"{path} does not list pairs, one on each line: choose another checkpoint.")
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    further = _settings(folder, ADDED)
    special = {token: vocabulary[token] for token in (END_OF_TEXT,) if type(vocabulary.get(token)) is int}
    known = special | {token: index for token, index in further.items() if type(index) is int}
    added = [
        {"id": index, "content": token, **flags, "special": token in special}
        for token, index in sorted(known.items(), key=lambda item: item[1])
    ]
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

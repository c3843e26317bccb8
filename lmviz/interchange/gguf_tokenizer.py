"""The tokenizer that a GGUF file carries, described as a `tokenizer.json` would.

llama.cpp knows byte-level pairs ("gpt2") by their merges and by the name of what cuts a text beforehand, and
the pieces of SentencePiece ("llama") by their scores. The facts are those of its src/llama-vocab.cpp, and of
the tokenizer.json files of the models themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from lmviz.base.errors import LmvizError
from lmviz.interchange.gguf_file import GgufFile
from lmviz.interchange.pieces import FLAGS, SPACE, merges_of, vocabulary_of
from lmviz.text.special_tokens import SpecialTokens
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_file import backend_of, library_call

CONTROL, GIVEN = 3, 4
"""The types of tokens that are special, and of those that are found whole in any text."""

_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
_GPT2 = _BYTES | {"use_regex": True}
_DIGITS = {"type": "Digits", "individual_digits": True}


def _split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _chain(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def _like_llama3(digits: str) -> dict[str, Any]:
    return _chain(
        _split(
            rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        _BYTES,
    )


def _with_marks(digits: str, contractions: str) -> dict[str, Any]:
    """Words by upper and lower case, with the marks of their letters (o200k and Tekken)."""
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    before = r"[^\r\n\p{L}\p{N}]?"
    words = f"{before}{upper}*{lower}+{contractions}|{before}{upper}+{lower}*{contractions}"
    return _chain(
        _split(rf"{words}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"), _BYTES
    )


_OF_LLAMA3, _OF_QWEN = _like_llama3(r"\p{N}{1,3}"), _like_llama3(r"\p{N}")
_OF_SMOLLM = _chain(_DIGITS, _GPT2)
_OF_FALCON = _chain(
    {"type": "Punctuation", "behavior": "Contiguous"},
    _GPT2,
    {"type": "Digits", "individual_digits": False},
    _split("[0-9][0-9][0-9]"),
)

CUTTERS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("gpt-2", "olmo", "mpt", "phi-2", "jais", "roberta-bpe", "gpt-neox"), _GPT2),
    **dict.fromkeys(
        ("llama-bpe", "llama3", "llama-v3", "falcon3", "smaug-bpe", "dbrx", "pixtral"), _OF_LLAMA3
    ),
    **dict.fromkeys(("qwen2", "stablelm2", "deepseek-r1-qwen", "megrez", "hunyuan"), _OF_QWEN),
    **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"), _OF_SMOLLM),
    "falcon": _OF_FALCON,
    "tekken": _with_marks(r"\p{N}", ""),
    **dict.fromkeys(("gpt-4o", "llama4"), _with_marks(r"\p{N}{1,3}", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?")),
}
"""What cuts a text before byte-level pairs are joined, by llama.cpp's names."""

_WHOLE_WORDS = ("llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral", "tekken", "gpt-4o", "llama4")
"""A word that is a token is left whole there, whatever the merges make of it."""

_BEGIN_WITH_START = ("llama-bpe", "llama3", "llama-v3", "falcon3")
"""Where a text begins with START unless the file says otherwise; so it does with SentencePiece."""


def tokenizer_in(file: GgufFile, vocabulary_size: int) -> Tokenizer | None:
    """The tokenizer of a file; None where it has none. LmvizError where it is of a kind that lmviz lacks."""
    said = {
        name.removeprefix("tokenizer.ggml."): value
        for name, value in file.said.items()
        if name.startswith("tokenizer.")
    }
    tokens, model = said.get("tokens"), said.get("model")
    if not tokens or model in (None, "none", "no_vocab"):
        return None
    if model not in ("gpt2", "llama"):
        raise LmvizError(
            f"{file.path} has a tokenizer of the kind {model!r:.60}, and lmviz knows byte-level pairs (gpt2) "
            "and SentencePiece (llama): choose the checkpoint of transformers that it was made from."
        )
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise LmvizError(f"{file.path} lists tokens that are not words: choose another checkpoint.")
    if model == "llama" and str(file.said.get("general.architecture", "")).startswith("gemma"):
        # Its runs of spaces are spelt as they are, and stand in its pairs as all spaces do.
        tokens = [token.replace(" ", SPACE) if not token.strip() else token for token in tokens]
    try:
        description = _byte_level(said, tokens) if model == "gpt2" else _pieces(file, said, tokens)
        description |= {"version": "1.0", "added_tokens": _added(said, tokens)}
        description["post_processor"] = _around(said, tokens, model)
    except LmvizError as error:
        raise LmvizError(f"{file.path} {error}") from None
    backend = backend_of(file.path, description)
    with library_call():
        known = backend.get_vocab(with_added_tokens=True)
        if any(tokens[index] != token for token, index in known.items() if index < len(tokens)) or (
            max(known.values()) >= len(tokens)
        ):
            raise LmvizError(f"{file.path} has tokens that would get other ids: choose another checkpoint.")
        return Tokenizer(backend, size=vocabulary_size, special=_special(said, tokens))


def _byte_level(said: dict[str, Any], tokens: Sequence[str]) -> dict[str, Any]:
    cutter, merges = str(said.get("pre", "gpt-2")), said.get("merges")
    cutter = "gpt-2" if cutter == "default" else cutter
    if cutter not in CUTTERS:
        raise LmvizError(
            f"cuts texts in a way that lmviz does not know ({cutter[:40]!r}): choose the checkpoint of "
            "transformers that it was made from."
        )
    if not isinstance(merges, list) or not all(
        isinstance(merge, str) and merge.count(" ") == 1 for merge in merges
    ):
        raise LmvizError("has a tokenizer without its pairs: choose another checkpoint.")
    return {
        "normalizer": {"type": "NFC"} if cutter in ("qwen2", "deepseek-r1-qwen") else None,
        "pre_tokenizer": CUTTERS[cutter],
        "decoder": _GPT2,
        "model": {
            "type": "BPE",
            "vocab": vocabulary_of(tokens),
            "merges": merges,
            "ignore_merges": cutter in _WHOLE_WORDS,
        },
    }


def _pieces(file: GgufFile, said: dict[str, Any], tokens: Sequence[str]) -> dict[str, Any]:
    """SentencePiece joins the pair whose piece has the highest score; the library wants pairs in an order."""
    scores = said.get("scores")
    if (
        not isinstance(scores, list)
        or len(scores) != len(tokens)
        or not all(isinstance(score, int | float) for score in scores)
    ):
        raise LmvizError("has a tokenizer without a score for each piece: choose another checkpoint.")
    if str(file.said.get("general.architecture", "")).startswith("gemma"):
        # Scores do not say the order of pieces, but ids do.
        scores = [-index for index in range(len(tokens))]
    vocabulary = vocabulary_of(tokens)
    spaces = [{"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]
    begins_with_space = said.get("add_space_prefix", True) is True
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    unknown = said.get("unknown_token_id")
    decoder = [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        *([strip] if begins_with_space else []),
    ]
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Prepend", "prepend": SPACE}, *spaces] if begins_with_space else spaces,
        },
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": decoder},
        "model": {
            "type": "BPE",
            "vocab": vocabulary,
            "merges": said.get("merges") or merges_of(vocabulary, scores),
            "unk_token": tokens[unknown] if _is_token(unknown, tokens) else None,
            "byte_fallback": True,
            "fuse_unk": True,
        },
    }


def _is_token(index: Any, tokens: Sequence[str]) -> TypeGuard[int]:
    return type(index) is int and 0 <= index < len(tokens)


def _added(said: dict[str, Any], tokens: Sequence[str]) -> list[dict[str, Any]]:
    """The tokens that are found whole in a text, special ones among them."""
    listed = said.get("token_type")
    kinds = listed if isinstance(listed, list) else []
    known = vocabulary_of(tokens)
    return [
        {"id": index, "content": token, **FLAGS, "special": kind == CONTROL}
        for index, (token, kind) in enumerate(zip(tokens, kinds, strict=False))
        if kind in (CONTROL, GIVEN) and token and known[token] == index
    ]


def _around(said: dict[str, Any], tokens: Sequence[str], model: str) -> dict[str, Any] | None:
    """What stands before and after each text."""
    by_habit = model == "llama" or said.get("pre") in _BEGIN_WITH_START
    wanted = {
        "bos": said.get("add_bos_token", by_habit) is True,
        "eos": said.get("add_eos_token", False) is True,
    }
    given = {name: said.get(f"{name}_token_id") for name, is_wanted in wanted.items() if is_wanted}
    ids = {name: index for name, index in given.items() if _is_token(index, tokens)}
    if not ids:
        return _GPT2 if model == "gpt2" else None
    special = {name: {"SpecialToken": {"id": tokens[index], "type_id": 0}} for name, index in ids.items()}
    single: list[Any] = [special.get("bos"), {"Sequence": {"id": "A", "type_id": 0}}, special.get("eos")]
    single = [part for part in single if part is not None]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            tokens[index]: {"id": tokens[index], "ids": [index], "tokens": [tokens[index]]}
            for index in ids.values()
        },
    }


def _special(said: dict[str, Any], tokens: Sequence[str]) -> SpecialTokens:
    start, padding = (
        index if _is_token(index, tokens) else None
        for index in (said.get("bos_token_id"), said.get("padding_token_id"))
    )
    ends = [said.get(f"{name}_token_id") for name in ("eos", "eot", "eom")]
    template = said.get("tokenizer.chat_template")
    return SpecialTokens(
        start=start,
        ends=tuple(dict.fromkeys(index for index in ends if _is_token(index, tokens))),
        padding=padding,
        chat_template=template if isinstance(template, str) else None,
    )

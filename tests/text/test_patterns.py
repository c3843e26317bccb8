"""Patterns of strangers' tokenizers: those of published models are used, those that take for ever are not."""

import time

import pytest
from covering import parametrize_few

from lmviz.base.errors import LmvizError
from lmviz.text.patterns import check_patterns
from lmviz.text.tokenizer_file import CHARACTER_PATTERN
from lmviz.text.words import PLAIN_SPACED_PATTERN, WORD_PATTERN

PUBLISHED = {
    "GPT-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "Llama 3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "possessive": r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?+\p{L}+| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+",
    "kinds of letters": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "classes in classes": r"[\p{Han}]+|[\p{Lu}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lo}&&[^\p{Han}]]+(?i:'s)?",
    "DeepSeek": r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "BLOOM": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "CLIP": r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "threes of digits": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))",
    "T5": " {2,}",
    "lmviz's words": WORD_PATTERN,
    "lmviz's characters": CHARACTER_PATTERN,
    "lmviz's spaces": PLAIN_SPACED_PATTERN,
    "signs between": r"\d+(?:[.,:]\d+)+|\w+(?:-\w+)*",
    "no pattern": "(",
}
ENDLESS = [
    *(r"(a+)+$", r"(a|a)*$", r"(?:ab|ab)*c", r"((a)?b)+", r"(a*)*", r"(?:a{2,})+b", r"(a)\1+", r"(?<x>a+)+"),
    *(r"a{1,50}{1,50}b", r"(?=(a+)+$)", r"(?:[a-z]+|\d+)+!", r"([\p{L}]+\s?)*$", r"((a+))+$", r"a**b"),
    *(r"(?:aa*)+$", r"(?:ab(?:ab)*)+$", r"(?:[-a]\w+)+!", r"(?:xa+|y)+z"),
    *(r"\s+\s+\s+$", r"[ab]*[ab]*[^ab]x", r".*.*.*=.*", r"\p{L}*\p{L}*\p{L}*\d", "a" * 30_000),
]


def within(pattern: str) -> dict[str, object]:
    return {"pre_tokenizer": {"pretokenizers": [{"type": "Split", "pattern": {"Regex": pattern}}]}}


@pytest.mark.parametrize("name", PUBLISHED)
def test_patterns_like_those_of_published_models_are_used(name: str) -> None:
    check_patterns(within(PUBLISHED[name]))


@parametrize_few("pattern", ENDLESS, quick=9, ids=lambda pattern: pattern[:20])
def test_a_pattern_that_could_take_very_long_is_refused(pattern: str) -> None:
    began = time.thread_time()
    with pytest.raises(LmvizError, match="a pattern of it"):
        check_patterns(within(pattern))
    assert time.thread_time() - began < 5

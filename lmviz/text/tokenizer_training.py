"""Learning a vocabulary from texts: characters, words, what stands between spaces, or byte pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from lmviz.text.characters import clean, code_points, expand_case
from lmviz.text.segments import SEGMENTS
from lmviz.text.tokenizer import END, START, UNKNOWN, Tokenizer
from lmviz.text.tokenizer_file import CHARACTER_PATTERN, library_call
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.words import SPACED_PATTERN, WORD_PATTERN

if TYPE_CHECKING:
    import tokenizers

_BLOCK = 1 << 15  # characters counted at a time: no other thread has its turn meanwhile
_LONG_RUN = re.compile(r"\S{2048}|\s{2048}")
_SAMPLE = 1 << 22  # characters after which byte pairs are learned from a part of the text


def train_tokenizer(
    texts: Iterable[str], options: TokenizerOptions, marks_boundaries: bool, *, ends: bool = False
) -> Tokenizer:
    """Learn the vocabulary of the texts.

    The texts may be parts of longer ones, cut before a space. START and END are in the vocabulary when
    `marks_boundaries`, and END alone with `ends`; byte-level pairs need no unknown token, since every text
    is made of bytes.
    """
    from tokenizers import normalizers, processors

    special = [START, END] if marks_boundaries else [END] if ends else []
    learn = {"characters": _characters, "words": _words, "spaces": _words, "bpe": _byte_pairs}[options.kind]
    backend = learn((clean(text) for text in texts), options, special)
    if options.lower_case:
        backend.normalizer = normalizers.Lowercase()
    if marks_boundaries:
        first = backend.token_to_id(START)
        backend.post_processor = processors.TemplateProcessing(
            single=f"{START} $A", special_tokens=[(START, first)]
        )
    return Tokenizer(backend, options)


def _characters(texts: Iterable[str], options: TokenizerOptions, special: list[str]) -> tokenizers.Tokenizer:
    """The characters of the texts, in the order of their code points."""
    from tokenizers import Regex, decoders, pre_tokenizers

    counts = np.zeros(0, dtype=np.int64)  # (code point,)
    for block in _blocks(texts):
        text = expand_case("".join(block), options.lower_case)
        seen = np.bincount(code_points(text, options.lower_case))
        counts = np.pad(counts, (0, max(0, len(seen) - len(counts))))
        counts[: len(seen)] += seen
    codes = np.flatnonzero(counts)
    kept = _most_frequent({chr(code): int(counts[code]) for code in codes}, options, len(special) + 1)
    backend = _with_vocabulary([*special, UNKNOWN], sorted(kept))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(CHARACTER_PATTERN), "isolated")
    backend.decoder = decoders.Fuse()
    return backend


def _words(texts: Iterable[str], options: TokenizerOptions, special: list[str]) -> tokenizers.Tokenizer:
    """The words of the texts, or what stands between spaces in them, the most frequent first."""
    from tokenizers import Regex, normalizers, pre_tokenizers

    pattern = SPACED_PATTERN if options.kind == "spaces" else WORD_PATTERN
    cutter = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    lower = normalizers.Lowercase().normalize_str if options.lower_case else str
    segments: Counter[str] = Counter()
    for block in _blocks(texts):
        segments.update(chain.from_iterable(map(SEGMENTS["words"].findall, block)))
    counts: Counter[str] = Counter()
    for segment, count in segments.items():
        for word, _ in cutter.pre_tokenize_str(lower(segment)):
            counts[word] += count
    backend = _with_vocabulary([*special, UNKNOWN], _most_frequent(counts, options, len(special) + 1))
    backend.pre_tokenizer = cutter
    return backend


def _most_frequent(counts: Mapping[str, int], options: TokenizerOptions, special: int) -> list[str]:
    """The tokens to keep beside that many special ones, the most frequent first."""
    kept = [token for token, count in counts.items() if count >= options.minimum_count]
    kept.sort()  # the order of those that are as frequent; sorting pairs of both takes twice as long
    kept.sort(key=counts.__getitem__, reverse=True)
    return kept[: max(0, options.vocabulary - special)] if options.vocabulary else kept


def _with_vocabulary(special: list[str], tokens: list[str]) -> tokenizers.Tokenizer:
    """A tokenizer that knows those tokens and no other."""
    from tokenizers import AddedToken, Tokenizer, models

    vocabulary = {token: index for index, token in enumerate([*special, *tokens])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    backend.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    return backend


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in lists of some hundred thousand characters, since each call has a fixed cost."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _byte_pairs(texts: Iterable[str], options: TokenizerOptions, special: list[str]) -> tokenizers.Tokenizer:
    """Byte pairs merged, the most frequent first (Sennrich et al. 2016, on bytes)."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    backend = Tokenizer(models.BPE())
    if options.lower_case:
        backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=options.vocabulary,
        min_frequency=options.minimum_count,
        special_tokens=special,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    with library_call():
        backend.train_from_iterator(without_long_runs(_sample(texts)), trainer)
    return backend


def without_long_runs(texts: Iterable[str]) -> Iterator[str]:
    """The texts, cut where characters follow one another too long without a space between them.

    The time that byte pairs take to learn grows with the square of such a run: for a genome, which is one
    word to them, it would be hours.
    """
    for text in texts:
        start = 0
        for run in _LONG_RUN.finditer(text):
            yield text[start : run.end()]
            start = run.end()
        yield text[start:]


def _sample(texts: Iterable[str]) -> Iterator[str]:
    """All texts up to the sample's size, then every other block for as long, then every fourth and so on.

    Merges hardly change with more text, but time and memory grow with it.
    """
    taken = 0
    for number, block in enumerate(_blocks(texts)):
        if number % (1 << taken // _SAMPLE) == 0:
            yield from block
            taken += sum(map(len, block))

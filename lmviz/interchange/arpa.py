r"""The ARPA format: n-gram models as text, which KenLM, SRILM and most others read and write.

For each order it lists the base-10 logarithm of every n-gram's probability, the n-gram's tokens and,
if longer n-grams begin with it, the logarithm of its back-off weight; -99 stands for the logarithm of
zero. Spaces and tabs separate tokens; any white space and backslashes inside a token of lmviz are written as
`\u` and four hexadecimal digits.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.base.machine_memory import GIGABYTE, machine_memory
from lmviz.interchange.arpa_tokenizer import CAPITAL_UNKNOWN, END, START, UNKNOWN, arpa_tokenizer
from lmviz.models.model import EVERY_LINE
from lmviz.models.ngram.backoff import BackoffNgram
from lmviz.models.ngram.backoff_tables import BackoffLevel, BackoffTables, as_backoff
from lmviz.models.ngram.configuration import HIGHEST_ORDER
from lmviz.models.ngram.level import ABSENT, Level, NgramIndex
from lmviz.models.ngram.model import Ngram
from lmviz.text.ordinary_files import read_file
from lmviz.text.tokenizer import Tokenizer

LOGARITHM_OF_ZERO = -99.0
"""What stands for zero in a file. It is read as it is, 10^-99, as KenLM reads it."""

LOGARITHM_OF_UNLISTED = -100.0
"""What KenLM takes for unknown words where the file lists no `<unk>`."""

_INFLATED = 8
"""A compressed file may hold at most this part of the memory, for its numbers take several times its text."""

ROUNDING = 1e-4
"""How far above zero the logarithm of a probability may lie by rounding."""

Section = list[tuple[str, ...]]
"""The lines of one order, each as its fields."""


def write_arpa(path: str | Path, model: Ngram, tokenizer: Tokenizer) -> None:
    """Write a model and the tokens of its tokenizer; LmvizError where the folder cannot be written to."""
    lines = _lines(as_backoff(model.tables), arpa_words(tokenizer))
    write_atomically(path, "\n".join(lines).encode("utf-8", errors="surrogatepass"))


@loads("ARPA")
def read_arpa(path: str | Path, tokenizer: Tokenizer | None = None) -> BackoffNgram:
    """Read a model, or raise LmvizError, whatever the bytes are.

    With a tokenizer, the model's ids are the tokenizer's, and tokens that the file lacks never come;
    without, the ids follow the order in which the file lists the tokens.
    """
    with _reading(path) as text:
        sections = list(_sections(text))
        words = [row[1] for row in sections[0]] if tokenizer is None else arpa_words(tokenizer)
        model = BackoffNgram(_tables(sections, words), tuple(words))
    return _reader(model, tokenizer)


@loads("ARPA")
def open_arpa(path: str | Path) -> BackoffNgram:
    """Read a model that can read texts, by the tokenizer.json beside the file or one made of its words.

    Words that are not in the file stand for unknown ones. Texts are read line by line, each between START and
    END, where the file lists these. LmvizError as of `read_arpa`.
    """
    beside = Path(path).parent / "tokenizer.json"
    if os.path.isfile(beside):
        return read_arpa(path, Tokenizer.load(beside))
    with _reading(path) as text:
        sections = list(_sections(text))
        words = [row[1] for row in sections[0]]
        words += [] if UNKNOWN in words else [UNKNOWN]
        model = BackoffNgram(_tables(sections, words), tuple(words))
        _reader(model, arpa_tokenizer(words))
    model.name = Path(path).name
    return model


def _reader(model: BackoffNgram, tokenizer: Tokenizer | None) -> BackoffNgram:
    """The model with what reads texts for it."""
    model.tokenizer = tokenizer
    if tokenizer is not None and tokenizer.marks_boundaries:
        model.documents = EVERY_LINE
    return model


@contextmanager
def _reading(path: str | Path) -> Iterator[str]:
    """The text of a file; what is wrong with it becomes one sentence."""
    try:
        text = _inflated(read_file(path)).decode("utf-8")
    except (zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise LmvizError(f"{path} cannot be decompressed ({error}): get it again.") from None
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from None
    except UnicodeDecodeError as error:
        raise LmvizError(f"{path} is not UTF-8 text (byte {error.start}): choose another file.") from None
    try:
        yield text
    except (_Malformed, LmvizError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise LmvizError(
            f"{path} is not an ARPA file that can be used ({reason}): choose another file."
        ) from None


def _inflated(content: bytes) -> bytes:
    """What was compressed with gzip, or the content itself."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    limit = (machine_memory() or 8 * GIGABYTE) // _INFLATED
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        inflated = file.read(limit + 1)
    if len(inflated) > limit:
        raise OSError(errno.EFBIG, f"it holds more than {limit / GIGABYTE:,.0f} GB")
    return inflated


def arpa_words(tokenizer: Tokenizer) -> list[str]:
    """The tokens by id as an ARPA file spells them, no two alike."""
    special = {tokenizer.start_id: START, tokenizer.end_id: END, tokenizer.unknown_id: UNKNOWN}
    words = []
    for index, token in enumerate(tokenizer.spellings()):
        word = re.sub(r"[\s\\]", lambda found: f"\\u{ord(found[0]):04x}", token)
        if word in (START, END, UNKNOWN):
            word = f"\\u{ord(word[0]):04x}{word[1:]}"
        words.append(special.get(index, word or f"\\{index}"))
    return words


def _lines(tables: BackoffTables, words: list[str]) -> Iterator[str]:
    yield "\\data\\"
    for order, listed in enumerate(tables.levels, 1):
        yield f"ngram {order}={len(listed.level)}"
    begins = [""]  # the n-grams of the order below
    for order, listed in enumerate(tables.levels, 1):
        yield f"\n\\{order}-grams:"
        contexts = (listed.level.keys // listed.level.vocabulary_size).tolist()
        last = listed.level.words.tolist()
        grams = [f"{begins[context]}{words[word]}" for context, word in zip(contexts, last, strict=True)]
        weights = [""] * len(grams)
        if order < tables.order:
            weights = [f"\t{weight:.7g}" for weight in _logarithms(tables.levels[order].backoffs[:-1])]
        for row in zip(_logarithms(listed.probabilities), grams, weights, strict=True):
            yield f"{row[0]:.7g}\t{row[1]}{row[2]}"
        begins = [f"{gram} " for gram in grams]
    yield "\n\\end\\\n"


def _logarithms(values: np.ndarray) -> list[float]:
    known = values > 0
    return np.where(known, np.log10(np.where(known, values, 1.0)), LOGARITHM_OF_ZERO).tolist()


_FIELD = re.compile(r"[^ \t\r]+")
_FURTHER_SPACE = re.compile(r"[^\S \t\r\n]")
_CAPITAL_UNKNOWN = re.compile(rf"(?<![^ \t]){CAPITAL_UNKNOWN}(?![^ \t\r\n])")


class _Malformed(Exception):
    """What is wrong with a file."""


def _sections(text: str) -> Iterator[Section]:
    """For each order the fields of its lines, checked to be as many as the file says."""
    if CAPITAL_UNKNOWN in text:
        text = _CAPITAL_UNKNOWN.sub(UNKNOWN, text)
    # str.split is four times as fast, but cuts at further spaces as well
    cut: Callable[[str], list[str]] = _FIELD.findall if _FURTHER_SPACE.search(text) else str.split
    rows = iter(text.split("\n"))
    if not any(line.strip() == "\\data\\" for line in rows):
        raise _Malformed("there is no line \\data\\")
    sizes: list[int] = []
    line = ""
    for line in rows:
        declared = re.fullmatch(r"ngram\s+(\d+)\s*=\s*(\d+)", line.strip(), re.ASCII)
        if declared is None:
            if line.strip():
                break
            continue
        if int(declared[1]) != len(sizes) + 1:
            raise _Malformed(f"order {len(sizes) + 1} is not declared")
        sizes.append(int(declared[2]))
    if not 1 <= len(sizes) <= HIGHEST_ORDER:
        raise _Malformed(f"it declares {len(sizes)} orders; from 1 to {HIGHEST_ORDER} can be used")
    for order, size in enumerate(sizes, 1):
        if line.strip() != f"\\{order}-grams:":
            raise _Malformed(f"\\{order}-grams: is not where it should be")
        section = []
        for line in rows:
            if line.startswith("\\"):
                break
            if fields := tuple(cut(line)):  # tuples of text, unlike lists, do not burden the collector
                section.append(fields)
        if len(section) != size:
            raise _Malformed(f"it declares {size} {order}-grams and lists {len(section)}")
        if any(len(fields) not in (order + 1, order + 2) for fields in section):
            raise _Malformed(f"one of the {order}-grams has too few or too many words")
        yield section
    if line.strip() != "\\end\\":
        raise _Malformed("there is no line \\end\\ after the last n-gram")


def _tables(sections: list[Section], words: list[str]) -> BackoffTables:
    """The levels of a file, when these are the tokens by id."""
    ids = {word: index for index, word in enumerate(words)}
    if len(ids) != len(words):
        raise _Malformed("a token is listed twice")
    start_id = ids.get(START)
    start = 0.0  # the probability that the file has for START, which no distribution shows
    levels: list[BackoffLevel] = []
    backoffs = np.ones(1)  # (context,) the weights of the order below, here of the empty context
    for order, section in enumerate(sections, 1):
        grams = _grams(section, ids, order)  # (ngram, order)
        level, places = _level([listed.level for listed in levels], grams, len(words))
        listed, weights = _numbers(section, order)
        is_start = grams[:, -1] == start_id
        start = float(listed[is_start].sum()) if order == 1 else start
        listed[is_start] = 0.0
        probabilities = np.zeros(len(level))
        probabilities[places] = listed
        if order == 1 and UNKNOWN in ids and ids[UNKNOWN] not in grams:
            probabilities[ids[UNKNOWN]] = 10.0**LOGARITHM_OF_UNLISTED
        levels.append(BackoffLevel(level, probabilities, np.append(backoffs, 1.0)))
        backoffs = np.ones(len(level))
        backoffs[places] = weights
    return BackoffTables(tuple(levels), start_id, start)


def _grams(section: Section, ids: dict[str, int], order: int) -> np.ndarray:
    """The token ids of an order's n-grams, (ngram, order)."""
    flat = (ids[word] for fields in section for word in fields[1 : order + 1])
    try:
        return np.fromiter(flat, dtype=np.int64).reshape(-1, order)
    except KeyError as error:
        raise _Malformed(f"{error.args[0]!r} is not in the vocabulary") from None


def _numbers(section: Section, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and backoff weights of an order, both (ngram,), 1 where there is no weight."""
    logarithms = np.array([float(fields[0]) for fields in section])
    weights = np.array([float(fields[order + 1]) if len(fields) > order + 1 else 0.0 for fields in section])
    if not (logarithms <= ROUNDING).all() or not (weights <= -LOGARITHM_OF_ZERO).all():
        raise _Malformed(f"a number of the {order}-grams is not a logarithm of a probability or of a weight")
    return 10.0 ** np.minimum(logarithms, 0.0), 10.0**weights


def _level(below: list[Level], grams: np.ndarray, vocabulary_size: int) -> tuple[Level, np.ndarray]:
    """The level of n-grams (ngram, order), and the id of each in it, (ngram,)."""
    if below:
        contexts = NgramIndex(tuple(below)).ids(grams[:, :-1])
        if (contexts == ABSENT).any():
            raise _Malformed(f"a context of the {len(below) + 1}-grams is not listed")
        unsorted = contexts * vocabulary_size + grams[:, -1]
        keys = np.sort(unsorted)
    else:
        unsorted, keys = grams[:, 0], np.arange(vocabulary_size)
    level = Level(keys, np.ones(len(keys)), len(below[-1]) if below else 1, vocabulary_size)
    if len(np.unique(unsorted)) != len(unsorted):
        raise _Malformed(f"one of the {len(below) + 1}-grams is listed twice")
    return level, np.searchsorted(keys, unsorted)

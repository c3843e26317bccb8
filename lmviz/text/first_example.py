"""One example of a corpus, read without learning a tokenizer or encoding the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import corpus_files, find_entry
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.documents import draw, split
from lmviz.text.packing import name_within
from lmviz.text.plain_documents import plain_documents
from lmviz.text.reading import find_files, read_found
from lmviz.text.stretch import Stretches
from lmviz.text.task_reading import FoundExamples, read_examples, read_labelled_folders

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

LONGEST = 60
"""Characters of a plain text that are enough for a first look."""

TOKENS, WORDS = 40, 5
"""So many tokens are looked at for the words that are proposed, and so many words are."""

MOST = 32 << 20
"""Bytes of files that are read for an example: a second's work."""


@dataclass(frozen=True)
class Example:
    """A text that a model reads; for one that translates, its `source` and, as `text`, the translation."""

    text: str
    source: str = ""


def first_example(sources: Sequence[str], options: CorpusOptions, targets: Sequence[str] = ()) -> Example:
    """The first example that models are not trained on; of a plain text the words that it begins with.

    `sources` is the name of a corpus of the catalogue, or files, and `targets` their translations.
    LmvizError where the corpus cannot be read, or has yet to be downloaded.
    """
    found, files = _found(sources, options, targets)
    found = found if isinstance(found, FoundExamples) else None
    examples = None if found is None else found.text
    if examples is None:
        plain = plain_documents([data for _, data in files], found, options)
        documents, held_out = split(plain.documents, options.validation, options.seed, True)
        return Example(_beginning((held_out or documents)[0]))
    place = int(draw(len(examples.sources), options.validation, options.seed).argmax())
    if examples.targets is None:
        return Example(examples.sources[place])
    return Example(examples.targets[place], examples.sources[place])


def beginning_of(corpus: Corpus) -> str:
    """A few words with which a text begins that is held out, or else one that is learned from.

    Empty where the text has none.
    """
    stream = corpus.validation_stream if len(corpus.validation) else corpus.training_stream
    text = Stretches(stream).at(0, min(len(stream.ids), TOKENS)).text.strip()
    return " ".join(text.partition("\n")[0][:LONGEST].split()[:WORDS])


def _found(
    sources: Sequence[str], options: CorpusOptions, targets: Sequence[str]
) -> tuple[object, list[tuple[str, bytes]]]:
    """The examples of a corpus, if it has any, and its files in UTF-8."""
    entry = find_entry(sources[0]) if len(sources) == 1 else None
    if entry is not None:
        files = corpus_files(entry, options.span)
        return read_examples(files, options, parallel=bool(entry.members)), files
    paths, _ = find_files([*sources, *targets])
    if sum(path.stat().st_size for path in paths) > MOST:
        raise LmvizError(f"{paths[0]} is too long to be read for one example: open it as a text.")
    if options.form == "folders":
        return read_labelled_folders(paths, options.encoding), []
    wrong = options.wrong_bytes
    files = [(name_within(path), read_found(path, options.encoding, wrong=wrong)[0]) for path in paths]
    return read_examples(files, options, parallel=bool(targets)), files


def _beginning(text: str) -> str:
    """The first words of a text, as many as fit."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= LONGEST else line[:LONGEST].rpartition(" ")[0]

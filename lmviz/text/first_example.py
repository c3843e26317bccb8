"""One example of a corpus of the catalogue, read without learning a tokenizer or encoding the whole."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.text.catalogue import Entry, corpus_files
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.documents import divide, draw, split
from lmviz.text.task_reading import FoundExamples, read_examples

LONGEST = 60
"""Characters of a plain text that are enough for a first look."""


@dataclass(frozen=True)
class Example:
    """A text that a model reads; for one that translates, its `source` and, as `text`, the translation."""

    text: str
    source: str = ""


def first_example(entry: Entry, options: CorpusOptions) -> Example:
    """The first example that models are not trained on; of a plain text the words that it begins with.

    LmvizError where the corpus cannot be read, or has yet to be downloaded.
    """
    files = corpus_files(entry, options.span)
    found = read_examples(files, options, parallel=bool(entry.members))
    examples = found.text if isinstance(found, FoundExamples) else None
    if examples is None:
        documents, held_out = split(
            divide([data for _, data in files], options.documents), options.validation, options.seed, True
        )
        return Example(_beginning((held_out or documents)[0]))
    place = int(draw(len(examples.sources), options.validation, options.seed).argmax())
    if examples.targets is None:
        return Example(examples.sources[place])
    return Example(examples.targets[place], examples.sources[place])


def _beginning(text: str) -> str:
    """The first words of a text, as many as fit."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= LONGEST else line[:LONGEST].rpartition(" ")[0]

"""The documents of a text whose next token is predicted: files, or the texts of a column, cut at marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.document_marks import KNOWN_MARKS, chosen_marks, divide_at
from lmviz.text.documents import Documents, divide
from lmviz.text.encodings import RECOGNISED
from lmviz.text.task_reading import FoundExamples


@dataclass(frozen=True, eq=False)
class PlainDocuments:
    """Documents, the marks that end some of them, and how many there are.

    `held_out` says which are for validation, (document,) bool, where the files are the parts.
    """

    documents: Documents
    marks: tuple[str, ...] = ()
    ended: int = 0
    held_out: np.ndarray | None = None
    complaint: str = ""

    @property
    def sentence(self) -> str:
        """What the marks do, with a space before it; "" where there are none."""
        if not self.ended:
            return ""
        marks = " and ".join(self.marks)
        end = "ends" if len(self.marks) == 1 else "end"
        times = "once" if self.ended == 1 else f"{self.ended:,} times"
        return f" {marks} {end} a document, {times}: there are {len(self.documents):,}."


def plain_documents(
    files: Sequence[bytes], found: FoundExamples | None, options: CorpusOptions, training: int | None = None
) -> PlainDocuments:
    """The documents of files in UTF-8, or of the column of texts that was `found` in them.

    `training` is how many of the files are to learn from, where the others are to validate with.
    """
    if found is not None and found.documents is not None:
        documents, counts = found.documents, found.counts
        ends = [int(documents.spans[count - 1, 1]) if count else 0 for count in counts]
    else:
        documents = divide(files, options.documents)
        ends = (np.cumsum([len(file) + 1 for file in files]) - 1).tolist()
    marks = chosen_marks(options.boundary, [documents.data])
    cut, ended = divide_at(documents, marks)
    held_out = None if training is None else cut.spans[:, 0] >= ends[training - 1]
    is_own = options.boundary != RECOGNISED and not set(marks) <= KNOWN_MARKS
    complaint = f"{marks[0]!r} is nowhere in the text, and ends no document." if is_own and not ended else ""
    return PlainDocuments(cut, marks if ended else (), ended, held_out, complaint)


def as_one(plain: PlainDocuments, files: Sequence[bytes]) -> PlainDocuments:
    """The same text as one document, or one for each part, for a tokenizer that marks no boundaries.

    Where there is neither a mark nor a part it is all that the `files` hold.
    """
    if plain.held_out is None and not plain.marks:
        return replace(plain, documents=divide([b"\n".join(files)], "file"))
    parts = [plain.documents] if plain.held_out is None else _parts(plain)
    texts = [b"\n".join(_contents(part)) for part in parts]
    held_out = None if plain.held_out is None else np.array([False, True])
    return replace(plain, documents=divide(texts, "file"), held_out=held_out)


def _parts(plain: PlainDocuments) -> list[Documents]:
    assert plain.held_out is not None, "there are parts"
    return [plain.documents.select(~plain.held_out), plain.documents.select(plain.held_out)]


def _contents(documents: Documents) -> list[bytes]:
    return [documents.data[start:end] for start, end in documents.spans.tolist()]

"""The open text: a corpus, and the chosen place in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.part import Part
from lmviz.app.session.permission import Permission
from lmviz.app.session.work import Work
from lmviz.app.workers.job import Job
from lmviz.app.workers.threads import compute_with
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard

if TYPE_CHECKING:
    from lmviz.runs.first_reading import FirstReading
    from lmviz.text.contents import Contents
    from lmviz.text.corpus import Corpus
    from lmviz.text.corpus_options import CorpusOptions  # with all that reads texts, as Corpus
    from lmviz.text.preview import Preview

LOOK_EVERY = 0.05  # seconds
FILES = 50  # of a text, by the beginnings of which it is judged how to read it


@dataclass(frozen=True)
class OwnText:
    """A text that a person brought: how it was last read, and what it is read from again.

    `sources` are its files, and `target_sources` that of the other language, if it has one; a pasted text
    has none, and is `data` itself, in UTF-8.
    """

    name: str
    options: CorpusOptions
    sources: tuple[str, ...]
    target_sources: tuple[str, ...]
    data: bytes
    size: int

    @classmethod
    def of(cls, corpus: Corpus) -> OwnText:
        """What there is to remember of a corpus."""
        parts = corpus.training_documents, corpus.validation_documents
        size = sum(part.size for part in parts)
        return cls(corpus.name, corpus.options, corpus.sources, corpus.target_sources, corpus.content, size)

    @property
    def title(self) -> str:
        """Its name, and of two files that are one text the endings: "pairs (en, de)"."""
        files = (*self.sources, *self.target_sources)
        endings = [Path(file).suffix.removeprefix(".") for file in files] if self.target_sources else []
        return f"{self.name} ({', '.join(endings)})" if all(endings) and endings else self.name

    def is_text_of(self, corpus: Corpus) -> bool:
        """Whether a corpus was read from this text, in whatever way."""
        if self.sources or corpus.sources:
            return (self.sources, self.target_sources) == (corpus.sources, corpus.target_sources)
        return self.data == corpus.content


@dataclass(frozen=True)
class AskedText:
    """A text as it is asked for; two that are equal give the same corpus.

    `written` are the times at which its files were written last, None where there is no such file.
    """

    sources: tuple[str | Path, ...]
    target: str | Path | None
    options: CorpusOptions | None
    settings: tuple[tuple[str, Any], ...]
    written: tuple[int | None, ...]

    @classmethod
    def of(
        cls,
        source: str | Path | Sequence[str | Path],
        target: str | Path | None,
        options: CorpusOptions | Mapping[str, Any] | None,
        settings: Mapping[str, Any],
    ) -> AskedText:
        """The arguments of `OpenText.open`; LmvizError where an option has a value that it cannot have."""
        from lmviz.text.corpus_options import CorpusOptions

        sources = (source,) if isinstance(source, str | Path) else tuple(source)
        chosen = CorpusOptions.from_values(options) if isinstance(options, Mapping) else options
        written = tuple(_written(each) for each in (*sources, *([] if target is None else [target])))
        return cls(sources, target, chosen, tuple(sorted(settings.items())), written)

    def read(self, report: Report = unheard, contents: Contents | None = None) -> Corpus:
        """The corpus, with its statistics counted, so that no panel has to wait for them.

        `contents` are what was read of it already.
        """
        from lmviz.text.corpus import load_corpus

        source = self.sources[0] if len(self.sources) == 1 else self.sources
        corpus = load_corpus(
            source,
            target=self.target,
            options=self.options,
            contents=contents,
            progress=report,
            **dict(self.settings),
        )
        corpus.statistics()
        return corpus


class _ReadAhead:
    """A text that is read before it is asked for. Whoever asks meanwhile waits, and nothing is read twice."""

    def __init__(self) -> None:
        self._asked: AskedText | None = None
        self._corpus: Corpus | None = None
        self._is_over = Event()

    def read(self, asked: AskedText) -> None:
        """Read it, in the reading thread."""
        self._asked = asked
        try:
            self._corpus = asked.read()
        finally:
            self._is_over.set()

    def of(self, asked: AskedText, report: Report) -> Corpus | None:
        """Its corpus once it is there, if it is the one that is asked for and its reading has begun."""
        if self._asked != asked:
            return None
        while not self._is_over.wait(LOOK_EVERY):
            report(0.0)  # which ends the waiting where nobody wants the text any more
        return self._corpus


@dataclass(frozen=True)
class _FirstRead:
    """A text of which nothing was told, as it was chosen to be read at first."""

    corpus: Corpus
    choice: FirstReading


def _first_reading(seen: Preview, report: Report) -> FirstReading | None:
    """By which tokens plain text is read at first; None where nothing speaks against words."""
    from lmviz.runs.first_reading import SAMPLE, first_reading

    contents = seen.contents
    if seen.layout is not None or contents is None or not contents.files:
        return None
    compute_with(1)  # what is measured is this thread's own work, whatever else is computed meanwhile
    sample = b"\n".join(data[:SAMPLE] for _, data in contents.files[:FILES])[:SAMPLE]
    return first_reading(sample.decode("utf-8", errors="ignore"), report)


def _called(source: str | Path | Sequence[Any]) -> str:
    """What a text is called while it is read."""
    return Path(source).name or str(source) if isinstance(source, str | Path) else "several texts"  # "/"


def _written(file: str | Path) -> int | None:
    try:
        return os.stat(file).st_mtime_ns
    except (OSError, ValueError):  # a name of the catalogue, or one with a NUL in it
        return None


class OpenText(Part):
    """Opens corpora, one at a time, and remembers those that are a person's own."""

    changed = Signal()
    place_changed = Signal()
    offer_changed = Signal()
    """What is offered to be read is another file, or the same in another way, or nothing any more."""

    reading_begun = Signal()
    """A text is being read, and until it comes the one before stays open."""

    reading_given_up = Signal()
    """The text that was being read does not come: it failed, was cancelled, or is offered first."""

    def __init__(self, work: Work, permission: Permission, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._permission = work, permission
        self._corpus: Corpus | None = None
        self._first_reading: FirstReading | None = None
        self._own: tuple[OwnText, ...] = ()
        self._offer: Preview | None = None
        self._job: Job | None = None
        self._ahead: _ReadAhead | None = None
        self._place = 0
        self.folder = ""
        """Where the last file was, and where the next one is looked for."""

    @property
    def corpus(self) -> Corpus | None:
        """The corpus that is open."""
        return self._corpus

    @property
    def fingerprint(self) -> str:
        """What tells the corpus that is open from others; empty where none is."""
        return "" if self._corpus is None else self._corpus.fingerprint

    @property
    def offer(self) -> Preview | None:
        """A file that was looked at and not read, since a person should see first how it would be."""
        return self._offer

    @property
    def first_reading(self) -> FirstReading | None:
        """How it was chosen to read the corpus, where nothing was told; None where there was no choice."""
        return self._first_reading

    @property
    def place(self) -> int:
        """The chosen place: an index into the corpus's training ids."""
        return self._place

    @property
    def own(self) -> tuple[OwnText, ...]:
        """The texts that were opened or pasted and are none of the catalogue's, in the order of opening."""
        return self._own

    @property
    def is_opening(self) -> bool:
        """Whether a text is being read."""
        return self._job is not None

    def open(
        self,
        source: str | Path | Sequence[Any],
        options: CorpusOptions | Mapping[str, Any] | None = None,
        *,
        target: str | Path | None = None,
        **settings: Any,
    ) -> Job:
        """Read a text, several, a folder, or one of the catalogue, in place of any other under way.

        `target` is the file with the same lines in another language. A file of which nothing is told is only
        offered where something about it is a guess, or would be left out. Options may also be values that
        were kept in a file.
        """
        is_told = options is not None or target is not None or bool(settings)
        ahead, self._ahead = self._ahead, None
        if not isinstance(source, str | Path) and len(source) == 1:
            source = source[0]

        def work(report: Report) -> Corpus | _FirstRead | Preview:
            from lmviz.text.preview import look

            asked = AskedText.of(source, target, options, settings)
            found = None if ahead is None else ahead.of(asked, report)
            if found is not None:
                return found
            seen = None if is_told else look(source, progress=report)
            if seen is not None and seen.asks:
                return seen
            contents = None if seen is None else seen.contents
            first = None if seen is None else _first_reading(seen, report)
            if first is not None and contents is not None:
                asked = replace(asked, settings=(("tokenizer", first.tokenizer),))
                contents = replace(contents, options=replace(contents.options, tokenizer=first.tokenizer))
            corpus = asked.read(report, contents)
            return corpus if first is None else _FirstRead(corpus, first)

        one = Path(source) if isinstance(source, str | Path) else None
        newest = one or (Path(source[-1]) if not isinstance(source, str | Path) and source else None)
        if newest is not None and newest.is_absolute():  # and no name of the catalogue
            self.folder = str(newest.parent)
        return self._start(_called(source), work)

    def prepare(
        self,
        source: str | Path | Sequence[Any],
        options: CorpusOptions | Mapping[str, Any] | None = None,
        *,
        target: str | Path | None = None,
        **settings: Any,
    ) -> None:
        """Read a text ahead: it opens at once when it is opened next in the same way, unless written to.

        What was prepared before and has not been opened is forgotten. Nothing is said of what cannot be
        read: whoever opens it is told.
        """
        ahead = self._ahead = _ReadAhead()

        def read() -> None:
            ahead.read(AskedText.of(source, target, options, settings))

        self._work.ask("text read ahead", read, lambda _: None, lambda sentence: None)

    def consider(self, source: str | Sequence[str], options: CorpusOptions, target: str = "") -> Job:
        """Look at a file, or several, as they would be read with such options, and offer that.

        `target` is the file with the same lines in another language.
        """

        def work(report: Report) -> Preview | None:
            from lmviz.text.preview import look

            return look(source, options, progress=report, target=target)

        return self._start(_called(source), work)

    def read_offer(self) -> Job | None:
        """Read the file that is offered, as it is offered; what was read of it is not read once more."""
        offer = self._offer
        if offer is None:
            return None
        asked = AskedText.of(offer.source, offer.target or None, offer.options, {})
        return self._start(_called(offer.source), lambda report: asked.read(report, offer.contents))

    def leave_offer(self) -> None:
        """Read nothing of what is offered."""
        if self._offer is not None:
            self._offer = None
            self.offer_changed.emit()

    def paste(self, text: str, options: CorpusOptions, name: str = "") -> Job:
        """Read a text that is in no file, in place of any other under way; a new one gets its own name."""
        taken = {own.name for own in self._own}
        numbered = (f"pasted text {number}" for number in range(2, len(taken) + 3))
        name = name or next(free for free in ("pasted text", *numbered) if free not in taken)

        def work(report: Report) -> Corpus:
            from lmviz.text.corpus import text_corpus

            corpus = text_corpus(text, name, options=options, progress=report)
            corpus.statistics()
            return corpus

        return self._start(f"the {name}", work)

    def open_own(self, own: OwnText, options: CorpusOptions | None = None) -> Job:
        """Read one's own text once more, as it was last read unless there are other options."""
        options = options or own.options
        if not own.sources:
            return self.paste(own.data.decode("utf-8"), options, own.name)
        target = next(iter(own.target_sources), None)
        return self.open(own.sources, options, target=target)

    def open_text_of(self, model: OpenedModel, begun: Callable[[Job], object] = lambda job: None) -> None:
        """Read the text that a model learned from, as it was read then, once the model's folder has answered.

        `begun` is told of the job. Nothing is read where the text is not known, where a person has to be
        asked first, and where another text has been opened meanwhile.
        """
        from lmviz.text.corpus_options import recorded_options

        recorded = model.description.corpus
        sources = recorded.get("sources") or []
        try:
            options = recorded_options(recorded)
        except LmvizError:
            return  # an older way of reading it; a person can still open the text
        if not sources:
            return
        before = self._corpus, self._job

        def read() -> None:
            if (self._corpus, self._job) == before:
                target = next(iter(recorded.get("target_sources") or []), None)
                begun(self.open(sources, options, target=target))

        again = partial(self.open_text_of, model, begun)
        self._permission.read_once_allowed("opening", model.run, read, again, self)

    def read_by(self, tokenizer: str) -> Job | None:
        """Read the open text once more, by other tokens."""
        corpus = self._corpus
        own = None if corpus is None else next((own for own in self._own if own.is_text_of(corpus)), None)
        return None if own is None else self.open_own(own, replace(own.options, tokenizer=tokenizer))

    def use(self, corpus: Corpus, first_reading: FirstReading | None = None) -> None:
        """Use a corpus, and what was chosen of how it is read."""
        from lmviz.text.catalogue import find_entry

        self._corpus, self._first_reading = corpus, first_reading
        self.leave_offer()
        self._permission.allow((*corpus.sources, *corpus.target_sources))
        if len(corpus.sources) != 1 or find_entry(corpus.sources[0]) is None:
            self._remember(OwnText.of(corpus), corpus)
        self._place = 0
        self.changed.emit()

    def choose_place(self, place: int) -> None:
        """Look at a place in the corpus; beyond either end it stays at that end."""
        last = 0 if self._corpus is None else len(self._corpus.training) - 1
        place = max(0, min(place, last))
        if place != self._place:
            self._place = place
            self.place_changed.emit()

    def _take_read(self, read: Corpus | _FirstRead | Preview | None) -> None:
        from lmviz.text.corpus import Corpus

        self._job = None
        if isinstance(read, _FirstRead):
            self.use(read.corpus, read.choice)
            return
        if isinstance(read, Corpus):
            self.use(read)
            return
        if read is not None:
            self._offer = read
            self.offer_changed.emit()
        self.reading_given_up.emit()

    def _start(self, name: str, work: Callable[[Report], Corpus | _FirstRead | Preview | None]) -> Job:
        if self._job is not None:
            self._job.cancel()
        self._job = self._work.start_job(f"Reading {name}", work, self._take_read, self)
        self._job.ended.connect(self._forget_job)
        self.reading_begun.emit()
        return self._job

    def _remember(self, text: OwnText, corpus: Corpus) -> None:
        """Put a text in the list, or in the place of the same text as it was read before."""
        known = [own.is_text_of(corpus) for own in self._own]
        kept = tuple(text if same else own for own, same in zip(self._own, known, strict=True))
        self._own = kept if any(known) else (*kept, text)

    def _forget_job(self, job: Job) -> None:
        if self._job is job:
            self._job = None
            self.reading_given_up.emit()

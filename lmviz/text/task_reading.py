"""Reads the examples of a task from files: recognises their form, or takes the one it is told."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.documents import Documents
from lmviz.text.encodings import RECOGNISED
from lmviz.text.forms import FORMS, lines_of, recognise
from lmviz.text.joined_parts import JoinedParts
from lmviz.text.label_names import Names, named_labels
from lmviz.text.layout import ROLES, Layout, column_name, written_columns
from lmviz.text.reading import read_found
from lmviz.text.table import SEPARATORS, Aside, Record
from lmviz.text.tag_schemes import OUTSIDE
from lmviz.text.task_text import Complaints, LabelCollector, TaskText, TextCollector
from lmviz.text.word_rows import in_sentences
from lmviz.text.words import SPACES

File = tuple[str, bytes]
"""The name of a file, and its content in UTF-8."""

_NO_BRACKETS = str.maketrans("⟨⟩", "<>")
_SPACE = re.compile(f"[{SPACES}]+")


@dataclass(frozen=True)
class FoundExamples:
    """What files hold: examples of a task, or the texts of a column as documents, and how they were read.

    `beyond` are the rows that go on in columns without a name, and `repeated` those that say what an earlier
    one says, None where that was not counted; `repetition` names one of these. `counts` are the examples up
    to the end of each file. `several` says how many texts have several labels, and is "" where none has.
    """

    layout: Layout
    complaints: Complaints
    text: TaskText | None
    documents: Documents | None = None
    beyond: int = 0
    repeated: int | None = None
    repetition: str = ""
    counts: tuple[int, ...] = ()
    several: str = ""


def read_examples(
    files: Sequence[File],
    options: CorpusOptions | None = None,
    *,
    parallel: bool = False,
    counted: bool = False,
    label_names: Names | None = None,
) -> FoundExamples | Layout | None:
    """The examples in some files; None where they are plain text.

    Where nothing says which columns of a table are what, it is a layout without roles: such files have to be
    read as plain text too.

    `parallel` says that there are two, whose lines belong together, if they are not read for another task.
    What `options` tell of the task, the form and the columns holds, and LmvizError says where that cannot be.
    Otherwise all files have to be of the same form, and most of their lines have to fit it. `counted` says
    that rows which repeat another are counted, which takes memory. `label_names` are those of labels that are
    written as numbers.
    """
    options = options or CorpusOptions()
    if parallel and options.task in (RECOGNISED, "translation"):
        source, target = files
        return read_parallel([(source, target)], unrepeated=options.unrepeated, counted=counted)
    layouts = [recognise(name, data, options) for name, data in files]
    first = layouts[0]
    if first is None or any(layout is None or _kind(layout) != _kind(first) for layout in layouts):
        if options.task in (RECOGNISED, "next-token") and options.form in (RECOGNISED, "plain"):
            return None
        raise LmvizError(_refusal(files[0][0], options.task, Complaints()))
    if not first.roles:
        if options.task != RECOGNISED or options.form != RECOGNISED:
            raise LmvizError(
                f"{files[0][0]} is read as a table, and nothing says which of its {len(first.names)} columns "
                "are what: name them, such as columns=label=1,text=2."
            )
        return first
    complaints = Complaints(named=len(files) > 1)
    collector = _COLLECTORS[first.task](first.task)
    seen = _Repeats(options.unrepeated) if counted or options.unrepeated else None
    unused, joined = _Unused(first), JoinedParts(options, label_names or {})
    counts: list[int] = []
    beyond_all = 0
    for (name, data), layout in zip(files, filter(None, layouts), strict=True):
        form = FORMS[layout.form]
        complaints.begin(name, form.unit)
        read = form.read
        assert read is not None, "a form that is recognised can be read"
        beyond = _Beyond(layout, joins=options.joined)
        found = unused.watch(named_labels(beyond.watch(read(data, layout)), layout.names, label_names or {}))
        if layout.task == "tagging" and form.tasks != ("tagging",):
            found = in_sentences(found, layout)
        elif layout.task != "tagging":
            found = joined.watch(found, layout)
        collector.take(
            found if seen is None else seen.watch(found, layout, complaints), layout.roles, complaints
        )
        beyond.say(complaints)
        beyond_all += beyond.count
        counts.append(len(collector))
    told = (options.task, options.form, options.separator, options.quotes, options.heading)
    is_told = bool(options.columns) or any(setting != RECOGNISED for setting in told)
    if not is_told and complaints.count >= len(collector):
        return None
    if not len(collector):
        raise LmvizError(_refusal(files[0][0], first.task, complaints))
    if seen is not None and options.unrepeated:
        seen.say(complaints)
    unused.say(complaints)
    joined.say(complaints)
    _say_one_sentence(collector, first, complaints)
    _say_numbers(collector, first, complaints)
    repeated = None if seen is None or not seen.compares(first) else seen.count
    repetition = "" if seen is None else seen.example
    made = collector.finish(first, complaints)
    several = joined.sentence if joined.several else ""
    made = replace(made, beyond=beyond_all, counts=tuple(counts))
    return replace(made, repeated=repeated, repetition=repetition, several=several)


def read_parallel(
    pairs: Sequence[tuple[File, File]],
    names: tuple[str, str] = ("", ""),
    *,
    unrepeated: bool = False,
    counted: bool = False,
) -> FoundExamples:
    """The pairs of files whose lines belong together, two at a time; LmvizError where there is none.

    Where they are `unrepeated` only the first of pairs that are alike is kept. `counted` is as of
    `read_examples`.
    """
    complaints, collector = Complaints(named=len(pairs) > 1), _Pairs("translation")
    layout = Layout("parallel", "translation", names, {"source": 0, "target": 1})
    seen = _Repeats(unrepeated) if counted or unrepeated else None
    counts: list[int] = []
    for source, target in pairs:
        complaints.begin(source[0])
        found = _read_parallel(source, target, complaints)
        collector.take(
            found if seen is None else seen.watch(found, layout, complaints), layout.roles, complaints
        )
        counts.append(len(collector))
    if not len(collector):
        (source, target) = pairs[0]
        raise LmvizError(f"{source[0]} and {target[0]} have no line in common with something in both.")
    if seen is not None and unrepeated:
        seen.say(complaints)
    repeated = None if seen is None else seen.count
    return replace(collector.finish(layout, complaints), repeated=repeated, counts=tuple(counts))


def read_labelled_folders(files: Sequence[Path], encoding: str) -> FoundExamples:
    """Texts with the names of their folders as labels; LmvizError where there is none."""
    complaints, collector = Complaints(), _Labelled("classification")
    layout = Layout("folders", "classification", ("label", "text"), {"label": 0, "text": 1})
    collector.take(_read_folders(files, encoding, complaints), layout.roles, complaints)
    if not len(collector):
        raise LmvizError(
            f"{files[0].parent.parent} holds no text that can be read: {complaints.sentences[0]}"
        )
    return collector.finish(layout, complaints)


def refuse_doubt(name: str, layout: Layout) -> None:
    """LmvizError where somebody has to say how a file is read, with the two ways to say it."""
    if not layout.doubt:
        return
    columns = ", ".join(column_name(layout.names, place) for place in range(min(len(layout.names), 8)))
    told = layout if layout.roles else replace(layout, roles={"text": 0})
    more = ", …" if len(layout.names) > 8 else ""
    raise LmvizError(
        f"{name} is {_ARTICLES.get(layout.form, FORMS[layout.form].name)} of {columns}{more}, and "
        f"{layout.doubt}: say which column is what, such as columns={_ways(told)}, or how it is "
        "read, such as form=plain (on the command line behind --set)."
    )


def refuse_several(name: str, found: FoundExamples) -> None:
    """LmvizError where somebody has to say what becomes of texts with several labels, with the three ways."""
    if found.several:
        raise LmvizError(
            f"{name}: {found.several}. Say what becomes of them: several=first counts the first of each, "
            "several=single leaves them out, and several=set makes each set of labels a class (on the "
            "command line behind --set)."
        )


def _ways(layout: Layout) -> str:
    """The setting `columns` for what was found; where texts could be joined, also for one of them."""
    ways = [written_columns(layout)]
    if "text" in layout.further:
        ways += [
            written_columns(replace(layout, roles={**layout.roles, "text": place}, further={}))
            for place in layout.places("text")
        ]
    return " or columns=".join(ways)


_ARTICLES = {"table": "a table", "pairs": "lines"}


def settings_of(layout: Layout) -> dict[str, str]:
    """The settings with which a file is read once more in the same way."""
    told = {"form": layout.form}
    if layout.dialect is not None:
        told |= {"separator": layout.dialect.separator, "quotes": layout.dialect.quotes}
        told["heading"] = "yes" if layout.heading else "no"
    if FORMS[layout.form].find is not None:
        told["columns"] = written_columns(layout)
    return told


def describe(found: FoundExamples) -> str:
    """What was recognised, in a sentence, and where its columns stand."""
    form, text, complaints = FORMS[found.layout.form], found.text, found.complaints
    count = len(text.sources) if text is not None else len(found.documents or ())
    examples = examples_of(found.layout)
    heading = (
        "" if found.layout.dialect is None else f" with{'' if found.layout.heading else 'out'} a heading"
    )
    said = f"{form.name}{heading}: {count:,} {examples if count != 1 else examples.removesuffix('s')}"
    if text is not None and text.labels:
        what = "tag" if text.task == "tagging" else "class"
        few = f" ({', '.join(text.labels)})" if len(text.labels) <= 6 else ""
        said += f", {len(text.labels):,} {_plural(what, len(text.labels))}{few}"
    if complaints.count:
        said += f", and {complaints.count:,} {_plural('line', complaints.count)} left out"
    return f"{said}.{_where(found.layout)}{say_scheme(text)}"


def examples_of(layout: Layout) -> str:
    """What the examples of a file are called."""
    called = {"tagging": "sentences", "translation": "pairs", "next-token": "documents"}
    return called.get(layout.task, FORMS[layout.form].examples)


def say_scheme(text: TaskText | None) -> str:
    """How the tags of a text mark spans, in a sentence with a space before it; "" where they do not."""
    scheme = text.scheme if text is not None else None
    if scheme is None:
        return ""
    said = "some of its spans begin with B and some with I" if scheme.name == "IOB" else ""
    return f" Its tags mark spans in {scheme.name}, as {scheme.example} does{f': {said}' if said else ''}."


def _where(layout: Layout) -> str:
    """Which columns were read, where there were others to choose from."""
    in_order = list(layout.roles.values()) == list(range(len(layout.names)))
    usual = in_order and all(layout.names[place] in ("", role) for role, place in layout.roles.items())
    if layout.form == "parallel":
        return f" From {layout.names[0]} to {layout.names[1]}." if all(layout.names) else ""
    if usual or not layout.names or layout.form in ("folders", "conllu"):
        return ""
    parts = [
        f"the {role} {'is ' if not n else ''}in {layout.name_of(role)}" for n, role in enumerate(layout.roles)
    ]
    parts = parts if len(parts) > 2 else [f"the {role} is in {layout.name_of(role)}" for role in layout.roles]
    said = f" {', '.join(parts[:-1])}{', and ' if len(parts) > 1 else ''}{parts[-1]}."
    return said[0] + said[1].upper() + said[2:]


def _beyond(layout: Layout) -> range:
    """The columns after the last one with a name."""
    named = max((n for n, name in enumerate(layout.names) if name), default=-1)
    return range(named + 1 if layout.heading else len(layout.names), len(layout.names))


class _Beyond:
    """Counts the rows of a table that go on in columns without a name, as after a broken quote.

    With `joins` what is there is put behind the last part of the example, as it stood in the file.
    """

    def __init__(self, layout: Layout, *, joins: bool) -> None:
        used = layout.used
        self._nameless = [n for n in _beyond(layout) if n not in used]
        self._part = list(layout.roles)[-1]
        self._place = layout.roles[self._part]
        self._between = SEPARATORS[layout.dialect.separator] if layout.dialect is not None else " "
        self._joins = joins
        self._first = self.count = 0

    def watch(self, found: Iterator[Record]) -> Iterator[Record]:
        for number, cells, reason in found:
            if not reason and any(cells[place].strip() for place in self._nameless):
                self._first, self.count = self._first or number, self.count + 1
                if self._joins:
                    cells = self._joined(cells)
            yield number, cells, reason

    def _joined(self, cells: list[str]) -> list[str]:
        further = [cells[place] for place in self._nameless]
        while not further[-1].strip():
            further.pop()
        whole = self._between.join([cells[self._place], *further])
        return [whole if place == self._place else cell for place, cell in enumerate(cells)]

    def say(self, complaints: Complaints) -> None:
        if self.count:
            rows = "1 row goes" if self.count == 1 else f"{self.count:,} rows go"
            done = f"joined to the {self._part}" if self._joins else "not read"
            complaints.remark(
                f"{rows} on in a column without a name, as line {self._first:,}: what is there is {done}."
            )


def said_of_repeats(count: int, example: str) -> str:
    """How many rows repeat another, and one of them."""
    rows = "1 row says" if count == 1 else f"{count:,} rows say"
    return f"{rows} what an earlier one says{f', {example}' if example else ''}"


class _Unused:
    """The columns of a table that are not read, each with what stands in it first."""

    def __init__(self, layout: Layout) -> None:
        used = {*layout.used, *_beyond(layout)}
        has_columns = layout.form in _COLUMNS_SAID
        names = [n for n, _ in enumerate(layout.names) if n not in used] if has_columns else []
        self._examples = dict.fromkeys(names, "")
        self._names = layout.names
        self._left = _ROWS_FOR_EXAMPLES

    def watch(self, found: Iterator[Record]) -> Iterator[Record]:
        for record in found:
            if self._left and record[1] and not record[2]:
                self._left -= 1
                for place, said in self._examples.items():
                    if not said and place < len(record[1]):
                        self._examples[place] = record[1][place].strip()
            yield record

    def say(self, complaints: Complaints) -> None:
        filled = {place: said for place, said in self._examples.items() if said or self._names[place]}
        if not filled:
            return
        shown = [
            f"{column_name(self._names, place)}{f' ({_short(said)})' if said else ' (empty)'}"
            for place, said in itertools.islice(filled.items(), MOST_UNUSED)
        ]
        more = f" and {len(filled) - len(shown)} more" if len(filled) > len(shown) else ""
        columns = "1 column is" if len(filled) == 1 else f"{len(filled)} columns are"
        complaints.remark(f"{columns} not read: {', '.join(shown)}{more}.")


MOST_UNUSED = 6
"""Columns that are not read of which an example is given."""

_ROWS_FOR_EXAMPLES = 200
_LONGEST_EXAMPLE = 32
_COLUMNS_SAID = ("tmx", "bars", "lists", "table", "jsonl", "json", "parquet", "pairs")


def _short(cell: str) -> str:
    line = " ".join(cell.split())
    return line if len(line) <= _LONGEST_EXAMPLE else f"{line[:_LONGEST_EXAMPLE]}…"


class _Repeats:
    """Counts the rows that say what an earlier one says, and leaves them out where only the first is kept."""

    def __init__(self, drops: bool) -> None:
        self._drops = drops
        self._seen: dict[int, int] = {}
        self.count = 0
        self.example = ""

    @staticmethod
    def compares(layout: Layout) -> bool:
        """Whether a row is an example of its own, and no word of a sentence."""
        return layout.task != "tagging"

    def watch(self, found: Iterator[Record], layout: Layout, complaints: Complaints) -> Iterator[Record]:
        own: set[int] = set()
        for record in found:
            if record[1] and not record[2] and self.compares(layout):
                said = hash(tuple(record[1][place].strip() for place in layout.roles.values()))
                if said in self._seen:
                    self.count += 1
                    if not self.example and said in own:
                        earlier = complaints.place(self._seen[said])
                        self.example = f"{complaints.place(record[0])} as {earlier}"
                    if self._drops:
                        continue
                else:
                    own.add(said)
                    self._seen[said] = record[0]
            yield record

    def say(self, complaints: Complaints) -> None:
        if self.count:
            complaints.remark(f"{said_of_repeats(self.count, self.example)}: only the first of each is read.")


def _say_one_sentence(collector: _Collector, layout: Layout, complaints: Complaints) -> None:
    """A table of words in which nothing says where a sentence ends."""
    has_rows = layout.task == "tagging" and FORMS[layout.form].tasks != ("tagging",)
    if has_rows and len(collector) == 1 and "sentence" not in layout.roles and not layout.has_rows_of_words:
        complaints.remark(
            "Nothing says where a sentence ends, so all words are one: name the column that says it, "
            "such as columns=sentence=1,word=2,tag=3."
        )


def _say_numbers(collector: _Collector, layout: Layout, complaints: Complaints) -> None:
    """Labels of a data set that are numbers, which a file beside it would name."""
    if layout.form not in ("lists", "spans") or not isinstance(collector, _Labelled):
        return
    kinds = {label.removeprefix("B-").removeprefix("I-") for label in collector.labels if label != OUTSIDE}
    if kinds and all(kind.isdigit() for kind in kinds):
        complaints.remark("The tags are numbers: a dataset_info.json beside the file would say their names.")


def _kind(layout: Layout) -> tuple[str, str]:
    return layout.form, layout.task


class _Collector(ABC):
    """Collects what one part of an example says after the other."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._texts = TextCollector()

    def __len__(self) -> int:
        return len(self._texts)

    def take(self, found: Iterator[Record], roles: Mapping[str, int], complaints: Complaints) -> None:
        """The records of a file; those that are wrong, or lack a part, become complaints."""
        for number, cells, reason in found:
            if isinstance(reason, Aside):
                complaints.note(number, reason)
                continue
            parts = {} if reason else {role: cells[roles[role]].strip() for role in ROLES[self._task]}
            lacking = [role for role, part in parts.items() if not part] if cells else []
            if reason or lacking:
                complaints.add(number, reason or f"has no {' and no '.join(lacking)}")
            else:
                self.add(parts)

    @abstractmethod
    def add(self, parts: Mapping[str, str]) -> None:
        """One more example."""

    @abstractmethod
    def finish(self, layout: Layout, complaints: Complaints) -> FoundExamples:
        """All of them."""


class _Texts(_Collector):
    """Documents."""

    def add(self, parts: Mapping[str, str]) -> None:
        self._texts.add(parts["text"])

    def finish(self, layout: Layout, complaints: Complaints) -> FoundExamples:
        return FoundExamples(layout, complaints, None, self._texts.finish())


class _Labelled(_Collector):
    """Texts with a label each."""

    def __init__(self, task: str) -> None:
        super().__init__(task)
        self._labels = LabelCollector()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels so far."""
        return self._labels.names

    def add(self, parts: Mapping[str, str]) -> None:
        self._texts.add(parts["text"])
        self._labels.add([parts["label"]])

    def finish(self, layout: Layout, complaints: Complaints) -> FoundExamples:
        labels, answers = self._labels.finish()
        form = FORMS[layout.form].name
        return FoundExamples(
            layout, complaints, TaskText(self._task, form, self._texts.finish(), None, labels, answers)
        )


class _Pairs(_Collector):
    """Pairs of a source and its target, for a task that reads the one and writes the other."""

    def __init__(self, task: str) -> None:
        super().__init__(task)
        self._targets = TextCollector()

    def add(self, parts: Mapping[str, str]) -> None:
        source, target = parts.values()
        self._texts.add(source)
        self._targets.add(target)

    def finish(self, layout: Layout, complaints: Complaints) -> FoundExamples:
        sides = self._texts.finish(), self._targets.finish()
        return FoundExamples(
            layout, complaints, TaskText(self._task, FORMS[layout.form].name, *sides, (), None)
        )


class _Tagged(_Labelled):
    """Sentences of words with a tag each; a record without cells ends one."""

    def __init__(self, task: str) -> None:
        super().__init__(task)
        self._sentence: list[tuple[str, str]] = []

    def take(self, found: Iterator[Record], roles: Mapping[str, int], complaints: Complaints) -> None:
        end: list[Record] = [(0, [], "")]
        for record in itertools.chain(found, end):
            if record[1] or record[2]:
                super().take(iter([record]), roles, complaints)
            elif self._sentence:
                words, tags = zip(*self._sentence, strict=True)
                self._texts.add(" ".join(words))
                self._labels.add(tags)
                self._sentence = []

    def add(self, parts: Mapping[str, str]) -> None:
        # a token has no white space in it, and no brackets of special tokens
        word = _SPACE.sub("_", parts["word"]).translate(_NO_BRACKETS)
        self._sentence.append((word, parts["tag"]))


_COLLECTORS: Mapping[str, type[_Collector]] = {
    "next-token": _Texts,
    "tagging": _Tagged,
    "classification": _Labelled,
    "translation": _Pairs,
    "captioning": _Pairs,
}


def _read_parallel(source: File, target: File, complaints: Complaints) -> Iterator[Record]:
    """Two files, of which the lines of the same number belong together. Where both are blank is no pair."""
    names = source[0], target[0]
    ended = None
    number = 0
    lines = itertools.zip_longest(lines_of(source[1]), lines_of(target[1]))
    for number, (one, other) in enumerate(lines, start=1):
        if one is None or other is None:
            ended = ended or (number - 1, *(names if one is None else names[::-1]))
            continue
        sides = [one[1].strip(), other[1].strip()]
        if any(sides):
            yield number, sides, "" if all(sides) else f"is blank in {names[sides.index('')]}"
    if ended:
        last, short, long = ended
        complaints.say(
            f"{short} ends at line {last:,}: the {number - last:,} further lines of {long} are left out."
        )


def _read_folders(files: Sequence[Path], encoding: str, complaints: Complaints) -> Iterator[Record]:
    """Files whose folders are their labels, each a text."""
    for path in files:
        try:
            text = read_found(path, encoding)[0].decode("utf-8").strip()
        except LmvizError as error:
            complaints.say(str(error))
            continue
        yield 1, [path.parent.name, text], ""


def _refusal(name: str, task: str, complaints: Complaints) -> str:
    wanted = {
        "next-token": "no text: say which column has the texts",
        "tagging": "no word with a tag: give CoNLL-U, a word and its tag on each line, or time/n flies/v",
        "classification": "no text with a label: give a label, a tab and a text on each line, or a table",
        "translation": "no pair: give a source, a tab and a target on each line, or two files",
        "captioning": "no picture with a caption: give 7 rows of 7 pixels with / between them, # painted and "
        ". blank, a tab and a caption on each line",
        RECOGNISED: "nothing of the form that was told: leave the form out, or name another",
    }
    first = f" ({complaints.sentences[0].removesuffix('.')})" if complaints.sentences else ""
    return f"{name} has {wanted[task]}{first}."


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"

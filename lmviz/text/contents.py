"""What the files of a text hold, read once: examples, columns or plain text, of which a corpus is made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.text.catalogue import corpus_files, find_entry
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.encodings import RECOGNISED, Found, find_encoding
from lmviz.text.label_names import find_label_names
from lmviz.text.layout import Layout, told_columns
from lmviz.text.packing import name_within
from lmviz.text.parts import FoundParts, find_parts, parts_within
from lmviz.text.reading import as_utf8, check_encoding, check_room, find_files, read_raw, read_utf8
from lmviz.text.several_files import are_labels, find_languages, without_companions
from lmviz.text.task_reading import FoundExamples, read_examples, read_labelled_folders, read_parallel


@dataclass(frozen=True)
class TextOrigin:
    """Where a corpus comes from: its name and sources, the string where it has none, what was passed over."""

    name: str
    sources: tuple[str, ...]
    target_sources: tuple[str, ...] = ()
    content: bytes = b""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Contents:
    """What the files of a text hold, read once: examples, or columns that nothing tells, or plain text.

    `files` are names and texts in UTF-8, which the corpus that is made of them takes away; `raws` are their
    bytes where these might be read otherwise. `written` are the times at which the files were written.
    `training` is how many of them are to learn from, where the others are to validate with, else None.
    """

    origin: TextOrigin
    options: CorpusOptions
    found: FoundExamples | Layout | None
    written: tuple[int, ...]
    files: list[tuple[str, bytes]] = field(default_factory=list)
    raws: list[bytes] = field(default_factory=list)
    encodings: tuple[Found, ...] = ()
    training: int | None = None

    @property
    def are_whole(self) -> bool:
        """Whether a corpus can be made of them, as the files are now."""
        there = bool(self.files) or isinstance(self.found, FoundExamples)
        return there and self.written == _written(self.origin)


def read_contents(
    source: str | Path | Sequence[str | Path],
    options: CorpusOptions,
    *,
    target: str | Path | None = None,
    counted: bool = False,
    progress: Report = unheard,
) -> Contents:
    """What a file, several, or a folder hold; LmvizError as of `load_corpus`.

    `counted` says that rows which repeat another are counted, which takes memory.
    """
    paths, others = find_files(source, lambda: progress(0.0))
    origin = TextOrigin(
        _name(source), tuple(map(os.path.abspath, paths)), notes=tuple(map(_not_read, others))
    )
    targets = [] if target is None else find_files(target)[0]
    check_room([*paths, *targets])
    if target is not None and (len(paths) != 1 or len(targets) != 1):
        raise LmvizError("Each of the two languages has one file: name one source and one target.")
    if target is None and (options.form == "folders" or _is_labelled(source, paths, options)):
        written = _written(origin)
        return Contents(origin, options, read_labelled_folders(paths, options.encoding), written)
    by_language = (
        _languages_of(source, paths, options)
        if target is None
        else _told_apart(paths[0], targets[0], options)
    )
    if by_language is not None:
        if target is None:
            paths, about = without_companions(paths)
            notes = (*origin.notes, *map(_not_read, about))
            origin = replace(origin, sources=tuple(map(os.path.abspath, paths)), notes=notes)
        return _read_languages(origin, *by_language, options, progress, counted=counted)
    written = _written(origin)
    parts = _parts_of(paths, options)
    if parts is not None:
        paths = [*parts.training, *parts.validation]
        origin = replace(origin, notes=(*origin.notes, parts.sentence))
    training = None if parts is None else len(parts.training)
    files, raws, encodings = _texts(paths, options, progress)
    origin = _with_wrong_bytes(origin, files, encodings, options)
    within = parts_within(files[0][1]) if len(files) == 1 and _keeps_parts(options) else None
    if within is not None:
        (name, _), (learned, kept, sentence) = files[0], within
        origin = replace(origin, notes=(*origin.notes, sentence))
        files, training = [(name, part) for part in (*learned, *kept)], len(learned)
        raws, encodings = raws * len(files), encodings * len(files)
    found = read_examples(files, options, counted=counted, label_names=find_label_names(paths))
    return Contents(origin, options, found, written, files, raws, encodings, training)


def read_lines(source: str | Path | Sequence[str | Path], encoding: str = RECOGNISED) -> str:
    """The text of what `load_corpus` reads, with the carriage returns that stand in it."""
    entry = find_entry(source) if isinstance(source, str) else None
    if entry:
        contents = [data for _, data in corpus_files(entry)]
    else:
        paths, _ = find_files(source)
        check_room(paths)
        contents = [read_utf8(path, encoding, line_ends=False) for path in paths]
    return "\n".join(data.decode("utf-8").removesuffix("\n") for data in contents) + "\n"


def _written(origin: TextOrigin) -> tuple[int, ...]:
    """When the files were written last; LmvizError where one is gone."""
    try:
        return tuple(os.stat(path).st_mtime_ns for path in (*origin.sources, *origin.target_sources))
    except OSError as error:
        raise LmvizError(f"{error.filename} cannot be read: {error.strerror}.") from None


def _texts(
    paths: Sequence[Path], options: CorpusOptions, report: Report
) -> tuple[list[tuple[str, bytes]], list[bytes], tuple[Found, ...]]:
    """The names of files and their texts in UTF-8, their bytes where these could be others, and encodings."""
    share = 0.1 / len(paths)
    files, raws, encodings = [], [], []
    for number, path in enumerate(paths):
        raw = read_raw(path)
        is_told = options.encoding != RECOGNISED
        found = Found(check_encoding(options.encoding)) if is_told else find_encoding(raw)
        part = part_of(report, number * share, (number + 1) * share)
        data, wrong = as_utf8(path, raw, found.encoding, part, wrong=options.wrong_bytes)
        found = replace(found, wrong=wrong)
        files.append((name_within(path), data))
        is_usual = found.encoding in ("utf-8", "utf-16") or raw.isascii()
        raws.append(raw if found.guessed or not is_usual else b"")
        encodings.append(found)
    return files, raws, tuple(encodings)


def _with_wrong_bytes(
    origin: TextOrigin,
    files: Sequence[tuple[str, bytes]],
    encodings: Sequence[Found],
    options: CorpusOptions,
) -> TextOrigin:
    """The origin with a note on each file that has bytes which cannot be read."""
    notes = [
        f"{f'{name}: ' if len(files) > 1 else ''}{found.wrong.sentence(options.wrong_bytes)}"
        for (name, _), found in zip(files, encodings, strict=True)
        if found.wrong is not None
    ]
    return replace(origin, notes=(*origin.notes, *notes))


def _is_labelled(
    source: str | Path | Sequence[str | Path], files: list[Path], options: CorpusOptions
) -> bool:
    """Whether the source is a folder whose folders are labels."""
    if not isinstance(source, str | Path) or not os.path.isdir(source) or options.form != RECOGNISED:
        return False
    if options.task == "classification":
        return all(path.parent != Path(source) for path in files)
    return options.task == RECOGNISED and are_labels(Path(source), files)


def _languages_of(
    source: str | Path | Sequence[str | Path], files: list[Path], options: CorpusOptions
) -> tuple[list[tuple[Path, Path]], tuple[str, str]] | None:
    """Pairs of files that are named alike but for their language, and the languages; None for others."""
    if options.task not in (RECOGNISED, "translation") or options.form not in (RECOGNISED, "parallel"):
        return None
    found = find_languages(files) or find_languages(without_companions(files)[0])
    if found is None:
        if options.form == "parallel":
            raise LmvizError(
                f"{files[0]} has no file beside it that is named alike but for a language, as train.en and "
                "train.de are: name both."
            )
        return None
    languages, groups = found
    told = told_columns(options.columns)
    first, second = (told.get(role, "") for role in ("source", "target")) if told else languages[:2]
    if {first, second} - set(languages):
        raise LmvizError(
            f"There are no files for both {first!r} and {second!r}: there are {', '.join(languages)}."
        )
    return [(group[first], group[second]) for group in groups], (first, second)


def _told_apart(
    one: Path, other: Path, options: CorpusOptions
) -> tuple[list[tuple[Path, Path]], tuple[str, str]]:
    """The source and the target of two files, and their names; a person may tell them the other way round."""
    names = one.name, other.name
    told = told_columns(options.columns)
    if told.get("source") in ("2", names[1]) and names[0] != names[1]:
        (one, other), names = (other, one), (names[1], names[0])
    return [(one, other)], names


def _read_languages(
    origin: TextOrigin,
    pairs: list[tuple[Path, Path]],
    languages: tuple[str, str],
    options: CorpusOptions,
    report: Report,
    *,
    counted: bool,
) -> Contents:
    """What files of two languages hold, line by line."""
    if options.task not in (RECOGNISED, "translation"):
        raise LmvizError(
            f"Two files of two languages are for translation, not for {options.task}: leave the task out."
        )
    if len(pairs) == 1:
        source, target = map(os.path.abspath, pairs[0])
        origin = replace(origin, sources=(source,), target_sources=(target,))
        options = replace(options, form=RECOGNISED, columns="")
    written = _written(origin)
    parts = (
        find_parts([one for one, _ in pairs]) if options.parts == RECOGNISED and options.validation else None
    )
    if parts is not None:
        order = [*parts.training, *parts.validation]
        pairs = sorted((pair for pair in pairs if pair[0] in order), key=lambda pair: order.index(pair[0]))
        origin = replace(origin, notes=(*origin.notes, parts.sentence))
    training = None if parts is None else len(parts.training)
    files, raws, encodings = _texts([path for pair in pairs for path in pair], options, report)
    origin = _with_wrong_bytes(origin, files, encodings, options)
    halves = list(zip(files[::2], files[1::2], strict=True))
    found = read_parallel(halves, languages, unrepeated=options.unrepeated, counted=counted)
    return Contents(origin, options, found, written, [], raws, encodings, training)


def _parts_of(files: Sequence[Path], options: CorpusOptions) -> FoundParts | None:
    """The parts that files are by their names, unless all are to be drawn from."""
    return find_parts(files) if _keeps_parts(options) else None


def _keeps_parts(options: CorpusOptions) -> bool:
    """Whether parts stay as they are found."""
    return options.parts == RECOGNISED and bool(options.validation)


def _not_read(path: Path) -> str:
    return f"{path.name} is about the texts, and is not read."


def _name(source: str | Path | Sequence[str | Path]) -> str:
    """What a corpus is called: after its file or folder, or the first of several where they differ."""
    if isinstance(source, str | Path):
        return Path(source).resolve().stem
    names = set(map(_name, source))
    return _name(source[0]) if len(names) == 1 else f"{_name(source[0])} and {len(source) - 1} more"

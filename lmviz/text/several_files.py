"""What several files say by their names: labels are folders, and languages are endings."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lmviz.text.column_names import LANGUAGES, SOURCE_NAMES, TARGET_NAMES
from lmviz.text.packing import PACKED_ENDINGS

LONGEST_DOCUMENT = 20_000
"""Bytes that files in folders have on average at most; longer ones are books rather than examples."""

COMPANIONS = (".xml", ".ids", ".scores", ".score", ".info", ".json", ".md", ".html", ".alg", ".align")
"""Endings of files that say something about two texts that are named alike."""

_LANGUAGE_NAMES = LANGUAGES | SOURCE_NAMES | TARGET_NAMES
_ENDINGS = (*PACKED_ENDINGS, ".txt")


def are_labels(folder: Path, files: Sequence[Path]) -> bool:
    """Whether the folders in a folder look like labels: each holds several short files, and nothing else."""
    parents = [path.relative_to(folder).parts[:-1] for path in files]
    counts = {parent: parents.count(parent) for parent in set(parents)}
    sizes = [path.stat().st_size for path in files]
    return (
        len(counts) > 1
        and all(len(parent) == 1 for parent in counts)
        and min(counts.values()) > 1
        and sum(sizes) <= LONGEST_DOCUMENT * len(files)
    )


def find_languages(files: Sequence[Path]) -> tuple[tuple[str, ...], list[dict[str, Path]]] | None:
    """Languages, and groups of files that are named alike but for one of them, such as train.en and train.de.

    The languages come in the order of the files, but English first where the files come from a folder in
    alphabetical order. None where a file belongs to no group, or lacks one of the languages.
    """
    groups: dict[tuple[Path, str], dict[str, Path]] = {}
    for path in files:
        named = _language_of(path)
        if named is None:
            return None
        stem, language = named
        if language in groups.setdefault((path.parent, stem), {}):
            return None
        groups[path.parent, stem][language] = path
    languages = list(next(iter(groups.values()), {}))
    if len(languages) < 2 or any(set(group) != set(languages) for group in groups.values()):
        return None
    return tuple(languages), list(groups.values())


def without_companions(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Files of two languages or more, and those beside them that are only about these, as OPUS has them.

    So Toy.de-en.xml and Toy.de-en.ids say which lines of Toy.de-en.de and Toy.de-en.en belong together.
    """
    bare = {path: path.with_suffix("") if path.suffix == ".gz" else path for path in files}
    stems = {name.with_suffix("") for name in bare.values() if name.suffix[1:].lower() in _LANGUAGE_NAMES}
    about = [
        path
        for path, name in bare.items()
        if name.suffix.lower() in COMPANIONS and name.with_suffix("") in stems
    ]
    return [path for path in files if path not in about], about


def file_in_another_language(path: Path) -> Path | None:
    """The file beside one that is named alike but for its language: pairs.en for pairs.de.

    None where there is none, or more than one: then nobody knows which is meant.
    """
    named = _language_of(path)
    if named is None:
        return None
    stem, language = named
    try:
        beside = sorted(path.parent.iterdir())
    except OSError:
        return None
    found = [
        other
        for other in beside
        if (known := _language_of(other)) is not None
        and known[0] == stem
        and known[1].casefold() != language.casefold()
        and os.path.isfile(other)
    ]
    return found[0] if len(found) == 1 else None


def _language_of(path: Path) -> tuple[str, str] | None:
    """The name of a file with its language left out, and the language: the last part of it that is one."""
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    parts = re.split(r"([._-])", name)
    for place in reversed(range(0, len(parts), 2)):
        if parts[place].lower() in _LANGUAGE_NAMES:
            return "".join([*parts[:place], "*", *parts[place + 1 :]]), parts[place]
    return None

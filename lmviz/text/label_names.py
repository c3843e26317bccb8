"""The names of labels that a data set writes as numbers, from the file beside it that describes its features.

Hugging Face's datasets put them into dataset_info.json, or into the heading of README.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lmviz.text.ordinary_files import read_text_file
from lmviz.text.table import Record

FILES = ("dataset_info.json", "dataset_infos.json", "features.json", "state.json", "README.md")
LIMIT = 4 << 20
"""Bytes of a description that are read."""

Names = Mapping[str, tuple[str, ...]]
"""The names of the labels 0, 1, 2, … by the column that has them."""

_DEEPEST = 12


def find_label_names(files: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """The names that stand beside files or in the folder above; none where there are none."""
    found: dict[str, tuple[str, ...]] = {}
    folders = dict.fromkeys(folder for path in files for folder in (path.parent, path.parent.parent))
    for path in (folder / name for folder in folders for name in FILES):
        try:
            text = read_text_file(path, LIMIT)
            told = _of_card(text) if path.suffix == ".md" else dict(_of_features(json.loads(text)))
        except (OSError, ValueError, RecursionError):  # none, or not of the kind
            continue
        found = {**told, **found}
    return found


def named_labels(records: Iterator[Record], names: Sequence[str], labels: Names) -> Iterator[Record]:
    """Records whose numbers of labels are replaced by their names, `names` being those of the columns."""
    known = {place: names_of_column(labels, name) for place, name in enumerate(names)}
    known = {place: told for place, told in known.items() if told}
    for number, cells, reason in records:
        if known and cells and not reason:
            cells = [label_name(cell, known.get(place, ())) for place, cell in enumerate(cells)]
        yield number, cells, reason


def names_of_column(labels: Names, name: str) -> tuple[str, ...]:
    """The names of a column, also where it is nested, such as row.ner_tags."""
    return labels.get(name) or labels.get(name.rpartition(".")[2], ())


def label_name(cell: str, names: Sequence[str]) -> str:
    """The name of the label whose number stands in a cell, or else what stands there."""
    if cell.isascii() and cell.isdigit() and int(cell[:6]) < len(names) and len(cell) < 7:
        return names[int(cell)]
    return cell


def _of_features(value: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names within a description, by the innermost name of a column around them."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:  # as the server of datasets has them: {"name": …, "type": …}
            if isinstance(item, dict):
                yield from _of_features(item.get("type", item), str(item.get("name", name)), depth + 1)
        return
    if not isinstance(value, dict):
        return
    names = value.get("names")
    if isinstance(names, list) and names and all(isinstance(each, str) for each in names) and name:
        yield name, tuple(names)
        return
    for key, inner in value.items():
        is_name = key not in ("feature", "features", "class_label", "sequence", "type", "default", "dtype")
        yield from _of_features(inner, key if is_name else name, depth + 1)


def _of_card(text: str) -> dict[str, tuple[str, ...]]:
    """The names in the heading of README.md, written as YAML: those lines alone that tell them."""
    found: dict[str, list[str]] = {}
    name, indent = "", -1
    heading = text.split("\n---", 1)[0] if text.startswith("---") else ""
    for line in heading.split("\n"):
        depth = len(line) - len(line.lstrip(" "))
        if told := re.fullmatch(r"\s*-?\s*name:\s*['\"]?([\w.-]+)['\"]?\s*", line):
            name, indent = told[1], -1
        elif re.fullmatch(r"\s*names:\s*", line):
            indent = depth
        elif (
            indent >= 0 and (told := re.fullmatch(r"\s*['\"]?\d+['\"]?:\s*(.+?)\s*", line)) and depth > indent
        ):
            found.setdefault(name, []).append(told[1].strip("'\""))
        elif line.strip() and depth <= indent:
            indent = -1
    return {key: tuple(names) for key, names in found.items() if key}

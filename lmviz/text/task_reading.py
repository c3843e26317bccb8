"""Reads the examples of a task from files: recognises their form, or takes the one it is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.text.captions import read_captions
from lmviz.text.labelled import LabelledCollector, read_folders, read_labels, read_table
from lmviz.text.pairs import PairCollector, read_pairs, read_parallel
from lmviz.text.recognition import FORMS, form_for, recognise
from lmviz.text.table import find_table, guess_table
from lmviz.text.tagged import TaggedCollector, read_columns, read_conllu, read_slashes
from lmviz.text.task_text import Complaints, TaskText

_TAGGED = {"conllu": read_conllu, "columns": read_columns, "slashes": read_slashes}


def read_examples(
    files: Sequence[tuple[str, bytes]], task: str = "", *, parallel: bool = False
) -> tuple[TaskText, Complaints] | None:
    """The examples in some files, by their names and contents in UTF-8; None where they are plain text.

    `parallel` says that there are two, whose lines belong together, if they are not read for another task.
    With a `task` they are read as examples of that task, and LmvizError says where there are none. Without
    one they are recognised: all have to be of the same form, and most of their lines have to fit it.
    """
    if parallel and task in ("", "translation"):
        source, target = files
        return read_two_files(source, target)
    if task:
        form = form_for(files[0][1], task)
    else:
        form = recognise(files[0][1])
        if not form or any(recognise(data) != form for _, data in files[1:]):
            return None
    complaints = Complaints(named=len(files) > 1)
    found = _read(files, form, complaints)
    if not task and complaints.count >= len(found):
        return None
    if not len(found):
        raise LmvizError(_refusal(files[0][0], task, complaints))
    return found.finish(FORMS[form].name), complaints


def read_two_files(source: tuple[str, bytes], target: tuple[str, bytes]) -> tuple[TaskText, Complaints]:
    """The pairs of two files whose lines belong together; LmvizError where there is none."""
    complaints, found = Complaints(), PairCollector()
    read_parallel(source[1], target[1], (source[0], target[0]), found, complaints)
    if not len(found):
        raise LmvizError(f"{source[0]} and {target[0]} have no line in common with something in both.")
    return found.finish(FORMS["parallel"].name), complaints


def read_labelled_folders(files: Sequence[Path], encoding: str) -> tuple[TaskText, Complaints]:
    """Texts with the names of their folders as labels; LmvizError where there is none."""
    complaints, found = Complaints(), LabelledCollector()
    read_folders(files, encoding, found, complaints)
    if not len(found):
        raise LmvizError(
            f"{files[0].parent.parent} holds no text that can be read: {complaints.sentences[0]}"
        )
    return found.finish(FORMS["folders"].name), complaints


def describe(text: TaskText, complaints: Complaints) -> str:
    """What was recognised, in a sentence."""
    form = next(form for form in FORMS.values() if form.name == text.form)
    said = f"{form.name}: {len(text.sources):,} {form.examples}"
    if text.labels:
        what = "tag" if text.task == "tagging" else "class"
        few = f" ({', '.join(text.labels)})" if len(text.labels) <= 6 else ""
        said += f", {len(text.labels):,} {_plural(what, len(text.labels))}{few}"
    if complaints.count:
        said += f", and {complaints.count:,} {_plural('line', complaints.count)} left out"
    return f"{said}."


def _read(
    files: Sequence[tuple[str, bytes]], form: str, complaints: Complaints
) -> TaggedCollector | LabelledCollector | PairCollector:
    tagged, labelled, pairs = TaggedCollector(), LabelledCollector(), PairCollector(FORMS[form].task)
    for name, data in files:
        complaints.begin(name)
        if form in _TAGGED:
            _TAGGED[form](data, tagged, complaints)
        elif form == "labels":
            read_labels(data, labelled, complaints)
        elif form == "pairs":
            read_pairs(data, pairs, complaints)
        elif form == "captions":
            read_captions(data, pairs, complaints)
        else:
            header = data.lstrip(b"\n").partition(b"\n")[0].decode("utf-8")
            table = find_table(header) or guess_table(data)
            if table is None:
                complaints.add(1, "is no header of a table with labels and texts")
            else:
                read_table(data, table, labelled, complaints)
    return tagged if form in _TAGGED else pairs if form in ("pairs", "captions") else labelled


def _refusal(name: str, task: str, complaints: Complaints) -> str:
    wanted = {
        "tagging": "no word with a tag: give CoNLL-U, a word and its tag on each line, or time/n flies/v",
        "classification": "no text with a label: give a label, a tab and a text on each line, or a table",
        "translation": "no pair: give a source, a tab and a target on each line, or two files",
        "captioning": "no picture with a caption: give 7 rows of 7 pixels with / between them, # painted and "
        ". blank, a tab and a caption on each line",
    }
    first = f" ({complaints.sentences[0].removesuffix('.')})" if complaints.sentences else ""
    return f"{name} has {wanted[task]}{first}."


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"

"""What lies at paths that a person opens, found without a widget: their folder may be slow to answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmviz.app.opening.paths import is_written_race, race_at


@dataclass(frozen=True)
class FoundPaths:
    """What some paths are.

    `files` has the kind of each file that is opened by its kind, "set" of one with rows of texts that are
    asked one question. `race` is the first folder of runs, which
    somebody has called a race where `is_race_written`. `models` has the folder of each model, and the same
    without links. `texts` are all others, read as one corpus. `sentences` say what is to be known of them.
    """

    files: Mapping[Path, str]
    race: Path | None
    is_race_written: bool
    models: Mapping[Path, Path]
    texts: Sequence[Path]
    sentences: Sequence[str]

    @classmethod
    def at(cls, paths: Sequence[Path], into_texts: bool = False) -> FoundPaths:
        """What these paths are; in no thread but one that may wait for a slow folder.

        What may be a set as well as a corpus is a set where a person opens it `into_texts`.
        """
        from lmviz.runs.folder_contents import contents_of
        from lmviz.runs.opening import find_model

        files = {path: kind for path in paths if (kind := _kind(path))}
        if len(paths) == 1 and not files and _is_set(paths[0], into_texts):
            files = {paths[0]: "set"}
        others = [path for path in paths if path not in files]
        races = {path: folder for path in others if (folder := race_at(path)) is not None}
        race = next(iter(races.values()), None)
        others = [path for path in others if path not in races]
        found = {path: find_model(path) for path in others}
        held = {path: contents_of(path) for path in others if found[path] is None and os.path.isdir(path)}
        said = [each.sentence for each in held.values() if not each.is_text]
        return cls(
            files=files,
            race=race,
            is_race_written=race is not None and is_written_race(race),
            models={folder: folder.resolve() for folder in found.values() if folder is not None},
            texts=[
                path for path in others if found[path] is None and (path not in held or held[path].is_text)
            ],
            sentences=[sentence for sentence in said if sentence],
        )


def _is_set(path: Path, into_texts: bool) -> bool:
    """Whether a file is opened as a set of texts."""
    from lmviz.text.set_files import looks_like_set

    likeness = looks_like_set(path)
    return likeness == "surely" or (likeness == "maybe" and into_texts)


def _kind(path: Path) -> str:
    """The kind of a file that is opened by its kind; empty for every other."""
    from lmviz.autodiff.files import is_network
    from lmviz.circuits.shipped_questions import is_question
    from lmviz.desktop.scene import is_scene
    from lmviz.lectures.bundle import is_bundle
    from lmviz.lectures.reading import is_lecture
    from lmviz.lessons.reading import is_lesson
    from lmviz.polls.poll_file import is_poll
    from lmviz.recording.readings import is_readings

    kinds: tuple[tuple[str, Callable[[Path], bool]], ...] = (
        ("bundle", is_bundle),
        ("lesson", is_lesson),
        ("lecture", is_lecture),
        ("scene", is_scene),
        ("poll", is_poll),
        ("network", is_network),
        ("question", is_question),
        ("readings", is_readings),
    )
    return next((kind for kind, is_of_kind in kinds if is_of_kind(path)), "")

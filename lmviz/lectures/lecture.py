"""A lecture as a value: its items, what each shows, and what the presenter has noted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lmviz.desktop.scene import Scene
from lmviz.lessons.lesson import Lesson, Step
from lmviz.polls.poll import Poll

PINNED = {
    "text": ("text",),
    "models": ("model", "step", "beside"),
    "prefix": ("prefix",),
    "source": ("source",),
    "changed": ("changed",),
    "measure": ("measure",),
    "network": ("network", "tape"),
    "race": ("race",),
}
"""The fields of a scene, each with what a step that stands on it does not open any more."""


@dataclass(frozen=True)
class ShownScene:
    """What the window shows, as the file `path` has it."""

    path: Path
    scene: Scene

    @property
    def perspective(self) -> str:
        """Where it is shown."""
        return self.scene.perspective

    @property
    def pins(self) -> frozenset[str]:
        """The kinds of openings of a lesson that the scene has opened already."""
        return frozenset(
            kind for field, kinds in PINNED.items() if getattr(self.scene, field) for kind in kinds
        )


@dataclass(frozen=True)
class ShownStep:
    """A step of a lesson; `number` counts from 0. `path` is its file, None where it comes with lmviz."""

    lesson: Lesson
    number: int
    path: Path | None = None

    @property
    def step(self) -> Step:
        """The step itself."""
        return self.lesson.steps[self.number]

    @property
    def perspective(self) -> str:
        """Where it takes place; empty where that does not matter."""
        return self.lesson.perspective_at(self.number)


@dataclass(frozen=True)
class ShownPoll:
    """A question for the room. `path` is its file, None where it comes with lmviz."""

    poll: Poll
    path: Path | None = None
    perspective: ClassVar[str] = "polls"


Shown = ShownScene | ShownStep | ShownPoll


@dataclass(frozen=True)
class LectureItem:
    """One thing that is shown. `notes` are the presenter's, in Markdown; `line` is where it begins.

    A step or a poll may stand on a `scene`, which pins the model, the text and the prefix that it is about.
    `minutes` are those that it is planned to take; None where that is left open.
    """

    title: str
    shown: Shown
    notes: str = ""
    line: int = 0
    scene: ShownScene | None = None
    minutes: float | None = None

    @property
    def layers(self) -> tuple[Shown, ...]:
        """All that it shows: the scene that the rest stands on first."""
        return (self.shown,) if self.scene is None else (self.scene, self.shown)


def steps_of(lesson: Lesson, path: Path | None = None) -> tuple[LectureItem, ...]:
    """The steps of a lesson, from its file where it has one, as the items of a lecture."""
    steps = enumerate(lesson.steps)
    return tuple(LectureItem(step.title, ShownStep(lesson, number, path)) for number, step in steps)


@dataclass(frozen=True)
class Lecture:
    """A whole lecture, read from the file `path`; what it names stands beside that.

    `language` is a tag of BCP 47.
    """

    title: str
    about: str
    items: tuple[LectureItem, ...]
    path: Path
    language: str = "en"

    @property
    def files(self) -> frozenset[Path]:
        """Its own file, and those beside it that its items are."""
        shown = (each.path for item in self.items for each in item.layers)
        return frozenset({self.path, *(path for path in shown if path is not None)})

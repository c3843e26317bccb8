"""What a step has the model read is a text to which that model gives some probability."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

import lmviz
from lmviz.app.panels.table import shown_perspectives
from lmviz.lessons.expression import Call
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.shipped import shipped_lessons
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix

MEAN, LEAST = 0.02, 2e-5
"""Below them a text is none that the model was trained for: of all tokens, geometrically, and of each."""

MEASURED = {"features": (0.005, 1e-6)}
"""A lesson whose findings were measured on a less likely text, with a mean and a least of its own."""

LESSONS = shipped_lessons([row.name for row in shown_perspectives()])
open_model = cache(lmviz.open_model)


def models_and_texts(lesson: Lesson) -> Iterator[tuple[str, str, str]]:
    """The title, the model and each text of the steps that open a model or keep one open."""
    for number, step in enumerate(lesson.steps):
        opened = {opening.kind: opening.words for opening in lesson.openings_before(number)}
        if "model" not in opened:
            continue
        typed = [
            condition.words
            for task in step.tasks
            for condition in task.until
            if isinstance(condition.first, Call) and condition.first.name == "prefix" and condition.words
        ]
        for text in filter(None, (opened.get("prefix", ""), *typed)):
            yield step.title, opened["model"], text


def probabilities_of_own_tokens(model: Model, text: str) -> np.ndarray:
    """How likely each token is after those before it: (position,)."""
    ids = read_prefix(model, text).ids
    given = lmviz.trace(model, text)["probabilities"].array
    return given[np.arange(len(ids) - 1), list(ids[1:])]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_model_has_some_right_to_the_text_of_its_step(lesson: Lesson) -> None:
    faults = []
    least_mean, least = MEASURED.get(lesson.name, (MEAN, LEAST))
    for title, name, text in models_and_texts(lesson):
        model = open_model(name)
        if not model.predicts.continues or model.further_vocabularies:
            continue
        found = probabilities_of_own_tokens(model, text)
        mean = float(np.exp(np.log(found).mean()))
        if mean < least_mean or found.min() < least:
            faults.append(f"{title}: {name}, {text!r}: mean {mean:.2g}, least {found.min():.1g}")
    assert faults == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_only_a_model_with_attention_is_shown_in_attention(lesson: Lesson) -> None:
    faults = []
    for number, step in enumerate(lesson.steps):
        opened = {opening.kind: opening.words for opening in lesson.openings_before(number)}
        if lesson.perspective_at(number) == "attention" and "model" in opened:
            taps = open_model(opened["model"]).taps()
            if not any(tap.address.endswith("attention/weights") for tap in taps):
                faults.append(f"{step.title}: {opened['model']}")
    assert faults == []

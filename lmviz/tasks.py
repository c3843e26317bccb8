"""The table of tasks: what a model is asked, what it answers with, and how its answers are measured.

The corpus decides the task, and the task what training aims at. Reading the table imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lmviz.base.errors import LmvizError
from lmviz.models.prediction import Prediction

NEXT_TOKEN, TAGGING, CLASSIFICATION = "next-token", "tagging", "classification"
TRANSLATION, CAPTIONING = "translation", "captioning"


@dataclass(frozen=True)
class Task:
    """One thing that a model can be asked.

    `sentence` says what is asked, for a person who has to choose. `targets` says what an example holds
    that the model should answer: the text's own next tokens, a label for each token, one for the text, or
    another text. `readout` is the axis of the answers, and whether there is one for each position or for
    the text. `measures` name what is measured of them. `model` is what its models are called, where they
    have a name, and `target` is one of its targets, for losses "per" it.
    """

    name: str
    title: str
    sentence: str
    targets: Literal["next tokens", "a label for each token", "a label for the text", "another text"]
    readout: tuple[Literal["token", "label"], Literal["position", "text"]]
    measures: tuple[str, ...]
    model: str = ""
    target: str = "token"

    def predicts(self, labels: tuple[str, ...] = ()) -> Prediction:
        """What a model of the task predicts; `labels` are the names of its labels by id."""
        axis, per = self.readout
        return Prediction(axis, labels if axis == "label" else (), per)

    @property
    def has_labels(self) -> bool:
        """Whether it is answered by labels rather than tokens."""
        return self.readout[0] == "label"


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            NEXT_TOKEN,
            "Next token",
            "Which token comes next? A text teaches it by itself.",
            "next tokens",
            ("token", "position"),
            ("nats", "perplexity", "bits per character"),
        ),
        Task(
            TAGGING,
            "Tagging",
            "Which label belongs to each token, such as its part of speech?",
            "a label for each token",
            ("label", "position"),
            ("nats", "accuracy", "by label", "by word", "confusion"),
            "tagger",
            "tag",
        ),
        Task(
            CLASSIFICATION,
            "Classification",
            "Which label belongs to the text, such as good or bad?",
            "a label for the text",
            ("label", "text"),
            ("nats", "accuracy", "by label", "confusion"),
            "classifier",
            "text",
        ),
        Task(
            TRANSLATION,
            "Translation",
            "Which other text belongs to the text, such as the same in another language?",
            "another text",
            ("token", "position"),
            ("nats", "exact match", "BLEU"),
            "translator",
        ),
        Task(
            CAPTIONING,
            "Captioning",
            "Which words describe the picture?",
            "another text",
            ("token", "position"),
            ("nats", "exact match"),
            "captioner",
        ),
    )
}
"""All tasks by name."""


def find_task(name: str) -> Task:
    """The task of that name, or LmvizError."""
    if name not in TASKS:
        raise LmvizError(f"There is no task {name!r}: choose one of {', '.join(TASKS)}.")
    return TASKS[name]

"""The contents of `run.json`: the model, its settings, the training and the corpus. Imports no torch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from lmviz.base.errors import LmvizError
from lmviz.training.plain_numbers import finite_number, is_step

if TYPE_CHECKING:
    from lmviz.models.tuning_configuration import TuningConfiguration
    from lmviz.text.corpus import Corpus
    from lmviz.text.examples import Examples
    from lmviz.training.options import TrainingOptions

FORMAT = "lmviz run"
FORMAT_VERSION = 1
LARGEST_VOCABULARY = 2**31

WITH_SOURCE = ("translation", "captioning")
"""The tasks whose models read something beside the text that they write."""


def versions() -> dict[str, str]:
    """The versions of what decides about numbers."""
    from importlib.metadata import PackageNotFoundError, version  # slow to load, and the window waits

    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in ("lmviz", "torch", "numpy", "tokenizers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def now() -> str:
    """This moment, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    """What a run remembers of its corpus: enough to know it again and to load it again."""
    pairs = corpus.training_examples if corpus.task == "translation" else None
    return {
        "name": corpus.name,
        "sources": [str(source) for source in corpus.sources],
        "target_sources": list(corpus.target_sources),
        "task": corpus.task,
        "options": corpus.options.to_values(),
        "fingerprint": corpus.fingerprint,
        "marks_boundaries": corpus.marks_boundaries,
        "training_tokens": len(corpus.training),
        "validation_tokens": len(corpus.validation),
        "characters_per_token": corpus.characters_per_token,
        "answers_only": corpus.answers_only,
        "longest_source": _longest_source(pairs) if pairs is not None else None,
    }


def _longest_source(pairs: Examples) -> int:
    """How many tokens, without END, the longest source has that is learned from."""
    return int(pairs.source.lengths.max(initial=1)) - 1


CORPUS = {
    "name": str,
    "sources": list,
    "target_sources": list,
    "task": str,
    "options": dict,
    "fingerprint": str,
    "marks_boundaries": bool,
}
"""What others rely on in what a run remembers of its corpus, where it does."""


def _check_corpus(corpus: Mapping[str, Any]) -> None:
    """Raise LmvizError, in a few words, where a part is of the wrong kind."""
    for name, kind in CORPUS.items():
        if name in corpus and type(corpus[name]) is not kind:
            raise LmvizError(f"the {name!r} of its corpus is of the wrong kind")
    if not all(
        type(source) is str for name in ("sources", "target_sources") for source in corpus.get(name, [])
    ):
        raise LmvizError("a source of its corpus is not a text")


BASE = {"place": str, "name": str, "fingerprint": str, "joined": bool, "tuning": dict}
"""What others rely on in what a run says of the model that it began with."""


def _is_base(values: Any) -> bool:
    if type(values) is not dict or not all(type(values.get(name)) is kind for name, kind in BASE.items()):
        return False
    return values.get("step") is None or is_step(values["step"])


def _usual_training() -> dict[str, Any]:
    from lmviz.training.options import TrainingOptions

    return TrainingOptions().to_values()


@dataclass(frozen=True)
class RunDescription:
    """A run in words and numbers, as `run.json` holds it.

    `task` is a name in `lmviz.tasks.TASKS`, and `labels` are the names of its labels by id. Where it
    reads a source, `source_vocabulary_size` is the number of tokens that one can have, None otherwise.
    `configuration` and `training` are the plain values of the model's configuration and of its
    TrainingOptions; `corpus` is what `describe_corpus` gives. `forked_from` says of a fork whose snapshot it
    began with: the `folder`, `name` and `created` of that run, the `step`, and what was `begun_anew`.
    `tuned_from` says of a model that was opened and trained further where its base lies (`place`, and the
    `step` of a run), its `name`, its `fingerprint`, whether its queries, keys and values are `joined` in one
    stored matrix, and by `tuning` what was learned of it.
    `recorded` says of a run that lmviz only wrote down, while another program trained, `by` which program
    ("transformers' Trainer") and what kind of `module` that was; such a run says nothing of its optimizer.
    """

    name: str
    family: str
    configuration: Mapping[str, Any]
    vocabulary_size: int
    training: Mapping[str, Any] = field(default_factory=_usual_training)
    corpus: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=versions)
    created: str = field(default_factory=now)
    task: str = "next-token"
    labels: tuple[str, ...] = ()
    source_vocabulary_size: int | None = None
    forked_from: Mapping[str, Any] | None = None
    tuned_from: Mapping[str, Any] | None = None
    recorded: Mapping[str, Any] | None = None

    @property
    def tuning(self) -> TuningConfiguration | None:
        """What was learned of an opened model; None where it began with weights of its own."""
        if self.tuned_from is None:
            return None
        from lmviz.models.tuning_configuration import TuningConfiguration

        return TuningConfiguration.from_values(self.tuned_from["tuning"])

    @property
    def seed(self) -> int:
        """The seed of the initial weights and of the training."""
        return self.options.seed

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the corpus; empty when none was recorded."""
        return str(self.corpus.get("fingerprint", ""))

    @property
    def characters_per_token(self) -> float | None:
        """How many characters of the validation text a predicted token is; None where not recorded."""
        recorded = finite_number(self.corpus.get("characters_per_token"))
        return recorded if recorded is not None and recorded > 0 else None

    @property
    def longest_source(self) -> int | None:
        """How many tokens the longest source had that was learned from; None where that is not recorded."""
        recorded = self.corpus.get("longest_source")
        return recorded if type(recorded) is int and recorded > 0 else None

    @property
    def options(self) -> TrainingOptions:
        """The training options, checked; LmvizError when they cannot be."""
        from lmviz.training.options import TrainingOptions  # a window that opens shows none of them

        return TrainingOptions.from_values(self.training)

    def continues(self, earlier: RunDescription) -> bool:
        """Whether it is of the same run, which may have been renamed or trained on since then."""
        return replace(self, name=earlier.name, training=earlier.training) == earlier

    def to_values(self) -> dict[str, Any]:
        """The content of `run.json`."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION}
        return head | asdict(self) | {"seed": self.seed}

    @classmethod
    def from_values(cls, values: Any) -> Self:
        """The description in the content of a `run.json`; LmvizError, in a few words, when it is none."""
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise LmvizError(f"it does not say that it is a {FORMAT!r}")
        if values.get("format_version") != FORMAT_VERSION:
            raise LmvizError(f"its format version is {values.get('format_version')!r}, not {FORMAT_VERSION}")
        kinds = {
            "name": str,
            "family": str,
            "configuration": dict,
            "vocabulary_size": int,
            "training": dict,
            "corpus": dict,
            "versions": dict,
            "created": str,
        }
        task, labels = values.get("task", "next-token"), values.get("labels", [])
        if type(task) is not str or type(labels) is not list or not all(type(item) is str for item in labels):
            raise LmvizError("its task or its labels are of the wrong kind")
        for name, kind in kinds.items():
            if type(values.get(name)) is not kind:
                raise LmvizError(f"its {name!r} is missing or of the wrong kind")
        of_source = values.get("source_vocabulary_size")
        if (type(of_source) is not int) if task in WITH_SOURCE else (of_source is not None):
            raise LmvizError("the size of its source's vocabulary does not fit its task")
        for size in (values["vocabulary_size"], *([of_source] if of_source is not None else [])):
            if not 1 <= size <= LARGEST_VOCABULARY:
                raise LmvizError(f"its vocabulary cannot have {size} tokens")
        _check_corpus(values["corpus"])
        forked_from = values.get("forked_from")
        if forked_from is not None and (
            type(forked_from) is not dict or not is_step(forked_from.get("step"))
        ):
            raise LmvizError("it does not say rightly which run it was forked from")
        tuned_from = values.get("tuned_from")
        if tuned_from is not None and not _is_base(tuned_from):
            raise LmvizError("it does not say rightly which model it began with")
        recorded = values.get("recorded")
        if recorded is not None and (type(recorded) is not dict or type(recorded.get("by")) is not str):
            raise LmvizError("it does not say rightly which program was recorded")
        description = cls(
            **{name: values[name] for name in kinds},
            task=task,
            labels=tuple(labels),
            source_vocabulary_size=of_source,
            forked_from=forked_from,
            tuned_from=tuned_from,
            recorded=recorded,
        )
        description.options, description.tuning  # noqa: B018 - checks them
        return description

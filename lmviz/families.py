"""The table of model families, and how a model of each is built or opened from a run.

Reading the table imports no torch: a family's configuration, model and learner are named as
"module:name" and loaded when they are first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.tasks import CAPTIONING, TRANSLATION, find_task

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.models.prediction import Prediction
    from lmviz.training.run import Run


@dataclass(frozen=True)
class Family:
    """One kind of model.

    `sentence` says what it does, for a person who has to choose; `short_title` is for where there is no
    room for the `title`, and is the same where nothing else is said. `settings`, `model` and `learner` are
    "module:name": a subclass of ModelConfiguration, one of Model, and a generator of Progress with the
    arguments of `lmviz.training.gradient_training.learn`. `tasks` are the names in `lmviz.tasks.TASKS` of
    what its models can be asked. `translator` and `captioner` name a Translator that has the same settings,
    for a family that translates or writes captions.
    """

    name: str
    title: str
    sentence: str
    settings: str
    model: str
    learner: str
    short_title: str = ""
    tasks: tuple[str, ...] = ("next-token",)
    translator: str = ""
    captioner: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "short_title", self.short_title or self.title)

    @property
    def configuration(self) -> type[ModelConfiguration]:
        """What can be set, as a class whose fields explain and check themselves."""
        return load(self.settings)

    @property
    def counts(self) -> bool:
        """Whether it learns by counting its text once, and not by gradients."""
        return self.learner == _COUNT


_LEARN = "lmviz.training.gradient_training:learn"
_COUNT = "lmviz.training.counting:learn_counts"
_LABELS = ("next-token", "tagging", "classification")
_ALL = (*_LABELS, "translation")
_RECURRENT = (*_ALL, "captioning")
_RECURRENT_MODEL = "lmviz.models.recurrent:RecurrentModel"
_RECURRENT_TRANSLATOR = "lmviz.models.recurrent_translator:RecurrentTranslator"
_RECURRENT_CAPTIONER = "lmviz.models.recurrent_captioner:RecurrentCaptioner"

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "ngram",
            "N-gram",
            "Counts which token followed the last few, and gives some probability to unseen ones.",
            "lmviz.models.ngram.configuration:NgramConfiguration",
            "lmviz.models.ngram.model:Ngram",
            _COUNT,
            "n-gram",
        ),
        Family(
            "window",
            "Fixed window",
            "Looks at the last few tokens through one hidden layer (Bengio et al. 2003).",
            "lmviz.models.window_configuration:WindowConfiguration",
            "lmviz.models.window:WindowModel",
            _LEARN,
            "window",
            ("next-token", "tagging"),
        ),
        Family(
            "rnn",
            "Simple recurrent network",
            "Reads token by token into one hidden state that each token overwrites (Elman 1990).",
            "lmviz.models.recurrent_configuration:RNNConfiguration",
            _RECURRENT_MODEL,
            _LEARN,
            "RNN",
            _RECURRENT,
            _RECURRENT_TRANSLATOR,
            _RECURRENT_CAPTIONER,
        ),
        Family(
            "lstm",
            "LSTM",
            "Keeps a memory cell whose gates decide what to forget, to add and to show (Hochreiter & "
            "Schmidhuber 1997).",
            "lmviz.models.recurrent_configuration:LSTMConfiguration",
            _RECURRENT_MODEL,
            _LEARN,
            tasks=_RECURRENT,
            translator=_RECURRENT_TRANSLATOR,
            captioner=_RECURRENT_CAPTIONER,
        ),
        Family(
            "gru",
            "GRU",
            "Blends the old state with a new candidate through two gates (Cho et al. 2014).",
            "lmviz.models.recurrent_configuration:GRUConfiguration",
            _RECURRENT_MODEL,
            _LEARN,
            tasks=_RECURRENT,
            translator=_RECURRENT_TRANSLATOR,
            captioner=_RECURRENT_CAPTIONER,
        ),
        Family(
            "transformer",
            "Transformer",
            "Lets every position look back at all the earlier ones, in several heads and layers (Vaswani "
            "et al. 2017).",
            "lmviz.models.transformer_configuration:TransformerConfiguration",
            "lmviz.models.transformer:TransformerModel",
            _LEARN,
            tasks=_ALL,
            translator="lmviz.models.transformer_translator:TransformerTranslator",
        ),
    )
}
"""All families by name, the simplest first."""


def find_family(name: str) -> Family:
    """The family of that name, or LmvizError."""
    if not isinstance(name, str) or name not in FAMILIES:
        raise LmvizError(f"There is no family {name!r}: choose one of {', '.join(FAMILIES)}.")
    return FAMILIES[name]


def load(reference: str) -> Any:
    """The object that "module:name" names."""
    module, name = reference.split(":")
    return getattr(import_module(module), name)


def learner_of(family: str) -> Callable[..., Any]:
    """The family's learner, as `lmviz.training` defines it."""
    return load(find_family(family).learner)


def obstacle_to(family: str, task: str) -> str:
    """Why a family's models cannot be asked what a task asks, as a sentence; empty where they can."""
    if task in find_family(family).tasks:
        return ""
    able = ", ".join(other.name for other in FAMILIES.values() if task in other.tasks) or "none yet"
    return f"The family {family} cannot do {task}: choose one that can ({able})."


def check_task(family: str, task: str) -> None:
    """LmvizError where a family's models cannot be asked what a task asks."""
    obstacle = obstacle_to(family, task)
    if obstacle:
        raise LmvizError(obstacle)


def build_model(
    family: str,
    configuration: ModelConfiguration,
    vocabulary_size: int,
    seed: int,
    predicts: Prediction | None = None,
    source_vocabulary: int | None = None,
    task: str = TRANSLATION,
) -> Model:
    """An untrained model whose initial weights depend on nothing but the seed.

    It predicts the next token unless `predicts` says something else, which its family must be able to. With a
    `source_vocabulary`, the number of tokens that a source can have, it does the `task`, which is translation
    or captioning.
    torch's own random numbers stay as they are, for a training in another thread draws from them.
    """
    import torch

    from lmviz.models.initial_weights import DrawnFrom

    with DrawnFrom(torch.Generator().manual_seed(seed)):
        if source_vocabulary is not None:
            check_task(family, task)
            found = find_family(family)
            reader = load(found.captioner if task == CAPTIONING else found.translator)
            return reader(configuration, vocabulary_size, source_vocabulary)
        model = load(find_family(family).model)
        if predicts is None or predicts.continues:
            return model(configuration, vocabulary_size)
        return model(configuration, vocabulary_size, predicts)


@loads("run")
def open_run_model(run: Run, step: int | None = None) -> Model:
    """The model of a run as it was after `step` updates, by default at the last snapshot, for reading.

    Raises LmvizError when there is no such snapshot, or when the run does not fit together.
    """
    description, steps = run.description, run.snapshots()
    if not steps:
        run.check_readable()
        raise LmvizError(f"{run.folder} has no snapshot to open: train it first.")
    chosen = steps[-1] if step is None else step
    if not isinstance(chosen, Integral):
        raise LmvizError(f"{chosen!r} is not a step: give a whole number, such as one of run.snapshots().")
    if chosen not in steps:
        offered = ", ".join(map(str, steps))
        raise LmvizError(f"{run.folder} has no snapshot of step {chosen}: choose one of {offered}.")
    configuration = find_family(description.family).configuration.from_values(description.configuration)
    tokenizer = run.tokenizer()
    state = run.load_snapshot(chosen) if step is not None else _newest(run, steps)
    source_tokenizer, source_vocabulary = run.source_tokenizer(), description.source_vocabulary_size
    for name, read, size in (
        ("tokenizer.json", tokenizer, description.vocabulary_size),
        ("source_tokenizer.json", source_tokenizer, source_vocabulary),
    ):
        if read is not None and read.vocabulary_size != size:
            raise LmvizError(f"{run.folder / name} does not fit its run.json: choose another run.")
    build = partial(
        build_model,
        description.family,
        configuration,
        description.vocabulary_size,
        seed=0,
        predicts=find_task(description.task).predicts(description.labels),
        source_vocabulary=source_vocabulary,
        task=description.task,
    )
    if not _has_shapes(build, state):
        snapshot = run.snapshot_path(chosen)
        raise LmvizError(f"{snapshot} does not fit its run.json: choose another run.")
    model = build()
    model.load_state(state)
    model.tokenizer, model.name, model.step = tokenizer, description.name, chosen
    model.documents = description.corpus.get("options", {}).get("documents", model.documents)
    if source_tokenizer is not None:
        model.further_tokenizers = {"source": source_tokenizer}
    return model.eval().requires_grad_(False)


class DamagedSnapshot(LmvizError):
    """The newest snapshot of a run cannot be read; `readable` is the newest step whose snapshot can."""

    def __init__(self, reason: LmvizError, readable: int) -> None:
        told = str(reason).rstrip(".")
        super().__init__(f"{told}; the newest snapshot that can be read is that of step {readable}.")
        self.readable = readable


def _newest(run: Run, steps: Sequence[int]) -> dict[str, torch.Tensor]:
    """The newest state of a run; DamagedSnapshot where that cannot be read and an earlier one can."""
    try:
        return run.load_snapshot(steps[-1])
    except LmvizError as reason:
        for earlier in reversed(steps[:-1]):
            try:
                run.load_snapshot(earlier)
            except LmvizError:
                continue
            raise DamagedSnapshot(reason, earlier) from None
        raise


def _has_shapes(build: Callable[[], Model], state: Mapping[str, torch.Tensor]) -> bool:
    """Whether weights have the shapes of those of the model that would be built.

    A run.json from a stranger may claim any size, so it is compared before memory is taken for it.
    """
    from lmviz.models.shapes import without_numbers

    try:
        with without_numbers():
            expected = build().state_dict()
    except RuntimeError:  # torch's, of sizes that nothing can have
        return False
    shapes = {name: tensor.shape for name, tensor in expected.items()}
    return not shapes or shapes == {name: tensor.shape for name, tensor in state.items()}

"""The options of a training, with limits, defaults and help. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.configuration import Configuration, setting
from lmviz.base.errors import SettingError

DEFAULT_LENGTH = 64
"""Positions in a training window when neither the person nor the model says."""

LARGEST_STEPS = 100_000_000

SENTENCES = "sentences"
"""The sampling that takes whole sentences, or examples, by shuffled epochs."""

PRECISIONS = ("full", "half", "quarter")
"""Of snapshots: all bits of a float32; 16 of them; 8 of them with one scale for each row of a matrix."""

FIXED = ("optimizer", "sampling", "batch", "length", "seed")
"""Options that a resumed training must share with its beginning, or it would not be the same one."""

COUNTED = (
    "steps",
    "validate_every",
    "snapshots",
    "snapshot_megabytes",
    "snapshot_precision",
    "resume_seconds",
)
"""The options that counting has use for."""

USED_WHERE: dict[str, tuple[str, tuple[str, ...]]] = {
    "warmup": ("schedule", ("cosine",)),
    "final_rate": ("schedule", ("cosine",)),
    "weight_decay": ("optimizer", ("adamw",)),
    "momentum": ("optimizer", ("adamw", "adam", "momentum")),
    "second_moment_decay": ("optimizer", ("adamw", "adam")),
}
"""Options that only some values of another one have use for."""

IDLE_FOR = {
    "tagging": frozenset({"sampling"}),
    "classification": frozenset({"sampling"}),
    "translation": frozenset({"sampling", "watched_text", "watched_word"}),
    "captioning": frozenset({"sampling", "length", "watched_text", "watched_word"}),
}
"""Options that make no difference to examples, which are learned from whole. Captions are all short, and a
watched text has nothing beside it."""


@dataclass(frozen=True)
class TrainingOptions(Configuration):
    """The options of one training, the same for every family; the n-gram heeds those it has use for.

    The defaults suit small models of characters on two cores: AdamW, warm-up and cosine decay
    (Loshchilov & Hutter 2017, 2019), gradients clipped to norm 1 (Pascanu et al. 2013).
    """

    steps: int = setting(
        2000,
        "How many times the weights are updated; the n-gram counts the text in this many slices.",
        minimum=1,
        maximum=LARGEST_STEPS,
    )
    batch: int = setting(
        12,
        "How many excerpts of text each update uses; under torchrun, how many each process uses.",
        minimum=1,
        maximum=65_536,
    )
    batch_parts: int = setting(
        1,
        "In how many parts, one after the other, the gradient of a batch is computed (accumulation). The "
        "update is the same but for rounding, and takes less memory and more time. Models that carry a state "
        "on compute each batch at once.",
        label="Parts of a batch",
        minimum=1,
        maximum=65_536,
        advanced=True,
    )
    length: int = setting(
        0,
        "The number of tokens in an excerpt, which is also how far gradients flow back through a recurrent "
        f"model; 0 takes the model's context, or {DEFAULT_LENGTH} where the model has no limit. Longer "
        "examples are cut, and longer pairs left out; for them 0 sets no limit but the context.",
        zero="context",
        minimum=0,
        maximum=1_000_000,
    )
    learning_rate: float = setting(
        2e-3,
        "The largest learning rate, which scales every update; 0.002 suits Adam and AdamW on small "
        "models, less suits large ones, and 0.1 to 1 suits sgd and momentum.",
        minimum=0.0,
        maximum=100.0,
    )
    optimizer: str = setting(
        "adamw",
        "The rule of the update: plain gradient descent (sgd), the same with momentum, Adam, or Adam with "
        "decoupled weight decay (adamw).",
        choices=("adamw", "adam", "momentum", "sgd"),
    )
    schedule: str = setting(
        "cosine",
        "The learning rate over time: a linear warm-up and then half a cosine down (cosine), or always the "
        "same (constant).",
        choices=("cosine", "constant"),
    )
    warmup: int = setting(
        100,
        "How many updates the cosine schedule takes to reach the learning rate; at most a fifth of all.",
        label="Warm-up",
        minimum=0,
        maximum=10_000_000,
        advanced=True,
    )
    final_rate: float = setting(
        0.1,
        "Where the cosine schedule ends, as a share of the learning rate.",
        minimum=0.0,
        maximum=1.0,
        advanced=True,
    )
    weight_decay: float = setting(
        0.1,
        "How strongly AdamW pulls matrices towards zero (vectors such as biases are left alone, and so is "
        "everything under the other optimizers).",
        minimum=0.0,
        maximum=10.0,
        advanced=True,
    )
    momentum: float = setting(
        0.9,
        "How much of the earlier direction an update keeps: the momentum of gradient descent, and Adam's "
        "first beta.",
        minimum=0.0,
        maximum=0.9999,
        advanced=True,
    )
    second_moment_decay: float = setting(
        0.99,
        "How slowly Adam's running mean of squared gradients forgets (its second beta).",
        minimum=0.0,
        maximum=0.99999,
        advanced=True,
    )
    clip: float = setting(
        1.0,
        "The largest norm of the gradient: a larger one is scaled down to it; 0 never scales.",
        label="Clip gradients at",
        minimum=0.0,
        maximum=1e6,
        advanced=True,
    )
    label_smoothing: float = setting(
        0.0,
        "The share ε of each target that is spread evenly over all K tokens or labels: what is learned is "
        "1 − ε + ε ÷ K for the right one and ε ÷ K for each other, so that no logit has to grow without end. "
        "The training loss is that of these targets, the validation loss is not.",
        label="Label smoothing ε",
        minimum=0.0,
        maximum=0.99,
        advanced=True,
    )
    sampling: str = setting(
        "random",
        "Which excerpts of the text an update sees: at random positions (random), one after the other in "
        "parallel streams, with a recurrent model's state carried from each to the next (streams), or whole "
        "documents, each once in every epoch (sentences). Examples with labels are always taken whole.",
        label="Training excerpts",
        choices=("random", "streams", SENTENCES),
    )
    validate_every: int = setting(
        200,
        "After how many updates the loss on the validation text is measured; 0 measures it only at the end.",
        zero="at the end",
        minimum=0,
        maximum=100_000_000,
    )
    validation_batches: int = setting(
        20,
        "How many batches of the validation text are used, evenly spread and cut as the text that is learned "
        "from; a short one is used whole.",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )
    snapshots: int = setting(
        60,
        "How many snapshots of the model are kept: frequent at first, then further apart.",
        minimum=2,
        maximum=10_000,
    )
    snapshot_megabytes: int = setting(
        500,
        "How many megabytes the snapshots may take together; fewer are kept when they would take more.",
        label="Snapshots' size (MB)",
        minimum=1,
        maximum=10_000_000,
        advanced=True,
    )
    snapshot_precision: str = setting(
        "full",
        "How much of a weight snapshots keep: every bit (full), 16 (half), or 8 with one scale for each row "
        "of a matrix (quarter); the last snapshot is always full.",
        choices=PRECISIONS,
        advanced=True,
    )
    watched_text: str = setting(
        "",
        "A text with a word after it that is watched: its probability is measured at every step, and a "
        "snapshot is kept whenever it has moved by a tenth since the last one, so that what taught the word "
        "can be found. Without a watched word, the last word of the text is the one.",
        advanced=True,
    )
    watched_word: str = setting(
        "",
        "The word, or the label, that is watched after the watched text; one token that the model can say.",
        advanced=True,
    )
    resume_seconds: int = setting(
        30,
        "After how many seconds at most the state of the training is saved, so that a crash costs no more.",
        label="Save every (seconds)",
        minimum=1,
        maximum=86_400,
        advanced=True,
    )
    seed: int = setting(
        0,
        "The seed of all random numbers: initial weights, training excerpts and dropout.",
        minimum=0,
        maximum=2**32 - 1,
    )
    device: str = setting(
        "auto",
        "What computes: the processor (cpu), an NVIDIA card (cuda), an Apple chip (mps), or the best there "
        "is (auto).",
        choices=("auto", "cpu", "cuda", "mps"),
        advanced=True,
    )
    precision: str = setting(
        "float32",
        "The numbers that are multiplied; bfloat16 is faster and less exact, and needs an NVIDIA card or a "
        "processor that has it. Weights and updates are float32 in either case.",
        choices=("float32", "bfloat16"),
        advanced=True,
    )

    def check(self) -> None:
        if self.watched_word and not self.watched_text:
            raise SettingError("A watched word needs the text that it stands after.", "watched_text")


def used_options(options: TrainingOptions, *, counts: bool, task: str = "next-token") -> frozenset[str]:
    """The names of the options that make a difference for a task, to a family that counts or learns."""
    names = frozenset(COUNTED) if counts else TrainingOptions.names()
    names -= IDLE_FOR.get(task, frozenset())
    idle = {name for name, (other, values) in USED_WHERE.items() if getattr(options, other) not in values}
    return names - idle


def check_length(length: int, context: int | None) -> None:
    """SettingError where windows of a length are more than a model can take; None is no limit."""
    if context is not None and length > context:
        raise SettingError(f"The model takes at most {context} positions, and not {length}.", "length")

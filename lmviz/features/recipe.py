"""How a dictionary of features is learned: its settings, with their help and limits."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.configuration import Configuration, setting
from lmviz.base.errors import SettingError

LEARNED = ("topk", "batchtopk", "jumprelu")


@dataclass(frozen=True)
class FeatureRecipe(Configuration):
    """The settings of a dictionary and of its training."""

    kind: str = setting(
        "topk",
        "Which features are on: the k largest of each token (topk), the k largest a token on average over a "
        "batch (batchtopk), or all above a threshold that each of them learns (jumprelu).",
        choices=LEARNED,
    )
    size: int = setting(512, "How many features there are.", label="Features", minimum=2, maximum=1_000_000)
    k: int = setting(16, "How many of them are on at a token, on average.", label="On at a token", minimum=1)
    transcoder: bool = setting(
        False,
        "Whether features stand for what a feed-forward network does: read from what it reads, they write "
        "what it writes.",
    )
    tokens: int = setting(
        1_000_000,
        "How many tokens to learn from; a shorter text is read more than once.",
        label="Tokens to learn from",
        minimum=2,
        maximum=10**12,
    )
    batch: int = setting(
        1024, "How many tokens make a step.", label="Tokens a step", minimum=2, advanced=True
    )
    rate: float = setting(
        0.002,
        "The learning rate of Adam: it rises over a tenth of the steps, and falls over the last third.",
        label="Learning rate",
        minimum=1e-7,
        maximum=1.0,
        advanced=True,
    )
    penalty: float = setting(
        1.0,
        "How dear it is, with learned thresholds (jumprelu), if more or fewer features are on than k.",
        label="Sparsity",
        minimum=0.0,
        maximum=1000.0,
        advanced=True,
    )
    dead_after: int = setting(
        100_000,
        "A feature that has not been on for so many tokens is dead, and is revived by the auxiliary loss.",
        label="Dead after",
        minimum=1,
        advanced=True,
    )
    length: int = setting(
        128,
        "How many tokens of a text are read together.",
        label="Tokens a passage",
        minimum=3,
        advanced=True,
    )
    memory: int = setting(
        256,
        "Megabytes of states that are kept at once; a longer text is read in turns.",
        label="Memory",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )
    seed: int = setting(0, "What is drawn at random follows from it.", minimum=0, advanced=True)

    def check(self) -> None:
        """SettingError where more features are to be on than there are."""
        if self.k > self.size:
            raise SettingError(f"There are {self.size} features, so no {self.k} of them can be on.", "k")

    @property
    def steps(self) -> int:
        """How many updates are made."""
        return -(-self.tokens // self.batch)

    def used(self) -> frozenset[str]:
        """All settings, but the penalty only with thresholds."""
        return self.names() if self.kind == "jumprelu" else self.names() - {"penalty"}

"""What can be chosen about rotary positions: how fast pairs of channels turn, in which layers and how far."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from lmviz.base.configuration import setting
from lmviz.base.errors import SettingError
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.models.rotary import Rotary


@dataclass(frozen=True, init=False)  # a part of a configuration, never made alone
class RotarySettings(ModelConfiguration):
    """The settings of rotary positions (Su et al. 2021), and the turning that they describe."""

    rotary_base: float = setting(
        10000.0,
        "With rotary positions, the slowest pair of channels turns once in about 2π × this many positions.",
        minimum=1.0,
        maximum=1e12,
        advanced=True,
    )
    rotary_channels: int = setting(
        0,
        "With rotary positions, how many channels of a head are turned; the others say nothing of "
        "positions (GPT-NeoX). 0 stands for all of them.",
        zero="all",
        minimum=0,
        maximum=4096,
        advanced=True,
    )
    rotary_pairs: str = setting(
        "halves",
        "With rotary positions, which channels are turned together: one of the first half with one of the "
        "second, or neighbours (GPT-J).",
        choices=("halves", "neighbours"),
        of_others=True,
    )
    rotary_layers: str = setting(
        "1",
        "With rotary positions, which layers have them: a 1 for each that has and a 0 for each that has not, "
        "from the first on and over again. With 1110, every fourth layer has none (SmolLM 3).",
        of_others=True,
    )
    rotary_window_base: float = setting(
        0.0,
        "With rotary positions and an attention window, a base of their own for the layers that have the "
        "window, whose angles are never scaled (Gemma 3); 0 stands for no difference.",
        zero="as all",
        minimum=0.0,
        maximum=1e12,
        of_others=True,
    )
    rotary_magnitude: float = setting(
        1.0,
        "With rotary positions, how much longer queries and keys become as they are turned (YaRN).",
        minimum=0.0,
        maximum=1e6,
        of_others=True,
    )
    rotary_scaling: str = setting(
        "none",
        "With rotary positions, how angles are made smaller for texts longer than those first trained on: "
        "linear divides all of them; llama3 and yarn only those of the slow pairs (Llama 3.1; Peng et al. "
        "2023); longrope each by a number of its own (Phi 3); dynamic raises the base, by how much longer "
        "than the original context the text is.",
        choices=("none", "linear", "dynamic", "llama3", "yarn", "longrope"),
        advanced=True,
    )
    rotary_factor: float = setting(
        8.0,
        "What scaled rotary angles are divided by; with dynamic scaling, how fast the base grows.",
        minimum=1.0,
        maximum=1e6,
        advanced=True,
    )
    rotary_slow: float = setting(
        1.0,
        "With llama3 or yarn scaling, pairs that turn fewer times than this in the original context are "
        "slowed.",
        minimum=0.001,
        maximum=1e6,
        advanced=True,
    )
    rotary_fast: float = setting(
        4.0,
        "With llama3 or yarn scaling, pairs that turn more times than this in the original context stay as "
        "they are.",
        minimum=0.001,
        maximum=1e6,
        advanced=True,
    )
    rotary_original: int = setting(
        8192,
        "With llama3, yarn, dynamic or longrope scaling, the context that the model was first trained on.",
        label="Original context",
        minimum=1,
        maximum=2**31,
        advanced=True,
    )
    rotary_whole: bool = setting(
        True,
        "With yarn scaling, let the pairs that it blends begin and end with a whole pair.",
        of_others=True,
    )
    rotary_divisors: str = setting(
        "",
        "With longrope scaling, what the angle of each pair of channels is divided by: as many numbers, with "
        "spaces between them.",
        advanced=True,
    )
    rotary_long_divisors: str = setting(
        "",
        "With longrope scaling, the same for texts longer than the original context, at all of their "
        "positions; none where the length makes no difference.",
        advanced=True,
    )

    @property
    @abstractmethod
    def head_width(self) -> int:
        """Channels of one head."""

    def check_rotary(self) -> None:
        """Refuse channels that form no pairs, and limits and divisors that say nothing."""
        if self.rotary_channels > self.head_width:
            raise SettingError(
                f"A head has {self.head_width} channels, of which {self.rotary_channels} cannot be turned: "
                "choose fewer rotary channels.",
                "rotary_channels",
            )
        if self.rotary_width % 2:
            raise SettingError(
                f"Rotary positions turn pairs of numbers, and a head has {self.rotary_width} of them: "
                "choose a width that gives each head an even number, or an even number of rotary channels.",
                "width",
                "heads",
                "positions",
            )
        if self.rotary_scaling in ("llama3", "yarn") and self.rotary_fast <= self.rotary_slow:
            raise SettingError(
                f"With {self.rotary_scaling} scaling, fast pairs turn more often than slow ones, but "
                f"{self.rotary_fast:g} is not more than {self.rotary_slow:g}: choose a larger rotary_fast.",
                "rotary_fast",
                "rotary_slow",
            )
        if self.rotary_scaling == "yarn" and self.rotary_base <= 1:
            raise SettingError(
                f"With a base of {self.rotary_base:g} all pairs turn alike, and yarn scaling tells fast ones "
                "from slow ones: choose a larger rotary_base.",
                "rotary_base",
            )
        if self.rotary_scaling == "longrope":
            pairs = self.rotary_width // 2
            for name in ("rotary_divisors", "rotary_long_divisors"):
                said = getattr(self, name)
                divisors = _numbers_of(said)
                if name == "rotary_long_divisors" and not said:
                    continue
                if len(divisors) != pairs or not all(divisor > 0 for divisor in divisors):
                    raise SettingError(
                        f"{said[:40]!r} is not what {pairs} pairs of channels are divided by: "
                        f"write {pairs} positive numbers with spaces between them.",
                        name,
                    )

    @property
    def rotary_width(self) -> int:
        """Channels of a head that rotary positions turn."""
        return self.rotary_channels or self.head_width

    @property
    def rotary(self) -> Rotary:
        """The turning of rotary positions."""
        is_longrope = self.rotary_scaling == "longrope"
        return Rotary(
            channels=self.rotary_width,
            base=self.rotary_base,
            pairs=self.rotary_pairs,
            magnitude=self.rotary_magnitude,
            scaling=self.rotary_scaling,
            factor=self.rotary_factor,
            slow=self.rotary_slow,
            fast=self.rotary_fast,
            original=self.rotary_original,
            whole=self.rotary_whole,
            divisors=_numbers_of(self.rotary_divisors) if is_longrope else (),
            long_divisors=_numbers_of(self.rotary_long_divisors) if is_longrope else (),
        )

    def unused_rotary(self) -> frozenset[str]:
        """The names of the settings that make no difference with the scaling that is chosen."""
        unused: set[str] = set()
        if self.rotary_scaling != "yarn":
            unused |= {"rotary_whole"}
        if self.rotary_scaling not in ("llama3", "yarn"):
            unused |= {"rotary_slow", "rotary_fast"}
            if not self.rotary.depends_on_length:
                unused |= {"rotary_original"}
        if self.rotary_scaling != "longrope":
            unused |= {"rotary_divisors", "rotary_long_divisors"}
        if self.rotary_scaling in ("none", "longrope"):
            unused |= {"rotary_factor"}
        return frozenset(unused)


def _numbers_of(text: str) -> tuple[float, ...]:
    """Numbers with spaces between them; none where something else is written."""
    try:
        return tuple(map(float, text.split()))
    except ValueError:
        return ()

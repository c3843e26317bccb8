"""The settings of sampling and of beam search."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.configuration import Configuration, setting

FILTERS = ("temperature", "top_k", "top_p", "min_p")
"""The names of the options that make a distribution of the logits."""

DRAWING = (*FILTERS, "seed", "stop_at_end")
"""The names of those that make a sample."""


@dataclass(frozen=True)
class SamplingOptions(Configuration):
    """The pipeline from logits to a token, and how long to go on."""

    temperature: float = setting(
        1.0,
        "Divides the logits: below 1 the likely tokens gain, above 1 the unlikely ones; 0 is greedy.",
        minimum=0.0,
        maximum=100.0,
    )
    top_k: int = setting(0, "Keeps only the k likeliest tokens; 0 keeps all.", label="Top-k", minimum=0)
    top_p: float = setting(
        1.0,
        "Keeps the smallest set of likeliest tokens whose probabilities reach p (nucleus); 1 keeps all.",
        label="Top-p",
        minimum=0.0,
        maximum=1.0,
    )
    min_p: float = setting(
        0.0,
        "Keeps the tokens that are at least this fraction as likely as the likeliest; 0 keeps all.",
        label="Min-p",
        minimum=0.0,
        maximum=1.0,
    )
    seed: int = setting(0, "The seed of the random numbers.", minimum=0, maximum=2**63 - 1)
    seed_locked: bool = setting(False, "Uses the same random numbers each time instead of new ones.")
    stop_at_end: bool = setting(
        True, "Stops when the model says that the document ends.", label="Stop at END"
    )


LENGTH_FORMULAS = ("shifted", "plain")
"""Ways to normalise a log-probability by its length: ((5 + n) ÷ 6)^α of Wu et al. 2016, and n^α."""


@dataclass(frozen=True)
class BeamOptions(Configuration):
    """The size of a beam search and how it compares texts of different lengths."""

    width: int = setting(3, "How many unfinished texts are kept after each step.", minimum=1, maximum=64)
    continuations: int = setting(
        0,
        "How many continuations of each text are weighed at each step; 0 stands for as many as are kept.",
        zero="as width",
        label="Continuations (m)",
        minimum=0,
        maximum=64,
    )
    choice: str = setting(
        "likeliest",
        "Which continuations are weighed: the likeliest, or drawn ones, of which none comes twice.",
        choices=("likeliest", "sampled"),
    )
    seed: int = setting(0, "The seed of what is drawn.", minimum=0, maximum=2**63 - 1)
    length: int = setting(10, "How many tokens a text may grow by.", minimum=1, maximum=1000)
    length_penalty: float = setting(
        0.6,
        "Strength α of the length normalisation: 0 compares log-probabilities as they are, which favours "
        "short texts; 1 compares them per token, or almost.",
        minimum=0.0,
        maximum=2.0,
    )
    length_formula: str = setting(
        "shifted",
        "What a log-probability of n tokens is divided by: ((5 + n) ÷ 6)^α (shifted), or n^α, as "
        "transformers has it (plain).",
        choices=LENGTH_FORMULAS,
    )
    stop_at_end: bool = setting(
        True, "Finishes a text when the model says that the document ends.", label="Stop at END"
    )

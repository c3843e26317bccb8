"""What a kind of checkpoint is: a reader of its `config.json`, and a table of names.

In names, `*` is the number of a layer, and `#` that of a head.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lmviz.interchange.fields import Fields
from lmviz.models.transformer_configuration import TransformerConfiguration


@dataclass(frozen=True)
class Half:
    """One half of the rows of a module there: what a kind has joined to one matrix."""

    name: str
    second: bool = False


Name = str | tuple[str, ...] | Half
Names = dict[str, Name]


@dataclass(frozen=True)
class Kind:
    """One kind of checkpoint.

    `title` is what a person calls it, and `about` what is special about it, for the guide. `names` gives for
    each module of the Transformer its module there, or the three of queries, keys and values; where they
    differ within a kind, `renamed` gives those of a configuration. `inside` is what stands before the names
    of all but the output. `transposed` modules hold their matrices as (feature, unit). With `by_group`,
    queries, keys and values come group by group, the queries of the group first, and not one after the other.
    `by_head` modules hold what they have as (head, channel). `ignored` are patterns of names that hold
    nothing learned.
    """

    title: str
    about: str
    configuration: Callable[[Fields], TransformerConfiguration]
    names: Names
    inside: str = ""
    renamed: Callable[[TransformerConfiguration], Names] = lambda _: {}
    transposed: frozenset[str] = field(default_factory=frozenset)
    by_group: bool = False
    by_head: frozenset[str] = field(default_factory=frozenset)
    ignored: tuple[str, ...] = ()


QUERIES_KEYS_VALUES = tuple(f"layers.*.self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj"))
"""The three modules of attention's inputs, as most programs name them."""

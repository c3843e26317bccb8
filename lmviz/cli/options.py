"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lmviz.decoding.options import SamplingOptions

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
at_step = click.option("--step", type=int, help="Take the snapshot of this step; the last one by default.")


with_base = click.option(
    "--base",
    metavar="PATH",
    help="The model that an adapter (LoRA) is added to, where it names another place.",
)

letters = click.option(
    "--letters", is_flag=True, help="Read special tokens of a checkpoint, such as <|im_end|>, as letters."
)


def sampling_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A click option for each of these fields of SamplingOptions, with its own help and default."""
    settings = {item.name: item for item in SamplingOptions.settings()}

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            item = settings[name]
            option = click.option(
                f"--{name.replace('_', '-')}",
                type=item.kind,
                default=item.default,
                show_default=True,
                help=item.help,
            )
            function = option(function)
        return function

    return add


def read_settings(
    context: click.Context, parameter: click.Parameter, words: tuple[str, ...]
) -> dict[str, str]:
    """`--set name=value`, several times, as a dictionary of texts."""
    for word in words:
        if "=" not in word:
            raise click.BadParameter(f"{word!r} is not of the form name=value")
    return {name.strip(): value for name, _, value in (word.partition("=") for word in words)}

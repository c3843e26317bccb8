"""The command that writes models in the formats of other programs: convert."""

from __future__ import annotations

import click

import lmviz
from lmviz.cli.options import as_json, at_step
from lmviz.cli.terminal import print_json


@click.command()
@click.argument("model")
@click.argument("out")
@at_step
@as_json
def convert(model: str, out: str, step: int | None, as_json: bool) -> None:
    """Write MODEL for another program.

    A Transformer becomes a folder OUT that Hugging Face's transformers loads; an n-gram becomes OUT.arpa,
    which KenLM and SRILM read. The curves of a run become a folder OUT.tensorboard.
    """
    written = lmviz.convert(model, out, step)
    if as_json:
        print_json({"written": str(written)})
    else:
        print(written)

"""The command that writes models in the formats of other programs: convert."""

from __future__ import annotations

import click

import lmviz
from lmviz.cli.options import as_json, at_step
from lmviz.cli.terminal import print_json


@click.command()
@click.argument("model")
@click.argument("out")
@click.option("--merged", is_flag=True, help="The whole model, where a LoRA alone would be written.")
@at_step
@as_json
def convert(model: str, out: str, merged: bool, step: int | None, as_json: bool) -> None:
    """Write MODEL for another program.

    A Transformer becomes a folder OUT that Hugging Face's transformers loads; an n-gram becomes OUT.arpa,
    which KenLM and SRILM read. A LoRA that was learned beside such a folder becomes an adapter of peft, or
    OUT.gguf, which llama.cpp reads, or with --merged the whole model. The curves of a run become a folder
    OUT.tensorboard.
    """
    written = lmviz.convert(model, out, step, merged=merged)
    if as_json:
        print_json({"written": str(written)})
    else:
        print(written)

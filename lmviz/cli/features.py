"""The command that finds sparse features of a model's states, and writes them for other programs."""

from __future__ import annotations

import shlex
from typing import Any

import click

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.cli.options import as_json, read_settings
from lmviz.cli.terminal import print_json, say, share_bar

FORMS = ("lmviz", "saelens", "gemma-scope", "circuit-tracer")


@click.command()
@click.argument("model")
@click.argument("text", required=False)
@click.option("--tap", metavar="ADDRESS", help="Where; by default the state after the middle layer.")
@click.option("--size", type=int, help="How many features.")
@click.option("-k", "--active", "k", type=int, help="How many of them are on at a token.")
@click.option("--tokens", type=int, help="How many tokens to learn from.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=read_settings,
    help="Any setting, such as kind=batchtopk; may be given several times.",
)
@click.option("--out", metavar="FOLDER", help="The folder to write the features into.")
@click.option("--resume", is_flag=True, help="Go on where it stopped.")
@click.option("--overwrite", is_flag=True, help="Delete what is in that folder and begin anew.")
@click.option("--plan", is_flag=True, help="Only say what it takes.")
@click.option("--form", type=click.Choice(FORMS), help="Write the features MODEL for another program.")
@as_json
def features(
    model: str,
    text: str | None,
    tap: str | None,
    size: int | None,
    k: int | None,
    tokens: int | None,
    settings: dict[str, Any],
    out: str | None,
    resume: bool,
    overwrite: bool,
    plan: bool,
    form: str | None,
    as_json: bool,
) -> None:
    """Find sparse features in the states of MODEL, while it reads TEXT, a file or a corpus by its name.

    Ctrl+C stops it, and --resume goes on. With --form, MODEL is a folder or a file of features, which is
    written for another program.
    """
    if form is not None:
        _write(model, out, form, as_json)
        return
    if text is None:
        raise LmvizError("Name a text to find features in, a file or a corpus of `lmviz corpora`.")
    chosen = settings | {
        name: value for name, value in (("size", size), ("k", k), ("tokens", tokens)) if value is not None
    }
    if plan:
        planned = lmviz.features_plan(model, text, tap, **chosen)
        if as_json:
            print_json({"tap": planned.tap, "seconds": planned.seconds, "bytes": planned.bytes})
        else:
            print(planned.sentence)
        return
    if out is None:
        raise LmvizError("Say with --out into which folder they go, or ask with --plan what it takes.")
    try:
        with share_bar("features") as show:
            found = lmviz.find_features(
                model,
                text,
                tap,
                out=out,
                resume=resume,
                overwrite=overwrite,
                progress=lambda progress: show(progress.share),
                **chosen,
            )
    except KeyboardInterrupt:
        say(f"Go on with the same words and --resume, to {shlex.quote(out)}.")
        raise
    worth = found.worth
    assert worth is not None, "what is found is judged"
    if as_json:
        print_json({"features": out, "tap": found.tap, "size": found.size, "k": found.k, **vars(worth)})
    else:
        print(f"{found!r}\n{worth.sentence}")


def _write(path: str, out: str | None, form: str, as_json: bool) -> None:
    if out is None:
        raise LmvizError("Say with --out where the features go.")
    written = lmviz.save_features(lmviz.open_features(path), out, form)
    if as_json:
        print_json({"written": str(written)})
    else:
        print(written)

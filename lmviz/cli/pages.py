"""The command that writes a page: one HTML file of a model that reads a text, or of a scene."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.base.figures import with_unit
from lmviz.cli.options import as_json, letters, with_base
from lmviz.cli.terminal import print_json, say, share_bar


@click.command("page")
@click.argument("model")
@click.option("--text", help="What the model reads; a scene has its own.")
@click.option("--source", help="What a translator reads beside its text.")
@click.option("--changed", help="The same text with a word or two changed: adds what the answer hangs on.")
@click.option("--measure", default="", help="What is asked about, such as 'logit:night- day'.")
@click.option("--steps", help="Steps of a run for a slider, such as 0,100,500, or all.")
@click.option("--step", type=int, help="Take the snapshot of this step; the last one by default.")
@click.option("--heads", help="Some heads of attention, as layer.head counted from 0, such as 0.1,3.2.")
@click.option(
    "--top", type=click.IntRange(min=0), default=0, help="Of each row of attention so many weights."
)
@click.option("--title", default="", help="What stands above.")
@click.option("--out", required=True, metavar="FILE", help="The page to write.")
@letters
@with_base
@as_json
def page(
    model: str,
    text: str | None,
    source: str | None,
    changed: str | None,
    measure: str,
    steps: str | None,
    step: int | None,
    heads: str | None,
    top: int,
    title: str,
    out: str,
    letters: bool,
    base: str | None,
    as_json: bool,
) -> None:
    """Write one HTML file that answers the pointer: MODEL reads a text, or MODEL is the file of a scene."""
    from lmviz.api.page_results import page_results
    from lmviz.desktop.scene import ENDING
    from lmviz.desktop.scene_page import scene_page

    chosen = _heads(heads)
    with share_bar("page") as progress:
        if model.endswith(ENDING) and text is None:
            made = scene_page(
                model, title=title, heads=chosen, top=top, agree=_agree(model), progress=progress
            )
        else:
            if text is None and source is None:
                raise LmvizError("There is no text to show: give --text, or the file of a scene.")
            if steps is not None and step is not None:
                raise LmvizError("A page is of one step, or of several: give --step or --steps.")
            results = page_results(
                model if steps else lmviz.open_model(model, step, special_tokens=not letters, base=base),
                text or "",
                source=source,
                changed=changed,
                measure=measure,
                steps=None if steps is None else _steps(steps),
                special_tokens=not letters,
                progress=progress,
            )
            made = lmviz.page(results, title=title or (text or source or ""), heads=chosen, top=top)
    made.save(out)
    if as_json:
        print_json({"out": out, "bytes": made.size, "sections": len(made.sections)})
    else:
        print(f"{out}: {with_unit(made.size, 'B')}, {len(made.sections)} sections. It loads nothing.")


def _agree(scene: str) -> Callable[[str], bool]:
    """Asks at a terminal whether a model may be read; says which one elsewhere."""

    def ask(outside: str) -> bool:
        if sys.stdin is None or not sys.stdin.isatty():
            say(f"Reading {outside}, which {Path(scene).name} names as its model.")
            return True
        return click.confirm(f"{Path(scene).name} names {outside} as its model. Read it?", err=True)

    return ask


def _heads(given: str | None) -> tuple[tuple[int, int], ...]:
    """Heads as a person writes them: "0.1,3.2"."""
    found = []
    for word in (given or "").split(","):
        layer, _, head = word.strip().partition(".")
        if not word.strip():
            continue
        if not (layer.isdecimal() and head.isdecimal()):
            raise LmvizError(f"{word.strip()!r} is no head: write layer.head, counted from 0, such as 0.1.")
        found.append((int(layer), int(head)))
    return tuple(found)


def _steps(given: str) -> Literal["all"] | list[int]:
    if given.strip() == "all":
        return "all"
    words = [word.strip() for word in given.split(",")]
    if not all(word.isdecimal() for word in words):
        raise LmvizError(f"{given!r} are no steps: write numbers, such as 0,100,500, or all.")
    return [int(word) for word in words]

"""Commands that list what is available: models, corpora, families, doctor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lmviz.base.errors import LmvizError
from lmviz.cli.options import as_json, with_base
from lmviz.cli.terminal import print_json, print_table, say, share_bar

if TYPE_CHECKING:
    from lmviz.base.configuration import Setting
    from lmviz.text.catalogue import Entry
    from lmviz.training.run import Run


@click.command()
@click.argument("folder", required=False)
@click.option(
    "--download", metavar="NAME", help="Download this one from the Hugging Face hub, and say where it is."
)
@click.option(
    "--steps",
    metavar="STEPS",
    help="With --download: these steps of its training, such as 0,1,2,4, or all; they open as a series.",
)
@as_json
def models(folder: str | None, download: str | None, steps: str | None, as_json: bool) -> None:
    """List the sample models, and the runs in FOLDER (by default ./runs).

    The checkpoints of a training of another program are one row: a series, with as many snapshots.
    """
    if steps is not None and download is None:
        raise LmvizError("--steps says which steps are downloaded: name the model with --download.")
    if download is not None:
        _download_model(download, steps, as_json)
        return
    from lmviz.api.training import find_run, is_run, sample_models
    from lmviz.interchange.public_models import OFFERED_MODELS
    from lmviz.series.series_run import SeriesRun
    from lmviz.text.checkpoint_names import may_be_series
    from lmviz.training.run import Run

    if folder is not None and not os.path.isdir(folder):
        raise LmvizError(f"There is no folder {folder!r}: name one with runs in it.")
    within = Path(folder or "runs")
    inner = [within] if may_be_series(within) else sorted(within.glob("*"))
    own = [path for path in inner if is_run(path) or may_be_series(path)]
    places = {name: find_run(name) for name in sample_models()} | {str(path): path for path in own}
    found = []
    for name, path in places.items():
        try:
            found.append(_describe_run(name, Run.open(path) if is_run(path) else SeriesRun(path)))
        except LmvizError as fault:  # one that is damaged does not hide the others
            say(str(fault))
    if as_json:
        print_json({"models": found})
    else:
        columns = ("name", "family", "corpus", "steps", "validation_loss", "snapshots")
        rows = [[row[name] for name in columns] for row in found]
        print_table([name.replace("_", " ") for name in columns], rows)
        for public in OFFERED_MODELS:
            here = public.folder()
            way = f"lmviz {here}" if here else f"lmviz models --download {public.name}"
            say(f"{public.sentence}: {way}")


def _download_model(name: str, steps: str | None, as_json: bool) -> None:
    from lmviz.interchange.hub import download_model
    from lmviz.interchange.hub_steps import download_steps, read_steps

    with share_bar(f"downloading {name}") as progress:
        if steps is None:
            folder = download_model(name, progress)
        else:
            folder = download_steps(name, read_steps(steps), progress)
    if as_json:
        print_json({"folder": str(folder)})
    else:
        print(folder)


def _describe_run(name: str, run: Run) -> dict[str, Any]:
    description, metrics = run.description, run.metrics()
    losses = [line["validation_loss"] for line in metrics if "validation_loss" in line]
    return {
        "name": name,
        "family": description.family,
        "corpus": description.corpus.get("name", ""),
        "steps": metrics[-1]["step"] if metrics else max(run.snapshots(), default=None),
        "validation_loss": round(losses[-1], 4) if losses else None,
        "snapshots": len(run.snapshots()),
    }


@click.command()
@click.option("--download", metavar="NAME", help="Download this one, and verify its checksum.")
@as_json
def corpora(download: str | None, as_json: bool) -> None:
    """List the corpora that have a name, or download one of them."""
    from lmviz.text.catalogue import CATALOGUE

    if download is not None:
        _download(download)
    found = [
        {
            "name": entry.name,
            "title": entry.title,
            "description": entry.description,
            "task": entry.task,
            "characters": entry.characters,
            "bytes_to_download": entry.sent or None,
            "licence": entry.licence,
            "address": entry.address,
            "here": entry.is_present,
        }
        for entry in CATALOGUE
    ]
    if as_json:
        print_json({"corpora": found})
    else:
        rows = [[row[name] for name in ("name", "task", "characters", "description")] for row in found]
        print_table(("name", "task", "characters", "what it is"), rows)
        for entry in CATALOGUE:
            if entry.address:
                print(f"{entry.title} ({entry.licence}) {_where(entry)}.")


def _where(entry: Entry) -> str:
    """Whether a corpus that is downloaded is there, or how it gets there."""
    if entry.is_present:
        return "is on this computer"
    size = f", {entry.sent / 1e6:.1f} MB" if entry.sent else ""
    return f"is downloaded by `lmviz corpora --download {entry.name}`{size}"


def _download(name: str) -> None:
    from lmviz.text.catalogue import CATALOGUE, find_entry
    from lmviz.text.download import download

    entry = find_entry(name)
    if entry is None:
        names = ", ".join(entry.name for entry in CATALOGUE)
        raise LmvizError(f"There is no corpus {name!r}: the catalogue has {names}.")
    with share_bar(f"downloading {entry.title}") as progress:
        download(entry, progress)


@click.command()
@click.argument("family", required=False)
@as_json
def families(family: str | None, as_json: bool) -> None:
    """List the families of models and what each can be asked, or the settings of one FAMILY."""
    from lmviz.families import FAMILIES, find_family

    chosen = list(FAMILIES.values()) if family is None else [find_family(family)]
    if as_json:
        found = [
            {
                "name": each.name,
                "title": each.title,
                "sentence": each.sentence,
                "tasks": each.tasks,
                "settings": [_describe_setting(item) for item in each.configuration.settings()],
            }
            for each in chosen
        ]
        print_json({"families": found})
    elif family is None:
        rows = [(each.name, ", ".join(each.tasks), each.sentence) for each in chosen]
        print_table(("name", "tasks", "what it does"), rows)
    else:
        settings = chosen[0].configuration.settings()
        print_table(
            ("setting", "default", "what it is"), [(item.name, item.default, item.help) for item in settings]
        )


def _describe_setting(item: Setting) -> dict[str, Any]:
    limits = {"minimum": item.minimum, "maximum": item.maximum, "choices": item.choices}
    return {"name": item.name, "default": item.default, "help": item.help, **limits}


@click.command()
@click.argument("checkpoint", required=False)
@with_base
@as_json
def doctor(checkpoint: str | None, base: str | None, as_json: bool) -> int:
    """Say what this machine lacks for lmviz, and how to get it; or whether the parts of a CHECKPOINT of
    another program agree. Exit code 1 when something is missing or wrong."""
    from lmviz.desktop.doctor import examine, examine_checkpoint

    if checkpoint is not None and not os.path.exists(checkpoint):
        raise LmvizError(f"There is no checkpoint {checkpoint!r}: name a folder or a file.")
    findings = list(examine() if checkpoint is None else examine_checkpoint(checkpoint, base))
    sound = not any(finding.state == "problem" for finding in findings)
    if as_json:
        print_json({"sound": sound, "findings": [vars(finding) for finding in findings]})
    else:
        for finding in findings:
            print(finding.line)
    return 0 if sound else 1

"""Reproduce the figure of the lecture, quality by the length of the source: `python3 start.py figure`.

    python3 start.py figure                                 train what is not trained yet, and write
    python3 start.py figure --steps 300 --out /tmp/rough    a rough one, elsewhere

Recurrent translators without and with attention are trained on short and on long sources, with the same
width, steps and number of parameters and several seeds. Below `--out` it writes quality-by-length.md with the
table and what it shows, quality-by-length.csv with every number, and pictures/quality-by-length-light.png.
The runs stay in `--runs`; a call that was interrupted goes on there.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import textwrap
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import lmviz
from lmviz.decoding.judged_pairs import EACH, FURTHEST, TextPair, judged_pairs
from lmviz.decoding.quality_by_length import quality_by_length
from lmviz.text.corpus import Corpus

DOCS = Path(__file__).resolve().parent
RUNS = DOCS.parent / "build" / "figure"
NAME = "quality-by-length"
SPANS = {"short": 15, "long": 30}
ATTENTION = {"without": "none", "with": "dot"}
SIZE = (900, 420)
WIDTH = 120


@dataclass(frozen=True)
class Plan:
    """What all models have in common."""

    width: int
    steps: int
    batch: int
    learning_rate: float
    warmup: int
    seeds: int
    each: int
    runs: Path


@dataclass(frozen=True)
class Kind:
    """One of the four kinds of models, by the keys of SPANS and ATTENTION."""

    trained: str
    attention: str

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.attention} attention, trained to {SPANS[self.trained]}"


KINDS = tuple(Kind(trained, attention) for trained in SPANS for attention in ATTENTION)

Curve = Mapping[int, float]
"""BLEU from 0 to 100 by the length of the source."""


@cache
def text(span: int) -> Corpus:
    """The corpus with sources of up to so many words, written once in each process."""
    return lmviz.load_corpus("twin", span=span)


def train_and_measure(plan: Plan, kind: Kind, seed: int, pairs: Sequence[TextPair]) -> Curve:
    """One model, unless it is trained already, and its BLEU by length."""
    corpus = text(SPANS[kind.trained])
    folder = plan.runs / f"{kind.attention}-{kind.trained}-{seed}"
    settings = {name: getattr(plan, name) for name in ("width", "batch", "learning_rate", "warmup")}
    kept = {"snapshots": 2, "validate_every": 0}
    attention = ATTENTION[kind.attention]
    run = lmviz.train(
        *("gru", corpus, folder),
        resume=True,
        steps=plan.steps,
        seed=seed,
        attention=attention,
        **settings,
        **kept,
    )
    # Words are the same in both texts, but not always their ids.
    tokenizer = text(SPANS["short"]).target_tokenizer
    found = quality_by_length(lmviz.open_model(run.folder), pairs, tokenizer)
    return {length: 100 * quality.bleu.value for length, quality in found.items()}


@cache
def unseen_pairs(each: int) -> tuple[TextPair, ...]:
    """Pairs of each length up to FURTHEST that none of the models learns from."""
    corpora = [text(span) for span in SPANS.values()]
    learned = {
        corpus.tokenizer.decode(ids.tolist()) for corpus in corpora for ids in corpus.training_examples.source
    }
    return tuple(pair for pair in judged_pairs(corpora[0], each) if pair.source not in learned)


def measure(plan: Plan, processes: int) -> dict[Kind, list[Curve]]:
    """The curves of all seeds of each kind."""
    pairs = unseen_pairs(plan.each)
    asked = [(plan, kind, seed, pairs) for kind in KINDS for seed in range(plan.seeds)]
    if processes > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # models this small gain nothing from more
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            curves = list(pool.map(train_and_measure, *zip(*asked, strict=True)))
    else:
        curves = [train_and_measure(*one) for one in asked]
    return {
        kind: [curve for one, curve in zip(asked, curves, strict=True) if one[1] == kind] for kind in KINDS
    }


@dataclass(frozen=True)
class Margin:
    """At a length, how far the mean with attention lies above that without, and by how much seeds differ:
    the larger of the two ranges."""

    length: int
    margin: float
    spread: float

    @property
    def holds(self) -> bool:
        """Whether attention is better by more than the seeds differ."""
        return self.margin > self.spread


def margins(curves: Mapping[Kind, Sequence[Curve]], trained: str) -> list[Margin]:
    """Those at every length beyond the trained one."""
    without, with_attention = (_table(curves[Kind(trained, attention)]) for attention in ATTENTION)
    lengths = _lengths(curves)
    return [
        Margin(
            length,
            float(with_attention[:, at].mean() - without[:, at].mean()),
            float(max(np.ptp(with_attention[:, at]), np.ptp(without[:, at]))),
        )
        for at, length in enumerate(lengths)
        if length > SPANS[trained]
    ]


def finding(found: Sequence[Margin], trained: str) -> str:
    """What the margins say, in a sentence."""
    failing = [one for one in found if not one.holds]
    if not failing:
        least = min(found, key=lambda one: one.margin - one.spread)
        return (
            f"**Trained to {SPANS[trained]} words: yes.** It is closest at {least.length} words, where it is "
            f"{least.margin:.1f} points better and seeds differ by {least.spread:.1f}."
        )
    named = ", ".join(f"{one.length} words ({one.margin:+.1f}, seeds {one.spread:.1f})" for one in failing)
    return f"**Trained to {SPANS[trained]} words: no.** Seeds differ by as much or more at {named}."


def page(plan: Plan, curves: Mapping[Kind, Sequence[Curve]]) -> str:
    """The page about the figure, in Markdown."""
    lengths = _lengths(curves)
    rows = [
        f"| {length} | "
        + " | ".join(
            f"{table[:, at].mean():.1f} ({table[:, at].min():.1f} to {table[:, at].max():.1f})"
            for table in map(_table, curves.values())
        )
        + " |"
        for at, length in enumerate(lengths)
    ]
    short, long = SPANS.values()
    paragraphs = (
        "Without attention all of a source has to pass through one vector. How far does that carry? "
        "`python3 start.py figure` trains the models, and writes this page, its pictures and "
        f"[all numbers]({NAME}.csv).",
        f"![BLEU by the length of the source](pictures/{NAME}-light.png)",
        f"The models are GRU translators of width {plan.width}, trained on `twin` for {plan.steps:,} steps "
        f"of {plan.batch} pairs at a learning rate of {plan.learning_rate:g}, reached within {plan.warmup} "
        "steps. Attention is the dot product: "
        "it has no parameters, so that all models have equally many. Each learns from 9,000 pairs, whose "
        f"sources have up to {short} or up to {long} words. All are judged by the same sentences, up to "
        f"{plan.each} of each length, that none has learned from.",
        f"BLEU-4 from 0 to 100, the mean of {plan.seeds} seeds; in brackets, and as a band in the picture, "
        "the least and the largest:",
    )
    question = (
        "Is a model with attention better at every length beyond those it was trained on, and by more than "
        "the seeds differ (the larger of the two ranges)?"
    )
    lines = [
        "# Quality by length: the figure of the lecture",
        "",
        *(line for paragraph in paragraphs for line in (*textwrap.wrap(paragraph, WIDTH), "")),
        "| words | " + " | ".join(kind.title for kind in curves) + " |",
        "|---|" + "---|" * len(curves),
        *rows,
        "",
        *textwrap.wrap(question, WIDTH),
        "",
        *(f"- {finding(margins(curves, trained), trained)}" for trained in SPANS),
        "",
    ]
    return "\n".join(lines)


def write_numbers(path: Path, curves: Mapping[Kind, Sequence[Curve]]) -> None:
    """Every number as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["attention", "trained_to", "seed", "length", "bleu"])
        for kind, seeds in curves.items():
            for seed, curve in enumerate(seeds):
                for length, bleu in curve.items():
                    writer.writerow([kind.attention, SPANS[kind.trained], seed, length, f"{bleu:.3f}"])


def draw(folder: Path, curves: Mapping[Kind, Sequence[Curve]]) -> None:
    """The picture: the mean of the seeds, and as a band the least and the largest."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QVBoxLayout, QWidget

    from lmviz.app.look.theme import current_theme, make_application, theme_switch
    from lmviz.app.widgets.base.export import save_picture
    from lmviz.app.widgets.plots.banded_plot import BandedPlot
    from lmviz.app.widgets.plots.legend import Legend, LegendEntry
    from lmviz.looks.curve import PlotCurve

    application = make_application()
    theme_switch().set_choice("light")
    sheet = QWidget()
    plot, legend = BandedPlot(), Legend(wraps=True)
    column = QVBoxLayout(sheet)
    column.addWidget(legend)
    column.addWidget(plot, 1)
    drawn, named = [], []
    for kind, seeds in curves.items():
        ink = "accent" if kind.attention == "with" else "muted_text"
        line = Qt.PenStyle.SolidLine if kind.trained == "long" else Qt.PenStyle.DashLine
        table, lengths = _table(seeds), np.array(_lengths(curves), dtype=np.float64)
        mean, band = table.mean(axis=0), (table.min(axis=0), table.max(axis=0))
        dashed = line == Qt.PenStyle.DashLine
        drawn.append(PlotCurve(kind.title, lengths, mean, ink, dashed=dashed, dots=True, band=band))
        named.append(LegendEntry(kind.title, current_theme().ink(ink), line=line))
    plot.set_units("words")
    plot.set_curves(drawn)
    plot.set_marks([(span, f"trained to {span}") for span in SPANS.values()])
    legend.set_entries(named)
    sheet.resize(*SIZE)
    sheet.show()
    application.processEvents()
    save_picture(sheet, folder / f"{NAME}-light.png")
    sheet.close()


def _lengths(curves: Mapping[Kind, Sequence[Curve]]) -> list[int]:
    return sorted(next(iter(curves.values()))[0])


def _table(seeds: Sequence[Curve]) -> np.ndarray:
    """BLEU (seed, length)."""
    return np.array([[curve[length] for length in sorted(curve)] for curve in seeds])


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what is missing, measure, and write."""
    parser = argparse.ArgumentParser(description=f"Quality by length, to {FURTHEST} words.")
    for name, default in (
        ("width", 64),
        ("steps", 2500),
        ("batch", 32),
        ("warmup", 500),
        ("seeds", 3),
        ("each", EACH),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--learning-rate", type=float, default=4e-3)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--runs", type=Path, default=RUNS, help="where the trained models are kept")
    parser.add_argument("--out", type=Path, default=DOCS, help="the folder that is written into")
    given = parser.parse_args(arguments)
    plan = Plan(
        *(given.width, given.steps, given.batch, given.learning_rate, given.warmup),
        *(given.seeds, given.each, given.runs),
    )
    curves = measure(plan, given.processes)
    (given.out / "pictures").mkdir(parents=True, exist_ok=True)
    (given.out / f"{NAME}.md").write_text(page(plan, curves), encoding="utf-8")
    write_numbers(given.out / f"{NAME}.csv", curves)
    draw(given.out / "pictures", curves)
    for trained in SPANS:
        print(finding(margins(curves, trained), trained).replace("**", ""))


if __name__ == "__main__":
    main()

"""How far estimates can be trusted: the shipped figures, and lines that are really left out."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

import lmviz
from lmviz.origins.teaching import Teaching
from lmviz.origins.trust import FILE, NAMES, figures_for
from lmviz.runs.removal import remove
from lmviz.text.corpus import text_corpus

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "taught.md").read_text(encoding="utf-8")
MODELS = {each["kind"]: each for each in json.loads(FILE.read_text(encoding="utf-8"))["models"]}


def trust():
    """The program that measures the figures."""
    specification = importlib.util.spec_from_file_location("trust", ROOT / "docs" / "trust.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_guide_has_the_figures_that_the_panel_shows():
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+ \| [^|]+?) \|$", GUIDE, re.MULTILINE))
    shown = {name: [figures_for(kind) for kind in ("gru", "transformer")] for name in NAMES.values()}
    for name, (gru, transformer) in shown.items():
        values = [dict(zip(each.labels, each.values, strict=True))[name] for each in (gru, transformer)]
        assert [float(value.strip("* −").replace("−", "-")) for value in rows[name].split(" | ")] == [
            round(value, 2) for value in values
        ]
    ceilings = [float(value) for value in rows["ceiling"].split(" | ")]
    assert ceilings == [round(MODELS[kind]["ceiling"], 2) for kind in ("gru", "transformer")]


def test_shipped_figures_follow_from_what_was_measured():
    """Rank correlations are those of the measured changes and of the ranks of the estimates, word by word."""
    ranks = trust().ranks
    for found in MODELS.values():
        measured = np.array(found["measured"])
        for name, estimated in found["estimated"].items():
            by_word = [
                np.corrcoef(ranks(change), estimate)[0, 1]
                for change, estimate in zip(measured, estimated, strict=True)
            ]
            assert found["correlation"][name] == pytest.approx(np.mean(by_word), abs=0.002)


def test_families_without_a_small_model_like_them_have_no_figures():
    assert figures_for("ngram") is None
    assert figures_for("lstm").kind == "gru"
    assert figures_for("lstm").labels[-1] == "ceiling"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gru", "transformer"])
def test_leaving_out_all_lines_with_a_word_costs_more_than_leaving_out_others(kind, tmp_path):
    """What is measured, on a case whose answer is known."""
    module = trust()
    sentences = module.lines_of_stories(500)
    corpus = text_corpus(
        "\n".join(sentences[:300]), tokenizer="words", documents="line", validation=0.0, vocabulary=320
    )
    run = module.train(kind, corpus, tmp_path / "run", 0, 300)
    [(before, word)] = module.chosen_words(run, sentences[300:], 1)
    teaching = Teaching(run, corpus, lambda step: lmviz.open_model(run.folder, step), before, word, tokens=0)
    text = teaching.text
    places = np.flatnonzero(np.asarray(text.wanted) == teaching.wanted)
    lines = np.unique(text.line_of(places)).tolist()
    removal = list(remove(run, corpus, text, teaching.asked, lines, step=0, until=300, seeds=(0, 1)))[-1][0]
    assert removal.done
    assert removal.lost.min() > removal.lost_at_random.max() + 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gru", "transformer"])
def test_rank_correlations_are_measured_anew(kind):
    """With few halves of a short training: no more than that they are figures of the same kind."""
    found = trust().measure(kind, lines=150, steps=120, halves=6, seeds=2, words=2)
    assert found["correlation"].keys() == NAMES.keys()
    assert len(found["words"]) == 2
    assert 0 <= found["ceiling"] <= 1
    assert all(-1 <= value <= 1 for values in found["by_word"].values() for value in values)

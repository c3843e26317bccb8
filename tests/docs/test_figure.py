"""The lecture's figure: what its numbers say, and a tiny one trained, measured, written and drawn."""

import csv
import importlib.util
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

SCRIPT = Path(__file__).parents[2] / "docs" / "figure.py"


@pytest.fixture(scope="module")
def figure():
    specification = importlib.util.spec_from_file_location("figure", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    sys.modules["figure"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["figure"]


def curves(figure, with_attention, without):
    """Those of two seeds: BLEU at 10, 20 and 40 words."""
    lengths = (10, 20, 40)
    values = {"with": with_attention, "without": without}
    return {
        kind: [dict(zip(lengths, seed, strict=True)) for seed in values[kind.attention]]
        for kind in figure.KINDS
    }


CLEAR = [(99, 60, 30), (97, 50, 28)], [(50, 20, 10), (48, 22, 9)]
CLOSE = [(99, 60, 12), (97, 50, 8)], [(50, 20, 10), (48, 22, 9)]


def test_lengths_beyond_the_trained_one_are_compared_with_the_larger_range_of_seeds(figure):
    found = figure.margins(curves(figure, *CLEAR), "short")
    assert [(one.length, one.margin, one.spread) for one in found] == [(20, 34, 10), (40, 19.5, 2)]
    assert all(one.holds for one in found)
    assert [one.length for one in figure.margins(curves(figure, *CLEAR), "long")] == [40]


def test_what_holds_is_said_and_what_does_not_as_well(figure):
    holds = figure.finding(figure.margins(curves(figure, *CLEAR), "long"), "long")
    assert "Trained to 30 words: yes" in holds
    assert "at 40 words, where it is 19.5 points better and seeds differ by 2.0" in holds
    fails = figure.finding(figure.margins(curves(figure, *CLOSE), "short"), "short")
    assert "Trained to 15 words: no" in fails
    assert "40 words (+0.5, seeds 4.0)" in fails
    assert "20 words" not in fails


@pytest.mark.slow
def test_a_tiny_figure_is_trained_measured_written_and_drawn(figure, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(figure, "SPANS", {"short": 5, "long": 7})
    out, runs = tmp_path / "out", tmp_path / "runs"
    small = ["--width", "8", "--steps", "2", "--batch", "4", "--seeds", "2", "--each", "2"]
    words = [*small, "--processes", "1", "--runs", str(runs), "--out", str(out)]
    figure.main(words)
    assert len(list(runs.iterdir())) == 8
    with (out / "quality-by-length.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2 * len({row["length"] for row in rows})
    assert {row["trained_to"] for row in rows} == {"5", "7"}
    page = (out / "quality-by-length.md").read_text(encoding="utf-8")
    said = capsys.readouterr().out
    for trained in (5, 7):
        assert f"Trained to {trained} words: " in page
        assert f"Trained to {trained} words: " in said
    assert QImage(str(out / "pictures" / "quality-by-length-light.png")).width() == 1800
    trained_at = {path: path.stat().st_mtime_ns for path in runs.glob("*/run.json")}
    monkeypatch.setattr(figure, "draw", lambda folder, found: None)
    figure.main(words)  # again: nothing is trained
    assert {path: path.stat().st_mtime_ns for path in runs.glob("*/run.json")} == trained_at
    assert (out / "quality-by-length.md").read_text(encoding="utf-8") == page

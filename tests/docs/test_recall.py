"""The recall experiment runs, learns what can be learned, and its page shows what it prints."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def recall(monkeypatch):
    """The experiment as a module."""
    specification = importlib.util.spec_from_file_location("recall_experiment", DOCS / "recall.py")
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "recall_experiment", module)
    specification.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_it_trains_each_model_and_prints_a_table(recall, capsys):
    words = ["--families", "gru", "transformer", "--distances", "1", "2", "--truncations", "0", "2"]
    recall.main([*words, "--steps", "3"])
    printed = capsys.readouterr().out
    assert "| model | 1 words | 2 words |" in printed
    rows = re.findall(r"^\| (\w.*?) \| (\d+) % \| (\d+) % \|$", printed, flags=re.MULTILINE)
    assert [row[0] for row in rows] == ["GRU", "GRU, truncated at 2", "Transformer"]
    assert all(0 <= int(share) <= 100 for row in rows for share in row[1:])
    assert "3 updates each" in printed


def test_what_can_be_learned_is_learned(recall, tmp_path):
    taught = recall.share_recalled(recall.Row("gru", 0), 1, 60, tmp_path / "taught")
    untaught = recall.share_recalled(recall.Row("gru", 0), 1, 1, tmp_path / "untaught")
    assert taught > 0.9 > 0.5 > untaught


def test_its_page_has_a_row_for_each_model_and_a_column_for_each_distance(recall):
    page = (DOCS / "recall.md").read_text(encoding="utf-8")
    [head] = re.findall(r"^\| model \|(.*)\|$", page, flags=re.MULTILINE)
    assert [int(cell.split()[0]) for cell in head.split("|")] == list(recall.DISTANCES)
    rows = [line.split("|") for line in page.splitlines() if line.endswith(" % |")]
    wanted = [row.title for row in recall.rows_of(recall.FAMILIES, recall.TRUNCATIONS)]
    assert [row[1].strip() for row in rows] == wanted
    assert all(len(row) == len(recall.DISTANCES) + 3 for row in rows)
    assert f"{recall.STEPS:,} updates each" in page

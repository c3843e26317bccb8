"""docs/file-formats.md names exactly the fields that a real run has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from examples import DOCS
from safetensors import safe_open

import lmviz
from lmviz.inspection.interventions import zero
from lmviz.models.tap import SCALES
from lmviz.training.options import PRECISIONS

PAGE = (DOCS / "file-formats.md").read_text(encoding="utf-8")


def rows(section: str) -> dict[str, str]:
    """The table that follows some words: what is said of each name in its first column."""
    table = re.search(r"\n\|.*?\n\|[-|]+\|\n(.*?)\n\n", PAGE[PAGE.index(section) :], flags=re.DOTALL)
    found = {}
    for line in table.group(1).splitlines():
        names, _, said = line.strip("| ").partition(" | ")
        found |= dict.fromkeys(re.findall(r"`([^`]+)`", names), said)
    return found


def named(text: str) -> set[str]:
    return set(re.findall(r"`([^`\s]+)`", text))


@pytest.fixture(scope="module", params=["lstm", "ngram"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = {"width": 8, "snapshot_precision": "quarter"} if request.param == "lstm" else {"order": 2}
    folder = tmp_path_factory.mktemp("runs") / request.param
    lmviz.train(request.param, lmviz.load_corpus("farm"), out=folder, steps=4, **settings)
    return folder


def test_the_folder_holds_what_the_page_draws(run):
    drawn = PAGE[PAGE.index("runs/first/\n") :].split("```")[0]
    expected = {line.split()[0] for line in drawn.splitlines()[1:]}
    files = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    assert expected <= files
    assert all(name in expected or name.startswith(("snapshots/", "moments/")) for name in files)


def test_run_json(run):
    values, said = json.loads((run / "run.json").read_text(encoding="utf-8")), rows("**run.json**")
    assert set(values) == set(said)
    assert said["format"] == f'"{values["format"]}", {values["format_version"]}'
    assert set(values["corpus"]) == named(said["corpus"])
    assert set(values["versions"]) == named(said["versions"])


def test_metrics(run):
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    found = set().union(*(json.loads(line) for line in lines))
    without = {"learning_rate", "gradient_norm"} if run.name == "ngram" else set()
    assert found == set(rows("**metrics.jsonl**")) - without


def test_snapshots(run):
    said = rows("**snapshots/")
    assert set(said) == set(PRECISIONS)
    for path in (run / "snapshots").iterdir():
        with safe_open(path, "numpy") as file:
            header, arrays = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        assert set(header) == {"step", "precision"}
        assert int(header["step"]) == int(path.stem)
        for name, array in arrays.items():
            if f"{name}|scale" in arrays:
                assert header["precision"] == "quarter"
                assert array.dtype == np.int8
                assert arrays[f"{name}|scale"].shape == (len(array), 1)
            else:
                assert array.dtype == np.float16 or header["precision"] == "full" or name.endswith("|scale")


def test_a_snapshot_of_a_quarter_is_read_as_the_page_says(run):
    model = lmviz.open_model(run)
    if model.family != "lstm":
        return
    from lmviz.training.run import Run

    step = Run.open(run).snapshots()[1]
    with safe_open(run / "snapshots" / f"{step:06d}.safetensors", "numpy") as file:
        by_hand = file.get_tensor("output.weight") * file.get_tensor("output.weight|scale")
    np.testing.assert_allclose(Run.open(run).load_snapshot(step)["output.weight"].numpy(), by_hand)


def test_resume(run):
    with safe_open(run / "resume" / "state.safetensors", "numpy") as file:
        names, values = list(file.keys()), json.loads(file.metadata()["values"])
    said = PAGE[PAGE.index("**resume/") : PAGE.index("## A trace")]
    assert set(values) <= named(said)
    assert {f"{name.split('/')[0]}/" for name in names} <= {"model/", "optimizer/", "carried/"}


def test_a_trace(run, tmp_path):
    model = lmviz.open_model(run)
    found = lmviz.trace(model, "the cows", interventions=[zero("logits", token=3)])
    found.save(tmp_path / "trace.npz")
    said = rows("## A trace")
    with np.load(tmp_path / "trace.npz") as file:
        description = json.loads(str(file["description"]))
        assert set(file.files) == {*description["taps"], "tokens", "description"}
    assert set(description) == set(said)
    assert set(description["stages"][0]) == named(said["stages"])
    assert set(description["interventions"][0]) == named(said["interventions"])
    assert set(re.findall(r'"(\w+)"', said["taps"])) == set(SCALES)

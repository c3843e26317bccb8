"""What `start.py new` writes: the examples of the guides under another name, whose tests pass."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
ASKED = {
    "panel": ("repeats", "inside"),
    "operation": ("leaky_gain",),
    "family": ("decay",),
}
OLD = {
    "panel": ("CountsPanel", '"counts"', "inside.counts"),
    "operation": ("channel_gain", "ChannelGain", "channel gain"),
    "family": ("AverageModel", "AverageConfiguration", '"average"', "models.average"),
}
"""Names of the examples that are not to be found in what is written under another name."""

OTHERS = {
    "panel": ["tests/app/board/test_exporting.py", "tests/app/board/test_least_sizes.py"],
    "operation": ["tests/models/test_operations.py"],
    "family": [
        "tests/models/invariants",
        "tests/models/test_reading.py",
        "tests/models/test_initial_weights.py",
    ],
}
"""Tests over all of their kind, beside the one that is written."""


@pytest.fixture(scope="module")
def new() -> ModuleType:
    """docs/new.py."""
    specification = importlib.util.spec_from_file_location("new", ROOT / "docs" / "new.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["new"] = module  # where its dataclass looks for its own types
    specification.loader.exec_module(module)
    return module


def checkout(folder: Path) -> Path:
    """A copy of the checkout, in which what is large is only linked."""
    for name in ("lmviz", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "docs").mkdir()
    for path in (ROOT / "docs").glob("*.*"):
        shutil.copy(path, folder / "docs")
    for name in ("sample_models", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "resources", folder / "resources")  # a list in it is written
    return folder


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guides, and the modules that rows are added to; each kind adds to others."""
    folder = tmp_path_factory.mktemp("copy")
    for kind in ("panel", "operation", "family"):
        page = {"panel": "adding-a-panel", "operation": "adding-an-operation", "family": "adding-a-family"}[
            kind
        ]
        (folder / "docs").mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / f"{page}.md", folder / "docs")
    for name in (
        *("lmviz/app/panels/table.py", "lmviz/families.py", "lmviz/inspection/stage_sentences.py"),
        *("lmviz/models/operations/__init__.py", "tests/family_cases.py"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.parametrize("kind", ASKED)
def test_it_writes_code_rows_and_a_test_under_the_new_name(kind, new, copy):
    before = {path: path.read_text(encoding="utf-8") for path in copy.rglob("*.py")}
    files = new.write(kind, *ASKED[kind], root=copy)
    written = [path for path in files if path not in before]
    changed = [path for path in files if path in before]
    assert any(path.name == f"test_{ASKED[kind][0]}.py" for path in written)
    assert any(path.name == f"{ASKED[kind][0]}.py" for path in written)
    for path in files:
        ast.parse(path.read_text(encoding="utf-8"))
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert not [name for name in OLD[kind] if name in text]
    assert changed
    for path in changed:
        text = path.read_text(encoding="utf-8")
        added = [line for line in text.splitlines() if line not in before[path].splitlines()]
        assert added
        assert set(before[path].splitlines()) <= set(text.splitlines())


def test_a_panel_comes_behind_the_last_tab_of_its_perspective(new, tmp_path):
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "adding-a-panel.md", tmp_path / "docs")
    table = tmp_path / "lmviz" / "app" / "panels" / "table.py"
    table.parent.mkdir(parents=True)
    shutil.copy(ROOT / "lmviz" / "app" / "panels" / "table.py", table)
    new.write("panel", "repeats", "train", root=tmp_path)
    rows = [ast.unparse(row) for row in new._rows(table.read_text(encoding="utf-8"), "PANELS")]
    at = next(at for at, row in enumerate(rows) if "'repeats'" in row)
    assert "'train', 'centre'" in rows[at - 1]
    assert not [row for row in rows[at + 1 :] if "'train', 'centre'" in row]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("panel", "Repeats", "inside"), "cannot be a name"),
        (("panel", "lambda", "inside"), "cannot be a name"),
        (("panel", "repeats", "nowhere"), "no perspective 'nowhere': use corpus, train"),
        (("panel", "lens", "inside"), "a panel 'lens' already"),
        (("operation", "attention"), "There is lmviz/models/operations/attention.py already"),
        (("family", "window"), "There is a family 'window' already"),
        (("family", "ngram"), "There is a family 'ngram' already"),
        (("family", "embedding"), "taps or stages named 'embedding'"),
    ],
)
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(new, asked, sentence):
    status = ["git", "status", "--porcelain", "lmviz", "tests"]
    before = subprocess.run(status, cwd=ROOT, capture_output=True, text=True).stdout
    with pytest.raises(ValueError, match=sentence):
        new.write(*asked)
    assert subprocess.run(status, cwd=ROOT, capture_output=True, text=True).stdout == before


def run(folder: Path, *command: str) -> str:
    """What Python says in a copy of the checkout, where it has to end well."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    ended = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=1700
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ASKED)
def test_the_tests_of_what_is_written_pass(kind, tmp_path):
    folder = checkout(tmp_path)
    said = run(folder, "docs/new.py", kind, *ASKED[kind])
    test = next(line.split()[-1] for line in said.splitlines() if "start.py test" in line)
    chosen = ["-k", ASKED[kind][0]] if kind == "family" else []
    run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, test, *OTHERS[kind])


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_what_is_written_keeps_to_the_style_and_has_its_types(tmp_path):
    folder = checkout(tmp_path)
    for kind, asked in ASKED.items():
        run(folder, "docs/new.py", kind, *asked)
    run(folder, "-m", "ruff", "check", "lmviz", "tests")
    run(folder, "-m", "mypy")  # once for all of them: there is nothing of an earlier run in a copy

"""What a wheel of lmviz holds."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_a_wheel_brings_resources_and_sample_models_inside_the_package(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        commands = next(name for name in names if name.endswith("entry_points.txt"))
        assert "lmviz = lmviz.cli:main" in archive.read(commands).decode()
    for folder in ("resources", "sample_models"):
        shipped = subprocess.run(
            ["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.splitlines()
        assert shipped
        assert {f"lmviz/{name}" for name in shipped} <= names
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)

"""Whatever fails in the window, in a picture, an override or a slot: it is said, and the window goes on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from patience import patience

from lmviz.app.panels.table import shown_perspectives

PROGRAM = Path(__file__).with_name("failing_window.py")
NAMES = [row.name for row in shown_perspectives()]


@pytest.mark.parametrize(
    ("perspectives", "actions", "least"),
    [
        pytest.param(["polls"], 10, 40, id="sample", marks=pytest.mark.slow),
        *(
            pytest.param(NAMES[start : start + 3], 60, 150, id="-".join(NAMES[start : start + 3]), marks=slow)
            for slow in (pytest.mark.slow,)
            for start in range(0, len(NAMES), 3)
        ),
    ],
)
def test_what_fails_in_the_window_is_said_and_ends_nothing(
    text_file: Path, transformer_run: Path, perspectives: list[str], actions: int, least: int
) -> None:
    """Each override, slot and picture that Qt calls fails three times, or as often as it is called."""
    given = [str(text_file), str(transformer_run), str(actions), *perspectives]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *given],
        capture_output=True,
        text=True,
        timeout=300 * patience(),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found["failed"]) > least
    assert len(found["pictures"]) > 3
    for kind in ("unlogged", "wrong", "kept"):
        assert found[kind] == [], kind
    assert len(found["unsaid"]) <= 1, found["unsaid"]  # what fails as another fault is told is only logged

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _modules_beside(monkeypatch):
    """The soak is a program: its modules find one another beside themselves."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

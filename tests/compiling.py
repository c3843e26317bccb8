"""Bytecode of a checkout that nobody has run yet: the workers of a run compile a share of all files each.

They go through the same files in the same order, and would each compile every one of them at the same time:
a third of what they do before the first test.
"""

from __future__ import annotations

import compileall
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "lmviz"


def compile_a_share(config: pytest.Config) -> None:
    """Compile this worker's share, in a run of all tests; what is compiled already is left."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if sys.dont_write_bytecode or not worker or list(config.args) != list(config.getini("testpaths")):
        return
    number, workers = int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in sorted(SOURCES.rglob("*.py"))[number::workers]:
        compileall.compile_file(path, quiet=2)
    with suppress(ImportError, AttributeError):  # another pytest: the workers compile as they come to it
        _rewrite(sorted(TESTS.rglob("test_*.py"))[number::workers], config)


def _rewrite(paths: list[Path], config: pytest.Config) -> None:
    """Have pytest rewrite the assertions of tests, and keep what comes of it, as when it imports them."""
    from _pytest.assertion import rewrite

    state = config.stash[rewrite.assertstate_key]
    for path in paths:
        folder = rewrite.get_cache_dir(path)
        kept = folder / (path.stem + rewrite.PYC_TAIL)
        if rewrite.try_makedirs(folder) and rewrite._read_pyc(path, kept) is None:
            hashed, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(state, code, hashed, kept)

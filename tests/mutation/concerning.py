"""Which tests concern a line: those that run it, and those of the file that mirrors its module."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forked import OPTIONS, forked

SECONDS = 40.0
"""Tests are run, the likeliest first, up to so many seconds of what they took undisturbed."""

FIRST_FILES = 4
FIRST_SECONDS = 5.0
"""The first round of tests: of so many files, and so many seconds. Most mutants are killed in it."""

MOST_SECONDS = 600.0
"""The limit of one file of tests while it is measured."""


@dataclass(frozen=True)
class FileOfTests:
    """What one file of tests does undisturbed: the seconds of each test, and the tests by (path, line)."""

    path: str
    seconds: Mapping[str, float]
    tests: Mapping[tuple[str, int], tuple[str, ...]]


def measure(copy: Path, path: str, cache: Path) -> FileOfTests:
    """Run a file of tests under coverage, unless it and all of lmviz are as when that was done last."""
    digest = hashlib.sha256()
    for file in [
        copy / path,
        *sorted(copy.glob("tests/**/conftest.py")),
        *sorted(copy.glob("lmviz/**/*.py")),
    ]:
        if not file.is_relative_to(copy / "lmviz" / "app"):
            digest.update(file.read_bytes())
    kept = cache / f"{digest.hexdigest()[:20]}.json"
    if not kept.exists():
        found, printed = forked(lambda: _run_measured(copy, path), copy, MOST_SECONDS)
        if found is None or found["failed"]:
            raise SystemExit(f"{path} does not pass undisturbed:\n{printed[-3000:]}")
        cache.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found), encoding="utf-8")
    values = json.loads(kept.read_text(encoding="utf-8"))
    lines = {(module, line): tuple(tests) for module, line, tests in values["lines"]}
    return FileOfTests(path, values["seconds"], lines)


def _run_measured(copy: Path, path: str) -> dict[str, Any]:
    import coverage
    import pytest

    measured = coverage.Coverage(data_file=None, source=[str(copy / "lmviz")], config_file=False)
    seconds: dict[str, float] = {}

    class Plugin:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
            measured.switch_context(item.nodeid)
            began = time.perf_counter()
            done = yield
            seconds[item.nodeid] = time.perf_counter() - began
            return done

    measured.start()
    code = pytest.main([*OPTIONS, path], plugins=[Plugin()])
    measured.stop()
    data = measured.get_data()
    lines = [
        (str(Path(file).relative_to(copy)), line, [test for test in tests if test])
        for file in sorted(data.measured_files())
        for line, tests in data.contexts_by_lineno(file).items()
    ]
    return {"failed": code not in (0, 5), "seconds": seconds, "lines": lines}


def concerned(files: list[FileOfTests], path: str, line: int) -> list[str]:
    """The tests to run for a change of a line, the likeliest to fail first.

    Those that run the line come first, those of the mirroring file before others, of which each file gives
    its fastest one, then its next. The rest of the same files follows, as a value that is computed once may
    be used by any of them.
    """
    mirror = mirrored(path)
    ranked = []
    for file in files:
        runs = set(file.tests.get((path, line), ()))
        if runs or file.path == mirror:
            tests = sorted(file.seconds.items(), key=lambda item: (item[0] not in runs, item[1]))
            ranked += [
                (test not in runs, file.path != mirror, place, seconds, test)
                for place, (test, seconds) in enumerate(tests)
            ]
    chosen, spent = [], 0.0
    for _, _, _, seconds, test in sorted(ranked):
        spent += seconds
        if chosen and spent > SECONDS:
            break
        chosen.append(test)
    return chosen


def rounds(tests: list[str], seconds: Mapping[str, float]) -> list[list[str]]:
    """The tests, in one or two rounds: a few files first, as pytest takes its time to read many."""
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))[:FIRST_FILES]
    first, spent = [], 0.0
    for test in tests:
        if test.split("::")[0] in files and (not first or spent + seconds[test] <= FIRST_SECONDS):
            first.append(test)
            spent += seconds[test]
    chosen = set(first)
    rest = [test for test in tests if test not in chosen]
    return [first, rest] if rest else [first]


def mirrored(path: str) -> str:
    """The file of tests that mirrors a module: tests/decoding/test_beam.py for lmviz/decoding/beam.py."""
    module = Path(path).relative_to("lmviz")
    return str(Path("tests", module.parent, f"test_{module.name}"))

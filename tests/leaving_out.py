"""Slow cases are not even made where only quick ones are asked for.

pytest makes every case of every test and then puts aside those that are not wanted: a third of all, in each
worker.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

ONLY_QUICK = "not slow"


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Keep the quick cases of a test, with the names that they have among all.

    Of a test that is slow as a whole one is kept, and put aside by pytest. A case that is named on the
    command line is looked for among all.
    """
    made = yield
    config, cases = metafunc.config, getattr(metafunc, "_calls", [])
    if (
        config.option.markexpr == ONLY_QUICK
        and cases
        and not any("::" in argument for argument in config.args)
    ):
        whole = metafunc.definition.get_closest_marker("slow") is not None
        quick = [case for case in cases if not whole and all(mark.name != "slow" for mark in case.marks)]
        metafunc._calls = quick or cases[:1]
    return made

"""The change log is what a user of the version before reads."""

import re
from pathlib import Path

import lmviz

LOG = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")


def test_it_begins_with_this_version():
    assert re.findall(r"^## (\S+)$", LOG, re.MULTILINE)[0] == lmviz.__version__


def test_it_is_read_in_a_minute():
    assert len(LOG.splitlines()) <= 60

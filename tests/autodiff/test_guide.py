"""The guide page of Autodiff: its networks are networks, its Python runs, its table has every module."""

import re
from pathlib import Path

import pytest

from lmviz.autodiff import MODULES, read
from lmviz.autodiff.modules.table import usage

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "autodiff.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("text", [block for kind, block in BLOCKS if not kind])
def test_its_networks_are_read(text):
    assert read(text).backward().check().agrees


def test_its_python_runs(capsys):
    space: dict[str, object] = {}
    for kind, block in BLOCKS:
        if kind == "python":
            exec(block, space)
    said = capsys.readouterr().out
    assert "0.325054" in said
    assert f"['{space['fault'].name}']" in said


def test_its_table_has_every_module_as_it_is_written():
    written = {
        call for row in re.findall(r"^\| (.*?) \|", PAGE, flags=re.M) for call in re.findall(r"`(.*?)`", row)
    }
    for word, module in MODULES.items():
        assert any(call.partition("(")[0] == word for call in written), word
        if not module.many:
            assert usage(module) in written

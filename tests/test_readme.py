"""The examples of the README work as they stand, but for the number of steps."""

import re
import shlex
from pathlib import Path

import pytest

from lmviz.base.errors import LmvizError
from lmviz.cli import run

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced code of a language, with few enough steps to train."""
    found = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    return [re.sub(r"(steps[= ])(\d)\d\d", r"\1\2", block) for block in found]


@pytest.fixture
def texts(tmp_path, monkeypatch, small_text):
    monkeypatch.chdir(tmp_path)
    for name in ("input.txt", "held_out.txt"):
        (tmp_path / name).write_bytes(small_text.read_bytes().replace(b"sees", b"made"))


def test_the_python_example_runs(texts, capsys):
    [example] = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    assert "('position', 'unit')" in capsys.readouterr().out


def test_run_twice_the_python_example_says_how_to_go_on(texts):
    [example] = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    with pytest.raises(LmvizError, match=r"resume=True.*overwrite=True"):
        exec(compile(example, "README.md", "exec"), {})
    for how in ("resume", "overwrite"):
        again = example.replace('out="runs/first"', f'out="runs/first", {how}=True')
        exec(compile(again, "README.md", "exec"), {})


def test_the_commands_run_in_their_order(texts, capsys):
    [commands] = blocks("sh")
    for command in commands.splitlines():
        name, *words = shlex.split(command)
        assert name == "lmviz"
        assert run(words) == 0, capsys.readouterr().err
    assert Path("trace.npz").exists()

"""The process beside the program: it answers within limits, or there is a sentence, and it can be ended."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers_beside import nested

from lmviz.base import side_process
from lmviz.base.errors import LmvizError
from lmviz.base.side_process import SideProcess, answer_nobody

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="others do not keep to such limits")


@pytest.fixture
def beside() -> Iterator[SideProcess]:
    process = SideProcess("answers_beside", 0.3)
    yield process
    process.close()


def test_it_answers_with_what_json_has_and_imports_little(beside: SideProcess) -> None:
    assert beside.identity is None, "it begins when it is needed"
    for value in ("words", "\ud800", 1, [1.5, {"a": []}], "x" * 100_000):
        assert beside.ask(value) == value
    assert beside.ask("print") == "print"
    assert beside.ask("modules") == []
    assert beside.identity != os.getpid()


@pytest.mark.skipif(os.name == "nt", reason="there are no such limits")
@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ("compute", "longer than 0.3 seconds"),
        ("end", "ended the process"),
        ("leave", "1"),
        ("nest", "cannot be told, maximum recursion"),
        ("write on", "ended the process"),
        ("name", "cannot be told, .* not JSON serializable"),
        pytest.param(
            "write", "File too large", marks=pytest.mark.skipif(sys.platform != "linux", reason="?")
        ),
        pytest.param("grow", "MB of memory", marks=pytest.mark.skipif(sys.platform != "linux", reason="?")),
    ],
)
def test_what_it_does_not_answer_is_said_and_the_next_is_answered(
    beside: SideProcess, request_: str, sentence: str
) -> None:
    with pytest.raises(LmvizError, match=sentence):
        beside.ask(request_)
    assert beside.ask("words") == "words"


@pytest.mark.parametrize("request_", [nested(100_000), {"set"}])
def test_what_json_does_not_have_is_not_asked(beside: SideProcess, request_: object) -> None:
    with pytest.raises(LmvizError, match="it cannot be asked"):
        beside.ask(request_)
    assert beside.ask("words") == "words"


def test_without_limits_of_the_system_it_is_ended_when_it_is_late(
    beside: SideProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_process, "LONGEST_WAIT", 0.2)
    with pytest.raises(LmvizError, match=r"longer than 0\.2 seconds"):
        beside.ask("sleep")


def test_closing_answers_whoever_waits(beside: SideProcess) -> None:
    said = []

    def ask() -> None:
        try:
            beside.ask("sleep")
        except LmvizError as sentence:
            said.append(str(sentence))

    assert beside.ask("words") == "words"
    waiting = threading.Thread(target=ask)
    waiting.start()
    while not beside.is_asked:
        pass
    answer_nobody()
    waiting.join()
    assert said == ["it ended the process that ran it"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be forked here")
def test_a_fork_has_a_process_of_its_own(beside: SideProcess) -> None:
    assert beside.ask("words") == "words"
    before, child = beside.identity, os.fork()
    if not child:
        is_own = beside.ask("other words") == "other words" and beside.identity != before
        beside.close()
        os._exit(0 if is_own else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (beside.ask("words"), beside.identity) == ("words", before)


@pytest.mark.skipif(os.name == "nt", reason="a script stands for the program")
def test_a_bundled_program_which_is_no_python_serves_as_well(
    beside: SideProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "lmviz"
    places = ":".join(filter(None, sys.path))
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{places}" exec "{sys.executable}" -m lmviz "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    assert beside.ask("words") == "words"


def test_where_no_process_can_be_started_it_is_said(
    beside: SideProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(LmvizError, match="no process can be started"):
        beside.ask("words")

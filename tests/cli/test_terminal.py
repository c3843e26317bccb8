"""What is printed, in any encoding and where nothing can be printed."""

import io
import json
import math
import os
import subprocess
import sys

import pytest
from covering import parametrize_few

from lmviz.cli import main
from lmviz.cli.terminal import duration, finite, prepare_streams, print_json, print_table, say


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_any_encoding_takes_what_is_printed(encoding, tmp_path, monkeypatch):
    odd = tmp_path / "☃ 🦇 é"
    written, complained = io.BytesIO(), io.BytesIO()
    for name, stream in (("stdout", written), ("stderr", complained)):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(stream, encoding=encoding, write_through=True))
    for words, codes in ((["doctor"], (0, 1)), (["models", str(odd)], (2,))):
        monkeypatch.setattr(sys, "argv", ["lmviz", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in codes
    assert "Python" in written.getvalue().decode(encoding)
    assert complained.getvalue().decode(encoding).startswith("There is no folder")
    assert "\\u2603" in complained.getvalue().decode(encoding)


def test_a_table_says_yes_and_no_and_groups_digits(capsys):
    print_table(["tied", "steps", "loss"], [[True, 12_000, 0.5], [False, 0, None]])
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.split()]
    assert rows[-2:] == [["yes", "12,000", "0.5"], ["no", "0", "–"]]


def test_json_is_exact_in_every_encoding(monkeypatch):
    values = {"prefix": "☃ 🦇 é \udcff"}
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    print_json(values)
    assert json.loads(sys.stdout.getvalue()) == values
    for encoding in ("ascii", "utf-8"):
        written = io.BytesIO()
        stream = io.TextIOWrapper(written, encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        prepare_streams()
        print_json(values)
        stream.flush()
        assert json.loads(written.getvalue()) == values


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux alone has a device that is always full")
@parametrize_few("words", [["corpora", "--json"], ["models"], ["--help"]])
def test_output_that_cannot_be_written_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "lmviz", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "The output could not be used" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_program_without_a_console_prints_nowhere(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    prepare_streams()
    say("nobody reads this")
    print_json({"a": 1})
    sys.stdout.close()
    sys.stderr.close()


def test_numbers_that_json_does_not_have_become_null():
    assert finite({"a": [math.nan, 1.5], "b": (math.inf, {"c": -math.inf})}) == {
        "a": [None, 1.5],
        "b": [None, {"c": None}],
    }


def test_durations_read_like_clocks():
    assert [duration(seconds) for seconds in (0.4, 61, 3661)] == ["0:00", "1:01", "1:01:01"]
